package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/vaultflow/vaultflow/vault"
)

// look answers a request: it describes the file, and when it is as expected reads it. What is no regular file is never
// opened.
func (rd *reader) look(r request) finding {
	out := finding{request: r}
	info, err := rd.root.Lstat(r.name)
	if err != nil {
		return out.failed(err)
	}
	if !r.arrival && info.Mode()&fs.ModeSymlink != 0 {
		if info, err = rd.root.Stat(r.name); err != nil {
			return out.failed(err)
		}
	}
	out.found = snap(info)
	switch {
	case r.known && !out.found.same(r.snap):
		out.changed = true
		return out
	case !info.Mode().IsRegular():
		out.gone = true // for a note: a folder or worse took its place
		return out
	}
	return rd.readClosely(out, info)
}

func (f finding) failed(err error) finding {
	f.gone = errors.Is(err, fs.ErrNotExist)
	if !f.gone {
		f.err = err
	}
	return f
}

func (rd *reader) readClosely(out finding, info fs.FileInfo) finding {
	file, err := openRead(rd.root, out.name)
	if err != nil {
		return out.failed(err)
	}
	defer file.Close()
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		out.changed, out.err = err == nil, err
		return out
	}
	if out.arrival {
		if out.writers = rd.downloading(out.name, info.Size()); !out.writers.open {
			out.writers = rd.writersOf(file)
		}
		if out.writers.open {
			return out
		}
	}
	if !out.force {
		if out.lacks, err = incomplete(file, info.Size()); err != nil {
			out.lacks = "it shrank while it was looked at"
		}
		if out.lacks != "" {
			return out
		}
	}
	if out.limit == 0 || info.Size() <= out.limit {
		if out.digest, err = digestFile(io.NewSectionReader(file, 0, 1<<62)); err != nil {
			return out.failed(err)
		}
	}
	after, err := rd.root.Stat(out.name)
	if err != nil {
		return out.failed(err)
	}
	if now := snap(after); !now.same(out.found) {
		out.changed, out.found = true, now
		return out
	}
	if out.arrival { // somebody may have opened it while it was read
		out.writers = rd.writersOf(file)
	}
	return out
}

// Look implements [vault.Lister]. Files above hashLimit get no digest.
func (rd *reader) Look(name string) (vault.File, error) {
	for range 3 {
		f := rd.look(request{name: name, force: true, limit: hashLimit})
		switch {
		case f.gone:
			return vault.File{}, &fs.PathError{Op: "look", Path: name, Err: fs.ErrNotExist}
		case f.err != nil:
			return vault.File{}, fmt.Errorf("read %q: %w", name, f.err)
		case !f.changed:
			return vault.File{Name: name, SHA256: f.digest, Size: f.found.size, Modified: f.found.mod}, nil
		}
	}
	return vault.File{}, fmt.Errorf("read %q: it is being written", name)
}
