package vaulttest

import (
	"context"
	"io"
	"maps"
	"path"
	"slices"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Around is called for each change of an intercepted vault: what is "write Note.md", "move a b", "remove a", "drop a",
// "copy a b",
// "supplant a b", "tidy a", "stage id", "put a" (into a bundle), "unput a", "publish a" or "discard .vaultflow-id". do makes the change. Around may
// leave it out, do something before or after it, and return another error.
type Around func(what string, do func() error) error

// Intercept returns a vault whose changes go through around. It may be called by several goroutines when around may.
func Intercept(v vault.Vault, around Around) vault.Vault { return intercepted{v, around} }

type intercepted struct {
	vault.Vault
	around Around
}

var (
	_ vault.Vault  = intercepted{}
	_ vault.Bundle = interceptedBundle{}
)

func (i intercepted) Write(ctx context.Context, pass policy.Pass, data []byte, base string) error {
	return i.around("write "+pass.Name(), func() error { return i.Vault.Write(ctx, pass, data, base) })
}

func (i intercepted) Move(ctx context.Context, pass policy.Pass) error {
	return i.around("move "+pass.Name()+" "+pass.To(), func() error { return i.Vault.Move(ctx, pass) })
}

func (i intercepted) Remove(ctx context.Context, pass policy.Pass, sha256 string) error {
	return i.around("remove "+pass.Name(), func() error { return i.Vault.Remove(ctx, pass, sha256) })
}

func (i intercepted) Drop(ctx context.Context, pass policy.Pass, r io.Reader, name string) (dropped, sha256 string, err error) {
	err = i.around("drop "+name, func() error { dropped, sha256, err = i.Vault.Drop(ctx, pass, r, name); return err })
	return dropped, sha256, err
}

func (i intercepted) Copy(ctx context.Context, pass policy.Pass, from, sha256 string, size int64) error {
	return i.around("copy "+from+" "+pass.Name(), func() error { return i.Vault.Copy(ctx, pass, from, sha256, size) })
}

func (i intercepted) Supplant(ctx context.Context, pass policy.Pass, sha256 string) error {
	return i.around("supplant "+pass.Name()+" "+pass.To(), func() error { return i.Vault.Supplant(ctx, pass, sha256) })
}

func (i intercepted) RemoveEmptyFolders(pass policy.Pass, dir string) error {
	return i.around("tidy "+dir, func() error { return i.Vault.RemoveEmptyFolders(pass, dir) })
}

func (i intercepted) Stage(pass policy.Pass, id string) (b vault.Bundle, err error) {
	err = i.around("stage "+id, func() error { b, err = i.Vault.Stage(pass, id); return err })
	if err != nil {
		if b != nil {
			b.Close() // the process that staged it has ended
		}
		return nil, err
	}
	return interceptedBundle{b, i.around, path.Join(pass.Name(), ".vaultflow-"+id)}, nil
}

type interceptedBundle struct {
	vault.Bundle
	around Around
	dir    string
}

func (b interceptedBundle) WriteFile(name string, data []byte) error {
	return b.around("put "+name, func() error { return b.Bundle.WriteFile(name, data) })
}

func (b interceptedBundle) RemoveFile(name string) error {
	return b.around("unput "+name, func() error { return b.Bundle.RemoveFile(name) })
}

// WriteFiles writes the files one by one, so that around may come between any two.
func (b interceptedBundle) WriteFiles(files map[string][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := b.WriteFile(name, files[name]); err != nil {
			return err
		}
	}
	return nil
}

func (b interceptedBundle) Publish(pass policy.Pass) error {
	return b.around("publish "+pass.Name(), func() error { return b.Bundle.Publish(pass) })
}

func (b interceptedBundle) Discard() error {
	return b.around("discard "+path.Base(b.dir), b.Bundle.Discard)
}
