package ingestion

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/vault"
)

// isHeld reports whether the job's file stays in the import folder for a while: its format does not show where it ends, so a program
// may close it and append later. Files from archives and messages are complete.
func (f filing) isHeld(name string) (bool, error) {
	if f.w.im.Endless == nil || !f.w.set.Hold || name == "" || name != f.w.job.Source || f.w.job.Where != "" && f.w.job.Where != name {
		return false, nil
	}
	if !strings.HasPrefix(name, f.w.set.ImportDir+"/") || strings.HasPrefix(name, f.w.set.FailedDir+"/") || f.w.places.home() != "" {
		return false, nil
	}
	file, size, err := f.w.im.open(name)
	if err != nil {
		return false, fault.Storage("open "+name, err)
	}
	defer file.Close()
	head := make([]byte, min(size, filetype.HeadBytes))
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fault.Storage("read "+name, err)
	}
	return f.w.im.Endless(head[:n]), nil
}

// holdDone ends a finished import whose file stays where it arrived: a copy goes to its place.
func (f filing) holdDone(ctx context.Context, from, target string, p plan) (Filed, error) {
	if target == "" {
		return Filed{Name: from, Held: true}, errors.Join(f.settle(ctx, p, from), f.forgetFailure(ctx, from))
	}
	target, err := f.copyOut(ctx, from, target)
	if errors.Is(err, vault.ErrConflict) {
		return Filed{Warning: from + " has changed"}, nil
	}
	if err != nil {
		return Filed{}, err
	}
	return Filed{Name: target, Held: true}, errors.Join(f.settle(ctx, p, target), f.forgetFailure(ctx, from))
}

// copyOut copies the original and returns the copy's name, with a number if another spelling of to is taken.
func (f filing) copyOut(ctx context.Context, from, to string) (string, error) {
	for n := 1; ; n++ {
		name := vault.Numbered(to, n)
		err := f.w.im.Files.Copy(ctx, from, name, f.w.job.SHA256, f.w.job.Size)
		if errors.Is(err, fs.ErrExist) && n < maxNumber {
			continue
		}
		if errors.Is(err, vault.ErrConflict) {
			return "", err
		}
		return name, fault.Storage("copy "+from+" to "+name, err)
	}
}

// PutAway ends the hold of an original that File has left where it arrived: it replaces its copy. found is false if the file is gone
// or has changed: then it belongs to another import. While somebody has the file open for writing, PutAway fails with a transient
// error. Called again, it finds the work done.
func (im *Importer) PutAway(ctx context.Context, j Job, e Ending) (filed Filed, found bool, err error) {
	j.Settings.Hold = false
	w := im.begin(j)
	from, err := w.original(ctx, plan{})
	switch {
	case err != nil:
	case e.State == StateFailed:
		filed, err = filing{w}.fileFailed(ctx, e)
		return filed, filed.Name != "", err
	case from == "":
		err = filing{w}.tidy(j.Source)
	case e.State == StateDone, e.State == StatePartial:
		filed, err = filing{w}.putAway(ctx, e, from)
	default:
		filed, err = filing{w}.join(ctx, e, from)
	}
	return filed, from != "", err
}

// putAway moves the original of a finished import over its copy.
func (f filing) putAway(ctx context.Context, e Ending, from string) (Filed, error) {
	if m, ok := f.w.im.manifest(e.Bundle); !ok || m.Import.ID != f.w.job.ID {
		return f.join(ctx, e, from) // the user moved the bundle, or a newer version has its name
	}
	target, err := f.place(ctx, e.Bundle, plan{})
	if err != nil {
		return Filed{}, err
	}
	sum := ""
	if target != "" {
		if sum, err = f.w.im.sumOf(ctx, target); err != nil {
			return Filed{}, err
		}
	}
	if sum != f.w.job.SHA256 {
		target, err = f.moveOut(ctx, from, target)
	} else if err = f.refuseOpen(from); err == nil {
		err = f.w.im.Files.Supplant(ctx, from, target, f.w.job.SHA256)
	}
	if err != nil {
		return Filed{}, fault.Storage("put "+from+" away", err)
	}
	return Filed{Name: target}, errors.Join(f.forgetFailure(ctx, from), f.tidy(from))
}
