package step

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
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
	steptest.Script
	files fstest.MapFS
	plan  workflow.Plan
	tools Tools
	one   *Steps // of all activities of the test; nil: new ones for each

	books  steptest.Books
	models map[string]Model
}

var noon = steptest.Noon

func newWorld(t *testing.T, files map[string]string, steps ...workflow.Step) *world {
	t.Helper()
	fuse := &steptest.Fuse{}
	v := steptest.NewVault(files)
	w := &world{
		t: t, fuse: fuse, vault: v, files: v.Files, tools: noTools{}, Memory: steptest.NewMemory(fuse),
	}
	w.plan = steptest.Plan(steps)
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
	w := newWorld(t, files, workflow.Step{Name: "Step 1", Prompt: "work", Set: directives.Set{Tools: steptest.Tools(t, use)}})
	w.Record = w.Journal
	return w
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

func (w *world) ref() engine.StepRef { return w.Ref(w.t, w.plan) }

func (w *world) text(digest string) string { return w.Text(w.t, digest) }

func (w *world) put(text string) string { return w.PutText(w.t, text) }

// Model implements Models.
func (w *world) Model(_ context.Context, alias string) (Model, error) {
	model, ok := w.models[alias]
	if !ok {
		return model, failure.New(failure.UnknownModel, "", "no model %s among %v", alias, slices.Sorted(maps.Keys(w.models)))
	}
	return model, nil
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
	w.Reply = steptest.Says("Answer")
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
