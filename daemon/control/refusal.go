package control

import (
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/failure"
)

// Class is why an order was refused before a run began. Each class has an exit code.
type Class string

// The classes of refusals.
const (
	Usage   Class = "usage"   // a wrong argument: an unknown name, a value that makes no sense
	Invalid Class = "invalid" // faults in the settings or in a workflow
	Denied  Class = "denied"  // the vault is not trusted enough, or its trust cannot be read
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

// Wrap returns err as a refusal of this class.
func (c Class) Wrap(err error) error { return &Refusal{c, err} }

// Errorf returns a refusal of this class with a formatted message.
func (c Class) Errorf(format string, args ...any) error { return c.Wrap(fmt.Errorf(format, args...)) }

// Refuse is the reply to an order that failed.
func Refuse(err error) Reply { return Reply{Failure: failure.Of(err), Class: ClassOf(err)} }
