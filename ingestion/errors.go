package ingestion

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// The codes of [Error]; the engine knows them by the same names.
const (
	CodeNeedsPassword = "needs_password"
	CodeCorrupt       = "corrupt"
	CodeTooLarge      = "too_large"
	CodeUnsupported   = "unsupported"
	CodeTimeout       = "timeout"
	CodeWorker        = "worker"  // the worker is missing, or dies of this document
	CodeVault         = "vault"   // the vault's file system failed
	CodeService       = "service" // a service that reads text cannot be had now
	CodeSettings      = "invalid_settings"
	CodeCancelled     = "cancelled" // the file went away or changed meanwhile
)

// Error is why an import cannot go on.
type Error struct {
	Code      string
	Message   string // what happened, in words for the person who dropped the file
	Remedy    string // what that person can do
	Transient bool   // the same attempt may succeed later; the original stays where it is
	Err       error  // cause, may be nil
}

// Error gives the message, and the cause when there is one.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// FailureCode gives the code; the engine asks for it.
func (e *Error) FailureCode() string { return e.Code }

// Hint says what a person can do.
func (e *Error) Hint() string { return e.Remedy }

// Retryable says whether the same attempt may succeed later.
func (e *Error) Retryable() bool { return e.Transient }

func permanent(code, remedy, format string, args ...any) *Error {
	return &Error{Code: code, Remedy: remedy, Message: fmt.Sprintf(format, args...)}
}

// passing lists what the system says about a lack that may be over soon.
var passing = []error{
	syscall.ENOSPC, syscall.EDQUOT, syscall.EBUSY, syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EINTR, syscall.ETXTBSY,
}

// storage tells a fault of the vault's file system as an Error. None of them is the fault of the imported file, so all are
// transient and leave the original where it is. Cancelled contexts and errors that say themselves whether repeating
// helps stay what they are.
func storage(doing string, err error) error {
	if err == nil {
		return nil
	}
	wrapped := fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return wrapped
	}
	if _, ok := errors.AsType[interface {
		error
		Retryable() bool
	}](err); ok {
		return wrapped
	}
	remedy := "look at the permissions and the state of the vault's folders; serve tries the import again by itself"
	for _, p := range passing {
		if errors.Is(err, p) {
			remedy = "make room or wait; the import goes on by itself"
		}
	}
	return &Error{Code: CodeVault, Message: doing, Remedy: remedy, Transient: true, Err: err}
}

// opening tells why a document could not be opened. An error that is not the document's means that there is no worker:
// nothing is wrong with the file then, and it stays where it is.
func opening(err error) error {
	e, ok := errors.AsType[*extract.Error](err)
	if !ok || e.Code == extract.CodeWorkerMissing || e.Code == extract.CodeUnconfined {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("start the worker: %w", err)
		}
		return &Error{Code: CodeWorker, Message: "the worker could not be started", Remedy: "run vaultflow doctor", Transient: true, Err: err}
	}
	switch e.Code {
	case extract.CodeNeedsPassword:
		return needsPassword()
	case extract.CodeNotPDF:
		return permanent(CodeCorrupt, "open the file in a viewer; if that works, save or print it as a PDF and drop it again", "the file is named or declared as a PDF but is none")
	case extract.CodeCorrupt:
		return permanent(CodeCorrupt, "open the file in a viewer; if that works, save it under a new name and drop it again", "the document is broken: %s", e.Message)
	case extract.CodeTooLarge, extract.CodeMemory:
		return permanent(CodeTooLarge, "split the document, or raise the limits of ingestion in settings.yaml", "the document is too large: %s", e.Message)
	case extract.CodeUnsupported:
		return permanent(CodeUnsupported, "convert the file to PDF or PNG and drop it again", "the worker does not read this document: %s", e.Message)
	case extract.CodeTimeout:
		return permanent(CodeTimeout, "the document may be damaged; open it in a viewer and save it anew", "opening the document took too long: %s", e.Message)
	}
	return permanent(CodeWorker, "the document may be damaged; open it in a viewer and save it anew", "the worker died while opening the document: %s", e.Message)
}

func needsPassword() *Error {
	return permanent(CodeNeedsPassword,
		"put the password into a text file beside the document, named like it with .password at the end (report.pdf.password), or into "+
			"ingestion.passwords of settings.yaml; then retry the import",
		"the document is encrypted, and no password that is known opens it")
}
