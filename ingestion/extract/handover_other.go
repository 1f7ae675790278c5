//go:build !unix

package extract

import (
	"errors"
	"os"
)

// Handover is not possible here: workers cannot be started.
func Handover() (ours, theirs *os.File, err error) { return nil, nil, errors.ErrUnsupported }

// Hand is not possible here.
func Hand(_, _ *os.File) error { return errors.ErrUnsupported }

// Receive is not possible here.
func Receive(uintptr) (doc uintptr, err error) { return 0, errors.ErrUnsupported }
