package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy/origin"
)

// provenance is where the text comes from that a step writes.
type provenance struct {
	shown    []string // the untrusted things that the step was shown
	approved bool     // a person saw the text and said yes to it
	restores bool     // it brings back what a file held before
}

// record keeps where the content comes from that a change is about to bring into the vault. It comes before the change, so
// that a process that dies in between leaves no foreign text without a record.
func (c changer) record(ctx context.Context, change engine.Change) error {
	book := c.w.Origin
	if book == nil {
		return nil
	}
	var err error
	switch change.Kind {
	case engine.ChangeMove:
		err = book.Moving(ctx, change.Name, change.To, change.After)
	case engine.ChangeCreate, engine.ChangeWrite:
		err = c.recordWrite(ctx, change)
	}
	if err != nil {
		return stateFailure(err)
	}
	return nil
}

func (c changer) recordWrite(ctx context.Context, change engine.Change) error {
	w := origin.Write{Name: change.Name, Replaces: change.Before != "", Approved: c.from.approved, Restores: c.from.restores}
	if len(c.from.shown) > 0 {
		w.Origins = origin.OfRun(c.ref.Run, c.ref.Workflow, c.from.shown)
	}
	var err error
	if w.After, err = c.w.Blobs.Get(ctx, change.After); err != nil {
		return err
	}
	if w.Replaces {
		if w.Before, err = c.w.Blobs.Get(ctx, change.Before); err != nil && !errors.Is(err, engine.ErrNotFound) {
			return err
		}
	}
	return c.w.Origin.Wrote(ctx, w)
}

// recorded completes the record of a change that was made: a name that no file has any more is forgotten.
func (c changer) recorded(ctx context.Context, change engine.Change) error {
	if c.w.Origin == nil || change.Kind != engine.ChangeMove && change.Kind != engine.ChangeDelete || folded(change.Name) == folded(change.To) {
		return nil
	}
	if err := c.w.Origin.Removed(ctx, change.Name); err != nil {
		return stateFailure(err)
	}
	return nil
}

// comesFrom is where a tool's write comes from: from all that the model was shown so far, and from the results of this turn,
// which the tools that follow may pass on. A call that a person approved is theirs when it does what they saw.
func (c *callStore) comesFrom(change engine.Change) provenance {
	b := c.toolbox
	p := provenance{shown: origin.Join(b.in.Origins, slices.Concat(b.origins, b.vars.origins)...)}
	for _, v := range b.in.Verdicts {
		agreed := cmp.Or(v.Edited, v.After)
		p.approved = p.approved || v.Call == b.call && v.Approved && agreed != "" && agreed == change.After
	}
	return p
}

// Origins answers policy.Trust and prompt.Builder from a book. What cannot be looked up is foreign.
type Origins struct{ Book *origin.Book }

// Known reports whether a file is foreign, and what it was made from.
func (o Origins) Known(ctx context.Context, name string) (foreign bool, origins []string) {
	f, err := o.Book.Of(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.Named(ctx, name)
	}
	if err != nil {
		return true, []string{notLookedUp(err)}
	}
	return f.Foreign, f.Origins
}

// Named is Known for a name without its content.
func (o Origins) Named(ctx context.Context, name string) (foreign bool, origins []string) {
	f, err := o.Book.Named(ctx, name)
	if err != nil {
		return true, []string{notLookedUp(err)}
	}
	return f.Foreign, f.Origins
}

func notLookedUp(err error) string { return fmt.Sprintf("unknown: %v", err) }
