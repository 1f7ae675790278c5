package vaults

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/settings"
)

func TestFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"Notes", "Work/Inner", "other/Notes", "Ärzte & Co"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "Work"), link); err != nil {
		t.Skip(err)
	}
	for name, tt := range map[string]struct {
		dirs []string
		want []string // names; nil: refused
	}{
		"two":                      {[]string{"Notes", "Work"}, []string{"Notes", "Work"}},
		"one twice":                {[]string{"Notes", "Notes/"}, []string{"Notes"}},
		"one and a link to it":     {[]string{"Work", "link"}, []string{"Work"}},
		"one name":                 {[]string{"Notes", "other/Notes"}, []string{"Notes", "Notes-2"}},
		"other letters":            {[]string{"Ärzte & Co", "Notes"}, []string{"rzte---Co", "Notes"}},
		"one in another":           {[]string{"Work", "Work/Inner"}, nil},
		"another around one":       {[]string{"Work/Inner", "Work"}, nil},
		"one in another by a link": {[]string{"Work", "link/Inner"}, nil},
		"one that is not there":    {[]string{"Notes", "Gone"}, []string{"Notes", "Gone"}},
		"gone, within another":     {[]string{"Notes", "Notes/Gone"}, nil},
	} {
		var dirs []string
		for _, one := range tt.dirs {
			dirs = append(dirs, filepath.Join(dir, one))
		}
		found, err := folders(dirs)
		var names []string
		for _, f := range found {
			names = append(names, f.name)
		}
		if (err != nil) != (tt.want == nil) || tt.want != nil && !equal(names, tt.want) {
			t.Errorf("%s: %q, %v; want %q", name, names, err, tt.want)
		}
	}
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestKeep: a vault that fails, even by a panic, is tried again with growing pauses, and at once when somebody asks.
func TestKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began, tries := time.Now(), []time.Duration{}
		p := &process{Config: Config{
			Log: slog.New(slog.DiscardHandler), Settings: &settings.Settings{},
			Open: func(string, string) daemon.Options {
				tries = append(tries, time.Since(began))
				panic(errors.New("a defect"))
			},
		}}
		v := &vault{folder: folder{"one", dir}, look: make(chan os.Signal, 1)}
		p.vaults = []*vault{v}
		done := make(chan struct{})
		go func() { p.keep(ctx, v); close(done) }()
		time.Sleep(10 * time.Second)
		if len(tries) != 4 || tries[1] != time.Second || tries[2] != 3*time.Second || tries[3] != 7*time.Second {
			t.Errorf("tried after %v, want 0s 1s 3s 7s", tries)
		}
		if list := p.list(); list[0].Problem == "" || list[0].Dashboard != nil {
			t.Errorf("listed as %+v", list[0])
		}
		v.look <- os.Interrupt
		synctest.Wait()
		if len(tries) != 5 {
			t.Error("not tried when somebody asked")
		}
		time.Sleep(time.Hour)
		if n := len(tries); n > 20 || tries[n-1]-tries[n-2] != lastPause {
			t.Errorf("%d tries within an hour, the last two %s apart", n, tries[n-1]-tries[n-2])
		}
		cancel()
		<-done
	})
}
