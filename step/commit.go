package step

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
)

// Commit writes what Stage prepared. A file that has the new content already was written before this process died; so was one
// that somebody has edited since, when the record of writes says so, or when the file still holds the text. Every other file
// that has neither the new content nor the one it was built on belongs to somebody else now: it is a conflict and stays. So
// does one that got the same new content from another writer: two runs that append the same line make two lines. One commit
// is made at a time.
func (w *Workflow) Commit(ctx context.Context, in engine.CommitIn) (engine.CommitOut, error) {
	w.writers.Lock()
	defer w.writers.Unlock()
	out, err := w.commit(ctx, in)
	out.Raced = err == nil && len(out.Conflicts) > 0 && !slices.ContainsFunc(out.Conflicts, func(name string) bool { return !w.isOurs(name) })
	return out, err
}

// isOurs tells whether a file holds what a run of this process has put there last.
func (w *Workflow) isOurs(name string) bool {
	wrote, known := w.wrote.Load(name)
	now, err := w.current(name)
	return known && err == nil && wrote == now
}

func (w *Workflow) commit(ctx context.Context, in engine.CommitIn) (engine.CommitOut, error) {
	var out engine.CommitOut
	var write []engine.StagedFile
	for _, file := range in.Files {
		current, err := w.current(file.Name)
		switch {
		case err != nil:
			return out, failure.New(failure.Vault, "", "read %s before writing: %v", file.Name, err)
		case current == file.New:
			wrote, err := w.wroteBefore(ctx, in.StepRef, file)
			if err != nil {
				return out, err
			}
			if wrote {
				out.Written = append(out.Written, file)
			} else {
				out.Conflicts = append(out.Conflicts, file.Name)
			}
		case current == file.Base:
			write = append(write, file)
		default:
			wrote, warning, err := w.wroteEdited(ctx, in.StepRef, file)
			if err != nil {
				return out, err
			}
			if !wrote {
				out.Conflicts = append(out.Conflicts, file.Name)
				continue
			}
			out.Written = append(out.Written, file)
			if warning != "" {
				out.Warnings = append(out.Warnings, warning)
			}
		}
	}
	if len(out.Conflicts) > 0 {
		return out, nil
	}
	asks, err := w.askFor(ctx, in.StepRef, write)
	if err != nil {
		return out, err
	}
	if err := w.Memory.Writing(ctx, in.StepRef, in.Files); err != nil {
		return out, err
	}
	for i, file := range write {
		c := changer{w, in.StepRef, asks[i], provenance{shown: in.Origins, approved: file.Seen}}
		err := c.change(ctx, outputCall(file), changeOf(file), "")
		if errors.Is(err, errEdited) {
			out.Conflicts = append(out.Conflicts, file.Name)
			continue
		}
		if err != nil {
			return out, outputFailure(err)
		}
		out.Written = append(out.Written, file)
	}
	slices.SortFunc(out.Written, func(a, b engine.StagedFile) int { return indexOf(in.Files, a.Name) - indexOf(in.Files, b.Name) })
	if len(out.Conflicts) > 0 {
		return out, nil
	}
	if in.Cache != nil && w.Cache != nil {
		if err := w.Cache.Keep(ctx, in.StepRef, *in.Cache); err != nil {
			return out, err
		}
	}
	return out, w.Memory.Committed(ctx, in.StepRef, in.Marks, in.Shared)
}

// askFor asks the gate for all files before the first is written: what was staged may not be allowed any more.
func (w *Workflow) askFor(ctx context.Context, ref engine.StepRef, files []engine.StagedFile) ([]policy.Request, error) {
	if len(files) == 0 {
		return nil, nil
	}
	s, err := w.scene(ctx, ref)
	if err != nil {
		return nil, err
	}
	var asks []policy.Request
	for _, file := range files {
		ask, err := w.outputRequest(ctx, s, file)
		if err != nil {
			return nil, err
		}
		if _, err := w.gate().Decide(ask).Pass(); err != nil {
			return nil, refusedByGate(err)
		}
		asks = append(asks, ask)
	}
	return asks, nil
}

// outputCall is the place of a file among a step's changes. No call of a tool has this form.
func outputCall(file engine.StagedFile) string { return "output:" + file.Name }

func changeOf(file engine.StagedFile) engine.Change {
	kind := engine.ChangeWrite
	if file.Base == "" {
		kind = engine.ChangeCreate
	}
	return engine.Change{Kind: kind, Name: file.Name, Before: file.Base, After: file.New}
}

// wroteBefore tells whether a file that has the new content was written by this commit, by an attempt whose process died
// right behind it, and completes the record of that write. When nothing was to be changed there is nothing to tell.
func (w *Workflow) wroteBefore(ctx context.Context, ref engine.StepRef, file engine.StagedFile) (bool, error) {
	if file.Base == file.New {
		return true, nil
	}
	if w.Changes == nil {
		return w.Memory.OwnWrite(ctx, ref.Workflow, file.Name, file.New)
	}
	change, _, made, err := w.Changes.Intended(ctx, ref, outputCall(file))
	switch {
	case errors.Is(err, engine.ErrNotFound) || err == nil && change.After != file.New: // a version before kept no such record
		return w.Memory.OwnWrite(ctx, ref.Workflow, file.Name, file.New)
	case err != nil || made:
		return err == nil, err
	}
	return true, w.Changes.Made(ctx, ref, outputCall(file), true)
}

// wroteEdited tells whether a file that somebody has edited was written by this commit before: by an attempt that was
// stopped in the middle. A write whose intention is all that is known counts when the file holds most of what it added.
func (w *Workflow) wroteEdited(ctx context.Context, ref engine.StepRef, file engine.StagedFile) (wrote bool, warning string, err error) {
	change, made, err := w.Changes.Latest(ctx, ref, outputCall(file))
	if errors.Is(err, engine.ErrNotFound) || err == nil && (change.After != file.New || change.Before != file.Base) {
		return false, "", nil
	}
	if err != nil || made {
		return made, "", err
	}
	holds, err := w.holdsAddition(ctx, file)
	if err != nil || !holds {
		return false, "", err
	}
	warning = fmt.Sprintf("%s was edited while the program was down; it holds the step's text, so the step counts as written", file.Name)
	return true, warning, w.Changes.Made(ctx, ref, outputCall(file), true)
}

// holdsAddition tells whether a file holds at least half of the lines that a write has added to it.
func (w *Workflow) holdsAddition(ctx context.Context, file engine.StagedFile) (bool, error) {
	var base []byte
	if file.Base != "" {
		var err error
		if base, err = w.Blobs.Get(ctx, file.Base); err != nil {
			return false, err
		}
	}
	staged, err := w.Blobs.Get(ctx, file.New)
	if err != nil {
		return false, err
	}
	now, _, err := w.Vault.Read(file.Name, w.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // it was removed: the removal stands only where the write is known to be made
	}
	if err != nil {
		return false, failure.New(failure.Vault, "", "read %s before writing: %v", file.Name, err)
	}
	return holdsHalf(base, staged, now), nil
}

func indexOf(files []engine.StagedFile, name string) int {
	return slices.IndexFunc(files, func(f engine.StagedFile) bool { return f.Name == name })
}

// current is the digest of a file's content, empty when there is none. It asks the vault, as Stage does, because the
// vault takes a name that differs only in case for the file that is there.
func (w *Workflow) current(name string) (string, error) {
	_, digest, err := w.Vault.Read(name, w.MaxText)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return digest, err
}

// outputFailure gives an error of writing its code, unless it has one.
func outputFailure(err error) error {
	cause := failure.Of(err)
	if cause.Code == failure.Internal {
		cause.Code = failure.Output
	}
	return cause
}
