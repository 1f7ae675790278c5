package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
)

// World is what survives a killed executor: a vault, blobs, and a model provider that counts what it is asked. It is
// safe for concurrent use.
type World struct {
	// Before is called when an activity begins; what it returns becomes the activity's error. It may block until ctx
	// ends, and it may panic. The step is the name of the workflow's step, with "#2" behind it for the second batch of its
	// items, or the source of the import.
	Before func(ctx context.Context, activity, step string) error
	// Answers is what the provider says to a step, by its name; others get a complete answer.
	Answers map[string]engine.GenerateOut
	// Omitted is what the prompt of a step leaves out, by its name.
	Omitted map[string][]string
	// Missing makes a step's required input missing, by its name.
	Missing map[string]bool
	// When is what becomes of a step's conditions, by its name.
	When map[string]engine.WhenOut
	// Items are what a step's @for_each finds, in batches, by its name.
	Items map[string][][]engine.Item
	// Talk is what the provider says to a step in turn, by its name; the last answer is repeated. An answer that begins
	// with "{" is valid JSON in this world, and no other is.
	Talk map[string][]engine.GenerateOut
	// NoVars makes steps set no variables.
	NoVars bool
	// Nested are the runs that a step's tools start and wait for, by its name; their key and trigger are set.
	Nested map[string]engine.Request
	// Asked is called when a run is about to be parked; it may be nil.
	Asked func(run string)
	// Second makes a step write a second file, `<workflow>-2.md`, by its name.
	Second map[string]bool
	// Shown are the chunks that a step's tools show, by its name.
	Shown map[string][]string
	// Undone are the approved calls that fail in a step, by its name.
	Undone map[string][]string

	mu       sync.Mutex
	files    map[string]string
	blobs    map[string]string
	marks    map[string]string            // content by workflow, step, directive and name
	cache    map[string]engine.CacheEntry // by key
	calls    map[string]int
	paid     int             // answers that were not from the cache
	origins  []string        // of the run that was not disturbed, by the test
	exec     engine.Executor // at work
	nested   map[string]bool // ids of runs that tools have started
	proposed map[string]proposed
	agreed   map[string]string // prompts that were agreed to last, by step and batch
	now      int               // activities at work
	most     int               // activities that were at work together
}

// NewWorld makes an empty world.
func NewWorld() *World {
	return &World{
		Answers: map[string]engine.GenerateOut{}, Omitted: map[string][]string{}, Missing: map[string]bool{},
		When: map[string]engine.WhenOut{}, Items: map[string][][]engine.Item{}, Talk: map[string][]engine.GenerateOut{},
		Shown: map[string][]string{}, files: map[string]string{}, blobs: map[string]string{}, marks: map[string]string{},
		cache: map[string]engine.CacheEntry{}, calls: map[string]int{}, Nested: map[string]engine.Request{}, nested: map[string]bool{},
		Second: map[string]bool{}, proposed: map[string]proposed{}, agreed: map[string]string{},
	}
}

// File is the content of a file of the vault; empty when there is none.
func (w *World) File(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[name]
}

// Write is a person who writes a file.
func (w *World) Write(name, content string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[name] = content
}

// Files is a copy of the vault.
func (w *World) Files() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.files)
}

// Marks is a copy of what was marked as processed: the content by "workflow/step/directive/name".
func (w *World) Marks() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.marks)
}

// Cache is a copy of the answers that were kept, by key.
func (w *World) Cache() map[string]engine.CacheEntry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.cache)
}

// Paid counts the answers that were not from the cache.
func (w *World) Paid() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.paid
}

// Calls counts how often an activity was begun for a step.
func (w *World) Calls(activity, step string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[activity+" "+step]
}

// Most is how many activities were at work at the same time.
func (w *World) Most() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.most
}

func (w *World) put(content string) string {
	sum := sha256.Sum256([]byte(content))
	digest := hex.EncodeToString(sum[:])
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blobs[digest] = content
	return digest
}

func (w *World) blob(digest string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.blobs[digest]
}

// digest is the digest of a file; empty when there is none.
func (w *World) digest(name string) string {
	w.mu.Lock()
	content, ok := w.files[name]
	w.mu.Unlock()
	if !ok {
		return ""
	}
	return w.put(content)
}

// enter counts an activity and does what the test wants to happen.
func (w *World) enter(ctx context.Context, activity, step string) (leave func(), err error) {
	w.mu.Lock()
	w.calls[activity+" "+step]++
	w.now++
	w.most = max(w.most, w.now)
	w.mu.Unlock()
	leave = func() {
		w.mu.Lock()
		w.now--
		w.mu.Unlock()
	}
	if w.Before != nil {
		defer func() {
			if p := recover(); p != nil {
				leave()
				panic(p)
			}
		}()
		err = w.Before(ctx, activity, step)
	}
	if err != nil {
		leave()
	}
	return leave, err
}

// idle waits until no activity is at work.
func (w *World) idle() {
	for {
		w.mu.Lock()
		now := w.now
		w.mu.Unlock()
		if now == 0 {
			return
		}
		runtime.Gosched()
	}
}

// activity counts fn and lets the test interfere before it.
func activity[In, Out any](w *World, name string, of func(In) string, fn func(In) Out) engine.Activity {
	return engine.Handle(func(ctx context.Context, in In) (out Out, err error) {
		leave, err := w.enter(ctx, name, of(in))
		if err != nil {
			return out, err
		}
		defer leave()
		return fn(in), nil
	})
}

// Activities carry out runs in this world. Every step appends its answer to the file `<workflow>.md` and sets a variable
// of its own name; an import makes `Imported/<source>/index.md`.
func (w *World) Activities() engine.Activities {
	a := activities{w}
	return engine.Activities{
		engine.ActivityWhen:     activity(w, engine.ActivityWhen, func(in engine.StepIn) string { return work(in.StepRef) }, a.when),
		engine.ActivityExpand:   activity(w, engine.ActivityExpand, func(in engine.StepIn) string { return work(in.StepRef) }, a.expand),
		engine.ActivityResolve:  activity(w, engine.ActivityResolve, func(in engine.ResolveIn) string { return work(in.StepRef) }, a.resolve),
		engine.ActivityAssemble: activity(w, engine.ActivityAssemble, func(in engine.AssembleIn) string { return work(in.StepRef) }, a.assemble),
		engine.ActivityGenerate: activity(w, engine.ActivityGenerate, func(in engine.GenerateIn) string { return work(in.StepRef) }, a.generate),
		engine.ActivityUseTools: engine.Handle(a.useToolsOrRun),
		engine.ActivityValidate: activity(w, engine.ActivityValidate, func(in engine.ValidateIn) string { return work(in.StepRef) }, a.validate),
		engine.ActivityApprove:  engine.Handle(a.approve),
		engine.ActivityStage:    activity(w, engine.ActivityStage, func(in engine.StageIn) string { return work(in.StepRef) }, a.stage),
		engine.ActivityCommit:   activity(w, engine.ActivityCommit, func(in engine.CommitIn) string { return work(in.StepRef) }, a.commit),
		engine.ActivityClassify: activity(w, engine.ActivityClassify, func(in engine.ClassifyIn) string { return in.Source }, a.classify),
		engine.ActivityExtract:  activity(w, engine.ActivityExtract, func(in engine.ExtractIn) string { return in.Source }, a.extract),
		engine.ActivityPublish:  activity(w, engine.ActivityPublish, func(in engine.PublishIn) string { return in.Source }, a.publish),
		engine.ActivityFile:     activity(w, engine.ActivityFile, func(in engine.FileIn) string { return in.Source }, a.file),
	}
}

// names lists the files of the vault.
func (w *World) names() []string { return slices.Sorted(maps.Keys(w.Files())) }

// says is a complete answer.
func (w *World) says(text string) engine.GenerateOut {
	return engine.GenerateOut{
		Answer: w.put(text), Raw: w.put("raw " + text), Stop: engine.StopEnd, Model: "test-1",
		Usage: cost.Usage{InputTokens: 10, OutputTokens: 5, CostUSD: 0.25},
	}
}

// calling is an answer that calls a tool.
func (w *World) calling(text string) engine.GenerateOut {
	out := w.says(text)
	out.Stop = engine.StopToolUse
	return out
}

func (w *World) cached(key string) (engine.CacheEntry, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.cache[key]
	return c, ok
}
