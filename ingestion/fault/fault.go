// Package fault holds the error of an import: what happened, and what the user can do.
package fault

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/vaultflow/vaultflow/failure"
)

// Error is why an import cannot continue.
type Error struct {
	Code      failure.Code
	Message   string // what happened, for the user who dropped the file
	Remedy    string // what the user can do
	Transient bool   // the same attempt may succeed later; the original stays where it is
	Exhausted bool   // it was repeated often enough for now; see failure.Error
	Err       error  // cause, may be nil
}

// Error returns the message, and the cause when there is one.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

var _ failure.Reporter = (*Error)(nil)

// Failure implements [failure.Reporter].
func (e *Error) Failure() failure.Error {
	f := failure.Error{Code: e.Code, Hint: e.Remedy, Retryable: e.Transient, Exhausted: e.Exhausted}
	if errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT) {
		f.Class = failure.ClassDiskFull
	}
	return f
}

// Permanent returns an error that another attempt would meet again.
func Permanent(code failure.Code, remedy, format string, args ...any) *Error {
	return &Error{Code: code, Remedy: remedy, Message: fmt.Sprintf(format, args...)}
}

// shortages are system errors that may soon pass.
var shortages = []error{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EBUSY, syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EINTR, syscall.ETXTBSY,
}

// Storage wraps an error of the vault's file system. It is never the imported file's fault, so it is transient and the original
// stays where it is. Cancelled contexts and errors with a code of their own keep it.
func Storage(doing string, err error) error {
	if err == nil {
		return nil
	}
	wrapped := fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return wrapped
	}
	if failure.Of(err).Code != failure.Internal {
		return wrapped
	}
	remedy := "check the permissions of the vault's folders; serve retries the import by itself"
	for _, p := range shortages {
		if errors.Is(err, p) {
			remedy = "free some space or wait; the import resumes by itself"
		}
	}
	return &Error{Code: failure.Vault, Message: doing, Remedy: remedy, Transient: true, Err: err}
}
