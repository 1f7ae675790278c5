package step

import (
	"context"
	"errors"
	"io/fs"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step/defuse"
	"github.com/vaultflow/vaultflow/tools"
)

// callStore is the vault to one call of a tool. It implements tools.Store.
type callStore struct {
	*toolbox
	tool string
}

// Read implements tools.Store.
func (c *callStore) Read(name string, limit int64) ([]byte, string, error) {
	data, digest, err := c.w.Vault.Read(name, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && limit > 0 {
		if digest, whole := c.w.digest(name); whole == nil { // too large to be changed, and not to be moved
			return nil, digest, nil
		}
	}
	return data, digest, err
}

// Change implements tools.Store.
func (c *callStore) Change(ctx context.Context, t tools.Change) error {
	t, found, err := c.inert(ctx, t, c)
	if err != nil {
		return c.unlessPassing(stateFailure(err))
	}
	return c.put(ctx, t, found)
}

// put carries out a change as it is; found is what was made inert in it.
func (c *callStore) put(ctx context.Context, t tools.Change, found []engine.Defused) error {
	change := engine.Change{Kind: t.Kind, Name: t.Name, To: t.To, Before: t.Base, Tool: c.tool}
	var err error
	switch t.Kind {
	case tools.ChangeCreate, tools.ChangeWrite:
		if change.After, err = c.w.Blobs.Put(ctx, t.Data); err != nil {
			return c.unlessPassing(stateFailure(err))
		}
	case tools.ChangeMove:
		change.After = t.Base
	}
	err = c.changer(change).change(ctx, c.call, change, t.Said)
	if errors.Is(err, errEdited) {
		return tools.ErrChanged
	}
	if err != nil {
		return c.unlessPassing(outputFailure(err))
	}
	c.changes, c.defused = append(c.changes, change), append(c.defused, found...)
	return nil
}

// inert is a change without what loads, runs or leads out, when the model was shown something untrusted before. What the
// file holds already is read from vault.
func (c *callStore) inert(ctx context.Context, t tools.Change, vault reads) (tools.Change, []engine.Defused, error) {
	if t.Kind != tools.ChangeCreate && t.Kind != tools.ChangeWrite {
		return t, nil, nil
	}
	exit, err := c.cleanExit(ctx)
	if exit == nil || err != nil {
		return t, nil, err
	}
	var old []byte
	if t.Base != "" {
		if old, _, err = vault.Read(t.Name, max(c.w.MaxText, int64(len(t.Data)))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return t, nil, err
		}
	}
	text, found := defuse.Text(t.Name, string(t.Data), string(old), exit.rules)
	t.Data = []byte(text)
	return t, inert(t.Name, text, t.Data, found), nil
}

// unlessPassing keeps what passes from the model, which could do nothing about it: the turn is begun again.
func (c *callStore) unlessPassing(err error) error {
	if failure.IsTransient(err) {
		c.broken = err
	}
	return err
}

func (c *callStore) changer(change engine.Change) changer {
	ask := c.s.asking(policy.ByTool, change.Name, change.To)
	ask.Asked, ask.Origins = c.s.asks(), c.in.Origins
	ask.Use = c.granted(policy.Use{Tool: c.tool, Writes: true, Changes: touched(change)})
	return changer{c.w, c.in.StepRef, ask, c.comesFrom(change)}
}

// again finds out what became of a call's change when this process died while it was at work. found is false when the call
// has changed nothing yet: then it is carried out. Otherwise the change is finished, or left alone when somebody has edited
// the file since.
func (c *callStore) again(ctx context.Context) (result content.ToolResult, found bool, err error) {
	if c.w.Changes == nil {
		return result, false, nil
	}
	change, said, made, err := c.w.Changes.Intended(ctx, c.in.StepRef, c.call)
	if errors.Is(err, engine.ErrNotFound) {
		return result, false, nil
	}
	if err != nil {
		return result, false, err
	}
	done := content.ToolResult{Success: true, Blocks: []content.Block{content.Text{Value: said}}, FilesChanged: touched(change)}
	if made {
		c.changes = append(c.changes, change)
		return done, true, nil
	}
	switch at, err := state(change, c.w.digestNow); {
	case err != nil:
		return result, false, err
	case at == isBefore:
		if err := c.changer(change).make(ctx, change); errors.Is(err, errEdited) {
			return c.inDoubt(change), true, nil
		} else if err != nil {
			return result, false, err
		}
	case at == isOther:
		return c.inDoubt(change), true, nil
	}
	c.changes = append(c.changes, change)
	return done, true, c.w.Changes.Made(ctx, c.in.StepRef, c.call, true)
}

func touched(c engine.Change) []string {
	if c.To != "" {
		return []string{c.Name, c.To}
	}
	return []string{c.Name}
}

// inDoubt records a change of which nobody can tell whether it was made.
func (c *callStore) inDoubt(change engine.Change) content.ToolResult {
	change.Doubt = true
	c.changes = append(c.changes, change)
	return tools.Failed("the program ended while %s was at work, and somebody has changed %s since: nothing more was done to it; read it to see whether the change is in it",
		c.tool, change.Name)
}
