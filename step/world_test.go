package step

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/vault/vaulttest"
	"github.com/vaultflow/vaultflow/workflow"
)

// world is a vault, a journal and models in memory, for tests of single activities.
type world struct {
	t *testing.T
	*Workflow
	files fstest.MapFS
	vault *vaulttest.Memory // holds the files
	plan  workflow.Plan

	mu       sync.Mutex
	blobs    map[string][]byte
	marks    map[string]bool // by key, name and digest
	writings map[string]bool // by workflow, name and digest
	shared   map[string]string
	kept     map[string]engine.CacheEntry
	keptAt   map[string]time.Time
	clock    time.Time

	books    books
	models   map[string]Model
	requests []llm.Request
	reply    func(llm.Request) (*llm.Response, error)
}

// noon is the time of every test run.
var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) // a Wednesday

func newWorld(t *testing.T, files map[string]string, steps ...workflow.Step) *world {
	t.Helper()
	w := &world{
		t: t, files: fstest.MapFS{}, blobs: map[string][]byte{}, marks: map[string]bool{}, writings: map[string]bool{}, shared: map[string]string{},
		kept: map[string]engine.CacheEntry{}, keptAt: map[string]time.Time{}, clock: noon,
	}
	for name, text := range files {
		w.files[name] = &fstest.MapFile{Data: []byte(text), ModTime: noon}
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
	w.vault = vaulttest.New(w.files)
	w.vault.Now = func() time.Time { return noon }
	w.Workflow = &Workflow{
		FS: w.files, Vault: w.vault, Blobs: w, Memory: w, Models: w, Cache: w, Ledger: &w.books, Zone: "UTC", Budget: policy.DefaultBudget(), DefaultModel: "seer",
		Prompt:    prompt.Builder{FS: w.files, Probe: media.Probe(w.files)},
		ImportDir: "Import", ImportedDir: "Imported", VaultName: "Test", MaxFiles: 500, MaxText: 1 << 20, Now: func() time.Time { return w.clock },
	}
	return w
}

// ref pins the plan and names its first step.
func (w *world) ref() engine.StepRef {
	w.t.Helper()
	data, err := json.Marshal(w.plan)
	if err != nil {
		w.t.Fatal(err)
	}
	digest, err := w.Put(w.t.Context(), data)
	if err != nil {
		w.t.Fatal(err)
	}
	return engine.StepRef{Run: "r1", Workflow: w.plan.Name, Plan: digest, Step: w.plan.Steps[0].Name, At: noon}
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

// edit is a person's edit of a file.
func (w *world) edit(name, text string) {
	w.files[name] = &fstest.MapFile{Data: []byte(text), ModTime: noon}
}

// Put implements Blobs.
func (w *world) Put(_ context.Context, data []byte) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blobs[sha(data)] = slices.Clone(data)
	return sha(data), nil
}

// Get implements Blobs.
func (w *world) Get(_ context.Context, digest string) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	data, ok := w.blobs[digest]
	if !ok {
		return nil, engine.ErrNotFound
	}
	return data, nil
}

// Done implements directives.Pending.
func (w *world) Done(_ context.Context, key directives.PendingKey, name, sha256 string) (bool, error) {
	return w.marks[fmt.Sprint(key, name, sha256)], nil
}

// Writing implements Memory.
func (w *world) Writing(_ context.Context, ref engine.StepRef, files []engine.StagedFile) error {
	for _, f := range files {
		w.writings[ref.Workflow+" "+f.Name+" "+f.New] = true
	}
	return nil
}

// OwnWrite implements Memory.
func (w *world) OwnWrite(_ context.Context, workflow, name, sha256 string) (bool, error) {
	return w.writings[workflow+" "+name+" "+sha256], nil
}

// Committed implements Memory.
func (w *world) Committed(_ context.Context, ref engine.StepRef, marks []engine.Mark, shared []engine.Var) error {
	for _, m := range marks {
		w.marks[fmt.Sprint(directives.PendingKey{Workflow: ref.Workflow, Step: ref.Step, Directive: m.Directive}, m.Name, m.SHA256)] = true
	}
	for _, v := range shared {
		w.shared[v.Name] = v.Digest
	}
	return nil
}

// Variable implements Memory.
func (w *world) Variable(_ context.Context, _, name string) (engine.Var, bool, error) {
	digest, set := w.shared[name]
	return engine.Var{Name: name, Digest: digest}, set, nil
}

// Cached implements Cache.
func (w *world) Cached(_ context.Context, key string, since time.Time) (engine.CacheEntry, bool, error) {
	entry, found := w.kept[key]
	return entry, found && !w.keptAt[key].Before(since), nil
}

// Keep implements Cache.
func (w *world) Keep(_ context.Context, _ engine.StepRef, entry engine.CacheEntry) error {
	w.kept[entry.Key], w.keptAt[entry.Key] = entry, w.clock
	return nil
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

// says answers every request with a text.
func says(text string) func(llm.Request) (*llm.Response, error) {
	return func(r llm.Request) (*llm.Response, error) {
		return &llm.Response{Text: text, Stop: llm.StopEnd, Model: r.Model, Blocks: []content.Block{content.Text{Value: text}}}, nil
	}
}

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// file is a target in the vault, and variable one of the run.
func fileTarget(path string) directives.Target {
	return directives.Target{Scheme: directives.SchemeFile, Path: path}
}

func variableTarget(name string) directives.Target {
	return directives.Target{Scheme: directives.SchemeVariable, Path: name}
}

// assembled resolves and assembles a step.
func (w *world) assembled(ref engine.StepRef, vars ...engine.Var) engine.AssembleOut {
	w.t.Helper()
	found, err := w.Resolve(w.t.Context(), engine.ResolveIn{StepRef: ref, Vars: vars})
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := w.Assemble(w.t.Context(), engine.AssembleIn{StepRef: ref, Inputs: found.Inputs, Vars: vars})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// stored is the prompt that was assembled.
func (w *world) stored(out engine.AssembleOut) storedPrompt {
	w.t.Helper()
	stored, err := w.Workflow.prompt(w.t.Context(), out.Prompt)
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
