package daemon

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/media/remote"
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
	t.Parallel()
	dir := t.TempDir()
	vaultDir, stateDir := filepath.Join(dir, "vault"), filepath.Join(dir, "state")
	ownVault(t, vaultDir, stateDir)
	const asked, address = "https://example.org/q3?sig=s3cr3t", "https://example.org/q3?sig=***"
	a := openTest(t, Options{Dir: vaultDir, StateDir: stateDir, Web: Web{Documents: fakeWeb{"# Figures\n\nSome text.\n", remote.Document{MediaType: "text/markdown", Name: "q3.md"}}}})
	w, err := a.Work(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	err = w.Run(t.Context(), func(ctx context.Context) error {
		run, err := w.Imports.Drop(ctx, control.ImportOrder{URL: asked})
		if err != nil {
			return err
		}
		r, err := w.Exec.Wait(ctx, run)
		if err != nil || r.Status != engine.Done {
			t.Errorf("the import is %s: %+v, %v", r.Status, r.Failure, err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"manifest.json": `"url": "` + address + `"`, "q3.md": "source_url: " + address + "\n", "q3.md.original": "# Figures",
	} {
		data, err := os.ReadFile(filepath.Join(vaultDir, "Imported", "q3", name))
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, want %q in\n%s", name, err, want, data)
		}
	}
	for _, dir := range []string{vaultDir, w.Workspace.StateDir} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if strings.Contains(string(data), "s3cr3t") {
				t.Errorf("%s holds the value of the query", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	lines, err := os.ReadFile(filepath.Join(w.Workspace.StateDir, "artifacts", "manifest.jsonl"))
	if err != nil || !strings.Contains(string(lines), `"source_url":"`+address+`"`) || !strings.Contains(string(lines), `"media_type":"text/markdown"`) {
		t.Errorf("manifest of artifacts: %v, %s", err, lines)
	}
}

func TestDocumentPolicy_isThatOfPictures(t *testing.T) {
	t.Parallel()
	o := &outside{settings: settings.Defaults()}
	o.settings.Policy.RemoteImages.Deny = []string{"bad.example"}
	p := o.documents()
	if err := p.Check("https://good.example/x.pdf"); err != nil || o.pictures().Enabled {
		t.Errorf("%v; pictures are fetched: %v", err, o.pictures().Enabled)
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
