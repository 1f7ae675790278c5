package engine

import (
	"encoding/json"
	"time"

	"github.com/vaultflow/vaultflow/cost"

	"github.com/vaultflow/vaultflow/failure"
)

// The kinds of events.
const (
	EventRun      = "run"      // the run's status changed
	EventStep     = "step"     // a step's status changed; Record holds it
	EventBatch    = "batch"    // the status of a batch of an @for_each changed; Work holds it
	EventActivity = "activity" // an activity begins (Status running) or ended; Name is the activity
	EventRetry    = "retry"    // an activity failed and is repeated
	EventPage     = "page"     // page Page of Pages is finished
	EventDelta    = "delta"    // a piece of an answer, in Message; not stored
	EventImport   = "import"   // an import's state changed; Import holds it
	EventArtifact = "artifact" // fetched content was kept or read; Name is its reference
	EventBlocked  = "blocked"  // a call of the tool Name was refused because of content from outside; Message has the reason
	EventWarning  = "warning"
	EventUnseen   = "unseen" // media were sent that the model cannot have been shown; Message names them
	EventInfo     = "info"
	EventLost     = "lost" // a slow subscriber missed Lost events

	// Of calls of models. They hold counts, names and our own words: never content, keys or bytes.
	EventBuilt    = "request_built"     // a request goes out: Request
	EventOverflow = "overflow_detected" // a service refused it for its size or its media: Failure has class and numbers
	EventRewrite  = "rewrite_applied"   // the request was changed, after that or before it went out: Rewrite
	EventOutcome  = "retry_outcome"     // how a repeated or rewritten request went: Status done or failed; Rewrite when there was one
)

// Rewrite is a change made to a request so that it fits.
type Rewrite struct {
	Class  string        `json:"class"` // of the failure that it answers, or that it is to prevent
	Before cost.Estimate `json:"before"`
	After  cost.Estimate `json:"after"`
	How    string        `json:"how"`
	Lost   []string      `json:"lost,omitempty"` // names of media that the model gets as text
}

// Event is something that happened to a run. Its type in machine output is "event".
type Event struct {
	Seq     int64          `json:"seq,omitempty"` // order among the stored events; zero for those that are not stored
	Time    time.Time      `json:"time"`
	Run     string         `json:"run,omitempty"`
	Subject string         `json:"subject,omitempty"` // workflow, or source of an import
	Kind    string         `json:"kind"`
	Step    string         `json:"step,omitempty"`
	Batch   int            `json:"batch,omitempty"` // of an @for_each, from 1
	Status  Status         `json:"status,omitempty"`
	State   ImportState    `json:"state,omitempty"`
	Name    string         `json:"name,omitempty"` // vault name, or the activity
	Message string         `json:"message,omitempty"`
	Page    int            `json:"page,omitempty"`
	Pages   int            `json:"pages,omitempty"`
	Left    int            `json:"seconds_left,omitempty"` // an estimate, of EventPage
	Lost    int            `json:"lost,omitempty"`
	Failure *failure.Error `json:"failure,omitempty"`

	Request *cost.Estimate `json:"request,omitempty"` // of EventBuilt
	Rewrite *Rewrite       `json:"rewrite,omitempty"` // of EventRewrite and EventOutcome

	Record *StepRecord   `json:"record,omitempty"` // of EventStep
	Work   *BatchRecord  `json:"work,omitempty"`   // of EventBatch
	Import *ImportRecord `json:"import,omitempty"` // of EventImport
}

// MarshalJSON adds `"type":"event"`.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event
	return json.Marshal(struct {
		Type string `json:"type"`
		plain
	}{"event", plain(e)})
}
