package journal

import (
	"errors"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/vaultflow/vaultflow/failure"
)

// fault is an error of the database that ends when the disk is repaired; see [failure.IsTransient].
type fault struct{ error }

// Unwrap returns SQLite's error.
func (f fault) Unwrap() error { return f.error }

var _ failure.Reporter = fault{}

// Failure implements [failure.Reporter].
func (fault) Failure() failure.Error {
	return failure.Error{Code: failure.State, Transient: true}
}

// passing are SQLite's codes for disks that are full, read-only or not there.
var passing = []int{sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM}

// busy is a fault that ends when another program unlocks the database.
type busy struct{ fault }

var _ failure.Reporter = busy{}

// Failure implements [failure.Reporter].
func (busy) Failure() failure.Error {
	return failure.Error{Code: failure.State, Transient: true, Hint: hintBusy}
}

const hintBusy = "wait until it has ended, or exclude the state directory from it; nothing is lost, and runs continue by themselves"

// judged marks transient faults. Every error of a write or a query goes through it.
func judged(err error) error {
	lite, ok := errors.AsType[*sqlite.Error](err)
	if ok && (lite.Code()&0xff == sqlite3.SQLITE_BUSY || lite.Code()&0xff == sqlite3.SQLITE_LOCKED) {
		return busy{fault{ErrBusy}}
	}
	if ok && slices.Contains(passing, lite.Code()&0xff) && !failure.IsTransient(err) {
		return fault{err}
	}
	return err
}
