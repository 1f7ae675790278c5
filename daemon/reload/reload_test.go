package reload_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/reload"
	"github.com/vaultflow/vaultflow/settings"
)

// A watch tells comments from changes, keeps settings in use when the new ones have faults or did not work, and notices what is undone.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, settings.FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const used, other, bad = "engine: {max_parallel_runs: 2}\n", "engine: {max_parallel_runs: 3}\n", "engine: [\n"
	in := settings.Input{Vault: dir, StateDir: state}
	put(other)
	failed := reload.Unusable{Files: in.Snapshot(), Err: errors.New("the port is taken")}
	put(used)
	in.From = in.Snapshot()
	given, err := consent.Open(t.Context(), state, dir, in)
	if err != nil {
		t.Fatal(err)
	}
	set, err := settings.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	w := reload.New(reload.Config{
		Trust: consent.New(given, set, slog.New(slog.DiscardHandler)), Input: in, Unusable: failed, There: func() error { return nil },
		Working: func() []string { return []string{"run r1 of W"} }, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	for _, c := range []struct {
		what, text string
		do         func()
		over       bool
		says       string
	}{
		{"nothing", used, nil, false, ""},
		{"a comment", "# why\n" + used, nil, false, ""},
		{"faults", bad, nil, false, "settings.yaml: changed, and serve continues with the former settings: "},
		{"undone", used, nil, false, ""},
		{"what did not work", other, nil, false, "former settings: the port is taken"},
		{"the same again", other, w.Retry, true, "starts over once this has ended its present call: run r1 of W"},
		{"undone again", used, nil, false, ""},
		{"another value", "engine: {max_parallel_runs: 4}\n", nil, true, "settings.yaml: changed; serve starts over"},
		{"undone too late", used, w.Draining, true, "starts over"},
	} {
		put(c.text)
		if c.do != nil {
			c.do()
		}
		if got := w.State(); got.Over != c.over || got.Text() == "" != (c.says == "") || !strings.Contains(got.Text(), c.says) {
			t.Errorf("%s: %+v, %q; want over %v, %q", c.what, got, got.Text(), c.over, c.says)
		}
		w.State()
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	levels := make([]string, len(lines))
	for i, line := range lines {
		levels[i] = strings.Fields(line)[1]
	}
	if want := strings.Fields("level=ERROR level=INFO level=ERROR level=INFO level=INFO level=INFO"); !slices.Equal(levels, want) {
		t.Errorf("logged %q; want each once", lines)
	}
}
