package change

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Documents keeps the records of imports.
type Documents interface {
	// Moved records that an imported document is in another folder now, where its note has this name.
	Moved(ctx context.Context, from, to, note string) error
}

// maxManifest is more than the manifest of any document takes, in bytes.
const maxManifest = 64 << 20

// Document returns the name of the note in the folder of an imported document, and the digest that identifies the document with this
// note; both are empty for any other folder or file.
func (f Files) Document(dir string) (note, digest string) { return f.document(dir, "") }

// document is Document; as is the name of the note in the digest, unless it is empty.
func (f Files) document(dir, as string) (note, digest string) {
	info, err := fs.Stat(f.FS, dir)
	if err != nil || !info.IsDir() {
		return "", ""
	}
	data, err := fs.ReadFile(f.FS, path.Join(dir, vault.ManifestFile))
	if err != nil {
		return "", ""
	}
	var m struct {
		Version int    `json:"version"`
		Note    string `json:"note"`
		Import  struct {
			ID string `json:"id"`
		} `json:"import"`
		Source struct {
			SHA256 string `json:"sha256"`
		} `json:"source"`
	}
	if json.Unmarshal(data, &m) != nil || m.Version != 1 || m.Source.SHA256 == "" {
		return "", ""
	}
	if note = m.Note; note == "" {
		note = vault.FormerNote
	}
	sum := sha256.Sum256([]byte("document\x00" + m.Import.ID + "\x00" + m.Source.SHA256 + "\x00" + cmp.Or(as, note)))
	return note, hex.EncodeToString(sum[:])
}

// DocumentOf returns the folder of the imported document whose note a file is, or "".
func (f Files) DocumentOf(name string) string {
	dir := path.Dir(name)
	if note, _ := f.Document(dir); note == "" || policy.FoldName(note) != policy.FoldName(path.Base(name)) {
		return ""
	}
	return dir
}

// moved returns the files of a document that is about to move: their names, the names that they get, and their digests.
func (m *Maker) moved(c engine.Change) (files []engine.StagedFile, err error) {
	err = fs.WalkDir(m.FS, c.Name, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		digest, err := m.Hash(name)
		if err == nil {
			files = append(files, engine.StagedFile{Name: c.NameAfter(name), Base: name, New: digest})
		}
		return err
	})
	return files, failure.WithCode(err, failure.Vault)
}

// moveDocument moves the folder of an imported document, renames its note and writes the note's name into the manifest. Called again,
// it makes what is missing.
func (m *Maker) moveDocument(ctx context.Context, by Author, c engine.Change, pass policy.Pass) error {
	files, err := m.moved(c)
	if err != nil {
		return err
	}
	if len(files) > 0 {
		if err := m.passing(ctx, by, files); err != nil {
			return err
		}
		if err := m.Vault.Move(ctx, pass); err != nil {
			return err
		}
	}
	return m.renameNote(ctx, by, c)
}

// renameNote renames the note of a moved document.
func (m *Maker) renameNote(ctx context.Context, by Author, c engine.Change) error {
	if c.Note == c.NoteTo {
		return nil
	}
	was, is := path.Join(c.To, c.Note), path.Join(c.To, c.NoteTo)
	if _, err := fs.Stat(m.FS, was); err == nil { // its user may have removed it
		ask := by.Ask
		ask.Action, ask.Place, ask.To = policy.Move, policy.Look(m.FS, was), lookAt(m.FS, was, is)
		pass, err := m.Gate.Decide(ask).Pass()
		if err == nil {
			err = m.Vault.Move(ctx, pass)
		}
		if err != nil {
			return fmt.Errorf("rename %s: %w", was, err)
		}
	}
	name := path.Join(c.To, vault.ManifestFile)
	data, base, err := m.Vault.Read(name, maxManifest)
	if err != nil {
		return err
	}
	renamed, ok := vault.RenameNote(data, c.NoteTo)
	if !ok {
		return failure.New(failure.Vault, "import the file again", "%s does not say which note is the document's", name)
	}
	if err := m.writing(ctx, by, name, vault.Digest(renamed)); err != nil {
		return err
	}
	pass, err := m.Gate.Decide(policy.Request{Writer: policy.ByImport, Action: policy.Change, Place: policy.Look(m.FS, name)}).Pass()
	if err != nil {
		return err
	}
	return m.Vault.Write(ctx, pass, renamed, base)
}

// lookAt is policy.Look for the new name of a file, which may differ from the old one only in case.
func lookAt(fsys fs.FS, from, to string) policy.Target {
	t := policy.Look(fsys, to)
	if t.Exists && t.Name == from {
		t.Name = path.Join(path.Dir(from), path.Base(to))
	}
	return t
}

// DocumentAs returns the digest that identifies a document once its note has another name.
func (f Files) DocumentAs(dir, note string) string {
	_, digest := f.document(dir, note)
	return digest
}
