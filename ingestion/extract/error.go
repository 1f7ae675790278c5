package extract

import (
	"fmt"

	"github.com/vaultflow/vaultflow/failure"
)

// Error is a failure of a document, of one of its pages or of the worker that read it.
type Error struct {
	Code    failure.Code `json:"code"` // journals and bundles hold it
	Message string       `json:"message"`
	Page    int          `json:"page,omitempty"` // counted from 1; 0 when the whole document is meant
	Aborted bool         `json:"-"`              // the worker did not report this but ended
	Outside bool         `json:"-"`              // something else ended the worker: the system, for want of memory, or a person
}

// Error returns what happened, and on which page.
func (e *Error) Error() string {
	if e.Page > 0 {
		return fmt.Sprintf("page %d: %s", e.Page, e.Message)
	}
	return e.Message
}

var _ failure.Reporter = (*Error)(nil)

// Failure implements [failure.Reporter].
func (e *Error) Failure() failure.Error { return failure.Error{Code: e.Code} }

// Ends reports whether the worker is gone after this error, so that the next request needs a new one.
func (e *Error) Ends() bool {
	switch e.Code {
	case failure.Timeout, failure.Crashed, failure.Memory, failure.TooMuch, failure.WorkerMissing, failure.Unconfined:
		return true
	}
	return false
}

// Exit codes of a worker. 1 is MuPDF's, which ends the process for an error that nothing catches, and 2 is that of a Go panic.
const (
	ExitAborted    = 1
	ExitUsage      = 64
	ExitUnconfined = 65 // confinement is required but not available
	ExitBroken     = 66
	ExitSpent      = 67 // the processor time is used up
)
