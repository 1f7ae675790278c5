//go:build unix

package web

import (
	"errors"
	"syscall"
)

// refused reports that nobody listens.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
