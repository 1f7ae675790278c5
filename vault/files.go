package vault

import (
	"context"
	"io"
	"io/fs"

	"github.com/vaultflow/vaultflow/policy"
)

// Files is a vault in the hands of one writer. It asks the gate before each change, so its methods take plain names.
type Files struct {
	vault Vault
	gate  policy.Gate
	who   policy.Writer
}

var _ Reader = Files{}

// NewFiles returns the vault as one writer may change it.
func NewFiles(v Vault, gate policy.Gate, who policy.Writer) Files { return Files{v, gate, who} }

// pass asks the gate. The action on a folder or a file needs no second name; a move does.
func (f Files) pass(action policy.Action, name, to string) (policy.Pass, error) {
	r := policy.Request{Writer: f.who, Action: action, Place: policy.Look(f.vault.FS(), name)}
	if to != "" {
		r.To = policy.Look(f.vault.FS(), to)
	}
	return f.gate.Decide(r).Pass()
}

// FS is the vault for reading.
func (f Files) FS() fs.FS { return f.vault.FS() }

// Read implements [Reader].
func (f Files) Read(name string, limit int64) (data []byte, sha256 string, err error) {
	return f.vault.Read(name, limit)
}

// Write puts data into a file, on the conditions of [Writer].
func (f Files) Write(ctx context.Context, name string, data []byte, base string) error {
	action := policy.Create
	if base != "" {
		action = policy.Change
	}
	pass, err := f.pass(action, name, "")
	if err != nil {
		return err
	}
	return f.vault.Write(ctx, pass, data, base)
}

// Move renames a file or a folder, on the conditions of [Writer].
func (f Files) Move(ctx context.Context, from, to string) error {
	pass, err := f.pass(policy.Move, from, to)
	if err != nil {
		return err
	}
	return f.vault.Move(ctx, pass)
}

// Remove removes a file, on the conditions of [Writer].
func (f Files) Remove(ctx context.Context, name, sha256 string) error {
	pass, err := f.pass(policy.Delete, name, "")
	if err != nil {
		return err
	}
	return f.vault.Remove(ctx, pass, sha256)
}

// Drop copies r into the import folder, see [Vault].
func (f Files) Drop(ctx context.Context, r io.Reader, name string) (dropped, sha256 string, err error) {
	pass, err := f.pass(policy.Fill, f.vault.ImportDir(), "")
	if err != nil {
		return "", "", err
	}
	return f.vault.Drop(ctx, pass, r, name)
}

// Copy copies the first size bytes of a file to a new name, see [Vault].
func (f Files) Copy(ctx context.Context, from, to, sha256 string, size int64) error {
	pass, err := f.pass(policy.Create, to, "")
	if err != nil {
		return err
	}
	return f.vault.Copy(ctx, pass, from, sha256, size)
}

// Supplant moves a file over a copy of it, see [Vault].
func (f Files) Supplant(ctx context.Context, from, to, sha256 string) error {
	pass, err := f.pass(policy.Move, from, to)
	if err != nil {
		return err
	}
	return f.vault.Supplant(ctx, pass, sha256)
}

// RemoveEmptyFolders removes the folder dir and those above it, up to top, as long as they are empty.
func (f Files) RemoveEmptyFolders(dir, top string) error {
	pass, err := f.pass(policy.Tidy, top, "")
	if err != nil {
		return err
	}
	return f.vault.RemoveEmptyFolders(pass, dir)
}

// Stage opens a hidden folder in the folder dir, see [Vault].
func (f Files) Stage(dir, id string) (Bundle, error) {
	pass, err := f.pass(policy.Fill, dir, "")
	if err != nil {
		return nil, err
	}
	return f.vault.Stage(pass, id)
}

// Publish renames a bundle to its name, see [Bundle]. aside is the folder of the version that it replaces, or empty.
func (f Files) Publish(b Bundle, target, aside string) error {
	r := policy.Request{Writer: f.who, Action: policy.Publish, Place: policy.Look(f.vault.FS(), target)}
	if aside != "" {
		r.Version = policy.Look(f.vault.FS(), aside)
	}
	pass, err := f.gate.Decide(r).Pass()
	if err != nil {
		return err
	}
	return b.Publish(pass)
}
