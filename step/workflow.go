// Package step holds the side effects that a run may ask for: resolving inputs, assembling prompts, asking models,
// writing answers, and importing files. Each activity is idempotent, takes and gives small JSON (names and digests, never
// bytes), and reaches the vault, the journal and the models through the narrow interfaces stated here. The package keeps
// no state of its own.
package step

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// Blobs keeps large values by digest.
type Blobs interface {
	Put(ctx context.Context, data []byte) (digest string, err error)
	Get(ctx context.Context, digest string) ([]byte, error)
}

// Memory is what a workflow remembers between runs: which pending files it has processed, its own writes (so that they
// never trigger it again), and variables with scope=workflow.
type Memory interface {
	directives.Pending
	// Writing records contents that a workflow is about to write. It comes before the write: a watcher may be fast.
	Writing(ctx context.Context, ref engine.StepRef, files []engine.StagedFile) error
	// OwnWrite says whether the workflow has ever been about to write this content to this file.
	OwnWrite(ctx context.Context, workflow, name, sha256 string) (bool, error)
	// Committed stores marks and shared variables of a step that was written. Doing it twice changes nothing.
	Committed(ctx context.Context, ref engine.StepRef, marks []engine.Mark, shared []engine.Var) error
	// Variable is a variable with scope=workflow, and whether it was ever set.
	Variable(ctx context.Context, workflow, name string) (v engine.Var, set bool, err error)
}

// Cache keeps answers for `@cache`.
type Cache interface {
	// Cached gives the answer that was kept under a key at the moment since or later. One whose blobs are gone is not found.
	Cached(ctx context.Context, key string, since time.Time) (entry engine.CacheEntry, found bool, err error)
	// Keep stores an answer under its key with the present time, in place of an older one.
	Keep(ctx context.Context, ref engine.StepRef, entry engine.CacheEntry) error
}

// Model is an alias made ready to be asked.
type Model struct {
	Alias         string
	ID            string // the provider's name of the model
	ProviderName  string // as in the settings
	Kind          string // provider kind, such as anthropic
	Capabilities  policy.Capabilities
	Limits        policy.OwnLimits
	ContextWindow int // tokens; 0: not known
	MaxOutput     int // tokens; 0: the adapter's default
	Temperature   *float64
	Thinking      string
	Citations     bool            // answers name the passages that they rest on, when the model is able to
	Price         *cost.Price     // nil: not known
	Dearest       *cost.Price     // the highest prices known of any model, for bounds on costs while Price is not known; may be nil
	Retry         llm.RetryPolicy // how failed calls are repeated when the step does not say
	Client        llm.Provider    // does not repeat calls itself
}

// Models finds a model by alias. An unknown alias is an error that lists the known ones.
type Models interface {
	Model(ctx context.Context, alias string) (Model, error)
}

// Workflow carries out the activities of workflow runs. All fields but Received, Cache, Born and Now are required. It is safe for
// concurrent use.
type Workflow struct {
	FS           fs.FS // the vault
	Vault        vault.Writer
	Links        vault.Links
	Blobs        Blobs
	Memory       Memory
	Models       Models
	Prompt       prompt.Builder
	Media        media.Source  // where pictures and documents come from; zero: pictures of FS
	Budget       policy.Budget // of the settings
	DefaultModel string        // alias
	WorkflowsDir string
	ImportDir    string
	ImportedDir  string // below it inputs are untrusted
	VaultName    string // told to the model
	MaxFiles     int    // largest selection of one input
	MaxText      int64  // largest text file that is read, bytes
	StrictLinks  bool   // an ambiguous link is an error
	NoRewrites   bool   // a request that a service refuses as too large is not made to fit

	Origin     *origin.Book // where contents come from; nil: what is below ImportedDir is foreign
	Changes    Changes      // nil: nothing is changed
	History    History      // nil: nothing is taken back
	Approvals  Approvals    // nil: nobody can be asked
	AutoBuffer int          // tokens above which a tool's text goes to a variable; 0: DefaultAutoBuffer
	Outside    *Outside     // nil: no tool leads out of the vault
	Runs       Runs         // nil: run_workflow is not offered

	Ledger Ledger // what calls cost; nil in a preview of a vault on which nothing was run
	Zone   string // IANA name of the vault's zone, for its month and for workflows that name none; "Local" is the machine's

	Received Received // nil: an answer is lost when the process is killed before its record is stored

	Cache Cache                                    // nil: no answer is kept
	Born  func(name string) (t time.Time, ok bool) // creation times, for order=ctime; nil: not known
	Now   func() time.Time                         // nil: time.Now

	writers sync.Mutex // held while a commit looks at its targets and writes
	wrote   sync.Map   // the digest that this process has written last, by vault name
}

// Activities are the workflow's activities by name.
func (w *Workflow) Activities() engine.Activities {
	return engine.Activities{
		engine.ActivityWhen:     engine.Handle(w.When),
		engine.ActivityExpand:   engine.Handle(w.Expand),
		engine.ActivityResolve:  engine.Handle(w.Resolve),
		engine.ActivityAssemble: engine.Handle(w.Assemble),
		engine.ActivityGenerate: engine.Handle(w.Generate),
		engine.ActivityUseTools: engine.Handle(w.UseTools),
		engine.ActivityValidate: engine.Handle(w.Validate),
		engine.ActivityApprove:  engine.Handle(w.Approve),
		engine.ActivityStage:    engine.Handle(w.Stage),
		engine.ActivityCommit:   engine.Handle(w.Commit),
		engine.ActivityPlanUndo: engine.Handle(w.PlanUndo),
		engine.ActivityTakeBack: engine.Handle(w.TakeBack),
	}
}

// scene is what most activities begin with: the pinned plan, the step, the items of its batch, and the facts for its
// patterns.
type scene struct {
	plan  workflow.Plan
	step  workflow.Step
	items []item
	facts directives.Facts

	foreign  []string // untrusted things that the items' list was made from, for the prompt
	nameFrom []string // untrusted things that chose what the items are called
}

func (w *Workflow) scene(ctx context.Context, ref engine.StepRef) (scene, error) {
	data, err := w.Blobs.Get(ctx, ref.Plan)
	if err != nil {
		return scene{}, failure.New(failure.State, "start the workflow again", "read the pinned plan: %v", err)
	}
	var plan workflow.Plan
	if err := json.Unmarshal(data, &plan); err != nil {
		return scene{}, fmt.Errorf("read the pinned plan: %w", err)
	}
	if ref.Index < 0 || ref.Index >= len(plan.Steps) {
		return scene{}, failure.New(failure.InvalidWorkflow, "", "the plan has no step %d", ref.Index)
	}
	step := plan.Steps[ref.Index]
	s := scene{plan: plan, step: step, facts: FactsOf(plan, step.Name, ref.Run, ref.At)}
	items, err := w.itemTexts(ctx, ref.Items)
	if err != nil {
		return scene{}, err
	}
	s.setBatch(ref.Batch, items)
	return s, nil
}

// setBatch makes the items of a batch known to the step's patterns.
func (s *scene) setBatch(batch int, items []item) {
	s.items, s.facts.Batch, s.facts.Items = items, batch, nil
	for _, it := range items {
		s.facts.Items = append(s.facts.Items, it.text)
	}
	if len(items) > 0 {
		s.facts.Item, s.facts.ItemName = items[0].text, items[0].name()
	}
}

// FactsOf are the facts that a step's patterns are made of, for a run at a moment.
func FactsOf(plan workflow.Plan, step, run string, at time.Time) directives.Facts {
	return directives.Facts{
		Now: at.In(plan.Meta.Location(at.Location())), WeekStart: plan.Meta.WeekStartDay(),
		Workflow: plan.Name, Step: step, Run: run,
	}
}
