package disk

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
)

func isErrno(err error, wanted ...syscall.Errno) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(wanted, errno)
}

func isPermission(err error) bool { return errors.Is(err, fs.ErrPermission) }
