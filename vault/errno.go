package vault

import (
	"errors"
	"slices"
	"syscall"
)

func isErrno(err error, wanted ...syscall.Errno) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(wanted, errno)
}
