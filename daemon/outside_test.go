package daemon

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/daemon/artifacts"
	"github.com/vaultflow/vaultflow/engine/artifact"
	"github.com/vaultflow/vaultflow/settings"
)

func TestFetchPolicy(t *testing.T) {
	t.Parallel()
	a := &outside{settings: settings.Defaults()}
	a.settings.WebFetch.Deny = []string{"bad.example"}
	p := a.pages(nil)
	if p.MaxRedirects != 5 || p.MaxBytes != 16<<20 || p.Check("https://good.example/") != nil {
		t.Errorf("got %+v", p)
	}
	if err := p.Check("https://bad.example/"); err == nil || !strings.Contains(err.Error(), "web_fetch: bad.example is denied") {
		t.Errorf("got %v", err)
	}
}

func TestProgramEnvironment(t *testing.T) {
	t.Parallel()
	env := programEnvironment(settings.MCPServer{EnvFrom: []string{"TOKEN"}, Env: map[string]settings.Secret{"MODE": "fast"}},
		[]string{"PATH=/bin", "ANTHROPIC_API_KEY=k", "TOKEN=t", "VAULTFLOW_WEB_TOKEN=w"})
	if got := strings.Join(env, " "); got != "PATH=/bin TOKEN=t MODE=fast" {
		t.Errorf("got %s", got)
	}
}

// Artifacts that are beyond their limits go at the next tick; those of a live run stay, and where nothing was ever fetched
// nothing is made.
func TestSweepArtifacts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept := artifacts.New(dir, func(string) bool { return false }, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ticks, done := make(chan time.Time), make(chan error, 1)
	go func() { done <- kept.Sweep(ctx, ticks) }()
	ticks <- time.Now()
	if _, err := os.Stat(filepath.Join(dir, "artifacts")); err == nil {
		t.Error("a store was made")
	}
	ref, err := kept.Keep(t.Context(), strings.NewReader("text"), artifact.Source{Scope: "workflow:w", MediaType: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
	ticks <- time.Now()
	ticks <- time.Now() // the sweep before has ended
	if f, err := kept.Open(ref); err != nil {
		t.Errorf("a young artifact is gone: %v", err)
	} else {
		_ = f.Close() // read only
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
}
