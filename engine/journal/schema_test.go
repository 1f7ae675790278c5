package journal_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
)

// Who wrote what is known for ever, also when the table that says it has another form.
func TestOpen_ownWritesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	digest, other := strings.Repeat("0123456789abcdef", 4), strings.Repeat("fe", 32)
	if err := journal.OpenAt(t.Context(), dir, 4, `PRAGMA user_version = 4;
		INSERT INTO own_writes (workflow, name, sha256, run) VALUES ('w', 'a.md', '`+digest+`', 'r1'), ('v', 'a.md', '`+digest+`', 'r2'), ('w', 'w', '`+other+`', 'r3')`); err != nil {
		t.Fatal(err)
	}
	j := open(t, dir)
	for _, about := range []string{"", "b.pdf", "c.pdf", ""} { // what is not said stays
		if err := j.Memory.Writing(t.Context(), engine.StepRef{Workflow: "new", Run: "r4"}, []engine.StagedFile{{Name: "a.md", New: other, About: about}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range [][3]string{{"new", "a.md", "c.pdf"}, {"new", "A.md", "c.pdf"}, {"w", "a.md", ""}, {"new", "b.md", ""}, {"none", "a.md", ""}} {
		if got, err := j.Memory.About(t.Context(), c[0], c[1]); got != c[2] || err != nil {
			t.Errorf("About(%s, %s): %q, %v; want %q", c[0], c[1], got, err, c[2])
		}
	}
	for _, c := range []struct {
		workflow, name, digest string
		want                   bool
	}{
		{"w", "a.md", digest, true},
		{"v", "a.md", digest, true},
		{"w", "w", other, true},
		{"new", "a.md", other, true},
		{"w", "a.md", other, false},
		{"v", "w", other, false},
		{"a.md", "w", other, false},
	} {
		if got, err := j.Memory.OwnWrite(t.Context(), c.workflow, c.name, c.digest); got != c.want || err != nil {
			t.Errorf("OwnWrite(%s, %s, %.4s): %v, %v; want %v", c.workflow, c.name, c.digest, got, err, c.want)
		}
	}
	for file, want := range map[string]bool{"w a.md": true, "w w": true, "v w": false, "new a.md": true, "new w": false, "nobody a.md": false} {
		workflow, name, _ := strings.Cut(file, " ")
		if got, err := j.Memory.EverWrote(t.Context(), workflow, name); got != want || err != nil {
			t.Errorf("EverWrote(%s, %s): %v, %v; want %v", workflow, name, got, err, want)
		}
	}
	var rows int
	if err := j.DB().QueryRowContext(t.Context(), `SELECT count(*) FROM own_writes WHERE name = 'a.md' AND sha256 = ? AND run IN ('r1', 'r2')`, digest).Scan(&rows); err != nil || rows != 2 {
		t.Errorf("%d rows for who wrote it in which run, want 2 (%v)", rows, err)
	}
}

// A new database is made at once; it must not differ from one that every version has brought forward.
func TestOpen_schemaMadeAtOnceOrStepByStep(t *testing.T) {
	t.Parallel()
	schema := func(dir string) (out []string) {
		rows, err := open(t, dir).DB().QueryContext(t.Context(), `SELECT name || ' ' || ifnull(sql, '') FROM sqlite_master UNION ALL SELECT user_version FROM pragma_user_version`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			out = append(out, line)
		}
		return out
	}
	want, dir := schema(t.TempDir()), t.TempDir()
	if err := journal.OpenAt(t.Context(), dir, journal.Schema, fmt.Sprintf("PRAGMA user_version = %d", journal.Schema)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, schema(dir)); diff != "" || len(want) < journal.Schema {
		t.Errorf("made at once (-), step by step (+):\n%s", diff)
	}
}

// Steps that fail change nothing: the version before can still work with the database.
func TestOpen_failingStepLeavesOldSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := journal.OpenAt(t.Context(), dir, 4, "PRAGMA user_version = 4; CREATE TABLE attempts (another INTEGER)"); err != nil {
		t.Fatal(err)
	}
	if j, err := journal.Open(t.Context(), dir); err == nil {
		t.Fatal("opened", j.Close())
	}
	if err := journal.OpenAt(t.Context(), dir, 0, "INSERT INTO own_writes (workflow, name, sha256, run) VALUES ('w', 'a.md', '', 'r')"); err != nil {
		t.Errorf("the schema is no longer the old one: %v", err)
	}
}
