package enginetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Setup is what an executor under test is made of.
type Setup struct {
	Dir        string // of the journal; the same folder is the same journal
	Activities engine.Activities
	Wrap       func(engine.Journal) engine.Journal // to be put before the journal; may be nil
	MaxRuns    int
	MaxImports int
	Now        func() time.Time // nil means time.Now
}

// Factory makes an executor that has not been started, and a function that closes its journal. Waits between attempts
// should be a few milliseconds, the grace period about a second, and three attempts be made of resolve.
type Factory func(t testing.TB, s Setup) (engine.Executor, func())

// limit bounds every wait of the suite.
const limit = 20 * time.Second

// Exercise runs the contract.
func Exercise(t *testing.T, factory Factory) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Factory)
	}{
		{"a run does its steps in order", stepsInOrder},
		{"chosen steps only", chosenSteps},
		{"one key is one run", oneKey},
		{"outcomes are honest", honestOutcomes},
		{"a conflict is staged again", conflict},
		{"transient failures are repeated", transient},
		{"exhausted failures are not", exhausted},
		{"a panic is a failure", panics},
		{"killed at every append", killedEverywhere},
		{"an import killed at every append", importKilledEverywhere},
		{"another body is not guessed", diverged},
		{"shutdown leaves runs to be resumed", shutdown},
		{"cancel ends a run", cancel},
		{"lanes and overlap", overlap},
		{"imports do not block workflows", importsApart},
		{"large imports do not block small ones", largeImports},
		{"imports of many pages do not block small ones", longImports},
		{"an import whose file changed is cancelled", changedWhileImported},
		{"bounded parallel runs", bounded},
		{"retry begins where it failed", retry},
		{"a slow subscriber is told", slowSubscriber},
		{"runs and steps that take too long", timeouts},
		{"waiting and asking for nonsense", waits},
		{"a vault on a full disk", fullVault},
		{"a journal on a full disk", fullJournal},
		{"a run that waits for a disk is cancelled", cancelPutOff},
		{"a clock that is set back", clockSetBack},
		{"items in order", itemsInOrder},
		{"batches beside each other", besideEachOther},
		{"a failed batch stops the step", batchStops},
		{"a failed batch is skipped", batchSkipped},
		{"items that lead nowhere", noItems},
		{"retry of a batch", retryBatch},
		{"retry of all batches", retryAllBatches},
		{"ended in every activity", endedEverywhere},
		{"retry of a step", retryStep},
		{"retry of batches that were left out", retryLost},
		{"retry of an interrupted run", retryInterrupted},
		{"an interrupted run is asked for again", askedAgain},
		{"retry of batches at other costs", retryCosts},
		{"conditions", conditions},
		{"tools are used", toolRounds},
		{"a run waits for a run", nestedRun},
		{"a nested run that fails", nestedFails},
		{"a nested run ends with its parent", nestedEnds},
		{"a busy lane refuses a nested run", nestedBusy},
		{"a nested run that is interrupted", nestedInterrupted},
		{"nested runs killed at every append", nestedKilled},
		{"a run that asks is parked", approvalParks},
		{"a prompt waits until it is approved as it is", approvalPrompt},
		{"the prompts of items wait beside each other", approvalPrompts},
		{"a rejected file is not written", approvalRejected},
		{"an approved call that does nothing is reported", approvalIdle},
		{"a run about a file ends one that waits for approval about it", approvalSuperseded},
		{"a model is told why its files were rejected", approvalToldWhy},
		{"one yes after the other", approvalPiecemeal},
		{"a yes to what has changed", approvalConflict},
		{"a yes in the moment of parking", approvalAtOnce},
		{"calls wait for a yes", approvalTools},
		{"a parked run is cancelled", approvalEnds},
		{"a yes when somebody begins to wait", approvalWaitedFor},
		{"a nested run that asks", approvalNested},
		{"a nested run that asked is replaced", approvalReplaced},
		{"a parked run is left alone", approvalRestarts},
		{"runs that ask killed at every append", approvalKilled},
		{"answers are mended", repairs},
		{"answers are kept", cached},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, factory)
		})
	}
}

// rig is an executor at work in a world.
type rig struct {
	t     *testing.T
	ctx   context.Context
	x     engine.Executor
	world *World
	stop  func() // ends Run and closes the journal; may be called again
}

// start makes an executor over a world and a folder and sets it to work.
func start(t *testing.T, factory Factory, w *World, s Setup) *rig {
	t.Helper()
	if s.Dir == "" {
		s.Dir = t.TempDir()
	}
	s.Activities = w.Activities()
	x, shut := factory(t, s)
	w.StartsAt(x)
	ctx, end := context.WithTimeout(t.Context(), limit)
	ran := make(chan error, 1)
	running, halt := context.WithCancel(ctx)
	go func() { ran <- x.Run(running) }()
	stopped := false
	r := &rig{t: t, ctx: ctx, x: x, world: w}
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		halt()
		if err := <-ran; err != nil {
			t.Errorf("Run: %v", err)
		}
		shut()
		end()
	}
	t.Cleanup(r.stop)
	return r
}

// plan is the JSON of a plan with these steps; each writes a file and a variable. A step "x!" asks no model.
func plan(name string, steps ...string) []byte {
	var list []string
	for _, s := range steps {
		model := ""
		if strings.HasSuffix(s, "!") {
			model = `,"model":{"none":true}`
		}
		list = append(list, fmt.Sprintf(`{"name":%q,"outputs":[{},{}]%s}`, s, model))
	}
	return fmt.Appendf(nil, `{"name":%q,"meta":{},"steps":[%s]}`, name, strings.Join(list, ","))
}

// planOf is a workflow of one step "a" with the given properties; it writes a file and a variable.
func planOf(properties string) engine.Request {
	raw := fmt.Appendf(nil, `{"name":"w","meta":{},"steps":[{"name":"a",%s}]}`, properties)
	return engine.Request{Kind: engine.KindWorkflow, Subject: "w", Plan: raw}
}

func manual(name string, steps ...string) engine.Request {
	return engine.Request{Kind: engine.KindWorkflow, Subject: name, Plan: plan(name, steps...)}
}

func scheduled(key string, o engine.Overlap, name string, steps ...string) engine.Request {
	r := manual(name, steps...)
	r.Key, r.Overlap, r.Trigger = key, o, engine.Trigger{Kind: engine.TriggerCron}
	return r
}

func imported(source, sha256 string) engine.Request {
	return engine.Request{
		Key: engine.ImportKey(sha256, "", source), Kind: engine.KindImport, Subject: source,
		Trigger: engine.Trigger{Kind: engine.TriggerDrop}, Import: &engine.ImportRequest{SHA256: sha256, Size: 1},
	}
}

// begin starts a run.
func (r *rig) begin(q engine.Request) engine.Started {
	r.t.Helper()
	s, err := r.x.Start(r.ctx, q)
	if err != nil {
		r.t.Fatalf("Start(%s): %v", q.Subject, err)
	}
	return s
}

// wait waits for a run to finish.
func (r *rig) wait(run string) engine.RunRecord {
	r.t.Helper()
	rec, err := r.x.Wait(r.ctx, run)
	if err != nil {
		r.t.Fatalf("Wait(%s): %v", run, err)
	}
	return rec
}

// run starts a run and waits for it.
func (r *rig) run(q engine.Request) engine.RunRecord {
	r.t.Helper()
	return r.wait(r.begin(q).Run)
}

func wantStatus(t *testing.T, r engine.RunRecord, want engine.Status) {
	t.Helper()
	if r.Status != want {
		t.Errorf("status of %s: got %s (%s), want %s", r.Workflow, r.Status, r.Reason, want)
	}
}

func wantCalls(t *testing.T, w *World, activity, step string, want int) {
	t.Helper()
	if got := w.Calls(activity, step); got != want {
		t.Errorf("%s was begun %d times for %s, want %d", activity, got, step, want)
	}
}
