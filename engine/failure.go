package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Failure is an error as data: it crosses the journal and the process and means the same on the other side. It never
// holds a key, a request body or bytes of a picture.
type Failure struct {
	Code      string `json:"code"` // one of the Code constants
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"` // what a person can do about it
	Retryable bool   `json:"retryable,omitempty"`
	Class     string `json:"class,omitempty"` // the provider's error class when Code is CodeProvider, the cap's Scope when it is CodeBudget
	HTTP      int    `json:"status,omitempty"`
	Actual    int64  `json:"actual,omitempty"` // what was measured, when a limit was passed
	Limit     int64  `json:"limit,omitempty"`
	Passing   bool   `json:"passing,omitempty"` // see [Passes]
}

// The codes of failures. Exit codes, messages and tests refer to these; nothing else may stand in Failure.Code.
const (
	CodeInternal         = "internal"          // an error that no activity gave a code to
	CodePanic            = "panic"             // an activity panicked
	CodeCancelled        = "cancelled"         // a person cancelled the run
	CodeTimeout          = "timeout"           // the run took longer than it may
	CodeDiverged         = "diverged"          // the journal does not fit the body; nothing is guessed
	CodeUnknownActivity  = "unknown_activity"  // this executor has no such activity
	CodeInvalidWorkflow  = "invalid_workflow"  // the plan or the chosen steps make no sense
	CodeInvalidSettings  = "invalid_settings"  //
	CodeUnknownModel     = "unknown_model"     // no such alias
	CodeModelNotSuitable = "model_not_capable" // images=required and a model without vision, for example
	CodeInput            = "input"             // an input cannot be read or selected
	CodeOutput           = "output"            // an output cannot be named or written
	CodeConflict         = "conflict"          // somebody kept changing the file that was to be written
	CodeVault            = "vault"             // the vault's file system failed
	CodeState            = "state"             // the journal or the blobs failed
	CodePermission       = "permission"        // refused by permissions
	CodeBudget           = "budget"            // refused by a budget
	CodeProvider         = "provider"          // the model's provider failed; see Class
	CodeEmptyAnswer      = "empty_answer"      // the model answered nothing
	CodeRefusal          = "refusal"           // the model refused
	CodeCutOff           = "cut_off"           // the answer reached its length limit
	CodeIncomplete       = "incomplete_answer" // the answer stopped for another reason before its end
	CodeInvalidAnswer    = "invalid_answer"    // the answer does not fit its schema or format, after all repairs
	CodeUnseen           = "unseen_media"      // the model cannot have seen the media that it was sent
	CodeToolRounds       = "tool_rounds"       // the model went on calling tools and gave no answer
	CodeRetry            = "retry"             // the run cannot be taken up again so
	CodeNeedsPassword    = "needs_password"    // an encrypted document
	CodeUnsupported      = "unsupported"       // a kind of file that this version does not read
	CodeCorrupt          = "corrupt"           // a broken document
	CodeTooLarge         = "too_large"         // above a limit
	CodeWorker           = "worker"            // the worker is missing or died
)

var codes = []string{
	CodeInternal, CodePanic, CodeCancelled, CodeTimeout, CodeDiverged, CodeUnknownActivity, CodeInvalidWorkflow,
	CodeInvalidSettings, CodeUnknownModel, CodeModelNotSuitable, CodeInput, CodeOutput, CodeConflict, CodeVault, CodeState,
	CodePermission, CodeBudget, CodeProvider, CodeEmptyAnswer, CodeRefusal, CodeCutOff, CodeIncomplete, CodeInvalidAnswer,
	CodeUnseen, CodeToolRounds, CodeRetry, CodeNeedsPassword,
	CodeUnsupported, CodeCorrupt, CodeTooLarge, CodeWorker,
}

// Codes lists every code that a Failure may have.
func Codes() []string { return slices.Clone(codes) }

// Fail makes a failure that repeating does not help, unless an error among its arguments passes: see [Passes].
func Fail(code, hint, format string, args ...any) *Failure {
	f := &Failure{Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if err, ok := arg.(error); ok && Passes(err) {
			f.Passing, f.Hint = true, HintPasses
		}
	}
	return f
}

// Error is the message. The hint is not part of it.
func (f *Failure) Error() string { return f.Message }

// Passes says that the cause is over some day; see [Passes].
func (f *Failure) Passes() bool { return f.Passing }

// FailureCode is the code; other packages' errors may have the same method, see [FailureOf].
func (f *Failure) FailureCode() string { return f.Code }

// FailureOf turns an error into data. A [Failure] in its chain keeps code and hint and takes the whole message; otherwise the code comes from
// a method FailureCode() string, the hint from Hint() string and Retryable from Retryable() bool, wherever in the chain
// they stand. Cancelled and timed out contexts have codes of their own; everything else is CodeInternal. It returns nil
// for nil.
func FailureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		known := *f
		known.Message, known.Passing = err.Error(), Passes(err)
		return &known
	}
	f := &Failure{Code: CodeInternal, Message: err.Error(), Passing: Passes(err)}
	if f.Passing {
		f.Hint = HintPasses
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		f.Code = CodeTimeout
	case errors.Is(err, context.Canceled):
		f.Code = CodeCancelled
	}
	if c, ok := errors.AsType[interface {
		error
		FailureCode() string
	}](err); ok && slices.Contains(codes, c.FailureCode()) {
		f.Code = c.FailureCode()
	}
	if c, ok := errors.AsType[interface {
		error
		FailureClass() string
	}](err); ok {
		f.Class = c.FailureClass()
	}
	if h, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		f.Hint = h.Hint()
	}
	if r, ok := errors.AsType[interface {
		error
		Retryable() bool
	}](err); ok {
		f.Retryable = r.Retryable()
	}
	return f
}

// OutOfFunds says that the budget of a day or a month is spent: the workflow is not to blame, and the next one has another.
func (f *Failure) OutOfFunds() bool {
	return f != nil && f.Code == CodeBudget && (f.Class == string(ScopeDay) || f.Class == string(ScopeMonth))
}

// retryAfter is how long the cause of an error asks callers to wait, zero when it says nothing.
type retryAfter interface {
	error
	RetryAfter() time.Duration
}

// RetryAfter is how long an error asks to wait before the next attempt, and zero when it says nothing.
func RetryAfter(err error) time.Duration {
	if r, ok := errors.AsType[retryAfter](err); ok {
		return r.RetryAfter()
	}
	return 0
}

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
