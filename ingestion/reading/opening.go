package reading

import (
	"context"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
)

// opening explains why a document could not be opened. An error that is not the document's means that there is no worker. The
// file is fine then, and stays where it is.
func opening(err error) error {
	e, ok := errors.AsType[*extract.Error](err)
	if !ok || e.Code == failure.WorkerMissing || e.Code == failure.Unconfined {
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("start the worker: %w", err)
		}
		return &fault.Error{Code: failure.Worker, Message: "the worker could not be started", Remedy: "run vaultflow doctor", Transient: true, Err: err}
	}
	switch e.Code {
	case failure.NeedsPassword:
		return NeedsPassword()
	case failure.NotPDF:
		return fault.Permanent(failure.Corrupt, "open the file in a viewer; if that works, save or print it as a PDF and drop it again", "the file is named or declared as a PDF, but it is not one")
	case failure.Corrupt:
		return fault.Permanent(failure.Corrupt, "open the file in a viewer; if that works, save it under a new name and drop it again", "the document is broken: %s", e.Message)
	case failure.Memory:
		return fault.Permanent(failure.TooLarge, "let vaultflow have more memory (engine.memory and ingestion.memory in settings.yaml, the container's limit), then retry the import", "the document is too large: %s", e.Message)
	case failure.TooLarge:
		return fault.Permanent(failure.TooLarge, "split the document, or raise the limits of ingestion in settings.yaml", "the document is too large: %s", e.Message)
	case failure.Unsupported:
		return fault.Permanent(failure.Unsupported, "convert the file to PDF or PNG and drop it again", "the worker does not read this document: %s", e.Message)
	case failure.Timeout:
		return fault.Permanent(failure.Timeout, "the document may be damaged; open it in a viewer and save it again", "opening the document took too long: %s", e.Message)
	}
	return fault.Permanent(failure.Worker, "the document may be damaged; open it in a viewer and save it again", "the worker died while opening the document: %s", e.Message)
}

// NeedsPassword returns the error of a document that no known password opens.
func NeedsPassword() *fault.Error {
	return fault.Permanent(failure.NeedsPassword,
		"put the password into a text file beside the document, named like it with .password at the end (report.pdf.password), or into "+
			"ingestion.passwords of settings.yaml; then retry the import",
		"the document is encrypted, and no known password opens it")
}

// reopening explains why a document that was opened before could not be opened again. If a worker dies or times out on it now,
// the machine is overloaded: finished pages stay, and another attempt resumes with the rest.
func reopening(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Code != failure.Timeout && e.Code != failure.Worker && e.Code != failure.TooLarge {
		return err
	}
	again := *e
	again.Transient = true
	again.Message = "the document could be opened before, but not now: " + e.Message
	again.Remedy = "wait, or free memory; the import resumes with the missing pages"
	return &again
}
