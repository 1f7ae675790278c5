package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// ImportHow is what was asked for one import alone, in place of the settings.
type ImportHow struct {
	Mode      string   `json:"mode,omitempty"`
	Languages []string `json:"languages,omitempty"`
	Pages     string   `json:"pages,omitempty"`

	RedoOCR      bool  `json:"redo_ocr,omitempty"`
	RetainImages *bool `json:"retain_ocr_images,omitempty"`

	source   string // address that it was fetched from
	declared string // media type that the host named
	hold     bool   // leave it there for a while when its end cannot be told
	where    string // vault name at which the file lies, when that is another than the one at which it arrived
}

// dropFile copies a file of this machine into the import folder and asks for its import.
func (w *Process) dropFile(ctx context.Context, o ImportOrder) (string, error) {
	f, err := os.Open(string(o.Path))
	if err != nil {
		return "", usagef("import: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", usagef("import %s: it is no regular file", o.Path)
	}
	if o.Walked && !w.Vault.Takes(path.Join(w.Settings.Vault.ImportDir, vault.SafeName(path.Base(o.Name), 0))) {
		return "", nil // clutter of a folder that was named as a whole
	}
	return w.drop(ctx, f, o.Name, o.ImportHow)
}

// drop copies what r holds into the import folder and asks for its import. The watcher sees the file too, and is told to
// leave it, so that it is asked for once. Settings of its folder that cannot be used are found before anything is copied.
func (w *Process) drop(ctx context.Context, r io.Reader, name string, how ImportHow) (string, error) {
	if _, err := w.rules.of(path.Join(w.Settings.Vault.ImportDir, path.Clean("/"+name)), how); err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	dropped, digest, err := w.Writing(policy.ByDrop).Drop(ctx, r, name)
	if err != nil {
		return "", err
	}
	run, err := w.startImport(ctx, dropped, digest, how)
	if err == nil {
		w.claimed[dropped] = run
	}
	return run, err
}

// claim gives the run that a command has asked for to import a file, empty when there is none, and forgets it.
func (w *Process) claim(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	run := w.claimed[name]
	delete(w.claimed, name)
	return run
}

// startImport asks for the import of a file that lies in the vault.
func (w *Process) startImport(ctx context.Context, name, digest string, how ImportHow) (string, error) {
	info, err := w.Vault.FS().Open(cmp.Or(how.where, name))
	if err != nil {
		return "", err
	}
	defer info.Close()
	stat, err := info.Stat()
	if err != nil {
		return "", err
	}
	options, err := w.rules.of(name, how)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(options)
	if err != nil {
		return "", fmt.Errorf("encode the import's settings: %w", err)
	}
	job := ingestion.Job{Mode: how.Mode, Settings: options}
	started, err := w.Exec.Start(ctx, engine.Request{
		Key: engine.ImportKey(digest, job.Hash(), name), Again: true, Kind: engine.KindImport, Subject: name,
		Trigger: engine.Trigger{Kind: engine.TriggerDrop}, At: time.Now().In(w.Zone),
		Import: &engine.ImportRequest{SHA256: digest, Size: stat.Size(), Mode: how.Mode, Options: data, Where: how.where},
	})
	return started.Run, err
}
