package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

var _ vault.Bundle = (*Bundle)(nil)

// Bundle is a folder that is filled out of sight and appears by one rename, whole or not at all. A process that is
// killed leaves it hidden; Stage with the same folder and id opens it again. It is safe for concurrent use until Publish
// or Discard, after which it must not be used.
type Bundle struct {
	f   *folder
	dir string // name of the hidden folder
}

// bundles opens bundles.
type bundles struct{ *folder }

// Stage opens the hidden folder `<dir>/.vaultflow-<id>`, made when it is not there; dir is the folder that the pass lets fill.
// id is made of letters, digits, - and _.
func (bs *bundles) Stage(pass policy.Pass, id string) (vault.Bundle, error) {
	dir, err := bs.admit(pass, policy.Fill)
	if err != nil {
		return nil, fmt.Errorf("stage bundle: %w", err)
	}
	b, err := bs.stage(dir, id)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// stage is Stage without the permission.
func (bs *bundles) stage(dir, id string) (*Bundle, error) {
	if err := vault.CheckName(dir); err != nil {
		return nil, fmt.Errorf("stage bundle: %w", err)
	}
	if id == "" || len(id) > 80 || strings.ContainsFunc(id, notID) {
		return nil, fmt.Errorf("stage bundle: %w", &vault.NameError{Name: id, Reason: "an id is made of letters, digits, - and _"})
	}
	dir = bs.actual(dir)
	if err := bs.makeFolder(dir); err != nil {
		return nil, fmt.Errorf("stage bundle: %w", err)
	}
	b := &Bundle{f: bs.folder, dir: path.Join(dir, tempPrefix+id)}
	if err := bs.straight(b.dir); err != nil {
		return nil, fmt.Errorf("stage bundle: %w", err)
	}
	if err := bs.makeDir(b.dir); err != nil {
		return nil, fmt.Errorf("stage bundle: %w", err)
	}
	return b, nil
}

func notID(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
}

// FS is the bundle as a file system, as filled so far.
func (b *Bundle) FS() fs.FS { return rootFS{root: b.f.root, dir: b.dir} }

// WriteFile puts a file into the bundle, durably, over one that is there. The same content again touches nothing.
func (b *Bundle) WriteFile(name string, data []byte) error {
	full, err := b.member(name)
	if err != nil {
		return fmt.Errorf("write into bundle: %w", err)
	}
	if have, _, err := b.f.digestOf(full); err == nil && have == vault.Digest(data) {
		return nil
	}
	err = b.replace(full, func(f *os.File) error { _, err := f.Write(data); return err })
	if err != nil {
		return fmt.Errorf("write %q into bundle: %w", name, err)
	}
	return nil
}

// RemoveFile removes a file of the bundle. Doing it twice changes nothing.
func (b *Bundle) RemoveFile(name string) error {
	full, err := b.member(name)
	if err != nil {
		return fmt.Errorf("remove from bundle: %w", err)
	}
	if err := b.f.root.Remove(full); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %q from bundle: %w", name, err)
	}
	return b.f.syncDir(path.Dir(full))
}

// member is the vault name of a file of the bundle; its folder exists afterwards.
func (b *Bundle) member(name string) (string, error) {
	if err := vault.ValidName(name); err != nil {
		return "", err
	}
	full := path.Join(b.dir, name)
	if _, err := b.f.root.Lstat(b.dir); err != nil {
		return "", fmt.Errorf("the bundle was published or discarded: %w", err)
	}
	if err := b.f.straight(full); err != nil {
		return "", err
	}
	return full, b.f.makeDir(path.Dir(full))
}

func (b *Bundle) replace(full string, write func(*os.File) error) error {
	temp, err := b.f.fill(path.Dir(full), nil, write)
	if err != nil {
		return err
	}
	if err := b.f.root.Rename(temp, full); err != nil {
		return errors.Join(err, ignoreMissing(b.f.root.Remove(temp)))
	}
	return b.f.syncDir(path.Dir(full))
}

// Publish renames the bundle to its name. What has the name already, in any spelling, is never replaced: the
// error then matches fs.ErrExist, and the bundle stays staged.
func (b *Bundle) Publish(pass policy.Pass) error {
	target, err := b.f.admit(pass, policy.Publish)
	if err != nil {
		return fmt.Errorf("publish bundle: %w", err)
	}
	return b.publish(target)
}

// publish is Publish without the permission.
func (b *Bundle) publish(target string) error {
	if err := vault.ValidName(target); err != nil {
		return fmt.Errorf("publish bundle: %w", err)
	}
	f := b.f
	if err := f.sweep(b.dir); err != nil {
		return fmt.Errorf("publish bundle as %q: %w", target, err)
	}
	if err := f.makeFolder(f.actual(path.Dir(target))); err != nil {
		return fmt.Errorf("publish bundle: %w", err)
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	target = f.actual(target)
	if _, err := f.root.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("publish bundle as %q: %w", target, errors.Join(fs.ErrExist, err))
	}
	if err := f.root.Rename(b.dir, target); err != nil {
		return fmt.Errorf("publish bundle as %q: %w", target, err)
	}
	if err := errors.Join(f.syncDir(path.Dir(target)), f.syncDir(path.Dir(b.dir))); err != nil {
		return fmt.Errorf("publish bundle as %q: %w", target, err)
	}
	return f.learn(target)
}

// Discard removes the bundle and all that is in it. Doing it twice changes nothing.
func (b *Bundle) Discard() error {
	if err := b.f.root.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("discard bundle %q: %w", b.dir, err)
	}
	return b.f.syncDir(path.Dir(b.dir))
}
