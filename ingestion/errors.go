package ingestion

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Error is why an import cannot go on.
type Error struct {
	Code      failure.Code
	Message   string // what happened, in words for the person who dropped the file
	Remedy    string // what that person can do
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
	return failure.Error{Code: e.Code, Hint: e.Remedy, Retryable: e.Transient, Exhausted: e.Exhausted}
}

func permanent(code failure.Code, remedy, format string, args ...any) *Error {
	return &Error{Code: code, Remedy: remedy, Message: fmt.Sprintf(format, args...)}
}

// passing lists what the system says about a lack that may be over soon.
var passing = []error{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EBUSY, syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EINTR, syscall.ETXTBSY,
}

// storage tells a fault of the vault's file system as an Error. None of them is the fault of the imported file, so all are
// transient and leave the original where it is. Cancelled contexts and errors that have a code of
// their own are returned as they are.
func storage(doing string, err error) error {
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
	remedy := "look at the permissions and the state of the vault's folders; serve tries the import again by itself"
	for _, p := range passing {
		if errors.Is(err, p) {
			remedy = "make room or wait; the import goes on by itself"
		}
	}
	return &Error{Code: failure.Vault, Message: doing, Remedy: remedy, Transient: true, Err: err}
}

// opening tells why a document could not be opened. An error that is not the document's means that there is no worker:
// nothing is wrong with the file then, and it stays where it is.
func opening(err error) error {
	e, ok := errors.AsType[*extract.Error](err)
	if !ok || e.Code == failure.WorkerMissing || e.Code == failure.Unconfined {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("start the worker: %w", err)
		}
		return &Error{Code: failure.Worker, Message: "the worker could not be started", Remedy: "run vaultflow doctor", Transient: true, Err: err}
	}
	switch e.Code {
	case failure.NeedsPassword:
		return needsPassword()
	case failure.NotPDF:
		return permanent(failure.Corrupt, "open the file in a viewer; if that works, save or print it as a PDF and drop it again", "the file is named or declared as a PDF but is none")
	case failure.Corrupt:
		return permanent(failure.Corrupt, "open the file in a viewer; if that works, save it under a new name and drop it again", "the document is broken: %s", e.Message)
	case failure.TooLarge, failure.Memory:
		return permanent(failure.TooLarge, "split the document, or raise the limits of ingestion in settings.yaml", "the document is too large: %s", e.Message)
	case failure.Unsupported:
		return permanent(failure.Unsupported, "convert the file to PDF or PNG and drop it again", "the worker does not read this document: %s", e.Message)
	case failure.Timeout:
		return permanent(failure.Timeout, "the document may be damaged; open it in a viewer and save it anew", "opening the document took too long: %s", e.Message)
	}
	return permanent(failure.Worker, "the document may be damaged; open it in a viewer and save it anew", "the worker died while opening the document: %s", e.Message)
}

func needsPassword() *Error {
	return permanent(failure.NeedsPassword,
		"put the password into a text file beside the document, named like it with .password at the end (report.pdf.password), or into "+
			"ingestion.passwords of settings.yaml; then retry the import",
		"the document is encrypted, and no password that is known opens it")
}
