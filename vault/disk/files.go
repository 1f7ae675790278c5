package disk

import (
	"fmt"
	"io/fs"
	"time"
)

// File is a file that a Watcher reports changes of. SHA256 is of the content, empty when it was not read.
type File struct {
	Name     string
	SHA256   string
	Size     int64 // bytes
	Modified time.Time
}

// Files gives the files that a Watcher would report changes of and whose names match, without their digests. unread are
// folders that could not be read: nothing is known of the files in them.
func (v *Vault) Files(match func(name string) bool) (files []File, unread []string, err error) {
	unread, err = v.walk(".", func(name string, d fs.DirEntry) {
		if d.IsDir() || v.filter.inImport(name) || !match(name) || !v.indexable(name, d) {
			return
		}
		info, err := v.root.Stat(name)
		if err != nil {
			return // gone since, or a link whose file is
		}
		files = append(files, File{Name: name, Size: info.Size(), Modified: info.ModTime()})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("list files: %w", err)
	}
	return files, unread, nil
}

// Look reads a file, so that size, time and digest are of the same content; files above hashLimit get no digest. The error
// is fs.ErrNotExist when there is no regular file of that name.
func (v *Vault) Look(name string) (File, error) {
	for range 3 {
		f := v.look(request{name: name, force: true, limit: hashLimit})
		switch {
		case f.gone:
			return File{}, &fs.PathError{Op: "look", Path: name, Err: fs.ErrNotExist}
		case f.err != nil:
			return File{}, fmt.Errorf("read %q: %w", name, f.err)
		case !f.changed:
			return File{Name: name, SHA256: f.digest, Size: f.found.size, Modified: f.found.mod}, nil
		}
	}
	return File{}, fmt.Errorf("read %q: it is being written", name)
}
