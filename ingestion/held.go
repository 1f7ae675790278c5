package ingestion

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/vault"
)

// stays reports whether the job's file is left in the import folder for a while: nothing shows where it ends, so a program may
// close it, and append to its name later. What an archive or a message was unpacked into is whole.
func (w *work) stays(name string) (bool, error) {
	if w.im.Hold == nil || !w.set.Hold || name == "" || name != w.job.Source || w.job.Where != "" && w.job.Where != name {
		return false, nil
	}
	if !strings.HasPrefix(name, w.set.ImportDir+"/") || strings.HasPrefix(name, w.set.FailedDir+"/") || w.home() != "" {
		return false, nil
	}
	file, size, err := w.im.open(name)
	if err != nil {
		return false, storage("open "+name, err)
	}
	defer file.Close()
	head := make([]byte, min(size, filetype.HeadBytes))
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, storage("read "+name, err)
	}
	return w.im.Hold.Endless(head[:n]), nil
}

// holdDone ends a finished import whose file stays where it arrived: its place gets a copy.
func (w *work) holdDone(ctx context.Context, from, target string, p plan) (Filed, error) {
	if target == "" {
		return Filed{Name: from, Held: true}, errors.Join(w.restore(ctx, p, from), w.forgetFailure(ctx, from))
	}
	target, err := w.copyOut(ctx, from, target)
	if errors.Is(err, vault.ErrConflict) {
		return Filed{Warning: from + " has other bytes now"}, nil
	}
	if err != nil {
		return Filed{}, err
	}
	return Filed{Name: target, Held: true}, errors.Join(w.restore(ctx, p, target), w.forgetFailure(ctx, from))
}

// copyOut copies the original, and returns the copy's name: it has a number when another spelling of to is taken.
func (w *work) copyOut(ctx context.Context, from, to string) (string, error) {
	for n := 1; ; n++ {
		name := numberedFile(to, n)
		err := w.im.Hold.Copy(ctx, from, name, w.job.SHA256, w.job.Size)
		if errors.Is(err, fs.ErrExist) && n < maxNumber {
			continue
		}
		if errors.Is(err, vault.ErrConflict) {
			return "", err
		}
		return name, storage("copy "+from+" to "+name, err)
	}
}

// PutAway ends the time for which File has left an original where it arrived: it goes where it belongs, in place of its copy.
// found is false when it is not there any more, or has other bytes: those are another import's. It fails with a transient
// error while somebody has the file open for writing. Repeated, it finds the work done.
func (im *Importer) PutAway(ctx context.Context, j Job, e Ending) (filed Filed, found bool, err error) {
	j.Settings.Hold = false
	w := &work{im: im, job: j, set: j.settings()}
	from, err := w.original(ctx, plan{})
	switch {
	case err != nil:
	case e.State == StateFailed:
		filed, err = w.fileFailed(ctx, e)
		return filed, filed.Name != "", err
	case from == "":
		err = w.tidy(j.Source)
	case e.State == StateDone, e.State == StatePartial:
		filed, err = w.putAway(ctx, e, from)
	default:
		filed, err = w.join(ctx, e, from)
	}
	return filed, from != "", err
}

// putAway puts the original of a finished import in the place of its copy.
func (w *work) putAway(ctx context.Context, e Ending, from string) (Filed, error) {
	if m, ok := w.im.manifest(e.Bundle); !ok || m.Import.ID != w.job.ID {
		return w.join(ctx, e, from) // a person took the bundle away, or a newer version has its name
	}
	target, err := w.place(ctx, e.Bundle, plan{})
	if err != nil {
		return Filed{}, err
	}
	sum := ""
	if target != "" {
		if sum, err = w.im.sumOf(ctx, target); err != nil {
			return Filed{}, err
		}
	}
	if sum != w.job.SHA256 {
		target, err = w.moveOut(ctx, from, target)
	} else if err = w.letGo(from); err == nil {
		err = w.im.Hold.Supplant(ctx, from, target, w.job.SHA256)
	}
	if err != nil {
		return Filed{}, storage("put "+from+" away", err)
	}
	return Filed{Name: target}, errors.Join(w.forgetFailure(ctx, from), w.tidy(from))
}
