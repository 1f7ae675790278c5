// Package failure describes failures as data: a closed list of codes, advice for the user, and whether waiting or
// repeating helps. Every package may use it, and it imports none of ours.
package failure

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Error is a failure as data. It survives the journal and other processes unchanged. It never holds a key, a request
// body or the bytes of a picture.
type Error struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"` // advice for the user
	Retryable bool   `json:"retryable,omitempty"`
	Class     string `json:"class,omitempty"` // a finer kind; see [Provider], [Budget] and [Vault]
	HTTP      int    `json:"status,omitempty"`
	Actual    int64  `json:"actual,omitempty"` // the measured value, when a limit was exceeded
	Limit     int64  `json:"limit,omitempty"`
	Transient bool   `json:"passing,omitempty"` // see [IsTransient]

	// RetryAfter is how long the other side asks callers to wait before the next attempt. Zero means it did not say.
	RetryAfter time.Duration `json:"-"`
	// Exhausted means that a layer below has repeated the work as often as makes sense for now. Callers must not repeat
	// it at once; a later run may succeed if the failure is Retryable.
	Exhausted bool `json:"-"`
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

// Reporter is implemented by error types that know how they are reported. [Of] uses it.
type Reporter interface {
	error
	// Failure returns what the error knows. The Message is ignored. A report without a code only adds its details.
	Failure() Error
}

// Of turns an error into data, and nil into nil. The message is that of the whole chain. An [Error] in the chain keeps
// everything else. Otherwise the outermost [Reporter] with a code decides the code and whether repeating helps, and
// further details come from the outermost one that has them. Without a code, cancelled and timed-out contexts have codes
// of their own; everything else is [Internal].
func Of(err error) *Error {
	if err == nil {
		return nil
	}
	f := Error{}
	if known, ok := errors.AsType[*Error](err); ok {
		f = *known
	} else {
		f = merged(err)
	}
	f.Message, f.Transient = err.Error(), IsTransient(err)
	return &f
}

// merged combines the reports in a chain.
func merged(err error) Error {
	var f Error
	for r := range reports(err) {
		if f.Code == "" && r.Code.listed() {
			f.Code, f.Retryable, f.Exhausted = r.Code, r.Retryable, r.Exhausted
		}
		fill(&f.Hint, r.Hint)
		fill(&f.Class, r.Class)
		fill(&f.HTTP, r.HTTP)
		fill(&f.Actual, r.Actual)
		fill(&f.Limit, r.Limit)
		fill(&f.RetryAfter, r.RetryAfter)
	}
	if IsTransient(err) {
		fill(&f.Hint, HintTransient)
	}
	switch {
	case f.Code != "":
	case errors.Is(err, context.DeadlineExceeded):
		f.Code = Timeout
	case errors.Is(err, context.Canceled):
		f.Code = Cancelled
	default:
		f.Code = Internal
	}
	return f
}

func fill[T comparable](to *T, value T) {
	var zero T
	if *to == zero {
		*to = value
	}
}

// reports iterates over the reports in an error's tree, the outermost first.
func reports(err error) iter.Seq[Error] {
	return func(yield func(Error) bool) { visit(err, yield) }
}

func visit(err error, yield func(Error) bool) bool {
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case nil:
		return true
	case *Error:
		return yield(*e)
	case Reporter:
		if !yield(e.Failure()) {
			return false
		}
	}
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case interface{ Unwrap() error }:
		return visit(e.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if !visit(inner, yield) {
				return false
			}
		}
	}
	return true
}

// Advice returns the outermost hint in an error's chain, or "" if there is none.
func Advice(err error) string {
	for r := range reports(err) {
		if r.Hint != "" {
			return r.Hint
		}
	}
	return ""
}

// WithCode returns an error as a failure with a code, unless it has a more specific one already; nil stays nil.
func WithCode(err error, code Code) error {
	if err == nil {
		return nil
	}
	f := Of(err)
	if f.Code == Internal {
		f.Code = code
	}
	return f
}
