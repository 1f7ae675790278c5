package local

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy/turns"
)

// spec is what the journal keeps so that a run can begin again.
type spec struct {
	Timeout time.Duration      `json:"timeout,omitempty"`
	Pinned  *engine.Pinned     `json:"pinned,omitempty"`
	Import  *engine.ImportPlan `json:"import,omitempty"`
	Undo    *engine.UndoPlan   `json:"undo,omitempty"`
}

// job is a queued or running run.
type job struct {
	id   string
	lane string
	spec spec
	done chan struct{} // closed when the run left the queue
	err  error         // why it left them unfinished; read after done

	recalled bool          // it was parked, and not interrupted; set before it waits for its lane
	took     int           // places that it holds while running. Guarded by the queue's mu
	ticket   *turns.Ticket // of that place among those of all executors, or nil. Guarded by the queue's mu

	delay     time.Duration // how long it was postponed the last time; zero when it never was. Guarded by the queue's mu
	why       string        // it was postponed the last time. Guarded by the queue's mu
	postponed bool          // it is postponed now. Guarded by the queue's mu

	long bool // it has turned out to have many pages. Guarded by the queue's mu

	woken bool // somebody decided what it waits for, or may wait for soon. Guarded by the queue's mu

	saving sync.Mutex // held from an edit of the entry until it is stored, so that the journal sees edits in order

	mu     sync.Mutex // guards what follows
	entry  engine.Entry
	cancel context.CancelCauseFunc // nil while waiting
}

func newJob(e engine.Entry) (*job, error) {
	j := &job{id: e.Run.ID, lane: e.Lane, entry: e, done: make(chan struct{})}
	return j, json.Unmarshal(e.Spec, &j.spec)
}

// kind may be read without the lock: it does not change.
func (j *job) kind() engine.Kind {
	switch {
	case j.spec.Import != nil:
		return engine.KindImport
	case j.spec.Undo != nil:
		return engine.KindUndo
	}
	return engine.KindWorkflow
}

// parent is the run that waits for this one; empty when none does.
func (j *job) parent() string {
	if p := j.spec.Pinned; p != nil {
		return p.Trigger.Parent
	}
	return ""
}

// change edits the entry and returns a copy that shares nothing with it that later changes edit.
func (j *job) change(edit func(*engine.Entry)) engine.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	edit(&j.entry)
	return copyOf(j.entry)
}

// toStore does the same for a copy that is stored now: it takes the list of changed batches along.
func (j *job) toStore(edit func(*engine.Entry)) engine.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	edit(&j.entry)
	e := copyOf(j.entry)
	j.entry.Changed = nil
	return e
}

func copyOf(e engine.Entry) engine.Entry {
	e.Run.Steps = slices.Clone(e.Run.Steps)
	for i := range e.Run.Steps {
		e.Run.Steps[i].Batches = slices.Clone(e.Run.Steps[i].Batches)
	}
	e.Run.Outputs = slices.Clone(e.Run.Outputs)
	e.Run.Warnings = slices.Clone(e.Run.Warnings)
	if e.Import != nil {
		imported := *e.Import
		e.Import = &imported
	}
	return e
}

// An import counts as one that takes long if it has this size in bytes, or turns out to have more than so many pages to make.
const (
	largeImport = 1 << 20
	longImport  = 10
)

// large reports whether an import takes long. The caller holds the queue's mu.
func (j *job) large() bool {
	return j.long || j.spec.Import != nil && j.spec.Import.Size >= largeImport
}

func (j *job) snapshot() engine.Entry { return j.change(func(*engine.Entry) {}) }

// attach sets what cancels the job and reports whether it was cancelled before.
func (j *job) attach(cancel context.CancelCauseFunc) (cancelled bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cancel = cancel
	return j.entry.Cancelled
}

// reload takes back what the journal did not store when the run was postponed. A cancellation that it knows nothing of is
// kept.
func (j *job) reload(e engine.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Cancelled = e.Cancelled || j.entry.Cancelled
	j.entry = e
}
