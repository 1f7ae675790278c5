package failure

import (
	"errors"
	"slices"
	"syscall"
)

// IsTransient reports whether an error has a cause outside the work that time or a person removes, and that loses
// nothing while it lasts: the disk is full, read-only or missing. An executor postpones a run that hits one and resumes
// it from the activity that failed.
func IsTransient(err error) bool {
	for r := range reports(err) {
		if r.Transient {
			return true
		}
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(unavailable, errno)
}

// unavailable lists what the system reports about disks and resources that cannot be used for now.
var unavailable = []syscall.Errno{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ENODEV, syscall.ENXIO, syscall.ESTALE, syscall.ENOTCONN,
	syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
}

// ClassDiskFull is the class of a failure of the vault's disk that has no room.
const ClassDiskFull = "disk_full"

// HintTransient is the hint of transient failures.
const HintTransient = "make room, or make the disk writable again; the run then resumes by itself"
