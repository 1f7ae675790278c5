package journal_test

import (
	"testing"

	"github.com/vaultflow/vaultflow/engine/journal"
)

func TestEarlier_isAVersionWithoutTrustThatRanSomething(t *testing.T) {
	t.Parallel()
	const aRun = `INSERT INTO runs (id, kind, workflow, status, trigger, key, generation, lane, created, view, spec)
		VALUES ('r', 'workflow', 'w', 'done', 'manual', 'k', 0, 'l', 1, '{}', '{}');`
	made := func(schema int, script string) string {
		dir := t.TempDir()
		if err := journal.OpenAt(t.Context(), dir, schema, script); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	fresh := t.TempDir()
	if err := open(t, fresh).Close(); err != nil {
		t.Fatal(err)
	}
	old := made(10, `PRAGMA user_version = 10;`+aRun)
	for name, c := range map[string]struct {
		dir  string
		want bool
	}{
		"nothing":                {t.TempDir(), false},
		"runs":                   {old, true},
		"runs of an old version": {made(4, `PRAGMA user_version = 4;`+aRun), true},
		"no runs":                {made(10, `PRAGMA user_version = 10`), false},
		"this version":           {fresh, false},
		"runs of this version":   {made(11, `PRAGMA user_version = 11;`+aRun), false},
	} {
		if got, err := journal.Earlier(t.Context(), c.dir); got != c.want || err != nil {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
	}
	if err := open(t, old).Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := journal.Earlier(t.Context(), old); got || err != nil {
		t.Errorf("brought up to date: %v, %v", got, err)
	}
}
