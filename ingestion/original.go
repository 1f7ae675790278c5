package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/vault"
)

// File ends an import: the original goes where it belongs. That of a finished import goes into its bundle, to the done
// folder, or away; a duplicate joins the bytes that are there and leaves a line in their history; that of a failed one goes
// to the failed folder with a note that says why, and so does that of one that needs a password: no attempt without a
// copy that opens will end otherwise, and in the import folder nothing would tell its owner what to do. What may succeed
// later stays where it is. Called again, it finds the work done.
func (im *Importer) File(ctx context.Context, j Job, e Ending) (Filed, error) {
	if e.Transient || e.State == StateCancelled {
		return Filed{Name: j.at()}, nil // the hidden folders stay too: the next attempt goes on with them
	}
	w, err := im.stage(j)
	if err != nil {
		return Filed{}, err
	}
	var out Filed
	switch e.State {
	case StateDone, StatePartial:
		out, err = w.fileDone(ctx, e)
	case StateDuplicate:
		out, err = w.fileDuplicate(ctx, e)
	case StateFailed, StateNeedsPassword:
		out, err = w.fileFailed(ctx, e)
	default:
		return Filed{}, fmt.Errorf("file %s: an import does not end as %q", j.Source, e.State)
	}
	if err != nil {
		return Filed{}, err
	}
	return out, w.forget()
}

// fileDone puts the original of a finished import in its place.
func (w *work) fileDone(ctx context.Context, e Ending) (Filed, error) {
	p, _, err := load[plan](w.records, planName)
	if err != nil {
		return Filed{}, err
	}
	from, err := w.original(ctx, p)
	if err != nil {
		return Filed{}, err
	}
	target, err := w.place(ctx, e.Bundle, p)
	if err != nil {
		return Filed{}, err
	}
	switch {
	case from == "" && target != "" && w.im.exists(target):
		return Filed{Name: target}, errors.Join(w.restore(ctx, p, target), w.forgetFailure(ctx, w.job.at()), w.tidy(w.job.at())) // moved by an earlier call
	case from == "" && target == "":
		return Filed{}, nil
	case from == "":
		return Filed{Warning: w.job.Source + " is not there any more, or has other bytes now"}, nil
	}
	if err := w.release(ctx, e.Bundle); err != nil {
		return Filed{}, err
	}
	switch held, err := w.stays(from); {
	case err != nil:
		return Filed{}, err
	case held:
		return w.holdDone(ctx, from, target, p)
	}
	if target, err = w.moveOut(ctx, from, target); err != nil {
		return Filed{}, err
	}
	return Filed{Name: target}, errors.Join(w.restore(ctx, p, target), w.forgetFailure(ctx, from), w.tidy(from))
}

// place is where the original belongs; empty when it is to be removed.
func (w *work) place(ctx context.Context, bundle string, p plan) (string, error) {
	name := p.Original
	if p.Target == "" { // the records are gone: an earlier call came to its end
		var err error
		if name, err = w.keep(ctx); err != nil {
			return "", err
		}
	}
	if name != "" && w.set.KeepOriginal == KeepInBundle {
		return path.Join(bundle, name), nil
	}
	return name, nil
}

// moveOut moves the original, or removes it when to is empty, and gives its new name: that has a number when another
// spelling of to is taken.
func (w *work) moveOut(ctx context.Context, from, to string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := w.letGo(from); err != nil {
		return "", err
	}
	if to == "" {
		return "", storage("remove "+from, w.im.Remove(ctx, from, w.job.SHA256))
	}
	for n := 1; ; n++ {
		name := numberedFile(to, n)
		if from == name {
			return name, nil
		}
		err := w.im.Files.Move(ctx, from, name)
		if errors.Is(err, fs.ErrExist) && n < maxNumber {
			continue
		}
		return name, storage("move "+from+" to "+name, err)
	}
}

// fileDuplicate puts a further copy of imported bytes away.
func (w *work) fileDuplicate(ctx context.Context, e Ending) (Filed, error) {
	if err := w.remember(ctx, e.Bundle); err != nil {
		return Filed{}, err
	}
	from, err := w.original(ctx, plan{})
	if err != nil || from == "" {
		return Filed{}, err
	}
	switch held, err := w.stays(from); {
	case err != nil:
		return Filed{}, err
	case held:
		return Filed{Name: from, Held: true}, nil
	}
	return w.join(ctx, e, from)
}

// join puts the original to equal bytes of a bundle, or to the done folder where that has none.
func (w *work) join(ctx context.Context, e Ending, from string) (Filed, error) {
	target := ""
	if m, ok := w.im.manifest(e.Bundle); ok {
		kept := path.Join(e.Bundle, m.Source.Name)
		sum, err := w.im.sumOf(ctx, kept)
		if err != nil {
			return Filed{}, err
		}
		missing := sum == "" && m.Source.SHA256 == w.job.SHA256 && w.set.KeepOriginal == KeepInBundle // it could not be moved at the time
		if sum == w.job.SHA256 || missing {
			target = kept
		}
	}
	if target == from {
		return Filed{Name: from}, nil // it is the original itself
	}
	if target == "" && (w.set.KeepOriginal != KeepNot || w.im.Remove == nil) {
		done := path.Join(w.set.DoneDir, w.im.folder(w.job, w.set.ImportDir), w.im.SafeName(w.job.base(), nameBytes))
		var err error
		if target, err = w.im.freeFor(ctx, done, w.job.SHA256); err != nil {
			return Filed{}, err
		}
	}
	target, err := w.moveOut(ctx, from, target)
	if err != nil {
		return Filed{}, err
	}
	return Filed{Name: target}, errors.Join(w.forgetFailure(ctx, from), w.tidy(from))
}

// remember adds a line about this import to the history of the bundle that has its bytes.
func (w *work) remember(ctx context.Context, bundle string) error {
	return w.addHistory(ctx, bundle, History{Event: "duplicate", Import: w.job.ID, Source: w.job.Source, At: w.im.Now()})
}

// addHistory adds a line to the history of a bundle, unless it has one about the same import.
func (w *work) addHistory(ctx context.Context, bundle string, line History) error {
	name := path.Join(bundle, manifestName)
	for range 3 {
		data, base, err := w.im.Files.Read(name, manifestBytes)
		if err != nil {
			return nil // a person removed the bundle: nothing is left to add to
		}
		m, err := ParseManifest(data)
		if err != nil {
			return nil
		}
		for _, h := range m.Import.History {
			if h.Import == line.Import {
				return nil
			}
		}
		m.Import.History = append(m.Import.History, line)
		if data, err = m.encode(); err != nil {
			return err
		}
		err = w.im.Files.Write(ctx, name, data, base)
		if !errors.Is(err, vault.ErrConflict) {
			return storage("add to the history in "+name, err)
		}
	}
	return nil // two programs write it; the journal has the line too
}

// fileFailed puts the original of a failed import aside, with a note beside it.
func (w *work) fileFailed(ctx context.Context, e Ending) (Filed, error) {
	var p plan
	from, err := w.original(ctx, p)
	if err != nil {
		return Filed{}, err
	}
	held, err := w.stays(from)
	if err != nil {
		return Filed{}, err
	}
	target := from
	switch {
	case from != "" && !strings.HasPrefix(from, w.set.ImportDir+"/"):
		return Filed{Name: from}, nil // it was never in the way: a bundle's own original, read again
	case from != "" && e.State == StateFailed && held:
		return Filed{Name: from, Held: true}, nil // what a program appends may be what it lacks
	case !strings.HasPrefix(from, w.set.FailedDir+"/"):
		if target, err = w.im.freeFor(ctx, w.failedName(), w.job.SHA256); err != nil {
			return Filed{}, err
		}
	}
	switch {
	case from == "" && !w.im.exists(target):
		return Filed{Warning: w.job.Source + " is not there any more, or has other bytes now"}, nil
	case from != "" && from != target:
		if target, err = w.moveOut(ctx, from, target); err != nil {
			return Filed{}, err
		}
		if err := w.tidy(from); err != nil {
			return Filed{}, err
		}
	}
	note, err := w.explain(ctx, target, e)
	return Filed{Name: target, Note: note}, err
}

// forgetFailure removes the notes about earlier failures of a file that was imported after all: the one beside it in the
// failed folder, and those whose file a person has put back where it came from.
func (w *work) forgetFailure(ctx context.Context, from string) error {
	if w.im.Remove == nil {
		return nil
	}
	if strings.HasPrefix(from, w.set.FailedDir+"/") {
		return w.removeNote(ctx, from+failedSuffix, "")
	}
	for n := 1; n <= maxNumber; n++ {
		original := numberedFile(w.failedName(), n)
		if w.im.exists(original) {
			continue // it is another one, and its note speaks of it
		}
		if !w.im.exists(original + failedSuffix) {
			return nil
		}
		if err := w.removeNote(ctx, original+failedSuffix, w.job.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// removeNote removes a note about a failure of the file with a digest, or of any when that is empty. One that a person
// made theirs stays.
func (w *work) removeNote(ctx context.Context, name, of string) error {
	data, sum, err := w.im.Files.Read(name, recordBytes)
	if err != nil || !strings.HasPrefix(string(data), blockBegin) || !strings.HasSuffix(string(data), blockEnd+"\n") || !strings.Contains(string(data), of) {
		return nil
	}
	return storage("remove "+name, w.im.Remove(ctx, name, sum))
}

// failedName is the name that the original has in the failed folder when nothing else has it.
func (w *work) failedName() string {
	return path.Join(w.set.FailedDir, w.im.folder(w.job, w.set.ImportDir), w.im.SafeName(w.job.base(), nameBytes))
}

// tidy removes the folders that an archive or a message was unpacked into when their last file has left them. Folders that a person
// made stay: files may be dropped there again.
func (w *work) tidy(from string) error {
	if w.im.Tidy == nil {
		return nil
	}
	for top := path.Dir(from); strings.HasPrefix(top, w.set.ImportDir+"/"); top = path.Dir(top) {
		bundle := path.Join(w.set.ImportedDir, strings.TrimPrefix(top, w.set.ImportDir+"/"))
		if m, ok := w.im.manifest(bundle); ok && len(m.Children) > 0 {
			return storage("remove empty folders in "+top, w.im.Tidy(path.Dir(from), top))
		}
	}
	return nil
}
