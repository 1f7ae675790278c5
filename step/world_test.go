package step

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// world is a vault, a journal and models in memory, for tests of single activities. What a test changes in Config holds for
// the activities that it carries out next.
type world struct {
	t *testing.T
	Config
	fuse  *steptest.Fuse
	vault *steptest.Vault
	*steptest.Memory
	files fstest.MapFS
	plan  workflow.Plan
	tools Tools
	one   *Steps // of all activities of the test; nil: new ones for each

	mu       sync.Mutex
	books    steptest.Books
	models   map[string]Model
	requests []llm.Request
	reply    func(llm.Request) (*llm.Response, error)
}

var noon = steptest.Noon

func newWorld(t *testing.T, files map[string]string, steps ...workflow.Step) *world {
	t.Helper()
	fuse := &steptest.Fuse{}
	v := steptest.NewVault(files)
	w := &world{
		t: t, fuse: fuse, vault: v, files: v.Files, tools: noTools{}, Memory: steptest.NewMemory(fuse),
	}
	w.plan = workflow.Plan{Name: "Flow", File: "Workflows/Flow.md", Meta: workflow.Meta{WeekStart: "monday"}, Steps: steps}
	for i := range w.plan.Steps {
		if w.plan.Steps[i].Name == "" {
			w.plan.Steps[i].Name = fmt.Sprintf("Step %d", i+1)
		}
	}
	caps, err := policy.ExactOverride([]string{"text", "vision", "tools"})
	if err != nil {
		t.Fatal(err)
	}
	w.models = map[string]Model{"seer": {
		Alias: "seer", ID: "seer-1", ProviderName: "lab", Kind: "openai_chat", Capabilities: policy.Lookup("openai_chat", "seer-1", caps, nil),
		ContextWindow: 100000, Client: w,
	}}
	w.Config = Config{
		FS: w.files, Vault: v.Mortal(fuse), Blobs: w.Journal, Memory: w.Memory, Models: w, Cache: w.Memory, Ledger: &w.books, Zone: "UTC",
		Budget: policy.DefaultBudget(), DefaultModel: "seer", Prompt: prompt.Builder{FS: w.files, Probe: media.Probe(w.files)},
		Gate: policy.Gate{ImportDir: "Import", ImportedDir: "Imported", StatusNote: "Status.md"}, VaultName: "Test", MaxFiles: 500, MaxText: 1 << 20, Now: func() time.Time { return w.Clock },
	}
	return w
}

// newDesk is a world whose runs change files.
func newDesk(t *testing.T, files map[string]string, use string) *world {
	t.Helper()
	w := newWorld(t, files, workflow.Step{Name: "Step 1", Prompt: "work", Set: directives.Set{Tools: toolsOf(t, use)}})
	w.Record = w.Journal
	return w
}

// toolsOf reads an @tools line.
func toolsOf(t *testing.T, use string) *directives.Tools {
	t.Helper()
	plan, list := workflow.Parse("w", "Workflows/w.md", []byte("@tools "+use+"\nx"))
	if diag.HasErrors(list) {
		t.Fatal(list)
	}
	return plan.Steps[0].Tools
}

// noTools offers nothing.
type noTools struct{}

func (noTools) Offer(Context, Model) Offer { return Offer{} }

func (noTools) Propose(context.Context, Context, engine.UseToolsIn) ([]engine.Proposal, error) {
	return nil, nil
}

// deps and steps are made of the configuration as it is now.
func (w *world) deps() *Deps { return NewDeps(w.Config) }

func (w *world) steps() *Steps {
	if w.one != nil {
		return w.one
	}
	return New(w.deps(), w.tools)
}

// ref pins the plan and names its first step.
func (w *world) ref() engine.StepRef {
	w.t.Helper()
	data, err := json.Marshal(w.plan)
	if err != nil {
		w.t.Fatal(err)
	}
	return engine.StepRef{Run: "r1", Workflow: w.plan.Name, Plan: w.put(string(data)), Step: w.plan.Steps[0].Name, At: noon}
}

// text is a blob's content.
func (w *world) text(digest string) string {
	w.t.Helper()
	data, err := w.Get(w.t.Context(), digest)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *world) put(text string) string {
	w.t.Helper()
	digest, err := w.Put(w.t.Context(), []byte(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return digest
}

// Model implements Models.
func (w *world) Model(_ context.Context, alias string) (Model, error) {
	model, ok := w.models[alias]
	if !ok {
		return model, failure.New(failure.UnknownModel, "", "no model %s among %v", alias, slices.Sorted(maps.Keys(w.models)))
	}
	return model, nil
}

var errNoReply = errors.New("this test expects no call")

// Generate implements llm.Provider.
func (w *world) Generate(_ context.Context, request llm.Request, _ func(string)) (*llm.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, request)
	if w.reply == nil {
		return nil, errNoReply
	}
	return w.reply(request)
}

// assembled resolves and assembles a step.
func (w *world) assembled(ref engine.StepRef, vars ...engine.Var) engine.AssembleOut {
	w.t.Helper()
	steps := w.steps()
	found, err := steps.Resolve(w.t.Context(), engine.ResolveIn{StepRef: ref, Vars: vars})
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := steps.Assembler.Assemble(w.t.Context(), engine.AssembleIn{StepRef: ref, Inputs: found.Inputs, Vars: vars})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// says answers every request with a text.
func says(text string) func(llm.Request) (*llm.Response, error) {
	return func(r llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: text, Stop: llm.StopEnd, Model: r.Model, Blocks: []content.Block{content.Text{Value: text}}}, nil
	}
}

func sha(data []byte) string { return vault.Digest(data) }

// file is a target in the vault, and variable one of the run.
func fileTarget(path string) directives.Target {
	return directives.Target{Scheme: directives.SchemeFile, Path: path}
}

func variableTarget(name string) directives.Target {
	return directives.Target{Scheme: directives.SchemeVariable, Path: name}
}

// stored is the prompt that was assembled.
func (w *world) stored(out engine.AssembleOut) Prompt {
	w.t.Helper()
	stored, err := w.deps().Stored.Prompt(w.t.Context(), out.Prompt)
	if err != nil {
		w.t.Fatal(err)
	}
	return stored
}

// promptText is what the model would read.
func (w *world) promptText(out engine.AssembleOut) string {
	w.t.Helper()
	stored := w.stored(out)
	blocks, err := content.UnmarshalBlocks(stored.Blocks)
	if err != nil {
		w.t.Fatal(err)
	}
	return stored.System + "\n----\n" + content.Join(blocks)
}

// code is the code of a failure.
func code(err error) failure.Code {
	if err == nil {
		return ""
	}
	return failure.Of(err).Code
}

// A plan is read and decoded once for all activities of its steps.
func TestPlans_readOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.md": "text"}, workflow.Step{Prompt: "x", Set: directives.Set{Inputs: []directives.Input{{Target: fileTarget("a")}}}})
	w.reply = says("Answer")
	ref, reads := w.ref(), &reader{Journal: w.Journal, gets: map[string]int{}}
	w.Blobs = reads
	w.one = w.steps()
	out := w.assembled(ref)
	if _, err := w.steps().Conditions.When(t.Context(), engine.StepIn{StepRef: ref}); err != nil {
		t.Fatal(err)
	}
	answer, err := w.steps().Generator.Generate(t.Context(), engine.GenerateIn{StepRef: ref, Prompt: out.Prompt, Model: out.Model})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: ref, Answer: answer.Answer}); err != nil {
		t.Fatal(err)
	}
	if reads.gets[ref.Plan] != 1 {
		t.Errorf("the plan was read %d times", reads.gets[ref.Plan])
	}
}

// reader counts what is read of a journal.
type reader struct {
	*steptest.Journal
	gets map[string]int
}

func (r *reader) Get(ctx context.Context, digest string) ([]byte, error) {
	r.gets[digest]++
	return r.Journal.Get(ctx, digest)
}
