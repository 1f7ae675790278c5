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
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

// inbox is the import folder.
type inbox struct{ *folder }

const maxNumber = 10_000

// Drop copies r into the import folder, where the watcher finds it, and returns its name and SHA-256. name may
// have folders; each part is made safe. Until all is there and synced the file has a name that the watcher ignores. A
// name that is taken gets a number, unless it holds the same bytes: then that file is it. ctx ends the copying.
//
// The pass is for filling the import folder.
func (in *inbox) Drop(ctx context.Context, pass policy.Pass, r io.Reader, name string) (dropped, sha256 string, err error) {
	if dir, err := in.admit(pass, policy.Fill); err != nil || vault.Fold(dir) != in.filter.importDir {
		return "", "", fmt.Errorf("import %q: %w", name, errors.Join(errPass, err))
	}
	return in.drop(ctx, r, name)
}

// drop is Drop without the permission.
func (in *inbox) drop(ctx context.Context, r io.Reader, name string) (dropped, sha256 string, err error) {
	parts := []string{in.opt.ImportDir}
	for part := range strings.SplitSeq(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/") {
		if part != "" {
			parts = append(parts, vault.SafeName(part, 0))
		}
	}
	if len(parts) == 1 {
		parts = append(parts, vault.SafeName("", 0))
	}
	target := path.Join(parts...)
	if in.filter.arrival(target) != take {
		return "", "", fmt.Errorf("import %q: %w", name, &vault.NameError{Name: target, Reason: "the import folder ignores files of this name"})
	}
	dir := in.actual(path.Dir(target))
	if err := in.straight(dir); err != nil {
		return "", "", fmt.Errorf("import %q: %w", name, err)
	}
	if err := in.makeFolder(dir); err != nil {
		return "", "", fmt.Errorf("import %q: %w", name, err)
	}
	temp, err := in.fill(dir, nil, func(f *os.File) error { _, err := copyContext(ctx, f, r); return err })
	if err != nil {
		return "", "", fmt.Errorf("import %q: %w", name, err)
	}
	dropped, sha256, err = in.land(ctx, temp, path.Join(dir, path.Base(target)))
	if err != nil {
		return "", "", errors.Join(fmt.Errorf("import %q: %w", name, err), ignoreMissing(in.root.Remove(temp)))
	}
	in.index.add(dropped)
	return dropped, sha256, nil
}

// land renames a filled temporary file to the first name that is free or holds the same bytes.
func (in *inbox) land(ctx context.Context, temp, name string) (string, string, error) {
	sum, _, err := in.digestOf(temp)
	if err != nil {
		return "", "", err
	}
	in.writing.Lock()
	defer in.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return "", "", err
	}
	for i := range maxNumber {
		candidate := in.actual(vault.Numbered(name, i+1))
		err := in.place(temp, candidate)
		if !errors.Is(err, fs.ErrExist) {
			return candidate, sum, err
		}
		if have, _, err := in.digestOf(candidate); err == nil && have == sum {
			return candidate, sum, in.root.Remove(temp)
		}
	}
	return "", "", fs.ErrExist
}

// RemoveEmptyFolders removes a folder when nothing is in it, then the one above it, and so on
// up to the folder of the pass, which goes too; the import folder stays. A folder that holds anything stays.
func (in *inbox) RemoveEmptyFolders(pass policy.Pass, dir string) error {
	top, err := in.admit(pass, policy.Tidy)
	if err != nil {
		return fmt.Errorf("remove empty folders: %w", err)
	}
	if err := in.straight(dir); err != nil {
		return fmt.Errorf("remove empty folders: %w", err)
	}
	return in.removeEmptyFolders(dir, top)
}

// removeEmptyFolders is RemoveEmptyFolders without the permission.
func (in *inbox) removeEmptyFolders(dir, top string) error {
	if err := errors.Join(vault.CheckName(dir), vault.CheckName(top)); err != nil {
		return fmt.Errorf("remove empty folders: %w", err)
	}
	for ; vault.Fold(dir) != in.filter.importDir && vault.Within(vault.Fold(dir), vault.Fold(top)); dir = path.Dir(dir) {
		entries, err := readDir(in.root, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || len(entries) > 0 {
			return err
		}
		if err := in.root.Remove(dir); err != nil { // refuses a folder that was filled meanwhile
			return fmt.Errorf("remove empty folder %q: %w", dir, err)
		}
	}
	return nil
}

// Takes reports whether a file of a name below the import folder would be imported: false for clutter, for files that
// programs are still writing, and for what the settings ignore.
func (in *inbox) Takes(name string) bool {
	return in.filter.inImport(name) && in.filter.arrival(name) == take
}

// straighten renames a file of the import folder whose name is no text, which no journal, note or link can hold, and
// returns its new name: what cannot be read of it becomes `_`. Of the parts of the name those before the first bad one
// stay. It never overwrites. Folders that are empty then are removed.
func (in *inbox) straighten(name string) (string, error) {
	parts := strings.Split(name, "/")
	bad := false
	for i, part := range parts {
		if bad = bad || !utf8.ValidString(part); bad {
			parts[i] = vault.SafeName(part, vault.MaxPartBytes)
		}
	}
	target := path.Join(parts...)
	dir := in.actual(path.Dir(target))
	if err := in.makeFolder(dir); err != nil {
		return "", fmt.Errorf("rename: %w", err)
	}
	in.writing.Lock()
	defer in.writing.Unlock()
	for i := range maxNumber {
		candidate := in.actual(vault.Numbered(path.Join(dir, path.Base(target)), i+1))
		err := in.place(name, candidate)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("rename: %w", err)
		}
		for dir := path.Dir(name); !utf8.ValidString(dir) && in.root.Remove(dir) == nil; { // refuses folders that hold anything
			dir = path.Dir(dir)
		}
		return candidate, nil
	}
	return "", fmt.Errorf("rename to %q: %w", target, fs.ErrExist)
}
