package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/vault"
)

// filing moves an import's original to its place.
type filing struct{ w *work }

// File ends an import: the original goes where it belongs. After success, that is its bundle, the done folder, or nowhere. A
// duplicate joins the equal bytes, whose history gets a line. After a failure, it is the failed folder, with a note that explains
// why. So it is with a document that needs a password: only a readable copy can change that, and in the import folder nobody
// would tell its owner. What may succeed later stays where it is. Called again, File finds the work done.
func (im *Importer) File(ctx context.Context, j Job, e Ending) (Filed, error) {
	if e.Transient || e.State == StateCancelled {
		return Filed{Name: j.at()}, nil // the hidden folders stay too: the next attempt resumes with them
	}
	w, err := im.stage(j)
	if err != nil {
		return Filed{}, err
	}
	defer w.store.close()
	if j.Mend != "" { // its original is where it belongs
		return Filed{Name: j.at()}, errors.Join(filing{w}.joinAgain(ctx), w.store.forget())
	}
	var out Filed
	switch e.State {
	case StateDone, StatePartial:
		out, err = filing{w}.fileDone(ctx, e)
	case StateDuplicate:
		out, err = filing{w}.fileDuplicate(ctx, e)
	case StateFailed, StateNeedsPassword:
		out, err = filing{w}.fileFailed(ctx, e)
	default:
		return Filed{}, fmt.Errorf("file %s: an import does not end as %q", j.Source, e.State)
	}
	if err != nil {
		return Filed{}, err
	}
	return out, w.store.forget()
}

// fileDone moves the original of a finished import to its place.
func (f filing) fileDone(ctx context.Context, e Ending) (Filed, error) {
	p, _, err := load[plan](f.w.store.records, planName)
	if err != nil {
		return Filed{}, err
	}
	from, err := f.w.original(ctx, p)
	if err != nil {
		return Filed{}, err
	}
	target, err := f.place(ctx, e.Bundle, p)
	if err != nil {
		return Filed{}, err
	}
	switch {
	case from == "" && target != "" && f.w.im.exists(target):
		return Filed{Name: target}, errors.Join(f.settle(ctx, p, target), f.forgetFailure(ctx, f.w.job.at()), f.tidy(f.w.job.at())) // moved by an earlier call
	case from == "" && target == "":
		return Filed{}, nil
	case from == "":
		return Filed{Warning: f.w.job.Source + " is gone or has changed"}, nil
	}
	if err := unpacking(f).release(ctx, e.Bundle); err != nil {
		return Filed{}, err
	}
	switch held, err := f.isHeld(from); {
	case err != nil:
		return Filed{}, err
	case held:
		return f.holdDone(ctx, from, target, p)
	}
	if target, err = f.moveOut(ctx, from, target); err != nil {
		return Filed{}, err
	}
	return Filed{Name: target}, errors.Join(f.settle(ctx, p, target), f.forgetFailure(ctx, from), f.tidy(from))
}

// place returns where the original belongs, or "" if it is to be removed.
func (f filing) place(ctx context.Context, bundle string, p plan) (string, error) {
	name := p.Original
	m, ok := f.w.im.manifest(bundle)
	if p.Kept != "" || p.Target == "" && ok && m.KeepsMember() {
		return "", nil
	}
	inBundle := f.staysIn(m) || p.Needed
	if p.Target == "" { // the records are gone: an earlier call finished
		var err error
		if name, err = f.w.places.keep(ctx); err != nil {
			return "", err
		}
		if ok && inBundle {
			name = m.Source.Name
		}
	}
	if name != "" && inBundle {
		return path.Join(bundle, name), nil
	}
	return name, nil
}

// staysIn reports whether an original stays in its bundle.
func (f filing) staysIn(m manifest.Manifest) bool {
	return f.w.set.KeepOriginal == config.KeepInBundle || m.Source.Needed
}

// moveOut moves the original, or removes it if to is empty, and returns its new name. That gets a number if another spelling of
// to is taken.
func (f filing) moveOut(ctx context.Context, from, to string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := f.refuseOpen(from); err != nil {
		return "", err
	}
	if to == "" {
		return "", fault.Storage("remove "+from, f.w.im.Files.Remove(ctx, from, f.w.job.SHA256))
	}
	for n := 1; ; n++ {
		name := vault.Numbered(to, n)
		if from == name {
			return name, nil
		}
		err := f.w.im.Files.Move(ctx, from, name)
		if errors.Is(err, fs.ErrExist) && n < maxNumber {
			continue
		}
		return name, fault.Storage("move "+from+" to "+name, err)
	}
}

// fileDuplicate files another copy of imported bytes.
func (f filing) fileDuplicate(ctx context.Context, e Ending) (Filed, error) {
	if err := f.remember(ctx, e.Bundle); err != nil {
		return Filed{}, err
	}
	from, err := f.w.original(ctx, plan{})
	if err != nil || from == "" {
		return Filed{}, err
	}
	if !strings.HasPrefix(from, f.w.set.ImportDir+"/") {
		return Filed{Name: from}, nil // what the user has put into a bundle stays there
	}
	switch held, err := f.isHeld(from); {
	case err != nil:
		return Filed{}, err
	case held:
		return Filed{Name: from, Held: true}, nil
	}
	return f.join(ctx, e, from)
}

// join moves the original to equal bytes in a bundle, or to the done folder if the bundle has none.
func (f filing) join(ctx context.Context, e Ending, from string) (Filed, error) {
	target, inside := "", false
	m, known := f.w.im.manifest(e.Bundle)
	if known {
		inside = m.KeepsMember() && m.Source.SHA256 == f.w.job.SHA256
		kept := path.Join(e.Bundle, m.Source.Name)
		sum, err := f.w.im.sumOf(ctx, kept)
		if err != nil {
			return Filed{}, err
		}
		missing := sum == "" && m.Source.SHA256 == f.w.job.SHA256 && f.staysIn(m) // it could not be moved at the time
		if sum == f.w.job.SHA256 || missing && !inside {
			target = kept
		}
	}
	if target == from {
		return Filed{Name: from}, nil // it is the original itself
	}
	if target == "" && !inside && (f.w.set.KeepOriginal != config.KeepNot || !known) {
		done := f.w.places.done()
		var err error
		if target, err = f.w.places.free(ctx, done); err != nil {
			return Filed{}, err
		}
	}
	target, err := f.moveOut(ctx, from, target)
	if err != nil {
		return Filed{}, err
	}
	return Filed{Name: target}, errors.Join(f.forgetFailure(ctx, from), f.tidy(from))
}

// joinAgain files the copy with which the user asked for what the bundle lacks: it lies where the original arrived.
func (f filing) joinAgain(ctx context.Context) error {
	if f.w.job.Source == f.w.job.at() {
		return nil
	}
	sum, err := f.w.im.sumOf(ctx, f.w.job.Source)
	if err == nil && sum == f.w.job.SHA256 {
		_, err = f.join(ctx, Ending{Bundle: f.w.job.Mend}, f.w.job.Source)
	}
	return err
}

// remember adds this import to the history of the bundle that has its bytes.
func (f filing) remember(ctx context.Context, bundle string) error {
	return f.addHistory(ctx, bundle, manifest.History{Event: "duplicate", Import: f.w.job.ID, Source: f.w.job.Source, At: f.w.im.Now()})
}

// addHistory adds a line to a bundle's history, unless the history has one about the same import.
func (f filing) addHistory(ctx context.Context, bundle string, line manifest.History) error {
	return f.editManifest(ctx, bundle, func(m *manifest.Manifest) bool {
		if slices.ContainsFunc(m.Import.History, func(h manifest.History) bool { return h.Import == line.Import }) {
			return false
		}
		m.Import.History = append(m.Import.History, line)
		return true
	})
}

// editManifest changes the manifest of a bundle, if edit reports that it has.
func (f filing) editManifest(ctx context.Context, bundle string, edit func(*manifest.Manifest) bool) error {
	name := path.Join(bundle, manifest.File)
	for range 3 {
		data, base, err := f.w.im.Files.Read(name, manifest.MaxBytes)
		if err != nil {
			return nil // the user removed the bundle
		}
		m, err := manifest.Parse(data)
		if err != nil || !edit(&m) {
			return nil
		}
		if data, err = m.Encode(); err != nil {
			return err
		}
		err = f.w.im.Files.Write(ctx, name, data, base)
		if !errors.Is(err, vault.ErrConflict) {
			return fault.Storage("write "+name, err)
		}
	}
	return nil // another program keeps writing it; the journal has the line too
}

// fileFailed moves the original of a failed import to the failed folder, with a note beside it.
func (f filing) fileFailed(ctx context.Context, e Ending) (Filed, error) {
	var p plan
	from, err := f.w.original(ctx, p)
	if err != nil {
		return Filed{}, err
	}
	held, err := f.isHeld(from)
	if err != nil {
		return Filed{}, err
	}
	target := from
	switch {
	case from != "" && !strings.HasPrefix(from, f.w.set.ImportDir+"/"):
		return Filed{Name: from}, nil // a bundle's own original, read again: it blocks nothing
	case from != "" && e.State == StateFailed && held:
		return Filed{Name: from, Held: true}, nil // a program may still append what it lacks
	case !strings.HasPrefix(from, f.w.set.FailedDir+"/"):
		if target, err = f.w.places.free(ctx, f.w.places.failed()); err != nil {
			return Filed{}, err
		}
	}
	switch {
	case from == "" && !f.w.im.exists(target):
		return Filed{Warning: f.w.job.Source + " is gone or has changed"}, nil
	case from != "" && from != target:
		if target, err = f.moveOut(ctx, from, target); err != nil {
			return Filed{}, err
		}
		if err := f.tidy(from); err != nil {
			return Filed{}, err
		}
	}
	note, err := f.explain(ctx, target, e)
	return Filed{Name: target, Note: note}, err
}

// forgetFailure removes the notes about earlier failures of a file that is now imported: the one beside it in the failed folder,
// and those whose file the user has moved back.
func (f filing) forgetFailure(ctx context.Context, from string) error {
	if strings.HasPrefix(from, f.w.set.FailedDir+"/") {
		return f.removeNote(ctx, from+indexnote.FailedSuffix, "")
	}
	for n := 1; n <= maxNumber; n++ {
		original := vault.Numbered(f.w.places.failed(), n)
		if f.w.im.exists(original) {
			continue // another file, with a note of its own
		}
		if !f.w.im.exists(original + indexnote.FailedSuffix) {
			return nil
		}
		if err := f.removeNote(ctx, original+indexnote.FailedSuffix, f.w.job.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// removeNote removes the failure note about the file with this digest, or about any file if it is empty. A note that the user has
// edited stays.
func (f filing) removeNote(ctx context.Context, name, of string) error {
	data, sum, err := f.w.im.Files.Read(name, recordBytes)
	if err != nil || !strings.HasPrefix(string(data), indexnote.Begin) || !strings.HasSuffix(string(data), indexnote.End+"\n") || !strings.Contains(string(data), of) {
		return nil
	}
	return fault.Storage("remove "+name, f.w.im.Files.Remove(ctx, name, sum))
}

// tidy removes the folders of an unpacked archive or message once the last file has left them. Folders that the user made stay, for
// the next files.
func (f filing) tidy(from string) error {
	for top := path.Dir(from); strings.HasPrefix(top, f.w.set.ImportDir+"/"); top = path.Dir(top) {
		if _, _, ok := unpackedInto(f.w.im, f.w.set.ImportedDir, strings.TrimPrefix(top, f.w.set.ImportDir+"/")); ok {
			return fault.Storage("remove empty folders in "+top, f.w.im.Files.RemoveEmptyFolders(path.Dir(from), top))
		}
	}
	return nil
}
