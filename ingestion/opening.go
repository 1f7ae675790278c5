package ingestion

import (
	"context"
	"errors"
	"fmt"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
)

// opening tells why a document could not be opened. An error that is not the document's means that there is no worker:
// nothing is wrong with the file then, and it stays where it is.
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
		return needsPassword()
	case failure.NotPDF:
		return fault.Permanent(failure.Corrupt, "open the file in a viewer; if that works, save or print it as a PDF and drop it again", "the file is named or declared as a PDF but is none")
	case failure.Corrupt:
		return fault.Permanent(failure.Corrupt, "open the file in a viewer; if that works, save it under a new name and drop it again", "the document is broken: %s", e.Message)
	case failure.TooLarge, failure.Memory:
		return fault.Permanent(failure.TooLarge, "split the document, or raise the limits of ingestion in settings.yaml", "the document is too large: %s", e.Message)
	case failure.Unsupported:
		return fault.Permanent(failure.Unsupported, "convert the file to PDF or PNG and drop it again", "the worker does not read this document: %s", e.Message)
	case failure.Timeout:
		return fault.Permanent(failure.Timeout, "the document may be damaged; open it in a viewer and save it anew", "opening the document took too long: %s", e.Message)
	}
	return fault.Permanent(failure.Worker, "the document may be damaged; open it in a viewer and save it anew", "the worker died while opening the document: %s", e.Message)
}

func needsPassword() *fault.Error {
	return fault.Permanent(failure.NeedsPassword,
		"put the password into a text file beside the document, named like it with .password at the end (report.pdf.password), or into "+
			"ingestion.passwords of settings.yaml; then retry the import",
		"the document is encrypted, and no password that is known opens it")
}
