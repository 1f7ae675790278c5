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
	filing  Filing

	busy sync.Mutex // held while a commit checks its targets and writes
}

// Commit writes what Stage prepared, one commit at a time. A file counts as written if it has the new content, or if it was edited
// later and either the record or its text shows the write. Any other file with unexpected content is a conflict and stays. So does
// one that got the same content from another writer: two runs that append the same line make two lines.
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
	unmovable, err := c.unmovable(ctx, in)
	if out.Conflicts = append(out.Conflicts, unmovable...); err != nil || len(out.Conflicts) > 0 {
		return out, err
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
	if err := c.moves(ctx, in, &out); err != nil || len(out.Conflicts) > 0 {
		return out, err
	}
	if in.Cache != nil && c.cache != nil {
		if err := c.cache.Keep(ctx, in.StepRef, *in.Cache); err != nil {
			return out, err
		}
	}
	return out, c.memory.Committed(ctx, in.StepRef, in.Marks, in.Shared)
}

// askFor asks the gate about all files before the first is written: permissions may have changed since staging.
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

// outputCall identifies a file among a step's changes. No tool call has this form.
func outputCall(file engine.StagedFile) string { return "output:" + file.Name }

// wroteBefore reports whether a file with the new content was written by an earlier attempt at this commit, and completes the record
// of that write.
func (c *Committer) wroteBefore(ctx context.Context, ref engine.StepRef, file engine.StagedFile) (bool, error) {
	if file.Base == file.New {
		return true, nil
	}
	if c.changes.Record == nil {
		return c.memory.OwnWrite(ctx, ref.Workflow, file.Name, file.New)
	}
	change, _, made, err := c.changes.Record.Intended(ctx, ref, outputCall(file))
	switch {
	case errors.Is(err, engine.ErrNotFound) || err == nil && change.After != file.New: // an earlier version kept no such record
		return c.memory.OwnWrite(ctx, ref.Workflow, file.Name, file.New)
	case err != nil || made:
		return err == nil, err
	}
	return true, c.changes.Record.Made(ctx, ref, outputCall(file), true)
}

// wroteEdited reports whether an edited file was written by an earlier attempt at this commit. If only the intention is recorded,
// the write counts if the file contains half of what it added.
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
	warning = fmt.Sprintf("%s was edited while vaultflow was not running; it contains the step's text, so the step counts as written", file.Name)
	return true, warning, c.changes.Record.Made(ctx, ref, outputCall(file), true)
}

// holdsAddition reports whether a file contains at least half of the lines that a write added.
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
		return false, nil // a removal counts only if the write is known to have been made
	}
	if err != nil {
		return false, failure.New(failure.Vault, "", "read %s before writing: %v", file.Name, err)
	}
	return holdsHalf(base, staged, now), nil
}

func indexOf(files []engine.StagedFile, name string) int {
	return slices.IndexFunc(files, func(f engine.StagedFile) bool { return f.Name == name })
}
