package engine

import (
	"encoding/json"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

// TokenCount compares what was estimated of a request before it was sent with what the service counted.
type TokenCount struct {
	Estimated int `json:"estimated"`
	Counted   int `json:"counted"`
}

// Output is something that a step wrote.
type Output struct {
	Kind   string `json:"kind"` // file or variable
	Name   string `json:"name"`
	Before string `json:"before,omitempty"` // digest; empty for a file that was created
	After  string `json:"after"`            // digest
}

// RunRecord is a run as users and programs see it. Its type in machine output is "run".
type RunRecord struct {
	ID       string    `json:"id"`
	Kind     Kind      `json:"kind"`
	Workflow string    `json:"workflow"` // name of the workflow, or source of the import
	Status   Status    `json:"status"`
	Reason   string    `json:"reason"`
	Trigger  Trigger   `json:"trigger"`
	Key      string    `json:"key,omitempty"`
	At       time.Time `json:"at"` // the time that date patterns use
	Created  time.Time `json:"created"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	Plan     string    `json:"plan,omitempty"`   // digest of the pinned plan
	Chosen   []string  `json:"chosen,omitempty"` // steps that were asked for; empty means all
	Activity string    `json:"activity,omitempty"`
	Awaits   string    `json:"awaits,omitempty"`  // while parked: the run that a tool started and that is parked itself
	Resumed  int       `json:"resumed,omitempty"` // how often it was resumed after an interruption

	// Interrupted is set in lists while no process works on the vault: the run has not ended, and the next serve resumes it.
	Interrupted bool `json:"interrupted,omitempty"`

	Dismissed time.Time `json:"dismissed,omitzero"` // since when the overview does not list its failure

	Steps   []StepRecord `json:"steps,omitempty"`
	Outputs []Output     `json:"outputs"`
	Changes []Change     `json:"changes,omitempty"` // all that it did to files, in order; in lists those by tools

	Decisions []Proposal `json:"decisions,omitempty"` // what was approved, rejected or withdrawn (@approve); not in lists

	Usage    cost.Usage     `json:"usage"`
	Warnings []string       `json:"warnings,omitempty"`
	Failure  *failure.Error `json:"failure,omitempty"`
}

// MarshalJSON adds `"type":"run"`.
func (r RunRecord) MarshalJSON() ([]byte, error) {
	type plain RunRecord
	if r.Outputs == nil {
		r.Outputs = []Output{}
	}
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"run", plain(r)})
}

// WorkRecord is what became of one piece of work: a step, or a batch of an @for_each step.
type WorkRecord struct {
	Status   Status         `json:"status"`
	Reason   string         `json:"reason,omitempty"`
	Started  time.Time      `json:"started,omitzero"`
	Finished time.Time      `json:"finished,omitzero"`
	Model    string         `json:"model,omitempty"` // alias
	Answered string         `json:"answered_by,omitempty"`
	Usage    cost.Usage     `json:"usage"`
	Calls    int            `json:"calls,omitempty"`   // answers of the model, those from the cache included
	Cached   bool           `json:"cached,omitempty"`  // the answer came from the cache, and nothing was paid
	Prompt   string         `json:"prompt,omitempty"`  // blob
	Receipt  string         `json:"receipt,omitempty"` // blob
	Turns    []Turn         `json:"turns,omitempty"`   // tool rounds and repairs before the answer
	Answer   string         `json:"answer,omitempty"`  // blob
	Raw      string         `json:"raw,omitempty"`     // blob
	Inputs   []string       `json:"inputs,omitempty"`  // vault names
	Outputs  []Output       `json:"outputs,omitempty"`
	Changes  []Change       `json:"changes,omitempty"` // by tools
	Omitted  []string       `json:"omitted,omitempty"` // LeftOut as lines, and those of earlier versions
	Unmet    bool           `json:"unmet,omitempty"`   // skipped because a required input did not arrive
	Warnings []string       `json:"warnings,omitempty"`
	Origins  []string       `json:"origins,omitempty"`  // the untrusted things that the model was shown
	Rejected []string       `json:"rejected,omitempty"` // files that nobody approved (@approve outputs), with who rejected them
	Defused  []Defused      `json:"defused,omitempty"`  // places in written files that were made inert
	Failure  *failure.Error `json:"failure,omitempty"`

	LeftOut []LeftOut `json:"left_out,omitempty"` // of what the model got less than was written

	Counts []TokenCount `json:"token_counts,omitempty"` // of the answered requests, in order

	Sent Sent `json:"sent,omitzero"`

	Citations Citations `json:"citations,omitzero"` // with @cite

	// NestedUSD is what the runs cost that tools started. It is in their records, and not in Usage.
	NestedUSD float64 `json:"nested_usd,omitempty"`
}

// Left returns what was left out. Records of earlier versions have lines only.
func (r WorkRecord) Left() []LeftOut {
	if len(r.LeftOut) == len(r.Omitted) {
		return r.LeftOut
	}
	var all []LeftOut
	for _, line := range r.Omitted {
		all = append(all, LeftOut{What: line})
	}
	return all
}

// StepRecord is a step of a run. Its type in machine output is "step".
type StepRecord struct {
	Run   string `json:"run"`
	Index int    `json:"index"`
	Step  string `json:"step"`
	WorkRecord

	// Of an @for_each step, in order. Such a step has no prompt, receipt and answer of its own; its usage, calls, inputs,
	// outputs and omissions are the sums. See [StepRecord.Works].
	Batches []BatchRecord `json:"batches,omitempty"`
}

// MarshalJSON adds `"type":"step"`.
func (r StepRecord) MarshalJSON() ([]byte, error) {
	type plain StepRecord
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"step", plain(r)})
}

// ImportRecord is an import. Its type in machine output is "import". Its id is the id of its run; a file that is still
// arriving has no run and an id that starts with "arrival:".
type ImportRecord struct {
	ID          string       `json:"id"`
	Source      string       `json:"source"` // vault name at which the file arrived
	State       ImportState  `json:"state"`
	Reason      string       `json:"reason,omitempty"`
	Bundle      string       `json:"bundle"`
	Note        string       `json:"note,omitempty"`
	Pages       int          `json:"pages"`
	Page        int          `json:"page"`                   // pages that are finished
	SecondsLeft int          `json:"seconds_left,omitempty"` // an estimate while pages are made
	FailedPages []int        `json:"failed_pages,omitempty"`
	Final       bool         `json:"final,omitempty"`    // the file lacks what is missing: another attempt has the same pages
	NotSeen     []int        `json:"not_seen,omitempty"` // pages that a model was to read and did not: no money was left, or it was not available
	Lacking     []int        `json:"lacking,omitempty"`  // pages below the quality that was asked for; they are made again by themselves
	Error       string       `json:"error"`
	Hint        string       `json:"hint,omitempty"`
	Code        failure.Code `json:"code,omitempty"`
	SHA256      string       `json:"sha256,omitempty"`
	Size        int64        `json:"size,omitempty"` // bytes
	Kind        string       `json:"kind,omitempty"`
	MediaType   string       `json:"media_type,omitempty"`
	DuplicateOf string       `json:"duplicate_of,omitempty"` // id of an import
	Filed       string       `json:"filed,omitempty"`        // where the original is now
	Held        bool         `json:"held,omitempty"`         // it stays at Source for a while, because a program may still be writing it
	Created     time.Time    `json:"created"`
	Started     time.Time    `json:"started,omitzero"`
	Finished    time.Time    `json:"finished,omitzero"`
	Again       time.Time    `json:"again,omitzero"` // when serve tries an import in the state waiting again
	Warnings    []string     `json:"warnings,omitempty"`
}

// Why returns the reason, and when an import that waits is tried again.
func (r ImportRecord) Why(zone *time.Location) string {
	switch {
	case r.State != ImportWaiting:
		return r.Reason
	case r.Again.IsZero():
		return r.Reason + "; `vaultflow serve` tries again"
	}
	return r.Reason + "; vaultflow tries again at " + r.Again.In(zone).Format("15:04:05")
}

// MarshalJSON adds `"type":"import"`.
func (r ImportRecord) MarshalJSON() ([]byte, error) {
	type plain ImportRecord
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"import", plain(r)})
}

// orNone is a list that JSON shows as one, also when there is nothing in it.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// SlotState is what happened at a scheduled time.
type SlotState string

// The states of slots.
const (
	SlotDue     SlotState = "due" // the row is there, the run not yet
	SlotRan     SlotState = "ran"
	SlotLate    SlotState = "late"    // ran after the machine had been off or asleep
	SlotMerged  SlotState = "merged"  // a later slot ran for this one too
	SlotSkipped SlotState = "skipped" // see Reason
	SlotMissed  SlotState = "missed"  // passed while nothing was there to run it
	SlotNext    SlotState = "next"    // lies ahead; never stored
)

// SlotRecord is a planned time of a workflow. Its type in machine output is "slot".
type SlotRecord struct {
	Workflow string    `json:"workflow"`
	Slot     time.Time `json:"slot"`
	Schedule string    `json:"schedule"` // as written
	State    SlotState `json:"state"`
	Reason   string    `json:"reason,omitempty"`
	Run      string    `json:"run,omitempty"`
	Count    int       `json:"count,omitempty"` // above one: the number of slots in this row
}

// MarshalJSON adds `"type":"slot"`.
func (r SlotRecord) MarshalJSON() ([]byte, error) {
	type plain SlotRecord
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"slot", plain(r)})
}

// WorkflowStatus is a workflow with what it did and will do. Its type in machine output is "workflow".
type WorkflowStatus struct {
	Name        string            `json:"name"`
	File        string            `json:"file"`
	Description string            `json:"description,omitempty"`
	Valid       bool              `json:"valid"`
	Enabled     bool              `json:"enabled"`
	Paused      string            `json:"paused,omitempty"` // why it does not fire by itself for now
	Waits       string            `json:"waits,omitempty"`  // why it needs permission before it runs
	Triggers    []string          `json:"triggers"`         // as written: "cron: 0 8 * * 1-5", "watch: Inbox/*.md"
	Steps       []string          `json:"steps"`
	NeedsFile   bool              `json:"needs_file,omitempty"` // a run by hand must name the file that it is about
	Next        []time.Time       `json:"next"`                 // the next fire times
	Last        *RunRecord        `json:"last,omitempty"`
	Diagnostics []diag.Diagnostic `json:"diagnostics"`
}

// MarshalJSON adds `"type":"workflow"`.
func (w WorkflowStatus) MarshalJSON() ([]byte, error) {
	type plain WorkflowStatus
	w.Triggers, w.Steps, w.Next, w.Diagnostics = orNone(w.Triggers), orNone(w.Steps), orNone(w.Next), orNone(w.Diagnostics)
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"workflow", plain(w)})
}

// Notice is news of a file that a workflow watches, as the journal keeps it.
type Notice struct {
	Workflow string
	File     vault.File
	Gone     bool      // the file is not there any more
	Import   string    // id of the import whose note the file is; empty for a watched file
	Batch    string    // id of the batch that waits with it for a run; empty when the workflow is not to run for it
	Causes   []string  // see Trigger
	Time     time.Time // when the batch began
}

// Writer is a workflow one of whose runs wrote a content.
type Writer struct {
	Workflow string
	Causes   []string // of that run, see Trigger
}
