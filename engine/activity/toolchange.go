package activity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/tools"
)

// Changes keeps what tools do to the vault: each change before it is made, so that a call that is repeated after a crash
// does not make it twice, and so that it can be taken back.
type Changes interface {
	// Intended gives the change that a call was about to make, with what the model is told of it; made says that it is
	// known to be made. engine.ErrNotFound when there is none.
	Intended(ctx context.Context, ref engine.StepRef, call string) (c engine.Change, said string, made bool, err error)
	// Intend keeps a change that is about to be made, in place of an earlier one of the call.
	Intend(ctx context.Context, ref engine.StepRef, call string, c engine.Change, said string, now time.Time) error
	// Made says that the change of a call was made, or that it was not.
	Made(ctx context.Context, ref engine.StepRef, call string, made bool) error
}

// Mover is a vault that moves and removes files. Move never overwrites: the error matches fs.ErrExist when the new name is
// taken by other bytes. Remove leaves a file that has not the given digest; the error is a conflict then. Both succeed when
// they are repeated.
type Mover interface {
	Move(ctx context.Context, from, to string) error
	Remove(ctx context.Context, name, sha256 string) error
}

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

// Change implements tools.Store: the content before and the one to come are kept, then the intention, then the change is made.
func (c *callStore) Change(ctx context.Context, t tools.Change) error {
	if c.w.Changes == nil {
		return errors.New("files cannot be changed here")
	}
	change := engine.Change{Kind: t.Kind, Name: t.Name, To: t.To, Before: t.Base, Tool: c.tool}
	var err error
	switch t.Kind {
	case tools.ChangeCreate, tools.ChangeWrite:
		if change.After, err = c.w.Blobs.Put(ctx, t.Data); err != nil {
			return err
		}
	case tools.ChangeMove:
		change.After = t.Base
	}
	if t.Kind == tools.ChangeWrite || t.Kind == tools.ChangeDelete {
		if err := c.keepBefore(ctx, t); err != nil {
			return err
		}
	}
	if err := c.w.Changes.Intend(ctx, c.in.StepRef, c.call, change, t.Said, c.w.now()); err != nil {
		return err
	}
	if err := c.make(ctx, change); err != nil {
		return errors.Join(err, c.w.Changes.Made(ctx, c.in.StepRef, c.call, false))
	}
	return c.made(ctx, change)
}

// maxKeptBefore is the largest file whose content is kept before it is removed or written over, in bytes.
const maxKeptBefore = 64 << 20

// keepBefore makes a blob of the content that a file has now.
func (c *callStore) keepBefore(ctx context.Context, t tools.Change) error {
	f, err := c.w.FS.Open(t.Name)
	if err != nil {
		if data, digest, err := c.w.Vault.Read(t.Name, maxKeptBefore); err == nil && digest == t.Base { // another spelling
			_, err = c.w.Blobs.Put(ctx, data)
			return err
		}
		return tools.ErrChanged
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKeptBefore+1))
	switch {
	case err != nil:
		return err
	case len(data) > maxKeptBefore:
		return fmt.Errorf("it is larger than %s, and could not be brought back", content.FormatSize(maxKeptBefore))
	}
	digest, err := c.w.Blobs.Put(ctx, data)
	if err == nil && digest != t.Base {
		err = tools.ErrChanged
	}
	return err
}

// make carries a change out on condition that the vault is as it was when the change was thought of.
func (c *callStore) make(ctx context.Context, change engine.Change) error {
	err := c.carryOut(ctx, change)
	if isConflict(err) || errors.Is(err, fs.ErrExist) {
		return tools.ErrChanged
	}
	return err
}

func (c *callStore) carryOut(ctx context.Context, change engine.Change) error {
	switch change.Kind {
	case engine.ChangeMove, engine.ChangeDelete:
		mover, ok := c.w.Vault.(Mover)
		if !ok {
			return errors.New("files cannot be moved here")
		}
		if change.Kind == engine.ChangeDelete {
			return mover.Remove(ctx, change.Name, change.Before)
		}
		if err := c.writing(ctx, change.To, change.After); err != nil {
			return err
		}
		return mover.Move(ctx, change.Name, change.To)
	}
	data, err := c.w.Blobs.Get(ctx, change.After)
	if err != nil {
		return err
	}
	if err := c.writing(ctx, change.Name, change.After); err != nil {
		return err
	}
	return c.w.Vault.Write(ctx, change.Name, data, change.Before)
}

// writing tells that the workflow writes this content itself, so that it does not trigger itself.
func (c *callStore) writing(ctx context.Context, name, digest string) error {
	return c.w.Memory.Writing(ctx, c.in.StepRef, []engine.StagedFile{{Name: name, New: digest}})
}

func (c *callStore) made(ctx context.Context, change engine.Change) error {
	c.changes = append(c.changes, change)
	return c.w.Changes.Made(ctx, c.in.StepRef, c.call, true)
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
	switch state, err := c.stateOf(change); {
	case err != nil:
		return result, false, err
	case state == isBefore:
		if err := c.make(ctx, change); errors.Is(err, tools.ErrChanged) {
			return c.inDoubt(change), true, nil
		} else if err != nil {
			return result, false, err
		}
	case state == isOther:
		return c.inDoubt(change), true, nil
	}
	return done, true, c.made(ctx, change)
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

// What the vault shows of a change.
const (
	isBefore = iota // it was not made
	isAfter         // it was made
	isOther         // somebody else was there
)

func (c *callStore) stateOf(change engine.Change) (int, error) {
	here, err := c.digestNow(change.Name)
	if err != nil {
		return isOther, err
	}
	if change.Kind == engine.ChangeMove {
		there, err := c.digestNow(change.To)
		switch {
		case err != nil:
			return isOther, err
		case here == "" && there == change.After:
			return isAfter, nil
		case here == change.Before:
			return isBefore, nil
		}
		return isOther, nil
	}
	switch here {
	case change.After:
		return isAfter, nil
	case change.Before:
		return isBefore, nil
	}
	return isOther, nil
}

// digestNow is the digest of a file, of any size; empty when there is none.
func (c *callStore) digestNow(name string) (string, error) {
	digest, err := c.w.current(name)
	if err != nil {
		return c.w.digest(name)
	}
	return digest, nil
}
