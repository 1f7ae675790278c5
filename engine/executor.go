package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/vaultflow/vaultflow/failure"
)

// Executor runs bodies. Every implementation passes enginetest.Exercise. All methods are safe for concurrent use.
type Executor interface {
	// Run works until ctx ends, then stops within the executor's grace period, leaving unfinished runs resumable. It
	// returns nil when ctx ended. Runs begin only while Run is running.
	Run(ctx context.Context) error
	// Start accepts a run; it is stored before Start returns. Two requests with the same key are one run; one that
	// an earlier process left unfinished is resumed. An activity may start a run whose Trigger.Parent is its own, and wait for it.
	Start(ctx context.Context, r Request) (Started, error)
	// Resume continues every unfinished run of the journal after its last recorded outcome and returns how many there are.
	// Call it once, before anything is started. Parked runs stay parked, except one whose nested run has ended meanwhile.
	Resume(ctx context.Context) (int, error)
	// Wait blocks until the run has finished, or ctx ends. When the run is parked, or becomes so, the error is ErrParked.
	Wait(ctx context.Context, run string) (RunRecord, error)
	// Cancel ends an unfinished run and the runs that it waits for, and cancels the context of its activity. A finished run
	// stays as it is.
	Cancel(ctx context.Context, run string) error
	// Retry continues a run that has ended. Only what failed, and what from names, is repeated. A run that an earlier
	// process left unfinished is resumed, with those that it waits for. Retrying a run that is running is an error.
	Retry(ctx context.Context, run string, from RetryFrom) error
	// Wake continues a parked run after a decision was stored. A queued or running run looks for decisions again before it
	// would be parked; a finished one stays as it is. A parked run has status AwaitingApproval and occupies no lane, place or
	// goroutine. The run that waits for it (Trigger.Parent) is parked with it and continues when it ends.
	Wake(ctx context.Context, run string) error
	// Subscribe delivers events until the returned function is called. A slow subscriber loses events, and one
	// EventLost reports how many.
	Subscribe(buffer int) (<-chan Event, func())
}

// RetryFrom is where a retry begins. The zero value is the activity at which the run failed or was cancelled; the run's
// status must be Incomplete then.
type RetryFrom struct {
	// Step begins again at a step of a finished run, however it ended: this step and all behind it are carried out again, on
	// top of what they wrote before. The steps before it must not have failed.
	Step string `json:"step,omitempty"`
	// Failed repeats the batches that failed or were skipped in steps that continued without them (@for_each on_error=skip).
	// Other batches, and the steps behind, stay as they are. With Step it is an error.
	Failed bool `json:"failed,omitempty"`
}

// ErrNotFound is returned when there is no run, import or blob with that id.
var ErrNotFound = errors.New("not found")

// Record is the outcome of one activity, as the journal keeps it.
type Record struct {
	Branch   int // of the run, see [Flow]: zero is the body itself
	Seq      int // position in the branch, from zero
	Step     int // index of the step; -1 for imports
	Activity string
	InDigest string // of the input's JSON; empty: see [Cut]
	In       json.RawMessage
	Out      json.RawMessage // nil when it failed
	Failure  *failure.Error
	Attempts int
	Started  time.Time
	Finished time.Time
}

// Cut is where a branch's records are forgotten: those with this Seq and above. With Keep they stay, and hold from now on
// whatever the body asks them with: their InDigest becomes empty.
type Cut struct {
	Branch, Seq int
	Keep        bool
}

// Entry is a run as the journal keeps it: the views, and what is needed to begin again.
type Entry struct {
	Run       RunRecord
	Import    *ImportRecord   // for imports
	Spec      json.RawMessage // the executor's own record of the request
	Lane      string          // runs of one lane follow each other
	Cancelled bool            // it was cancelled; the run has not ended yet
	Changed   []BatchRef      // batches whose records differ from what was stored last; those alone are stored with the run
}

// BatchRef names a batch of a run by its step's index and its number.
type BatchRef struct{ Step, Batch int }

// Journal is what an executor needs of its journal. An executor treats any error as its own death: it begins nothing
// more for that run and leaves it to be resumed. One that passes (see [failure.IsTransient]) puts the run off instead.
type Journal interface {
	// Create stores a run unless one with the same key is there, and returns the entry that holds now. With again, a finished
	// one does not count, except an import that was cancelled or needs a password.
	Create(ctx context.Context, e Entry, again bool) (Entry, bool, error)
	// Append stores the outcome of an activity together with the views, in one transaction that is on disk when Append returns. The
	// record's Seq must be the next one of its branch.
	Append(ctx context.Context, r Record, e Entry) error
	// Save stores the views of a run. A finished run is not changed any more.
	Save(ctx context.Context, e Entry) error
	// Note stores an event. A body's event has its number among the body's notes (from one) and is stored once; others have zero.
	Note(ctx context.Context, e Event, number int) (Event, error)
	// Load returns a run and its records in the order in which they were appended; ErrNotFound when there is none.
	Load(ctx context.Context, run string) (Entry, []Record, error)
	// Unfinished returns the runs that have not ended, in the order in which they were created.
	Unfinished(ctx context.Context) ([]Entry, error)
	// Reopen makes a finished run unfinished and forgets or frees records, in the order of the cuts. Branches that no cut
	// names stay whole.
	Reopen(ctx context.Context, e Entry, cuts []Cut) error
	// Put stores a blob and returns its digest; Get returns it.
	Put(ctx context.Context, data []byte) (digest string, err error)
	Get(ctx context.Context, digest string) ([]byte, error)
}
