package engine

import (
	"encoding/json"
	"time"
)

// Kind selects the body of a run.
type Kind string

// The kinds of runs.
const (
	KindWorkflow Kind = "workflow"
	KindImport   Kind = "import"
)

// TriggerKind is what started a run.
type TriggerKind string

// The kinds of triggers.
const (
	TriggerManual   TriggerKind = "manual" // started by the user or a program: command line, dashboard, API
	TriggerCron     TriggerKind = "cron"
	TriggerOnce     TriggerKind = "once"
	TriggerWatch    TriggerKind = "watch"
	TriggerOnImport TriggerKind = "on_import"
	TriggerStart    TriggerKind = "start"  // the daemon's start
	TriggerDrop     TriggerKind = "import" // a file arrived in the import folder
	TriggerTool     TriggerKind = "tool"   // a model called run_workflow in the run Trigger.Parent
)

// Trigger is why a run was asked for.
type Trigger struct {
	Kind   TriggerKind `json:"kind"`
	Slot   time.Time   `json:"slot,omitzero"`    // the planned time of cron and once
	Late   bool        `json:"late,omitempty"`   // the slot had passed when it was found
	Files  []string    `json:"files,omitempty"`  // what the run is about: files that changed, notes of imports, files named by hand
	Import string      `json:"import,omitempty"` // id of the import, for on_import
	// Causes are the workflows to which the change goes back that started the run, sorted: one that wrote it, one that wrote
	// what started that run, and so on. What the run writes starts none of them.
	Causes []string `json:"causes,omitempty"`
	// Parent is the id of the run that asked and waits, for tool. Such a run takes no place of those that runs share, since
	// its parent has one; when its lane is busy it is skipped; and it is cancelled when its parent ends.
	Parent string `json:"parent,omitempty"`
	Step   int    `json:"step,omitempty"` // index of the step of Parent that asked
}

// Attended reports whether the user started the run. @run_on and overlap apply to the others only.
func (t Trigger) Attended() bool { return t.Kind == TriggerManual || t.Kind == "" }

// Overlap is what to do with an unattended run when its lane is busy.
type Overlap string

// The overlap rules. The zero value means OverlapSkip.
const (
	OverlapSkip    Overlap = "skip"    // the run is recorded as skipped
	OverlapQueue   Overlap = "queue"   // the run waits
	OverlapReplace Overlap = "replace" // the runs before it are cancelled
)

// Request asks an executor for a run.
type Request struct {
	// Key makes asking idempotent: two requests with one key are one run. Empty for manual runs, which are never the same.
	Key string
	// Again lets a run start although one with the same key has finished; one that has not finished is still the same run.
	// A finished import that was cancelled or needs a password is not started again automatically.
	Again   bool
	Kind    Kind
	Subject string // the workflow's name, or the vault name of the file to import
	Trigger Trigger
	At      time.Time // the time that date patterns use, in the workflow's zone; zero means now
	Overlap Overlap
	Refused string        // why the run may not begin: it is stored as skipped for this reason. Empty: it may
	Timeout time.Duration // for the whole run while this process lives; zero means the executor's default

	// Of a workflow run:
	Plan  json.RawMessage   // the workflow.Plan as JSON; it is pinned
	Steps []string          // names of the steps to run; empty means all
	Vars  map[string]string // variables set from outside; text by name
	// Origins are the untrusted things that the asking was made from: all steps count as having been shown them.
	Origins []string

	// Of an import:
	Import *ImportRequest

	// Of an undo: the id of the run to undo; Subject is its workflow.
	Undo string
}

// ImportRequest names the bytes to import, and how.
type ImportRequest struct {
	SHA256  string          `json:"sha256"`
	Size    int64           `json:"size"` // bytes
	Mode    string          `json:"mode,omitempty"`
	Options json.RawMessage `json:"options,omitempty"` // the ingestion settings of this import, pinned
	Where   string          `json:"where,omitempty"`   // see ImportPlan
	Drop    string          `json:"drop,omitempty"`    // likewise
}

// Started is an executor's answer to a [Request].
type Started struct {
	Run     string // id
	Created bool   // false: a run with this key was there before
	Status  Status
	Reason  string // why, when Status is Skipped
}

// Var is a variable of a run: its value is the blob with the digest. Origins name the untrusted things that it was made
// from, as policy.Trust names them.
type Var struct {
	Name    string   `json:"name"`
	Digest  string   `json:"digest"`
	Origins []string `json:"origins,omitempty"`
}

// Pinned is what a workflow run was started with. It does not change while the run lives, whatever happens to the
// workflow's file.
type Pinned struct {
	Run      string       `json:"run"`
	Workflow string       `json:"workflow"`
	Plan     string       `json:"plan"` // digest of the plan's JSON
	At       time.Time    `json:"at"`   // in the workflow's zone
	Trigger  Trigger      `json:"trigger"`
	Steps    []PinnedStep `json:"steps"`             // all steps of the plan
	Chosen   []string     `json:"chosen,omitempty"`  // names; empty means all
	Vars     []Var        `json:"vars,omitempty"`    // sorted by name
	Origins  []string     `json:"origins,omitempty"` // see Request
	Body     int          `json:"body,omitempty"`    // BodyVersion of the executor that accepted the run
}

// BodyVersion is raised when a body changes the inputs of its activities for the same plan. An unfinished run is resumed with
// the inputs of its own version, so that its records fit. Inputs got: 1: what the run has spent, for model calls; 2: the
// round, for tool calls; 3: approval of writes and calls; 4: what the step was shown if it is untrusted, for stages, commits
// and tools; 5: the files that the run is about, for all.
const BodyVersion = 5

// PinnedStep is what the body needs to know about a step of the plan.
type PinnedStep struct {
	Name    string         `json:"name"`
	NoModel bool           `json:"no_model,omitempty"` // @model none
	Outputs int            `json:"outputs,omitempty"`  // how many @output directives it has
	Limited bool           `json:"limited,omitempty"`  // @run_on stands, and Days are the only days
	Days    []time.Weekday `json:"days,omitempty"`
	When    bool           `json:"when,omitempty"` // it has @when conditions
	ForEach *PinnedForEach `json:"for_each,omitempty"`
	JSON    bool           `json:"json,omitempty"`    // the answer must pass ActivityValidate: @schema, or an output with format=json
	Repairs int            `json:"repairs,omitempty"` // how often the model is asked to mend an answer that does not pass
	Cache   bool           `json:"cache,omitempty"`   // @cache: a good answer is kept with the commit
	Timeout time.Duration  `json:"timeout,omitempty"` // @timeout, for the whole step; zero means none
	Sets    bool           `json:"sets,omitempty"`    // it may set a variable that its later batches see
	Subject bool           `json:"subject,omitempty"` // it needs the file that started the run

	Whole bool `json:"whole,omitempty"` // the outputs replace whole files or make new ones

	Cite           bool `json:"cite,omitempty"`            // @cite: the stage gets the pages that the model was shown
	TellsOmissions bool `json:"tells_omissions,omitempty"` // an output with omissions=on

	ApproveOutputs bool `json:"approve_outputs,omitempty"` // @approve outputs: files are approved before they are written
	ApproveTools   bool `json:"approve_tools,omitempty"`   // @approve tools: calls with an effect are approved first
	ApprovePrompt  bool `json:"approve_prompt,omitempty"`  // @approve prompt: one that differs from the last approved is approved first
	ApproveRetries int  `json:"approve_retries,omitempty"` // how often the model is asked again with the reason of a no to its files
}

// PinnedForEach is what the body needs to know about an @for_each.
type PinnedForEach struct {
	Parallel int  `json:"parallel,omitempty"` // batches at work at the same time; zero means one
	Skip     bool `json:"skip,omitempty"`     // on_error=skip: a batch that fails does not end the step
}

// ImportPlan is what an import was started with. All its activities get it.
type ImportPlan struct {
	Run     string          `json:"run"`
	Source  string          `json:"source"` // vault name
	SHA256  string          `json:"sha256"`
	Size    int64           `json:"size"`
	Mode    string          `json:"mode,omitempty"`
	Options json.RawMessage `json:"options,omitempty"`
	At      time.Time       `json:"at"`
	Where   string          `json:"where,omitempty"` // where the bytes are now, if not at Source: a retried import was filed before
	Drop    string          `json:"drop,omitempty"`  // the archive or folder that the file arrived in; empty if it came alone
	Mend    string          `json:"mend,omitempty"`  // its bundle, if the import ended without some pages and is tried again: only these are made
}

// ImportKey is the key of an import run: the bytes, the settings that shape the result, and the place where they
// arrived. Equal bytes at another place are another run, which ends as a duplicate; all runs of the same bytes wait for each other.
func ImportKey(sha256, settings, source string) string {
	return "import:" + sha256 + ":" + settings + ":" + source
}
