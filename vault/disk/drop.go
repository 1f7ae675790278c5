package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// Available is a name that is free: the one given, or with " (2)", " (3)" … before its extension. Spellings that differ
// in case or Unicode form count as taken. Another process may take the name before it is used.
func (v *Vault) Available(name string) (string, error) {
	if err := vault.ValidName(name); err != nil {
		return "", fmt.Errorf("find a free name: %w", err)
	}
	for i := range maxNumber {
		candidate := v.actual(vault.Numbered(name, i+1))
		if _, err := v.root.Lstat(candidate); errors.Is(err, fs.ErrNotExist) {
			return candidate, nil
		} else if err != nil {
			return "", fmt.Errorf("find a free name: %w", explain(v.root, "lstat", candidate, candidate, err))
		}
	}
	return "", fmt.Errorf("find a free name: %q and %d more are taken", name, maxNumber-1)
}

const maxNumber = 10_000

// Drop copies what r gives into the import folder, where the watcher finds it, and gives its name and SHA-256. name may
// have folders; each part is made safe. Until all is there and synced the file has a name that the watcher ignores. A
// name that is taken gets a number, unless it holds the same bytes: then that file is it. ctx ends the copying.
//
// The pass is for filling the import folder.
func (v *Vault) Drop(ctx context.Context, pass policy.Pass, r io.Reader, name string) (dropped, sha256 string, err error) {
	if dir, err := v.admit(pass, policy.Fill); err != nil || vault.Fold(dir) != v.filter.importDir {
		return "", "", fmt.Errorf("import %q: %w", name, errors.Join(errPass, err))
	}
	return v.drop(ctx, r, name)
}

// drop is Drop without the permission.
func (v *Vault) drop(ctx context.Context, r io.Reader, name string) (dropped, sha256 string, err error) {
	parts := []string{v.opt.ImportDir}
	for part := range strings.SplitSeq(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/") {
		if part != "" {
			parts = append(parts, vault.SafeName(part, 0))
		}
	}
	if len(parts) == 1 {
		parts = append(parts, vault.SafeName("", 0))
	}
	target := path.Join(parts...)
	if v.filter.arrival(target) != take {
		return "", "", fmt.Errorf("import %q: %w", name, &vault.NameError{Name: target, Reason: "the import folder ignores files of this name"})
	}
	dir := v.actual(path.Dir(target))
	if err := v.straight(dir); err != nil {
		return "", "", fmt.Errorf("import %q: %w", name, err)
	}
	if err := v.makeFolder(dir); err != nil {
		return "", "", fmt.Errorf("import %q: %w", name, err)
	}
	temp, err := v.fill(dir, nil, func(f *os.File) error { _, err := copyContext(ctx, f, r); return err })
	if err != nil {
		return "", "", fmt.Errorf("import %q: %w", name, err)
	}
	dropped, sha256, err = v.land(ctx, temp, path.Join(dir, path.Base(target)))
	if err != nil {
		return "", "", errors.Join(fmt.Errorf("import %q: %w", name, err), ignoreMissing(v.root.Remove(temp)))
	}
	v.index.add(dropped)
	return dropped, sha256, nil
}

// land gives a filled temporary file the first name that is free or holds the same bytes.
func (v *Vault) land(ctx context.Context, temp, name string) (string, string, error) {
	sum, _, err := v.digestOf(temp)
	if err != nil {
		return "", "", err
	}
	v.writing.Lock()
	defer v.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	for i := range maxNumber {
		candidate := v.actual(vault.Numbered(name, i+1))
		err := v.place(temp, candidate)
		if !errors.Is(err, fs.ErrExist) {
			return candidate, sum, err
		}
		if have, _, err := v.digestOf(candidate); err == nil && have == sum {
			return candidate, sum, v.root.Remove(temp)
		}
	}
	return "", "", fs.ErrExist
}

// RemoveEmptyFolders removes a folder below the import folder when nothing is in it, then the one above it, and so on
// up to the folder of the pass, which goes too; the import folder stays. A folder that holds anything stays.
func (v *Vault) RemoveEmptyFolders(pass policy.Pass, dir string) error {
	top, err := v.admit(pass, policy.Tidy)
	if err != nil {
		return fmt.Errorf("remove empty folders: %w", err)
	}
	if err := v.straight(dir); err != nil {
		return fmt.Errorf("remove empty folders: %w", err)
	}
	return v.removeEmptyFolders(dir, top)
}

// removeEmptyFolders is RemoveEmptyFolders without the permission.
func (v *Vault) removeEmptyFolders(dir, top string) error {
	if err := errors.Join(vault.CheckName(dir), vault.CheckName(top)); err != nil {
		return fmt.Errorf("remove empty folders: %w", err)
	}
	for ; v.filter.inImport(dir) && vault.Fold(dir) != v.filter.importDir && within(vault.Fold(dir), vault.Fold(top)); dir = path.Dir(dir) {
		entries, err := readDir(v.root, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || len(entries) > 0 {
			return err
		}
		if err := v.root.Remove(dir); err != nil { // refuses a folder that was filled meanwhile
			return fmt.Errorf("remove empty folder %q: %w", dir, err)
		}
	}
	return nil
}
