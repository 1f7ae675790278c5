package main

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/policy"
)

// eachFile shows the regular files below a folder, by slash name. A file that is moved or removed while it looks is left out: a
// daemon may be at work there, and a test that waits looks again.
func eachFile(t *testing.T, fsys fs.FS, visit func(name string, data []byte)) {
	t.Helper()
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			if data, err = fs.ReadFile(fsys, name); err == nil {
				visit(name, data)
			}
		}
		if name != "." && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// treeOf is what a folder holds, by name, but for a vault's random id.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	eachFile(t, os.DirFS(dir), func(name string, data []byte) { files[name] = string(data) })
	delete(files, policy.IdentityFile)
	return files
}

// moving is a file system in which a daemon moves files between the listing of a folder and the reading of what is in it.
type moving struct{ fstest.MapFS }

// Open implements fs.FS.
func (m moving) Open(name string) (fs.File, error) {
	if name == "a.md" || name == "Inbox" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return m.MapFS.Open(name)
}

// ReadFile implements fs.ReadFileFS, ReadDir fs.ReadDirFS: MapFS's own know nothing of what moved.
func (m moving) ReadFile(name string) ([]byte, error) {
	if _, err := m.Open(name); err != nil {
		return nil, err
	}
	return m.MapFS.ReadFile(name)
}

// ReadDir implements fs.ReadDirFS.
func (m moving) ReadDir(name string) ([]fs.DirEntry, error) {
	if _, err := m.Open(name); err != nil {
		return nil, err
	}
	return m.MapFS.ReadDir(name)
}

// What is moved while a test looks ends no test.
func TestEachFile_movedMeanwhile(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	eachFile(t, moving{fstest.MapFS{"a.md": {Data: []byte("a")}, "b.md": {Data: []byte("b")}, "Inbox/c.md": {Data: []byte("c")}}},
		func(name string, data []byte) { got[name] = string(data) })
	if diff := cmp.Diff(map[string]string{"b.md": "b"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
