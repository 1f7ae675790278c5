package step

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Committer writes what was staged.
type Committer struct {
	plans   *Plans
	changes *change.Maker
	outputs Outputs
	memory  Memory
	cache   Cache // may be nil

	busy sync.Mutex // held while a commit looks at its targets and writes
}

// Commit writes what Stage prepared. A file that has the new content already was written before this process died; so was one
// that somebody has edited since, when the record of writes says so, or when the file still holds the text. Every other file
// that has neither the new content nor the one it was built on belongs to somebody else now: it is a conflict and stays. So
// does one that got the same new content from another writer: two runs that append the same line make two lines. One commit
// is made at a time.
func (c *Committer) Commit(ctx context.Context, in engine.CommitIn) (engine.CommitOut, error) {
	c.busy.Lock()
	defer c.busy.Unlock()
	out, err := c.commit(ctx, in)
	out.Raced = err == nil && len(out.Conflicts) > 0 && !slices.ContainsFunc(out.Conflicts, func(name string) bool { return !c.changes.WroteLast(name) })
	return out, err
}

func (c *Committer) commit(ctx context.Context, in engine.CommitIn) (engine.CommitOut, error) {
	var out engine.CommitOut
	var write []engine.StagedFile
	for _, file := range in.Files {
		current, err := c.changes.Current(file.Name)
		switch {
		case err != nil:
			return out, failure.New(failure.Vault, "", "read %s before writing: %v", file.Name, err)
		case current == file.New:
			wrote, err := c.wroteBefore(ctx, in.StepRef, file)
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
			wrote, warning, err := c.wroteEdited(ctx, in.StepRef, file)
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
	asks, err := c.askFor(ctx, in.StepRef, write)
	if err != nil {
		return out, err
	}
	if err := c.memory.Writing(ctx, in.StepRef, in.Files); err != nil {
		return out, err
	}
	for i, file := range write {
		by := change.Author{Ref: in.StepRef, Ask: asks[i], Shown: in.Origins, Approved: file.Seen}
		err := c.changes.Make(ctx, by, outputCall(file), change.Of(file), "")
		if errors.Is(err, vault.ErrConflict) {
			out.Conflicts = append(out.Conflicts, file.Name)
			continue
		}
		if err != nil {
			return out, failure.WithCode(err, failure.Output)
		}
		out.Written = append(out.Written, file)
	}
	slices.SortFunc(out.Written, func(a, b engine.StagedFile) int { return indexOf(in.Files, a.Name) - indexOf(in.Files, b.Name) })
	if len(out.Conflicts) > 0 {
		return out, nil
	}
	if in.Cache != nil && c.cache != nil {
		if err := c.cache.Keep(ctx, in.StepRef, *in.Cache); err != nil {
			return out, err
		}
	}
	return out, c.memory.Committed(ctx, in.StepRef, in.Marks, in.Shared)
}

// askFor asks the gate for all files before the first is written: what was staged may not be allowed any more.
func (c *Committer) askFor(ctx context.Context, ref engine.StepRef, files []engine.StagedFile) ([]policy.Request, error) {
	if len(files) == 0 {
		return nil, nil
	}
	s, err := c.plans.Context(ctx, ref)
	if err != nil {
		return nil, err
	}
	var asks []policy.Request
	for _, file := range files {
		ask, err := c.outputs.Request(ctx, s, file)
		if err != nil {
			return nil, err
		}
		if _, err := c.changes.Gate.Decide(ask).Pass(); err != nil {
			return nil, change.Refused(err)
		}
		asks = append(asks, ask)
	}
	return asks, nil
}

// outputCall is the place of a file among a step's changes. No call of a tool has this form.
func outputCall(file engine.StagedFile) string { return "output:" + file.Name }

// wroteBefore tells whether a file that has the new content was written by this commit, by an attempt whose process died
// right behind it, and completes the record of that write. When nothing was to be changed there is nothing to tell.
func (c *Committer) wroteBefore(ctx context.Context, ref engine.StepRef, file engine.StagedFile) (bool, error) {
	if file.Base == file.New {
		return true, nil
	}
	if c.changes.Record == nil {
		return c.memory.OwnWrite(ctx, ref.Workflow, file.Name, file.New)
	}
	change, _, made, err := c.changes.Record.Intended(ctx, ref, outputCall(file))
	switch {
	case errors.Is(err, engine.ErrNotFound) || err == nil && change.After != file.New: // a version before kept no such record
		return c.memory.OwnWrite(ctx, ref.Workflow, file.Name, file.New)
	case err != nil || made:
		return err == nil, err
	}
	return true, c.changes.Record.Made(ctx, ref, outputCall(file), true)
}

// wroteEdited tells whether a file that somebody has edited was written by this commit before: by an attempt that was
// stopped in the middle. A write whose intention is all that is known counts when the file holds most of what it added.
func (c *Committer) wroteEdited(ctx context.Context, ref engine.StepRef, file engine.StagedFile) (wrote bool, warning string, err error) {
	change, made, err := c.changes.Record.Latest(ctx, ref, outputCall(file))
	if errors.Is(err, engine.ErrNotFound) || err == nil && (change.After != file.New || change.Before != file.Base) {
		return false, "", nil
	}
	if err != nil || made {
		return made, "", err
	}
	holds, err := c.holdsAddition(ctx, file)
	if err != nil || !holds {
		return false, "", err
	}
	warning = fmt.Sprintf("%s was edited while the program was down; it holds the step's text, so the step counts as written", file.Name)
	return true, warning, c.changes.Record.Made(ctx, ref, outputCall(file), true)
}

// holdsAddition tells whether a file holds at least half of the lines that a write has added to it.
func (c *Committer) holdsAddition(ctx context.Context, file engine.StagedFile) (bool, error) {
	var base []byte
	if file.Base != "" {
		var err error
		if base, err = c.changes.Blobs.Get(ctx, file.Base); err != nil {
			return false, err
		}
	}
	staged, err := c.changes.Blobs.Get(ctx, file.New)
	if err != nil {
		return false, err
	}
	now, _, err := c.changes.Vault.Read(file.Name, c.changes.MaxText)
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
