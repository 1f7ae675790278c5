package daemon

import (
	"errors"
	"fmt"
)

// Class is the kind of mistake for which an order was refused before a run began. The command line has an exit code for each.
type Class string

// The classes of refusals.
const (
	Usage   Class = "usage"   // a wrong argument: an unknown name, a value that makes no sense
	Invalid Class = "invalid" // faults in the settings or in a workflow
	Denied  Class = "denied"  // the trust in the vault cannot be read, or does not allow it
)

// Refusal is an error with its class.
type Refusal struct {
	Class Class
	Err   error
}

// Error implements error.
func (r *Refusal) Error() string { return r.Err.Error() }

// Unwrap returns the error without its class.
func (r *Refusal) Unwrap() error { return r.Err }

// ClassOf returns the class of an error, or "" if it has none.
func ClassOf(err error) Class {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Class
	}
	return ""
}

func usagef(format string, args ...any) error {
	return &Refusal{Usage, fmt.Errorf(format, args...)}
}

func invalid(err error) error { return &Refusal{Invalid, err} }

func denied(err error) error { return &Refusal{Denied, err} }
