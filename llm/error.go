package llm

import (
	"errors"
	"fmt"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/failure"
)

// Class is what kind of failure a provider reported.
type Class string

// The classes. The list is closed: whatever fits nowhere is ClassOther.
const (
	ClassContextTokens    Class = "context_tokens"
	ClassRequestBytes     Class = "request_bytes"
	ClassImageBytes       Class = "image_bytes"
	ClassImageDims        Class = "image_dims"
	ClassImageCount       Class = "image_count"
	ClassImagePixels      Class = "image_pixels"
	ClassMediaMismatch    Class = "media_mismatch"
	ClassUnsupportedMedia Class = "unsupported_media"
	ClassPDFPages         Class = "pdf_pages"
	ClassPDFEncrypted     Class = "pdf_encrypted"
	ClassURLFetch         Class = "url_fetch"
	ClassPairing          Class = "pairing"
	ClassBoundThinking    Class = "bound_thinking"
	ClassRateLimit        Class = "rate_limit"
	ClassOverloaded       Class = "overloaded"
	ClassAuth             Class = "auth"
	ClassBilling          Class = "billing"
	ClassNotFound         Class = "not_found"
	ClassParameter        Class = "parameter"
	ClassRefusal          Class = "refusal"
	ClassNetwork          Class = "network"
	ClassOther            Class = "other"
)

// Error is a failure that a provider reported, or a failure to reach it. It holds no key, no request body and no media:
// Message is cleaned and short.
type Error struct {
	Class      Class
	Status     int    // HTTP status; 0 without an answer
	Code       string // the provider's own code
	Message    string
	Actual     int64         // what was sent, in the unit of the class; 0 when the provider did not say
	Limit      int64         // what is allowed, in the same unit
	RetryAfter time.Duration // the wait that the provider asks for; 0 if none
	Provider   string
	Partial    bool       // text had been handed to progress before the failure
	Usage      cost.Usage // what was charged nevertheless, if the provider reports it
	Unsent     bool       // the request was not sent: it was invalid, or the service could not be reached
	Tried      string     // how the request was changed before it failed again; empty if it was not
	Err        error      // cause, for errors.Is; may be nil
}

// Error implements error: "anthropic: rate_limit (429): message".
func (e *Error) Error() string {
	head := string(e.Class)
	if e.Status != 0 {
		head = fmt.Sprintf("%s (%d)", e.Class, e.Status)
	}
	if e.Provider != "" {
		head = e.Provider + ": " + head
	}
	if e.Message != "" {
		head += ": " + e.Message
	}
	if e.Tried != "" {
		head += " (this was sent before in another form; then " + e.Tried + ")"
	}
	return head
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later. It ignores Partial: Retry itself stops once text was
// delivered, while an executor may start a new, visible attempt.
func (e *Error) Retryable() bool {
	switch e.Class {
	case ClassRateLimit, ClassOverloaded, ClassNetwork:
		return true
	}
	return false
}

var _ failure.Reporter = (*Error)(nil)

// Failure implements [failure.Reporter].
func (e *Error) Failure() failure.Error {
	return failure.Error{
		Code: failure.Provider, Class: string(e.Class), Hint: e.Hint(), HTTP: e.Status, Actual: e.Actual, Limit: e.Limit,
		Retryable: e.Retryable(), RetryAfter: e.RetryAfter,
	}
}

// Hint returns one sentence of advice for the user, or "" if there is none.
func (e *Error) Hint() string {
	if hint := hints[e.Class]; hint != "" {
		return hint + e.limits()
	}
	return ""
}

func (e *Error) limits() string {
	switch {
	case e.Actual > 0 && e.Limit > 0:
		return fmt.Sprintf(" (sent %d, allowed %d)", e.Actual, e.Limit)
	case e.Limit > 0:
		return fmt.Sprintf(" (allowed %d)", e.Limit)
	}
	return ""
}

// hints holds the sentence of each class.
var hints = map[Class]string{
	ClassContextTokens:    "send less: fewer or shorter inputs (head=, refs_only, budget max_prompt_tokens), or use a model with a larger context window",
	ClassRequestBytes:     "send less: lower the budget max_total_mb or max_images",
	ClassImageBytes:       "lower the budget max_image_mb",
	ClassImageDims:        "lower the longest side of images",
	ClassImageCount:       "lower the budget max_images",
	ClassImagePixels:      "lower the budget max_image_pixels",
	ClassMediaMismatch:    "the file is not what its name says: convert it to PNG or JPEG",
	ClassUnsupportedMedia: "this model does not take this kind of file: use images=ignore, another model, or correct its capabilities in the settings",
	ClassPDFPages:         "send fewer pages",
	ClassPDFEncrypted:     "remove the password from the PDF",
	ClassURLFetch:         "the provider could not fetch a link: download the file into the vault",
	ClassBoundThinking:    "the service refused the model's earlier reasoning, which belongs to another conversation: please report this as a bug",
	ClassPairing:          "the order of the turns was refused: please report this as a bug",
	ClassRateLimit:        "wait, or lower the number of parallel runs for this provider",
	ClassOverloaded:       "the provider has trouble: try again later, or name another model",
	ClassAuth:             "check the API key of this provider in the settings or the environment",
	ClassBilling:          "check the credit and the plan of your account with this provider",
	ClassNotFound:         "check the model's name and the base_url of the provider in the settings",
	ClassParameter:        "the provider does not accept an option: check max output tokens, temperature and thinking of this model, and its capabilities (tools, structured_output) in the settings",
	ClassRefusal:          "the provider declined the content",
	ClassNetwork:          "check that the service is started and reachable, and that base_url is right",
}

// AsError returns the provider's failure in err's chain.
func AsError(err error) (*Error, bool) {
	return errors.AsType[*Error](err)
}
