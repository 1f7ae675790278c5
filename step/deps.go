// Package step carries out the steps of workflow runs: it tests conditions, resolves inputs, assembles prompts, asks models,
// and stages and commits answers. Each activity is idempotent, takes and returns small JSON (names and digests, never bytes),
// and reaches the vault, the journal and the models through narrow interfaces. Models call tools through Tools.
package step

import (
	"context"
	"io/fs"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/previewed"
	"github.com/vaultflow/vaultflow/vault"
)

// Memory is what a workflow remembers between runs: processed pending files, its own writes (so that they never trigger it), and
// variables with scope=workflow.
type Memory interface {
	directives.Pending
	Last
	change.Own
	// OwnWrite reports whether the workflow has ever written, or meant to write, this content to this file.
	OwnWrite(ctx context.Context, workflow, name, sha256 string) (bool, error)
	// EverWrote reports whether the workflow has ever written to this file, whatever it contains now.
	EverWrote(ctx context.Context, workflow, name string) (bool, error)
	// About returns what the workflow wrote a file about, as its [engine.StagedFile] said; "" if that is not known.
	About(ctx context.Context, workflow, name string) (string, error)
	// Written returns what the workflow's runs did to a file and nobody has undone since, oldest first, the latest of them.
	Written(ctx context.Context, workflow, name string) ([]engine.Change, error)
	// Committed stores marks and shared variables of a committed step. It is idempotent.
	Committed(ctx context.Context, ref engine.StepRef, marks []engine.Mark, shared []engine.Var) error
	// Variable returns a variable with scope=workflow, and whether it was ever set.
	Variable(ctx context.Context, workflow, name string) (v engine.Var, set bool, err error)
	// Parts returns the parts of a document that a step has done, in order.
	Parts(ctx context.Context, workflow, step, document string) ([]engine.PartState, error)
	// ForgetPart forgets a part that a document does not have any more.
	ForgetPart(ctx context.Context, ref engine.StepRef, part engine.PartState) error
}

// Last knows what inputs with `changes` compare with.
type Last interface {
	// LastSeen returns the digest with which a step's input last processed a file, "" if it never did.
	LastSeen(ctx context.Context, key directives.PendingKey, name string) (sha256 string, err error)
}

// Cache keeps answers for `@cache`.
type Cache interface {
	// Cached returns the answer kept under a key since a given time, if its blobs still exist.
	Cached(ctx context.Context, key string, since time.Time) (entry engine.CacheEntry, found bool, err error)
	// Keep stores an answer under its key with the present time, and replaces an older one.
	Keep(ctx context.Context, ref engine.StepRef, entry engine.CacheEntry) error
}

// Models finds a model by alias. An unknown alias is an error that lists the known ones.
type Models interface {
	Model(ctx context.Context, alias string) (Model, error)
}

// Config configures steps. Fields are required unless nil or zero has a documented meaning.
type Config struct {
	FS        fs.FS // the vault
	Vault     vault.Writer
	Links     vault.Links
	Blobs     change.Blobs
	Memory    Memory
	Record    change.Record                                          // nil: nothing is changed
	MovedTo   func(ctx context.Context, name string) (string, error) // the name after the last move of a file, "" if there was none; nil: nothing was moved
	Documents change.Documents                                       // nil: imports are not on record
	Models    Models
	Prompt    prompt.Builder
	Media     media.Source // zero: pictures of FS
	Origin    *origin.Book // where contents come from; nil: what is below Gate.ImportedDir is foreign
	Approvals Approvals    // nil: no approvals
	Ledger    cost.Ledger  // nil in a preview of a vault without runs
	Received  Received     // nil: an answer is lost if the process dies before it is recorded
	Cache     Cache        // nil: no answers are kept
	Previews  previewed.Store

	Budget       policy.Budget // of the settings
	DefaultModel string        // alias
	Gate         policy.Gate   // of all writes; below its ImportedDir inputs are untrusted
	VaultName    string        // for the model
	MaxFiles     int           // largest selection of one input
	MaxText      int64         // largest text file that is read, bytes
	StrictLinks  bool          // an ambiguous link is an error
	NoRewrites   bool          // requests refused as too large are not changed
	Zone         string        // IANA name of the vault's zone, for its month and for workflows without a zone; "Local" is the machine's

	Born func(name string) (t time.Time, ok bool) // creation times, for order=ctime; nil: not known
	Now  func() time.Time                         // nil: time.Now
}

// Deps are the shared parts of which steps, tools and undo are made. It is safe for concurrent use.
type Deps struct {
	Config

	Plans   *Plans
	Changes *change.Maker
	Stored  Stored
	Vars    Vars
	Inputs  Inputs
	Sources Sources
	Outputs Outputs
	Budgets Budgets
	Demands Demands
	Answers Answers
	Library Library
	Filing  Filing
}

// NewDeps returns the shared parts for a vault.
func NewDeps(c Config) *Deps {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Media.FS == nil {
		c.Media.FS = c.FS
	}
	d := &Deps{Config: c}
	files := change.Files{FS: c.FS, Vault: c.Vault, MaxText: c.MaxText}
	d.Plans = &Plans{Blobs: c.Blobs, Title: func(name string) string { return titleOf(files, name) }}
	d.Plans.Moved = d.moved
	d.Changes = &change.Maker{Files: files, Blobs: c.Blobs, Own: c.Memory, Record: c.Record, Origin: c.Origin, Gate: c.Gate, Now: c.Now, Documents: c.Documents}
	d.Stored = Stored{c.Blobs}
	d.Vars = Vars{c.Memory, c.Blobs}
	d.Inputs = Inputs{Files: files, Links: c.Links, Pending: c.Memory, Last: c.Memory, Vars: d.Vars, Blobs: c.Blobs, MaxFiles: c.MaxFiles, Born: c.Born}
	d.Sources = Sources{ImportedDir: c.Gate.ImportedDir, Book: c.Origin, Vars: d.Vars}
	d.Outputs = Outputs{Files: files, Links: c.Links, Gate: c.Gate, Memory: c.Memory, noteLinks: &noteLinks{}}
	d.Budgets = Budgets{Budget: c.Budget, Zone: c.Zone, Ledger: c.Ledger, Now: c.Now}
	d.Demands = Demands{Vault: c.Vault, Inputs: d.Inputs}
	d.Answers = Answers{Cache: c.Cache, Now: c.Now}
	d.Filing = Filing{Mover{d.Changes}, d.Inputs, d.Outputs, d.Demands}
	d.Library = Library{FS: c.FS, Links: c.Links, Documents: c.Prompt.Documents, ImportedDir: c.Gate.ImportedDir}
	return d
}

// mostMoves is how many moves of a file are followed.
const mostMoves = 20

// moved returns the name that a file has now. One that is where it was, or cannot be found, keeps its name.
func (d *Deps) moved(name string) string {
	now := name
	for range mostMoves {
		if _, err := fs.Stat(d.FS, vault.Actual(d.FS, now)); err == nil || d.MovedTo == nil {
			return now
		}
		to, err := d.MovedTo(context.Background(), now)
		if err != nil || to == "" {
			return name
		}
		now = to
	}
	return name
}

// Foreign returns the store for pictures from outside, which the worker encodes again.
func (d *Deps) Foreign() media.Foreign {
	limits := imaging.Limits{MaxSide: d.Budget.MaxImagePixels, MaxDecodePixels: d.Budget.MaxDecodePixels}
	return media.Foreign{Worker: d.Media.Worker, Blobs: d.Blobs, Limits: limits}
}

// Tools is what models may call while they answer.
type Tools interface {
	// Offer returns the tools that a step offers to a model.
	Offer(s Context, m Model) Offer
	// Propose returns the calls of an answer that need approval, for `@approve tools`.
	Propose(ctx context.Context, s Context, in engine.UseToolsIn) ([]engine.Proposal, error)
}

// Offer is what a model may call, as requests describe it.
type Offer struct {
	Tools  []llm.Tool
	Chunks *llm.Tool // also offered if parts of the prompt were deferred; nil: not available
	Pages  *llm.Tool // also offered if pages of documents are not shown; nil: among Tools, or not available
	Guide  string    // instructions for tools, for the system prompt

	Origins []string // untrusted sources of tool descriptions
	Notes   []string // remarks on these tools, for people
}

// with returns the tools for a prompt.
func (o Offer) with(p *prompt.Prompt) []llm.Tool {
	tools := append([]llm.Tool{}, o.Tools...)
	if len(p.Chunks) > 0 && o.Chunks != nil {
		tools = append(tools, *o.Chunks)
	}
	if len(p.Paged) > 0 && o.Pages != nil {
		tools = append(tools, *o.Pages)
	}
	return tools
}

// Steps are the activities of steps.
type Steps struct {
	Conditions *Conditions
	Expander   *Expander
	Inputs     Inputs
	Assembler  *Assembler
	Generator  *Generator
	Validator  *Validator
	Approver   *Approver
	Stager     *Stager
	Committer  *Committer
	Follower   *Follower
	Previewer  *Previewer

	plans *Plans
}

// New returns the activities of steps whose models call these tools.
func New(d *Deps, tools Tools) *Steps {
	s := &Steps{
		Conditions: &Conditions{d.Plans, d.Vars, d.Inputs},
		Expander:   &Expander{d.Plans, d.Vars, d.Inputs, divider{d.Inputs, d.Memory, d.Library}},
		Inputs:     d.Inputs,
		Assembler: &Assembler{
			plans: d.Plans, models: d.Models, stored: d.Stored, sources: d.Sources, inputs: d.Inputs, outputs: d.Outputs, budgets: d.Budgets,
			demands: d.Demands, prompt: d.Prompt, tools: tools, library: d.Library, filing: d.Filing, defaultModel: d.DefaultModel, vaultName: d.VaultName, strictLinks: d.StrictLinks,
			previews: d.Previews,
		},
		Generator: &Generator{
			plans: d.Plans, models: d.Models, stored: d.Stored, answers: d.Answers, outputs: d.Outputs, budgets: d.Budgets, media: d.Media,
			received: d.Received, tools: tools, noRewrites: d.NoRewrites, remote: d.Prompt.Remote,
		},
		Validator: &Validator{d.Plans, d.Stored, d.Demands},
		Stager:    &Stager{d.Plans, d.Stored, d.Sources, d.Inputs, d.Vars, d.Outputs, d.Library, d.Filing},
		Committer: &Committer{filing: d.Filing, plans: d.Plans, changes: d.Changes, outputs: d.Outputs, memory: d.Memory, cache: d.Cache},
		Follower:  &Follower{d.Plans, d.Changes, d.Memory, d.Library},
		plans:     d.Plans,
	}
	s.Approver = &Approver{plans: d.Plans, stored: d.Stored, changes: d.Changes, approvals: d.Approvals, tools: tools, now: d.Now, resolve: s.Resolve, assemble: s.Assembler.Assemble}
	s.Previewer = &Previewer{d.Inputs, d.Answers, d.Budgets, d.Media, s.Conditions, s.Expander, s.Assembler, s.Generator, s.Approver}
	return s
}

// Activities returns the activities by name.
func (s *Steps) Activities() engine.Activities {
	return engine.Activities{
		engine.ActivityWhen:     engine.Handle(s.Conditions.When),
		engine.ActivityExpand:   engine.Handle(s.Expander.Expand),
		engine.ActivityResolve:  engine.Handle(s.Resolve),
		engine.ActivityAssemble: engine.Handle(s.Assembler.Assemble),
		engine.ActivityGenerate: engine.Handle(s.Generator.Generate),
		engine.ActivityValidate: engine.Handle(s.Validator.Validate),
		engine.ActivityApprove:  engine.Handle(s.Approver.Approve),
		engine.ActivityStage:    engine.Handle(s.Stager.Stage),
		engine.ActivityCommit:   engine.Handle(s.Committer.Commit),
		engine.ActivityFollow:   engine.Handle(s.Follower.Follow),
	}
}
