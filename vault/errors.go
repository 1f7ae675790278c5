package vault

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/vaultflow/vaultflow/failure"
)

// Conditions that callers test with errors.Is.
var (
	ErrConflict = errors.New("the file was changed by someone else") // nothing was written
	ErrOutside  = errors.New("outside the vault")
	ErrHidden   = errors.New("below a dot folder")
	ErrTooLarge = errors.New("larger than the limit")
	ErrName     = errors.New("not a good name")
)

// ConflictError is a change that was not made, because the file is not what its author had read. It matches ErrConflict.
type ConflictError struct {
	Name string // of the file as it is spelled in the vault
	Want string // SHA-256 that was read, empty when the file should not exist
	Have string // SHA-256 that is there now, empty when the file is gone
}

// Error implements error.
func (e *ConflictError) Error() string {
	switch {
	case e.Want == "":
		return fmt.Sprintf("write %q: a file is there already", e.Name)
	case e.Have == "":
		return fmt.Sprintf("write %q: the file was removed since it was read", e.Name)
	}
	return fmt.Sprintf("write %q: the file was changed since it was read", e.Name)
}

// Is makes the error match ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// OutsideError is a name or a link that would lead out of the vault. It matches ErrOutside.
type OutsideError struct {
	Name   string // what was asked for
	Link   string // name of the link that leads out, empty when the name itself does
	Reason string // for people
}

// Error implements error.
func (e *OutsideError) Error() string {
	if e.Link == "" {
		return e.Reason
	}
	return fmt.Sprintf("the link %q %s", e.Link, e.Reason)
}

// Is makes the error match ErrOutside.
func (e *OutsideError) Is(target error) bool { return target == ErrOutside }

var _ failure.Reporter = (*OutsideError)(nil)

// Failure implements [failure.Reporter].
func (e *OutsideError) Failure() failure.Error {
	if e.Link == "" {
		return failure.Error{Hint: "write the name from the vault's root, with /"}
	}
	return failure.Error{Hint: "put the file itself into the vault"}
}

// TooLargeError is a file above the reader's limit. It matches ErrTooLarge.
type TooLargeError struct {
	Name        string
	Size, Limit int64 // bytes
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("read %q: %d bytes, the limit is %d", e.Name, e.Size, e.Limit)
}

// Is makes the error match ErrTooLarge.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// NameError is a name that cannot be created on every system a vault may be synced to. It matches ErrName, and
// ErrHidden when a dot folder is the reason.
type NameError struct {
	Name   string
	Reason string // for people
	hidden bool
}

// Error implements error.
func (e *NameError) Error() string { return fmt.Sprintf("name %q: %s", e.Name, e.Reason) }

// Is makes the error match ErrName, and ErrHidden.
func (e *NameError) Is(target error) bool {
	return target == ErrName || (e.hidden && target == ErrHidden) || target == fs.ErrInvalid
}
