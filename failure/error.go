// Package failure describes failures as data: a closed list of codes, advice for the user, and whether waiting or
// repeating helps. Every package may use it, and it imports none of ours.
package failure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Error is a failure as data. It survives the journal and other processes unchanged. It never holds a key, a request
// body or the bytes of a picture.
type Error struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"` // advice for the user
	Retryable bool   `json:"retryable,omitempty"`
	Class     string `json:"class,omitempty"` // a finer kind; see [Provider] and [Budget]
	HTTP      int    `json:"status,omitempty"`
	Actual    int64  `json:"actual,omitempty"` // the measured value, when a limit was exceeded
	Limit     int64  `json:"limit,omitempty"`
	Transient bool   `json:"passing,omitempty"` // see [IsTransient]
}

// New returns a failure that repeating does not help, unless one of the arguments is a transient error: see
// [IsTransient].
func New(code Code, hint, format string, args ...any) *Error {
	f := &Error{Code: code, Hint: hint, Message: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if err, ok := arg.(error); ok && IsTransient(err) {
			f.Transient, f.Hint = true, HintTransient
		}
	}
	return f
}

// Error returns the message, without the hint.
func (f *Error) Error() string { return f.Message }

// Passes reports whether the cause is transient; see [IsTransient].
func (f *Error) Passes() bool { return f.Transient }

// FailureCode returns the code.
func (f *Error) FailureCode() string { return string(f.Code) }

// Of turns an error into data, and nil into nil. An [Error] in the chain keeps its code and hint and takes the message
// of the whole chain. Otherwise the code comes from a method FailureCode() string, the hint from Hint() string and
// Retryable from Retryable() bool, wherever in the chain they are. Cancelled and timed-out contexts have codes of their
// own; everything else is [Internal].
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Error](err); ok {
		known := *f
		known.Message, known.Transient = err.Error(), IsTransient(err)
		return &known
	}
	f := &Error{Code: Internal, Message: err.Error(), Transient: IsTransient(err)}
	if f.Transient {
		f.Hint = HintTransient
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		f.Code = Timeout
	case errors.Is(err, context.Canceled):
		f.Code = Cancelled
	}
	if c, ok := errors.AsType[interface {
		error
		FailureCode() string
	}](err); ok && slices.Contains(codes, Code(c.FailureCode())) {
		f.Code = Code(c.FailureCode())
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
