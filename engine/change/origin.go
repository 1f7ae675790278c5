package change

import (
	"context"
	"errors"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy/origin"
)

// recordOrigin records where the content comes from that a change brings into the vault. It comes before the change: a
// process that dies in between must leave no foreign text without a record.
func (m *Maker) recordOrigin(ctx context.Context, by Author, c engine.Change) error {
	if m.Origin == nil {
		return nil
	}
	var err error
	switch c.Kind {
	case engine.ChangeMove:
		err = m.recordMove(ctx, c)
	case engine.ChangeCreate, engine.ChangeWrite:
		err = m.recordWrite(ctx, by, c)
	}
	return failure.WithCode(err, failure.State)
}

func (m *Maker) recordMove(ctx context.Context, c engine.Change) error {
	if c.Note == "" {
		return m.Origin.Moving(ctx, c.Name, c.To, c.After)
	}
	files, err := m.moved(c)
	for _, f := range files {
		if err == nil {
			err = m.Origin.Moving(ctx, f.Base, f.Name, f.New)
		}
	}
	return err
}

func (m *Maker) recordWrite(ctx context.Context, by Author, c engine.Change) error {
	w := origin.Write{Name: c.Name, Replaces: c.Before != "", Approved: by.Approved, Restores: by.Restores}
	if len(by.Shown) > 0 {
		w.Origins = origin.OfRun(by.Ref.Run, by.Ref.Workflow, by.Shown)
	}
	var err error
	if w.After, err = m.Blobs.Get(ctx, c.After); err != nil {
		return err
	}
	if w.Replaces {
		if w.Before, err = m.Blobs.Get(ctx, c.Before); err != nil && !errors.Is(err, engine.ErrNotFound) {
			return err
		}
	}
	return m.Origin.Wrote(ctx, w)
}

// forgetOrigin forgets a name that no file has any more after a change was made.
func (m *Maker) forgetOrigin(ctx context.Context, c engine.Change) error {
	if m.Origin == nil || c.Kind != engine.ChangeMove && c.Kind != engine.ChangeDelete || folded(c.Name) == folded(c.To) {
		return nil
	}
	return failure.WithCode(m.Origin.Removed(ctx, c.Name), failure.State)
}
