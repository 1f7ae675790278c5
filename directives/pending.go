package directives

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// done reports whether a file needs no processing: its current content was processed, or it has vanished. It stores the
// file's digest in found.
func (f *finder) done(ctx context.Context, found *Found) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("find pending files of %s: %w", f.res.Target, err)
	}
	sum, err := hashFile(f.env.FS, found.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		// An unreadable file is neither selected nor marked: it remains pending, with a warning.
		f.warn(CodeCannotRead, "", "cannot read %s: %v", found.Name, err)
		return true, nil
	}
	found.SHA256 = sum
	if f.env.Pending == nil {
		return false, nil
	}
	done, err := f.env.Pending.Done(ctx, f.in.Key(f.env.Facts.Workflow, f.env.Facts.Step), found.Name, sum)
	if err != nil {
		return false, fmt.Errorf("check whether %s was processed: %w", found.Name, err)
	}
	return done, nil
}

// hashFile returns the SHA-256 of a file in lower-case hex. It streams, so a large file costs no memory.
func hashFile(fsys fs.FS, name string) (string, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
