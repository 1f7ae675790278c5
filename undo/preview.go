package undo

import (
	"context"
	"errors"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/engine/diff"
	"github.com/vaultflow/vaultflow/policy"
)

// Preview returns what undoing a run would do now, and changes nothing. Changes that follow each other on one file are
// looked at as if those before had been made.
func (u *Undo) Preview(ctx context.Context, run string) (engine.UndoPreview, error) {
	record, err := u.History.Run(ctx, run)
	if err != nil {
		return engine.UndoPreview{}, err
	}
	preview := engine.UndoPreview{Run: record}
	plan, err := u.plan(ctx, record)
	if err != nil {
		return preview, err
	}
	then := map[string]string{} // by name: what a file will hold
	now := func(name string) (string, error) {
		if digest, changed := then[name]; changed {
			return digest, nil
		}
		return u.Changes.Digest(name)
	}
	for _, way := range plan.Ways {
		file := engine.UndoFile{WayBack: way}
		if err := u.look(ctx, &file, now, then); err != nil {
			return preview, err
		}
		preview.Files = append(preview.Files, file)
	}
	standing, err := u.History.Standing(ctx, plan.Memories)
	if err != nil {
		return preview, err
	}
	known, lost, err := u.known(ctx, standing)
	for _, way := range lost {
		preview.Files = append(preview.Files, engine.UndoFile{WayBack: way})
	}
	preview.Memories = known
	return preview, err
}

func (u *Undo) look(ctx context.Context, file *engine.UndoFile, now func(string) (string, error), then map[string]string) error {
	c := file.Change
	at, err := change.StateOf(c, now)
	if err != nil {
		return err
	}
	if at != change.Before {
		file.WayBack, err = u.stays(ctx, file.WayBack, at, now)
		return err
	}
	reason, err := u.lost(ctx, c)
	if ruling := u.Changes.Rule(author(engine.StepRef{}), c); err == nil && reason == "" && ruling.Verdict != policy.VerdictAllowed {
		reason = "it " + ruling.Reason
	}
	if err != nil || reason != "" {
		file.Fate, file.Reason = engine.FateKept, reason
		return err
	}
	if c.Kind == engine.ChangeMove {
		then[c.Name], then[c.To] = "", c.After
		return nil
	}
	then[c.Name] = c.After
	file.Diff, err = u.Diff(ctx, c)
	return err
}

// Changed returns what a run, and the runs that its tools started, did to files, in order, each with its diff; the first limit
// ones, and how many more there are.
func (u *Undo) Changed(ctx context.Context, run string, limit int) (list []engine.ChangeDiff, more int, err error) {
	trail, err := u.History.Trail(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	more = max(0, len(trail)-limit)
	for _, c := range trail[:len(trail)-more] {
		d := engine.ChangeDiff{RunChange: c}
		if c.Change.Kind != engine.ChangeMove {
			if d.Diff, err = u.Diff(ctx, c.Change); err != nil {
				return nil, 0, err
			}
		}
		list = append(list, d)
	}
	return list, more, nil
}

// Diff is the unified diff of a change, from the contents that are kept and the one that the file has now; a sentence
// when one of them is gone.
func (u *Undo) Diff(ctx context.Context, c engine.Change) (string, error) {
	before, gone, err := u.kept(ctx, c.Name, c.Before)
	if err != nil {
		return "", err
	}
	after, lost, err := u.kept(ctx, c.Name, c.After)
	if err != nil {
		return "", err
	}
	if gone || lost {
		return "what it held is no longer kept\n", nil
	}
	side := func(digest string) string {
		if digest == "" {
			return ""
		}
		return c.Name
	}
	return diff.Unified(before, after, side(c.Before), side(c.After)), nil
}

// kept is a content of a file: a blob, or what the file holds now.
func (u *Undo) kept(ctx context.Context, name, digest string) (data []byte, gone bool, err error) {
	if digest == "" {
		return nil, false, nil
	}
	data, err = u.Changes.Blobs.Get(ctx, digest)
	if !errors.Is(err, engine.ErrNotFound) {
		return data, false, err
	}
	data, have, err := u.Changes.Vault.Read(name, u.Changes.MaxText)
	return data, err != nil || have != digest, nil
}
