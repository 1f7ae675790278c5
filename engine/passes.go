package engine

import (
	"errors"
	"slices"
	"syscall"
)

// Passes says whether an error has a cause outside of the work, which a person or time removes, and which loses nothing as
// long as it lasts: the disk is full, read-only or not there. An executor puts a run that meets one off, and takes it up
// again by itself from the activity that met it. Errors may have a method Passes() bool that says so.
func Passes(err error) bool {
	if p, ok := errors.AsType[interface {
		error
		Passes() bool
	}](err); ok && p.Passes() {
		return true
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(passing, errno)
}

// passing is what the system says of disks that cannot take or give anything for now.
var passing = []syscall.Errno{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ENODEV, syscall.ENXIO, syscall.ESTALE, syscall.ENOTCONN,
	syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
}

// HintPasses is the hint of failures that pass.
const HintPasses = "make room, or make the disk writable again; the run goes on by itself where it was"
