package toolbox

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/step/defuse"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/vault"
)

var (
	_ tools.Store = (*callStore)(nil)
	_ tools.Store = guardedStore{}
)

// callStore is the vault as one call of a tool uses it.
type callStore struct {
	t    *turn
	tool string
}

// Read implements tools.Store.
func (c *callStore) Read(name string, limit int64) ([]byte, string, error) {
	data, digest, err := c.t.box.changes.Vault.Read(name, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && limit > 0 {
		if digest, whole := c.t.box.changes.Hash(name); whole == nil { // too large to edit, but it can be moved
			return nil, digest, nil
		}
	}
	return data, digest, err
}

// Change implements tools.Store.
func (c *callStore) Change(ctx context.Context, wanted tools.Change) error {
	inert, found, err := c.inert(ctx, wanted, c)
	if err != nil {
		return c.unlessPassing(failure.WithCode(err, failure.State))
	}
	return c.put(ctx, inert, found)
}

// put makes a change unaltered; found is what was made inert in it.
func (c *callStore) put(ctx context.Context, wanted tools.Change, found []engine.Defused) error {
	made := engine.Change{Kind: wanted.Kind, Name: wanted.Name, To: wanted.To, Before: wanted.Base, Tool: c.tool}
	var err error
	switch wanted.Kind {
	case tools.ChangeCreate, tools.ChangeWrite:
		if made.After, err = c.t.box.stored.Blobs.Put(ctx, wanted.Data); err != nil {
			return c.unlessPassing(failure.WithCode(err, failure.State))
		}
	case tools.ChangeMove:
		return c.move(ctx, wanted)
	}
	err = c.t.box.changes.Make(ctx, c.author(made), c.t.call, made, wanted.Said)
	if errors.Is(err, vault.ErrConflict) {
		return err
	}
	if err != nil {
		return c.unlessPassing(failure.WithCode(err, failure.Output))
	}
	c.t.changes, c.t.defused = append(c.t.changes, made), append(c.t.defused, found...)
	return nil
}

// move moves a file or an imported document, and lets the links follow.
func (c *callStore) move(ctx context.Context, wanted tools.Change) error {
	move, err := c.t.box.mover.Identified(wanted.Name, wanted.To)
	if err != nil {
		return err
	}
	if move.Tool = c.tool; move.Note == "" && move.Before != wanted.Base {
		return vault.ErrConflict
	}
	made, warnings, err := c.t.box.mover.Make(ctx, c.author(move), c.t.call, move, wanted.Said)
	c.t.changes, c.t.blocked = append(c.t.changes, made...), append(c.t.blocked, warnings...)
	if errors.Is(err, vault.ErrConflict) {
		return err
	}
	return c.unlessPassing(failure.WithCode(err, failure.Output))
}

// follow completes the links of a move that was made before a crash.
func (c *callStore) follow(ctx context.Context, move engine.Change) error {
	if move.Kind != engine.ChangeMove {
		return nil
	}
	made, warnings, err := c.t.box.mover.Follow(ctx, c.author(move), c.t.call, move)
	c.t.changes, c.t.blocked = append(c.t.changes, made...), append(c.t.blocked, warnings...)
	return err
}

// inert returns a change without anything that loads, runs or links out, if the model has seen untrusted content. The file's present
// content is read from a Reader.
func (c *callStore) inert(ctx context.Context, wanted tools.Change, from vault.Reader) (tools.Change, []engine.Defused, error) {
	if wanted.Kind != tools.ChangeCreate && wanted.Kind != tools.ChangeWrite {
		return wanted, nil, nil
	}
	exit, err := c.t.cleanExit(ctx)
	if exit == nil || err != nil {
		return wanted, nil, err
	}
	var old []byte
	if wanted.Base != "" {
		if old, _, err = from.Read(wanted.Name, max(c.t.box.changes.MaxText, int64(len(wanted.Data)))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return wanted, nil, err
		}
	}
	text, found := defuse.Text(wanted.Name, string(wanted.Data), string(old), exit.Rules)
	wanted.Data = []byte(text)
	return wanted, step.Inert(wanted.Name, text, wanted.Data, found), nil
}

// unlessPassing keeps a transient error from the model: the whole turn is repeated.
func (c *callStore) unlessPassing(err error) error {
	if failure.IsTransient(err) {
		c.t.broken = err
	}
	return err
}

// author returns the author of a change. Its text comes from all that the model was shown so far, and from the results of this turn,
// which later tools may pass on. A call that does exactly what the user approved counts as approved.
func (c *callStore) author(made engine.Change) change.Author {
	t := c.t
	ask := t.box.mover.Request(t.s, policy.ByTool, made)
	ask.Asked, ask.Origins = asks(t.s), t.in.Origins
	ask.Use = guard{t}.granted(policy.Use{Tool: c.tool, Writes: true, Changes: touched(made)})
	by := change.Author{Ref: t.in.StepRef, Ask: ask, Shown: origin.Join(t.in.Origins, slices.Concat(t.origins, t.vars.origins)...)}
	for _, v := range t.in.Verdicts {
		agreed := cmp.Or(v.Edited, v.After)
		by.Approved = by.Approved || v.Call == t.call && v.Approved && agreed != "" && agreed == made.After
	}
	return by
}

// again completes a call's change after a crash. found is false if the call has changed nothing yet. Otherwise the change is
// finished, or left alone if someone has edited the file since.
func (c *callStore) again(ctx context.Context) (result content.ToolResult, found bool, err error) {
	t, record := c.t, c.t.box.changes.Record
	if record == nil {
		return result, false, nil
	}
	intended, said, made, err := record.Intended(ctx, t.in.StepRef, t.call)
	if errors.Is(err, engine.ErrNotFound) {
		return result, false, nil
	}
	if err != nil {
		return result, false, err
	}
	done := content.ToolResult{Success: true, Blocks: []content.Block{content.Text{Value: said}}, FilesChanged: touched(intended)}
	if made {
		t.changes = append(t.changes, intended)
		return done, true, c.follow(ctx, intended)
	}
	switch at, err := change.StateOf(intended, t.box.changes.Digest); {
	case err != nil:
		return result, false, err
	case at == change.Before:
		if err := t.box.changes.Repeat(ctx, c.author(intended), intended); errors.Is(err, vault.ErrConflict) {
			return c.inDoubt(intended), true, nil
		} else if err != nil {
			return result, false, err
		}
	case at == change.Other:
		return c.inDoubt(intended), true, nil
	}
	t.changes = append(t.changes, intended)
	if err := t.box.changes.Made(ctx, t.in.StepRef, t.call, intended); err != nil {
		return done, true, err
	}
	return done, true, c.follow(ctx, intended)
}

func touched(c engine.Change) []string {
	if c.To != "" {
		return []string{c.Name, c.To}
	}
	return []string{c.Name}
}

// inDoubt records a change that may or may not have been made.
func (c *callStore) inDoubt(intended engine.Change) content.ToolResult {
	intended.Doubt = true
	c.t.changes = append(c.t.changes, intended)
	return tools.Failed("vaultflow stopped during %s, and %s was edited since: it is left alone; read it to see whether it has the change",
		c.tool, intended.Name)
}

// guardedStore is the vault as a call uses it that needs approval, or is only tried.
type guardedStore struct{ c *callStore }

// Read implements tools.Store: a trial sees what earlier trials would write.
func (g guardedStore) Read(name string, limit int64) ([]byte, string, error) {
	if trial := g.c.t.trial; trial != nil {
		if data, ok := trial.contents[name]; ok {
			return data, vault.Digest(data), nil
		}
	}
	return g.c.Read(name, limit)
}

// Change implements tools.Store: it makes the change that was approved, and no other.
func (g guardedStore) Change(ctx context.Context, wanted tools.Change) error {
	t := g.c.t
	shown, _, err := g.c.inert(ctx, wanted, g)
	if err != nil {
		return g.c.unlessPassing(failure.WithCode(err, failure.State))
	}
	if t.trial != nil {
		t.trial.change = &shown
		return nil
	}
	after := ""
	switch wanted.Kind {
	case tools.ChangeCreate, tools.ChangeWrite:
		after = vault.Digest(shown.Data)
	case tools.ChangeMove:
		after = wanted.Base
	}
	v, asked := consent{t}.verdict()
	switch {
	case !asked:
		return errors.New("this change was not submitted for approval: call again")
	case v.Before != wanted.Base || v.After != after:
		return errors.New("it differs from what was submitted for approval: call again to submit the present change")
	}
	if v.Edited != "" {
		edited, err := t.box.stored.Blobs.Get(ctx, v.Edited)
		if err != nil {
			return err
		}
		wanted.Data, wanted.Said = edited, wanted.Said+editedWords
		return g.c.put(ctx, wanted, nil) // the user's own text
	}
	return g.c.Change(ctx, wanted)
}
