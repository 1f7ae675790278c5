package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
)

var _ vault.Bundle = (*Bundle)(nil)

// Bundle is a folder that is filled out of sight and appears by one rename, whole or not at all. A process that is
// killed leaves it hidden; Stage with the same folder and id opens it again. It is safe for concurrent use until Publish,
// Discard or Close.
type Bundle struct {
	f   *folder
	dir string  // name of the hidden folder
	in  *folder // the hidden folder itself, open: the way down from the vault's folder takes a system call for each step
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
	err := bs.makeFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("stage bundle: %w", err)
	}
	b := &Bundle{f: bs.folder, dir: path.Join(dir, tempPrefix+id)}
	if b.in, err = bs.openFolder(b.dir); err != nil {
		return nil, fmt.Errorf("stage bundle: %w", err)
	}
	return b, nil
}

func notID(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_'
}

// FS is the bundle as a file system, as filled so far.
func (b *Bundle) FS() fs.FS { return rootFS{root: b.in.root, dir: "."} }

// Close implements [vault.Bundle].
func (b *Bundle) Close() error { return b.in.root.Close() }

// hidden fails unless the open folder still has its name: what is written into one that was published, moved or removed would be
// lost.
func (b *Bundle) hidden() error {
	named, err := b.f.root.Lstat(b.dir)
	if err != nil {
		return fmt.Errorf("the bundle was published or discarded: %w", err)
	}
	open, err := b.in.root.Stat(".")
	if err == nil && !os.SameFile(named, open) {
		err = fmt.Errorf("another folder took the place of %q: %w", b.dir, fs.ErrNotExist)
	}
	return err
}

// WriteFile puts a file into the bundle, durably, over one that is there. The same content again touches nothing.
func (b *Bundle) WriteFile(name string, data []byte) error {
	return b.WriteFiles(map[string][]byte{name: data})
}

// WriteFiles puts files into the bundle, likewise. Those of one folder are synced at the same time, which file systems do together, and
// their folder once.
func (b *Bundle) WriteFiles(files map[string][]byte) error {
	folders := map[string][]string{}
	for name := range files {
		if err := vault.ValidName(name); err != nil {
			return fmt.Errorf("write into bundle: %w", err)
		}
		folders[path.Dir(name)] = append(folders[path.Dir(name)], name)
	}
	if err := b.hidden(); err != nil {
		return fmt.Errorf("write into bundle: %w", err)
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		if err := b.writeInto(dir, folders[dir], files); err != nil {
			return fmt.Errorf("write into bundle: %w", err)
		}
	}
	return nil
}

// RemoveFile removes a file of the bundle. Doing it twice changes nothing.
func (b *Bundle) RemoveFile(name string) error {
	if err := vault.ValidName(name); err != nil {
		return fmt.Errorf("remove from bundle: %w", err)
	}
	if err := b.hidden(); err != nil {
		return fmt.Errorf("remove from bundle: %w", err)
	}
	in, err := b.in.openFolder(path.Dir(name))
	if err != nil {
		return fmt.Errorf("remove from bundle: %w", err)
	}
	defer in.root.Close()
	if err := in.root.Remove(path.Base(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %q from bundle: %w", name, err)
	}
	return in.syncDir(".")
}

// syncsAtOnce is how many files are synced at the same time.
const syncsAtOnce = 8

// writeInto writes files into a folder of the bundle.
func (b *Bundle) writeInto(dir string, names []string, files map[string][]byte) error {
	in, err := b.in.openFolder(dir)
	if err != nil {
		return err
	}
	defer in.root.Close()
	var changed atomic.Bool
	var group errgroup.Group
	group.SetLimit(syncsAtOnce)
	for _, name := range names {
		group.Go(func() error {
			data := files[name]
			if have, _, err := in.digestOf(path.Base(name)); err == nil && have == vault.Digest(data) {
				return nil
			}
			changed.Store(true)
			if err := in.overwrite(path.Base(name), data); err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil || !changed.Load() {
		return err
	}
	return in.syncDir(".")
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
	if err := errors.Join(b.hidden(), b.in.sweep(".")); err != nil {
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
	b.Close() // Windows renames no folder that is open
	if err := f.root.Rename(b.dir, target); err != nil {
		if root, again := f.root.OpenRoot(b.dir); again == nil {
			b.in.root = root // it stays staged
		}
		return fmt.Errorf("publish bundle as %q: %w", target, err)
	}
	if err := errors.Join(f.syncDir(path.Dir(target)), f.syncDir(path.Dir(b.dir))); err != nil {
		return fmt.Errorf("publish bundle as %q: %w", target, err)
	}
	return f.learn(target)
}

// Discard removes the bundle and all that is in it. Doing it twice changes nothing.
func (b *Bundle) Discard() error {
	b.Close()
	if err := b.f.root.RemoveAll(b.dir); err != nil {
		return fmt.Errorf("discard bundle %q: %w", b.dir, err)
	}
	return b.f.syncDir(path.Dir(b.dir))
}
