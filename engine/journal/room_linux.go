package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve makes room on the disk for so many bytes of a file, without changing it. Where that cannot be done, it does nothing.
func reserve(f *os.File, bytes int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, bytes)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
			return &os.PathError{Op: "reserve", Path: f.Name(), Err: err}
		default:
			return nil
		}
	}
}
