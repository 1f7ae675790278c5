package daemon

import (
	"context"
	"io"

	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// Gated is the vault to one writer: each change asks the gate first.
type Gated struct {
	v    *disk.Vault
	gate policy.Gate
	who  policy.Writer
}

// NewGated returns the vault to a writer.
func NewGated(v *disk.Vault, gate policy.Gate, who policy.Writer) Gated { return Gated{v, gate, who} }

// gate decides about every change of the vault.
func (a *Workspace) gate() policy.Gate {
	v := a.Settings.Vault
	return policy.Gate{
		WorkflowsDir: v.WorkflowsDir, ImportDir: v.ImportDir, ImportedDir: v.ImportedDir, StatusNote: a.Settings.Engine.StatusNote,
	}
}

// writing is the vault to a writer.
func (a *Workspace) Writing(who policy.Writer) Gated { return Gated{a.Vault, a.gate(), who} }

func (g Gated) pass(action policy.Action, name, to string) (policy.Pass, error) {
	r := policy.Request{Writer: g.who, Action: action, Place: policy.Look(g.v.FS(), name)}
	if to != "" {
		r.To = policy.Look(g.v.FS(), to)
	}
	return g.gate.Decide(r).Pass()
}

// Read reads a file of the vault.
func (g Gated) Read(name string, limit int64) (data []byte, sha256 string, err error) {
	return g.v.Read(name, limit)
}

// Write is the vault's Write.
func (g Gated) Write(ctx context.Context, name string, data []byte, base string) error {
	action := policy.Create
	if base != "" {
		action = policy.Change
	}
	pass, err := g.pass(action, name, "")
	if err != nil {
		return err
	}
	return g.v.Write(ctx, pass, data, base)
}

// Move is the vault's Move.
func (g Gated) Move(ctx context.Context, from, to string) error {
	pass, err := g.pass(policy.Move, from, to)
	if err != nil {
		return err
	}
	return g.v.Move(ctx, pass)
}

// Endless implements ingestion.Holder.
func (Gated) Endless(head []byte) bool { return !disk.ShowsEnd(head) }

// Copy implements ingestion.Holder.
func (g Gated) Copy(ctx context.Context, from, to, sha256 string, size int64) error {
	pass, err := g.pass(policy.Create, to, "")
	if err != nil {
		return err
	}
	return g.v.Copy(ctx, pass, from, sha256, size)
}

// Supplant implements ingestion.Holder.
func (g Gated) Supplant(ctx context.Context, from, to, sha256 string) error {
	pass, err := g.pass(policy.Move, from, to)
	if err != nil {
		return err
	}
	return g.v.Supplant(ctx, pass, sha256)
}

// Remove is the vault's Remove.
func (g Gated) Remove(ctx context.Context, name, sha256 string) error {
	pass, err := g.pass(policy.Delete, name, "")
	if err != nil {
		return err
	}
	return g.v.Remove(ctx, pass, sha256)
}

// Drop puts a file into the import folder.
func (g Gated) Drop(ctx context.Context, r io.Reader, name string) (dropped, sha256 string, err error) {
	pass, err := g.pass(policy.Fill, g.v.ImportDir(), "")
	if err != nil {
		return "", "", err
	}
	return g.v.Drop(ctx, pass, r, name)
}

// RemoveEmptyFolders removes a folder and those above it, up to top, while nothing is in them.
func (g Gated) RemoveEmptyFolders(dir, top string) error {
	pass, err := g.pass(policy.Tidy, top, "")
	if err != nil {
		return err
	}
	return g.v.RemoveEmptyFolders(pass, dir)
}

// Stage implements ingestion.Stager.
func (g Gated) Stage(dir, id string) (ingestion.Bundle, error) {
	pass, err := g.pass(policy.Fill, dir, "")
	if err != nil {
		return nil, err
	}
	b, err := g.v.Stage(pass, id)
	if err != nil {
		return nil, err
	}
	return gatedBundle{b, g}, nil
}

// gatedBundle asks the gate for the name under which a bundle appears.
type gatedBundle struct {
	vault.Bundle
	g Gated
}

// Publish implements ingestion.Bundle.
func (b gatedBundle) Publish(target string) error {
	pass, err := b.g.pass(policy.Publish, target, "")
	if err != nil {
		return err
	}
	return b.Bundle.Publish(pass)
}
