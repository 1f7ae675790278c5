package media

import (
	"context"
	"errors"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Worker reads documents and pictures in processes that may die. Nothing that came from outside is parsed in this one.
type Worker interface {
	// Ready returns why no worker can be started, or nil as far as that is known without starting one.
	Ready() error
	// Open opens a file of the vault. Unless sha256 is empty the file must have that content; else the error matches
	// ErrChanged. Errors about the file are an *extract.Error.
	Open(ctx context.Context, name, sha256 string, o extract.Open) (Session, extract.Document, error)
	// OpenData opens bytes.
	OpenData(ctx context.Context, data []byte, o extract.Open) (Session, extract.Document, error)
}

// Session is a worker with an open document, used by one goroutine at a time. After an *extract.Error whose Ends is
// true only Close may be called, which is allowed in any state.
type Session interface {
	Page(ctx context.Context, r extract.PageRequest) (extract.Page, error)
	Cut(ctx context.Context, pages []int) (extract.Cut, error)
	Close() error
}

// ErrChanged means that a file is not the one the prompt was built with. Its fallback text is sent.
var ErrChanged = omission.Wrap(omission.Unsent, errors.New("changed since the prompt was built"))

// ErrNoWorker is the error where a worker is needed and none is set up.
var ErrNoWorker = omission.Wrap(omission.Worker, errors.New("the worker that reads such files is missing (`vaultflow doctor` shows how to get it)"))

// inWords returns why a file cannot be shown, for receipts: short, and without the name, which the receipt already has.
func inWords(err error) error {
	e, ok := errors.AsType[*extract.Error](err)
	if !ok {
		return err
	}
	switch e.Code {
	case failure.WorkerMissing, failure.Unconfined:
		return ErrNoWorker
	case failure.NeedsPassword:
		return omission.Wrap(omission.Encrypted, errors.New("encrypted: it needs a password"))
	case failure.Timeout:
		return errors.New("reading it takes too long: " + e.Message)
	}
	said := errors.New(strings.TrimSpace(e.Message))
	switch e.Code {
	case failure.Corrupt, failure.NotPDF:
		return omission.Wrap(omission.Damaged, said)
	case failure.TooLarge, failure.TooMuch, failure.Memory:
		return omission.Wrap(omission.TooLarge, said)
	case failure.Unsupported:
		return omission.Wrap(omission.Kind, said)
	}
	return said
}
