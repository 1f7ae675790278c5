package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// folderFault tells a person that the settings of a folder cannot be used: in a note beside them, and in the list of imports.
// The file waits; it is looked at again soon, and imported when they have been corrected.
func (w *Process) folderFault(ctx context.Context, news disk.Arrival, bad *ingestion.FolderError) error {
	name, note := bad.NoteName(), []byte(bad.Note())
	old, base, err := w.Vault.Read(name, maxTemplate)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(old) != string(note) {
		w.Log.Warn("settings of a folder not used", "name", bad.Name, "err", bad)
		if err := w.Writing(policy.ByImport).Write(ctx, name, note, base); err != nil {
			return err
		}
	}
	return w.Journal.Imports.Arriving(ctx, news.Name, engine.ImportSeen, news.Size, bad.Error(), time.Now())
}

// folderWell removes the notes about settings of a file's folders, which can be used now.
func (w *Process) folderWell(ctx context.Context, name string) {
	for dir := path.Dir(name); inside(dir, w.Settings.Vault.ImportDir); dir = path.Dir(dir) {
		note := (&ingestion.FolderError{Name: path.Join(dir, ingestion.FolderFile)}).NoteName()
		data, sum, err := w.Vault.Read(note, maxTemplate)
		if err != nil || !strings.Contains(string(data), "vaultflow:begin") {
			continue // there is none, or a person made it theirs
		}
		if err := w.Writing(policy.ByImport).Remove(ctx, note, sum); err != nil {
			w.Log.Warn("note not removed", "name", note, "err", err)
		}
	}
}

// shadow says what would be done with a file, and does nothing.
func (w *Process) shadow(ctx context.Context, news disk.Arrival) error {
	options, err := w.rules.of(news.Name, ImportHow{})
	if err != nil {
		return err
	}
	found, err := w.importer("", nil).Classify(ctx, ingestion.Job{
		ID: "shadow", Source: news.Name, SHA256: news.SHA256, Size: news.Size, Settings: options,
	})
	if err != nil {
		return err
	}
	r := found.Route
	reason := fmt.Sprintf("shadow: would be imported as %s (%s) by %s; decided by %s: %s", r.Kind, r.MediaType, r.Handler, r.Evidence.Decision, r.Evidence.Reason)
	if found.DuplicateBundle != "" {
		reason = fmt.Sprintf("shadow: would be a duplicate of %s; %s (%s)", found.DuplicateBundle, r.Kind, r.MediaType)
	}
	w.Log.Info("file classified", "name", news.Name, "digest", news.SHA256, "kind", r.Kind, "media_type", r.MediaType, "handler", r.Handler,
		"declared", r.Evidence.Declared, "magic", r.Evidence.Magic, "extension", r.Evidence.Extension, "decision", r.Evidence.Decision, "reason", r.Evidence.Reason)
	return w.Journal.Imports.Arriving(ctx, news.Name, engine.ImportSeen, news.Size, reason, time.Now())
}
