package intake

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// folderNotes are the notes beside files with settings that cannot be used.
type folderNotes struct {
	settings *settings.Settings
	vault    *disk.Vault
	files    vault.Files // the vault to imports
	journal  *journal.Journal
	log      *slog.Logger
}

// fault reports that the settings of a folder cannot be used, in a note beside them and in the list of imports.
// The file waits; it is looked at again soon, and imported when they have been corrected.
func (n folderNotes) fault(ctx context.Context, news disk.Arrival, bad *config.FolderError) error {
	name, note := bad.NoteName(), []byte(bad.Note())
	old, base, err := n.vault.Read(name, maxTemplate)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(old) != string(note) {
		n.log.Warn("settings of a folder not used", "name", bad.Name, "err", bad)
		if err := n.files.Write(ctx, name, note, base); err != nil {
			return err
		}
	}
	return n.journal.Imports.Arriving(ctx, news.Name, engine.ImportSeen, news.Size, bad.Error(), time.Now())
}

// repaired removes the notes about settings of a file's folders, which can be used now.
func (n folderNotes) repaired(ctx context.Context, name string) {
	for dir := path.Dir(name); vault.Within(dir, n.settings.Vault.ImportDir); dir = path.Dir(dir) {
		note := (&config.FolderError{Name: path.Join(dir, config.FolderFile)}).NoteName()
		data, sum, err := n.vault.Read(note, maxTemplate)
		if err != nil || !strings.Contains(string(data), "vaultflow:begin") {
			continue // there is none, or a person made it theirs
		}
		if err := n.files.Remove(ctx, note, sum); err != nil {
			n.log.Warn("note not removed", "name", note, "err", err)
		}
	}
}
