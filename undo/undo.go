// Package undo takes back what a run did to files and left behind for later runs, each on condition that the vault is as the
// run left it.
package undo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// History is what is on record about runs that have ended, for undo.
type History interface {
	// Run returns a run, or engine.ErrNotFound.
	Run(ctx context.Context, id string) (engine.RunRecord, error)
	// Trail returns what a run, and the runs that its tools have started, did to files, in the order in which it happened, and
	// Memories what they left behind for later runs.
	Trail(ctx context.Context, run string) ([]engine.RunChange, error)
	Memories(ctx context.Context, run string) ([]engine.Memory, error)
	// Standing returns the memories whose inputs have not been processed since.
	Standing(ctx context.Context, list []engine.Memory) ([]engine.Memory, error)
	// TakeBack takes memories back for the run of an undo, the last ones first, and returns those that were taken back.
	// Doing it twice returns the same answer.
	TakeBack(ctx context.Context, run string, list []engine.Memory) ([]engine.Memory, error)
	// TakeBackParts makes what is known of parts of documents what it was before a run, except of those with files that were kept.
	// Doing it twice changes nothing.
	TakeBackParts(ctx context.Context, run, of string, kept []string) error
	// WriterSince returns the run that wrote a content to a file, of those that came after a run; empty when none did.
	WriterSince(ctx context.Context, run, name, sha256 string) (writer string, err error)
}

// Undo takes back what runs did. It is safe for concurrent use.
type Undo struct {
	History History
	Changes *change.Maker
}

// Activities returns the activities by name.
func (u *Undo) Activities() engine.Activities {
	return engine.Activities{
		engine.ActivityPlanUndo: engine.Handle(u.Plan),
		engine.ActivityTakeBack: engine.Handle(u.TakeBack),
	}
}

// Plan lists the changes of a run that can be undone.
func (u *Undo) Plan(ctx context.Context, in engine.UndoRef) (engine.UndoItems, error) {
	run, err := u.History.Run(ctx, in.Of)
	if err != nil {
		return engine.UndoItems{}, err
	}
	return u.plan(ctx, run)
}

func (u *Undo) plan(ctx context.Context, run engine.RunRecord) (out engine.UndoItems, err error) {
	if refused := engine.CheckUndo(run); refused != nil {
		return out, refused
	}
	trail, err := u.History.Trail(ctx, run.ID)
	if err != nil {
		return out, err
	}
	out.Ways = engine.WaysBack(slices.Concat(unrecorded(run, trail), trail))
	out.Memories, err = u.History.Memories(ctx, run.ID)
	return out, err
}

// unrecorded are the outputs of a run of a version that kept no record of its writes. What it wrote over was not kept; files
// that it made can be removed.
func unrecorded(run engine.RunRecord, trail []engine.RunChange) (list []engine.RunChange) {
	for _, o := range run.Outputs {
		known := func(c engine.RunChange) bool { return c.Change.Name == o.Name && c.Change.Tool == "" }
		if o.Kind == "file" && !slices.ContainsFunc(trail, known) {
			c := change.Of(engine.StagedFile{Name: o.Name, Base: o.Before, New: o.After})
			list = append(list, engine.RunChange{Run: run.ID, Workflow: run.Workflow, Change: c})
		}
	}
	return list
}

// TakeBack takes back what Plan has found, in order, each on condition that the vault is as the run left it. What somebody
// has changed since is kept, and so is what cannot be brought back. Every change is recorded before it is made, so that the
// activity resumes where its process died, and so that the undo can be undone.
func (u *Undo) TakeBack(ctx context.Context, in engine.TakeBackIn) (engine.UndoItems, error) {
	var out engine.UndoItems
	for i, way := range in.Ways {
		if err := ctx.Err(); err != nil {
			return out, fmt.Errorf("undo: %w", err)
		}
		way, err := u.goBack(ctx, in.StepRef, fmt.Sprintf("undo:%d", i), way)
		if err != nil {
			return out, failure.WithCode(fmt.Errorf("undo %s: %w", way.Change.Name, err), failure.Output)
		}
		out.Ways = append(out.Ways, way)
		if way.Fate == engine.FateDone {
			engine.Report(ctx, engine.Event{Kind: engine.EventInfo, Step: in.Step, Name: way.Change.Name, Message: way.Change.String()})
		}
	}
	var kept []string
	for _, way := range out.Ways {
		if way.Fate == engine.FateKept {
			kept = append(kept, way.Change.Name)
		}
	}
	if err := u.History.TakeBackParts(ctx, in.Run, in.Of, kept); err != nil {
		return out, err
	}
	memories, lost, err := u.known(ctx, in.Memories)
	if err != nil {
		return out, err
	}
	out.Ways = append(out.Ways, lost...)
	out.Memories, err = u.History.TakeBack(ctx, in.Run, memories)
	return out, err
}

// goBack makes one change that takes others back, or returns why not.
func (u *Undo) goBack(ctx context.Context, ref engine.StepRef, call string, way engine.WayBack) (engine.WayBack, error) {
	ref.Workflow = way.Workflow                             // what comes back must not trigger it
	_, made, err := u.Changes.Record.Latest(ctx, ref, call) // also by an attempt that failed later: it had the same plan
	begun := err == nil
	if err != nil && !errors.Is(err, engine.ErrNotFound) {
		return way, err
	}
	at, err := change.StateOf(way.Change, u.Changes.Digest)
	switch {
	case err != nil:
		return way, err
	case made && at != change.Before:
		way.Fate = engine.FateDone
		return way, nil
	case at == change.After && begun:
		way.Fate = engine.FateDone
		return way, u.Changes.Made(ctx, ref, call, way.Change)
	case at == change.Before:
		return u.carryBack(ctx, ref, call, way)
	}
	return u.stays(ctx, way, at, u.Changes.Digest)
}

// carryBack makes the change, whose file is as the run left it.
func (u *Undo) carryBack(ctx context.Context, ref engine.StepRef, call string, way engine.WayBack) (engine.WayBack, error) {
	lost, err := u.lost(ctx, way.Change)
	if err != nil || lost != "" {
		way.Fate, way.Reason = engine.FateKept, lost
		return way, err
	}
	back := way.Change
	back.Doubt = false
	by := author(ref)
	if ruling := u.Changes.Rule(by, back); ruling.Verdict != policy.VerdictAllowed {
		way.Fate, way.Reason = engine.FateKept, "it "+ruling.Reason
		return way, nil
	}
	err = u.Changes.Make(ctx, by, call, back, "")
	if errors.Is(err, vault.ErrConflict) { // this very moment
		return u.stays(ctx, way, change.Other, u.Changes.Digest)
	}
	way.Fate, way.Change = engine.FateDone, back
	return way, err
}

// author makes changes that were found in a run's record.
func author(ref engine.StepRef) change.Author {
	return change.Author{Ref: ref, Ask: policy.Request{Writer: policy.ByUndo, Recorded: true}, Restores: true}
}

// lost returns why a content cannot come back, or "".
func (u *Undo) lost(ctx context.Context, c engine.Change) (string, error) {
	if c.Kind == engine.ChangeMove || c.After == "" {
		return "", nil
	}
	_, err := u.Changes.Blobs.Get(ctx, c.After)
	if errors.Is(err, engine.ErrNotFound) {
		return "what it held before is no longer kept (engine.retention)", nil
	}
	return "", err
}

// stays returns why a file that has changed since the run is left alone.
func (u *Undo) stays(ctx context.Context, way engine.WayBack, at change.State, now func(string) (string, error)) (engine.WayBack, error) {
	c := way.Change
	if way.Fate = engine.FateNothing; at == change.After {
		return way, nil
	}
	way.Fate = engine.FateKept
	here, err := now(c.Name)
	if err != nil {
		return way, err
	}
	writer := ""
	if here != "" {
		if writer, err = u.History.WriterSince(ctx, way.Run, c.Name, here); err != nil {
			return way, err
		}
	}
	switch {
	case c.Kind == engine.ChangeMove && here == c.Before:
		way.Reason = fmt.Sprintf("it stays where it is, since another file is at %s now", c.To)
	case c.Doubt:
		way.Reason = "the program ended while the run was changing it, and it was changed since: whether it holds the run's change is not known"
	case here == "":
		way.Reason = "it was moved or deleted since"
	case c.Before == "":
		way.Reason = "another file is there now"
	case writer != "":
		way.Reason = fmt.Sprintf("run %s changed it since: undo that one first", writer)
	default:
		way.Reason = "somebody has changed it since"
	}
	return way, nil
}

// known are the memories whose values are still kept; lost are the others, as changes that cannot be undone.
func (u *Undo) known(ctx context.Context, list []engine.Memory) (known []engine.Memory, lost []engine.WayBack, err error) {
	for _, m := range list {
		reason := ""
		if m.Variable && m.Before != "" {
			if reason, err = u.lost(ctx, engine.Change{Kind: engine.ChangeWrite, After: m.Before}); err != nil {
				return nil, nil, err
			}
		}
		if reason == "" {
			known = append(known, m)
			continue
		}
		c := engine.Change{Kind: engine.ChangeWrite, Name: "variable " + m.Name, Before: m.After, After: m.Before}
		lost = append(lost, engine.WayBack{Change: c, Run: m.Run, Workflow: m.Workflow, Fate: engine.FateKept, Reason: reason})
	}
	return known, lost, nil
}
