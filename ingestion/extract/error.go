package extract

import "fmt"

// Codes of [Error]. They are stable: journals and bundles hold them.
const (
	CodeNeedsPassword = "needs_password"
	CodeNotPDF        = "not_pdf"
	CodeCorrupt       = "corrupt"
	CodeTooLarge      = "too_large"
	CodePageFailed    = "page_failed"
	CodeTimeout       = "timeout"
	CodeCrashed       = "crashed"
	CodeMemory        = "memory"
	CodeTooMuch       = "too_much" // the worker sent more for a page than any page has: it is believed no further
	CodeUnsupported   = "unsupported"
	CodeWorkerMissing = "worker_missing" // the program is not there or is not a worker
	CodeUnconfined    = "unconfined"     // confinement was required and could not be had
)

// Error is a failure of a document, of one of its pages or of the worker that read it.
type Error struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Page    int    `json:"page,omitempty"` // counted from 1; 0 when the whole document is meant
	Aborted bool   `json:"-"`              // the worker did not report this but ended
}

// Error says what happened and on which page.
func (e *Error) Error() string {
	if e.Page > 0 {
		return fmt.Sprintf("page %d: %s", e.Page, e.Message)
	}
	return e.Message
}

// FailureCode is the stable code of the failure.
func (e *Error) FailureCode() string { return e.Code }

// Ends says whether the worker is gone after this error, so that a new one has to be started for the next request.
func (e *Error) Ends() bool {
	switch e.Code {
	case CodeTimeout, CodeCrashed, CodeMemory, CodeTooMuch, CodeWorkerMissing, CodeUnconfined:
		return true
	}
	return false
}
