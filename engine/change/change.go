// Package change makes the changes that runs do to files of the vault: those of outputs, of tools and of undo. The gate is
// asked first; then the content before is kept, the origins of the text and the intention are recorded, the file is changed,
// and the change is marked as made. So nothing is done twice after a crash, and everything can be undone.
package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/vault"
)

// Blobs keeps large values by digest.
type Blobs interface {
	Put(ctx context.Context, data []byte) (digest string, err error)
	Get(ctx context.Context, digest string) ([]byte, error)
}

// Record remembers what runs do to files: each change before it is made.
type Record interface {
	// Intended returns the change that a call was about to make in this attempt of the run, with the text for the model; made
	// reports whether it is known to be made. The error is engine.ErrNotFound when there is none.
	Intended(ctx context.Context, ref engine.StepRef, call string) (c engine.Change, said string, made bool, err error)
	// Intend records a change that is about to be made, in place of an earlier one of the call.
	Intend(ctx context.Context, ref engine.StepRef, call string, c engine.Change, said string, now time.Time) error
	// Made records whether the change of a call was made.
	Made(ctx context.Context, ref engine.StepRef, call string, made bool) error
	// Latest is Intended over all attempts of the run.
	Latest(ctx context.Context, ref engine.StepRef, call string) (c engine.Change, made bool, err error)
}

// Own remembers the contents that workflows write, so that their writes never trigger them.
type Own interface {
	// Writing comes before the write: a watcher may be fast.
	Writing(ctx context.Context, ref engine.StepRef, files []engine.StagedFile) error
	// WrittenBy returns the workflows that have written a content to a file.
	WrittenBy(ctx context.Context, name, sha256 string) ([]string, error)
	// Moved comes after a move of a file, or of a document's folder: what is written about it is found again. It may come twice.
	Moved(ctx context.Context, from, to string) error
	// Linked comes before a write that only rewrites links: the file is no news to whoever knew it before.
	Linked(ctx context.Context, name, before, after string) error
}

// Maker makes the changes of runs. It is safe for concurrent use.
type Maker struct {
	Files
	Blobs  Blobs
	Own    Own
	Record Record       // nil: nothing is changed, as in a preview
	Origin *origin.Book // nil: origins are not recorded

	Documents Documents // nil: no imports are on record

	Gate policy.Gate
	Now  func() time.Time

	wrote sync.Map // the digest that this process wrote last, by vault name
}

// Author is whoever a change is made for.
type Author struct {
	Ref engine.StepRef
	Ask policy.Request // who writes, and what the gate needs to know besides the change

	Shown    []string // untrusted things that the step was shown
	Approved bool     // the user has read and approved the text
	Restores bool     // the change brings back what the file held before
}

// Make makes a change for an author; call is its place in the step, and said the text for the model. The new content must be
// a blob. After an error nothing is left, unless the vault made the change nevertheless: then the intention stays for the
// next attempt to find.
func (m *Maker) Make(ctx context.Context, by Author, call string, c engine.Change, said string) error {
	if m.Record == nil {
		return errors.New("files cannot be changed here")
	}
	if _, err := m.pass(by, c); err != nil {
		return err
	}
	if c.Before != "" && c.Kind != engine.ChangeMove {
		if err := m.keep(ctx, c.Name, c.Before); err != nil {
			return err
		}
	}
	if err := m.recordOrigin(ctx, by, c); err != nil {
		return err
	}
	if err := m.Record.Intend(ctx, by.Ref, call, c, said, m.Now()); err != nil {
		return err
	}
	if err := m.Repeat(ctx, by, c); err != nil {
		return errors.Join(err, m.forget(ctx, by, call, c))
	}
	m.wrote.Store(cmp.Or(c.To, c.Name), c.After)
	if err := m.forgetOrigin(ctx, c); err != nil {
		return err
	}
	return m.Made(ctx, by.Ref, call, c)
}

// Made records that a change was made, now or by a process that ended before it recorded so.
func (m *Maker) Made(ctx context.Context, ref engine.StepRef, call string, c engine.Change) error {
	if c.Kind == engine.ChangeMove {
		if err := m.Own.Moved(ctx, c.Name, c.To); err != nil {
			return failure.WithCode(err, failure.State)
		}
		if c.Note != "" && m.Documents != nil {
			if err := m.Documents.Moved(ctx, c.Name, c.To, c.NoteTo); err != nil {
				return failure.WithCode(err, failure.State)
			}
		}
	}
	return m.Record.Made(ctx, ref, call, true)
}

// Repeat makes a change whose intention is on record. The error matches vault.ErrConflict when the vault is not as the
// change expects it; nothing is done then.
func (m *Maker) Repeat(ctx context.Context, by Author, c engine.Change) error {
	err := m.carryOut(ctx, by, c)
	if errors.Is(err, fs.ErrExist) {
		return vault.ErrConflict
	}
	return err
}

// KeepShown makes a blob of the content that a proposed change replaces, so that users see what would change. A file that has
// changed meanwhile, or is too large, is not shown.
func (m *Maker) KeepShown(ctx context.Context, from vault.Reader, name, before string) error {
	if before == "" {
		return nil
	}
	data, digest, err := from.Read(name, m.MaxText)
	if err != nil || digest != before {
		return nil //nolint:nilerr // the write will find out what is wrong with the file
	}
	_, err = m.Blobs.Put(ctx, data)
	return err
}

// WroteLast reports whether a file holds what a run of this process put there last.
func (m *Maker) WroteLast(name string) bool {
	wrote, known := m.wrote.Load(name)
	now, err := m.Current(name)
	return known && err == nil && wrote == now
}

// forget removes the intention of a change that failed, if the vault shows that nothing was done.
func (m *Maker) forget(ctx context.Context, by Author, call string, c engine.Change) error {
	if at, err := StateOf(c, m.Digest); err != nil || at == After {
		return err
	}
	return m.Record.Made(context.WithoutCancel(ctx), by.Ref, call, false)
}

// maxKept is the largest file that is removed or written over, in bytes: its content must be kept first.
const maxKept = 64 << 20

// keep makes a blob of the content that a file has now, which must be the one with the digest.
func (m *Maker) keep(ctx context.Context, name, digest string) error {
	data, have, err := m.Vault.Read(name, maxKept)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return vault.ErrConflict
	case err != nil:
		if whole, found := m.Hash(name); found == nil && whole == digest {
			return fmt.Errorf("it is larger than %s, and could not be brought back", content.FormatSize(maxKept))
		}
		return err
	case have != digest:
		return vault.ErrConflict
	}
	_, err = m.Blobs.Put(ctx, data)
	return err
}

func (m *Maker) carryOut(ctx context.Context, by Author, c engine.Change) error {
	pass, err := m.pass(by, c)
	if err != nil {
		return err
	}
	switch c.Kind {
	case engine.ChangeDelete:
		return m.Vault.Remove(ctx, pass, c.Before)
	case engine.ChangeMove:
		if c.Note != "" {
			return m.moveDocument(ctx, by, c, pass)
		}
		if err := m.passing(ctx, by, []engine.StagedFile{{Name: c.To, Base: c.Name, New: c.After}}); err != nil {
			return err
		}
		return m.Vault.Move(ctx, pass)
	}
	data, err := m.Blobs.Get(ctx, c.After)
	if err != nil {
		return err
	}
	if err := m.changing(ctx, by, c); err != nil {
		return err
	}
	return m.Vault.Write(ctx, pass, data, c.Before)
}

// changing records that the workflow writes a file. Whoever wrote it keeps it if only links are rewritten.
func (m *Maker) changing(ctx context.Context, by Author, c engine.Change) error {
	if c.Links == 0 {
		return m.writing(ctx, by, c.Name, c.After)
	}
	owners, err := m.Own.WrittenBy(ctx, c.Name, c.Before)
	if err != nil {
		return err
	}
	if err := m.Own.Linked(ctx, c.Name, c.Before, c.After); err != nil {
		return err
	}
	return m.handOn(ctx, by, map[string][]engine.StagedFile{"": {{Name: c.Name, New: c.After}}}, owners)
}

// passing records that files get new names, which are their names; Base are the old ones. They stay whose they were.
func (m *Maker) passing(ctx context.Context, by Author, files []engine.StagedFile) error {
	of := map[string][]engine.StagedFile{}
	for _, f := range files {
		owners, err := m.Own.WrittenBy(ctx, f.Base, f.New)
		if err != nil {
			return err
		}
		f.Base = ""
		for _, workflow := range append(owners, "") {
			of[workflow] = append(of[workflow], f)
		}
	}
	return m.handOn(ctx, by, of, nil)
}

// handOn records files as those of their workflows; "" is the one that changes them without making them its own. All of those are also
// the more workflows'.
func (m *Maker) handOn(ctx context.Context, by Author, of map[string][]engine.StagedFile, more []string) error {
	for _, workflow := range more {
		of[workflow] = of[""]
	}
	for _, workflow := range slices.Sorted(maps.Keys(of)) {
		ref := by.Ref
		if ref.Workflow = workflow; workflow == "" {
			ref.Workflow = by.Ref.Workflow + engine.Moved
		}
		if err := m.Own.Writing(ctx, ref, of[workflow]); err != nil {
			return err
		}
	}
	return nil
}

// writing records that the workflow writes this content itself.
func (m *Maker) writing(ctx context.Context, by Author, name, digest string) error {
	return m.Own.Writing(ctx, by.Ref, []engine.StagedFile{{Name: name, New: digest}})
}
