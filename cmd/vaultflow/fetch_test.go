package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/remote"
	"github.com/vaultflow/vaultflow/settings"
)

// fakeWeb is a fetcher without a network.
type fakeWeb struct {
	content string
	answer  remote.Document
}

func (f fakeWeb) FetchDocument(_ context.Context, _ string, w io.Writer) (remote.Document, error) {
	n, err := io.WriteString(w, f.content)
	f.answer.Size = int64(n)
	return f.answer, err
}

func TestDropURL_importsWhatWasFetched(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	vaultDir := filepath.Join(dir, "vault")
	if err := os.MkdirAll(filepath.Join(vaultDir, ".obsidian"), 0o755); err != nil { //nolint:gosec // a vault of a test
		t.Fatal(err)
	}
	g := &globals{streams: &streams{out: io.Discard, err: io.Discard}, vault: vaultDir, stateDir: filepath.Join(dir, "own")}
	ownVault(g.vault, g.stateDir)
	a, err := g.open()
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	a.log = slog.New(slog.DiscardHandler)
	w, err := a.work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	const asked, address = "https://example.org/q3?sig=s3cr3t", "https://example.org/q3?sig=***"
	w.fetched.from = fakeWeb{"# Figures\n\nSome text.\n", remote.Document{MediaType: "text/markdown", Name: "q3.md"}}
	err = w.run(t.Context(), func(ctx context.Context) error {
		run, err := w.dropURL(ctx, importOrder{URL: asked})
		if err != nil {
			return err
		}
		r, err := g.follow(ctx, w.journal, run)
		if err != nil || r.Status != engine.Done {
			t.Errorf("the import is %s: %+v, %v", r.Status, r.Failure, err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"manifest.json": `"url": "` + address + `"`, "index.md": "source_url: " + address + "\n", "q3.md": "# Figures",
	} {
		data, err := os.ReadFile(filepath.Join(vaultDir, "Imported", "q3", name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, want %q in\n%s", name, err, want, data)
		}
	}
	for _, dir := range []string{vaultDir, w.stateDir} {
		eachFile(t, os.DirFS(dir), func(name string, data []byte) {
			if strings.Contains(string(data), "s3cr3t") {
				t.Errorf("%s holds the value of the query", filepath.Join(dir, name))
			}
		})
	}
	lines, err := os.ReadFile(filepath.Join(w.stateDir, "artifacts", "manifest.jsonl"))
	if err != nil || !strings.Contains(string(lines), `"source_url":"`+address+`"`) || !strings.Contains(string(lines), `"media_type":"text/markdown"`) {
		t.Errorf("manifest of artifacts: %v, %s", err, lines)
	}
}

func TestDocumentPolicy_isThatOfPictures(t *testing.T) {
	t.Parallel()
	a := &app{settings: settings.Defaults()}
	a.settings.Policy.RemoteImages.Deny = []string{"bad.example"}
	p := a.documentPolicy()
	if err := p.Check("https://good.example/x.pdf"); err != nil || a.remotePolicy().Enabled {
		t.Errorf("%v; pictures are fetched: %v", err, a.remotePolicy().Enabled)
	}
	if p.Check("https://bad.example/x.pdf") == nil || p.MaxBytes != 64<<20 {
		t.Errorf("a denied host is asked, or for %d bytes", p.MaxBytes)
	}
	for _, address := range []string{"http://127.0.0.1/", "http://10.0.0.1/x", "http://[::1]/x", "http://169.254.169.254/x", "http://localhost:8321/x"} {
		if _, err := remote.New(p).FetchDocument(t.Context(), address, io.Discard); err == nil {
			t.Errorf("%s was fetched", address)
		}
	}
}
