package step

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Changes keeps what runs do to files of the vault: each change before it is made, so that what is repeated after a crash
// does not make it twice, and so that it can be taken back.
type Changes interface {
	// Intended gives the change that a call was about to make in this attempt of the run, with what the model is told of it;
	// made says that it is known to be made. engine.ErrNotFound when there is none.
	Intended(ctx context.Context, ref engine.StepRef, call string) (c engine.Change, said string, made bool, err error)
	// Intend keeps a change that is about to be made, in place of an earlier one of the call.
	Intend(ctx context.Context, ref engine.StepRef, call string, c engine.Change, said string, now time.Time) error
	// Made says that the change of a call was made, or that it was not.
	Made(ctx context.Context, ref engine.StepRef, call string, made bool) error
	// Latest is Intended over all attempts of the run.
	Latest(ctx context.Context, ref engine.StepRef, call string) (c engine.Change, made bool, err error)
}

// errEdited says that a file is not as it was when a change of it was thought of: nothing was done.
var errEdited = errors.New("it was changed meanwhile")

// changer makes changes to files of the vault for a step. Everything that a run does to a file goes this way, tools, outputs
// and undo alike.
type changer struct {
	w   *Workflow
	ref engine.StepRef
	ask policy.Request // who writes, and what the gate needs to know besides the change

	from provenance // where the text comes from
}

// change keeps the content before, then the intention, then makes the change; call is the change's place in the step. The
// content to come is a blob already. After an error nothing is left, unless the vault has made the change all the same: then
// the intention stays, for the next attempt to see it.
func (c changer) change(ctx context.Context, call string, change engine.Change, said string) error {
	if c.w.Changes == nil {
		return errors.New("files cannot be changed here")
	}
	if _, err := c.pass(change); err != nil {
		return err
	}
	if change.Before != "" && change.Kind != engine.ChangeMove {
		if err := c.keep(ctx, change.Name, change.Before); err != nil {
			return err
		}
	}
	if err := c.record(ctx, change); err != nil {
		return err
	}
	if err := c.w.Changes.Intend(ctx, c.ref, call, change, said, c.w.now()); err != nil {
		return err
	}
	if err := c.make(ctx, change); err != nil {
		return errors.Join(err, c.forget(ctx, call, change))
	}
	c.w.wrote.Store(cmp.Or(change.To, change.Name), change.After)
	if err := c.recorded(ctx, change); err != nil {
		return err
	}
	return c.w.Changes.Made(ctx, c.ref, call, true)
}

// forget takes back the intention of a change that failed, if the vault shows that nothing was done.
func (c changer) forget(ctx context.Context, call string, change engine.Change) error {
	if at, err := state(change, c.w.digestNow); err != nil || at == isAfter {
		return err
	}
	return c.w.Changes.Made(context.WithoutCancel(ctx), c.ref, call, false)
}

// maxKeptBefore is the largest file whose content is kept before it is removed or written over, in bytes.
const maxKeptBefore = 64 << 20

// keep makes a blob of the content that a file has now, which must be the one of the digest.
func (c changer) keep(ctx context.Context, name, digest string) error {
	data, have, err := c.w.Vault.Read(name, maxKeptBefore)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errEdited
	case err != nil:
		if whole, found := c.w.digest(name); found == nil && whole == digest {
			return fmt.Errorf("it is larger than %s, and could not be brought back", content.FormatSize(maxKeptBefore))
		}
		return err
	case have != digest:
		return errEdited
	}
	_, err = c.w.Blobs.Put(ctx, data)
	return err
}

// make carries a change out on condition that the vault is as it was when the change was thought of.
func (c changer) make(ctx context.Context, change engine.Change) error {
	err := c.carryOut(ctx, change)
	if errors.Is(err, vault.ErrConflict) || errors.Is(err, fs.ErrExist) {
		return errEdited
	}
	return err
}

func (c changer) carryOut(ctx context.Context, change engine.Change) error {
	pass, err := c.pass(change)
	if err != nil {
		return err
	}
	switch change.Kind {
	case engine.ChangeMove, engine.ChangeDelete:
		if change.Kind == engine.ChangeDelete {
			return c.w.Vault.Remove(ctx, pass, change.Before)
		}
		if err := c.writing(ctx, change.To, change.After); err != nil {
			return err
		}
		return c.w.Vault.Move(ctx, pass)
	}
	data, err := c.w.Blobs.Get(ctx, change.After)
	if err != nil {
		return err
	}
	if err := c.writing(ctx, change.Name, change.After); err != nil {
		return err
	}
	return c.w.Vault.Write(ctx, pass, data, change.Before)
}

// writing tells that the workflow writes this content itself, so that it does not trigger itself.
func (c changer) writing(ctx context.Context, name, digest string) error {
	return c.w.Memory.Writing(ctx, c.ref, []engine.StagedFile{{Name: name, New: digest}})
}

// What the vault shows of a change.
const (
	isBefore = iota // it was not made
	isAfter         // it was made
	isOther         // somebody else was there
)

// state compares the vault with what a change begins and ends with. now gives the digest of a file, empty when there is none.
func state(change engine.Change, now func(name string) (string, error)) (int, error) {
	here, err := now(change.Name)
	if err != nil {
		return isOther, err
	}
	if change.Kind == engine.ChangeMove {
		there, err := now(change.To)
		switch {
		case err != nil:
			return isOther, err
		case here == "" && there == change.After:
			return isAfter, nil
		case here == change.Before && (there == "" || there == here):
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
func (w *Workflow) digestNow(name string) (string, error) {
	digest, err := w.current(name)
	if err != nil {
		return w.digest(name)
	}
	return digest, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
