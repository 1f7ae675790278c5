package engine

import "errors"

// ConflictError is the vault's error for a write whose target is not what the writer had read. Nothing was written.
type ConflictError interface {
	error
	Conflict() bool // true
}

// IsConflict reports whether somebody else wrote a file first.
func IsConflict(err error) bool {
	c, ok := errors.AsType[ConflictError](err)
	return ok && c.Conflict()
}
