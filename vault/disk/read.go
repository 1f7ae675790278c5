package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

// reader reads files.
type reader struct {
	*folder
	writersOf findWriters // of the system; tests have others
}

// FS is the vault as a file system for reading. Names that climb and links that lead out of the vault are refused with
// an OutsideError that names the link; pipes, sockets and devices are refused without being opened. Besides fs.FS it
// implements fs.ReadDirFS, fs.StatFS, fs.ReadFileFS and fs.ReadLinkFS, so that fs.Glob and fs.WalkDir work on it.
func (rd *reader) FS() fs.FS { return rootFS{root: rd.root, dir: "."} }

// Read returns a file's bytes and their SHA-256, which Write takes as its base. A name that differs from the file's in
// case or Unicode form only finds it. A file above limit bytes is a TooLargeError; limit 0 is none. A file that is not
// there matches fs.ErrNotExist, a link out of the vault ErrOutside.
func (rd *reader) Read(name string, limit int64) (data []byte, sha256 string, err error) {
	if err := vault.CheckInside(name); err != nil {
		return nil, "", fmt.Errorf("read: %w", err)
	}
	name = rd.actual(name)
	file, err := openRead(rd.root, name)
	if err != nil {
		return nil, "", explain(rd.root, "read", name, name, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, "", fmt.Errorf("read %q: %w", name, err)
	}
	if info.IsDir() {
		return nil, "", &fs.PathError{Op: "read", Path: name, Err: errSpecial(info.Mode())}
	}
	if limit > 0 && info.Size() > limit {
		return nil, "", &vault.TooLargeError{Name: name, Size: info.Size(), Limit: limit}
	}
	data, err = readUpTo(file, limit)
	if err != nil {
		return nil, "", fmt.Errorf("read %q: %w", name, err)
	}
	if limit > 0 && int64(len(data)) > limit {
		return nil, "", &vault.TooLargeError{Name: name, Size: int64(len(data)), Limit: limit}
	}
	return data, vault.Digest(data), nil
}

// readUpTo reads one byte more than the limit, to tell a file that grew.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	if limit <= 0 {
		return io.ReadAll(r)
	}
	return io.ReadAll(io.LimitReader(r, limit+1))
}

// digestOf is the SHA-256 of what a name holds now, empty when nothing is there, and the file's description.
func (f *folder) digestOf(name string) (string, fs.FileInfo, error) {
	info, err := f.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, explain(f.root, "read", name, name, err)
	}
	if !info.Mode().IsRegular() {
		return "", nil, &fs.PathError{Op: "write", Path: name, Err: errSpecial(info.Mode())}
	}
	file, err := openRead(f.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, explain(f.root, "read", name, name, err)
	}
	defer file.Close()
	sum, err := digestFile(file)
	if err != nil {
		return "", nil, fmt.Errorf("read %q: %w", name, err)
	}
	return sum, info, nil
}

// OpenFile opens a regular file for reading: what a worker process is handed as a descriptor. The caller closes it.
func (rd *reader) OpenFile(name string) (*os.File, error) {
	if err := vault.CheckInside(name); err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	name = rd.actual(name)
	file, err := openRead(rd.root, name)
	if err != nil {
		return nil, explain(rd.root, "open", name, name, err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = errSpecial(info.Mode())
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("open %q: %w", name, err)
	}
	return file, nil
}

// Born is when a file was created, as far as the system knows: ok is false where it does not, and for names that are no
// file of the vault. A program that saves by writing a new file and renaming it, as vaultflow does, makes the file new.
// Nothing of the content is read.
func (rd *reader) Born(name string) (t time.Time, ok bool) {
	file, err := rd.OpenFile(name)
	if err != nil {
		return time.Time{}, false
	}
	defer file.Close()
	return born(file)
}
