package engine

import (
	"time"

	"github.com/vaultflow/vaultflow/vault"
)

// Notice is news of a file that a workflow watches, as the journal keeps it.
type Notice struct {
	Workflow string
	File     vault.File
	Gone     bool      // the file is not there any more
	Batch    string    // id of the batch that waits with it for a run; empty when the workflow is not to run for it
	Causes   []string  // see Trigger
	Time     time.Time // when the batch began
}

// Writer is a workflow one of whose runs wrote a content.
type Writer struct {
	Workflow string
	Causes   []string // of that run, see Trigger
}
