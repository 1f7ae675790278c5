package local

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// Start accepts a run; see engine.Executor. A request that makes no sense is an *failure.Error and leaves no run.
func (x *Executor) Start(ctx context.Context, r engine.Request) (engine.Started, error) {
	if err := x.Drain.admit(ctx); err != nil {
		return engine.Started{}, err
	}
	e, err := x.cfg.entry(ctx, r)
	if err != nil {
		return engine.Started{}, err
	}
	x.starting.Lock()
	defer x.starting.Unlock()
	before := x.queue.inLane(e.Lane)
	if r.Refused != "" {
		e.Run.Status, e.Run.Finished, e.Run.Reason = engine.Skipped, e.Run.Created, r.Refused
	} else if !r.Trigger.Attended() && r.Kind == engine.KindWorkflow && len(before) > 0 {
		switch r.Overlap {
		case engine.OverlapQueue, engine.OverlapReplace:
		default:
			e.Run.Status, e.Run.Finished = engine.Skipped, e.Run.Created
			e.Run.Reason = fmt.Sprintf("run %s of the workflow had not ended (overlap: skip)", before[0].id)
			if r.Trigger.Kind == engine.TriggerTool {
				e.Run.Reason = fmt.Sprintf("run %s of the workflow had not ended, and a call of a tool does not wait for it", before[0].id)
			}
		}
	}
	held, created, err := x.cfg.Journal.Create(ctx, e, r.Again)
	if err != nil {
		return engine.Started{}, err
	}
	started := engine.Started{Run: held.Run.ID, Created: created, Status: held.Run.Status, Reason: held.Run.Reason}
	if !created {
		return started, join(ctx, x, held)
	}
	return started, x.accept(ctx, held, before, r)
}

// join queues a run that was asked for again and that an earlier process left unfinished: whoever asked waits for it, and only a
// serve resumes all runs.
func join(ctx context.Context, x *Executor, e engine.Entry) error {
	if e.Run.Status.Finished() || x.queue.job(e.Run.ID) != nil {
		return nil
	}
	e, _, err := x.cfg.Journal.Load(ctx, e.Run.ID) // it may have ended since it was read
	if err != nil || e.Run.Status.Finished() || e.Run.Status == engine.AwaitingApproval {
		return err
	}
	return x.takeUp(ctx, e)
}

// accept puts a new run into its lane.
func (x *Executor) accept(ctx context.Context, e engine.Entry, before []*job, r engine.Request) error {
	j, err := newJob(e)
	if err != nil {
		return fmt.Errorf("read the new run %s: %w", e.Run.ID, err)
	}
	x.store.tell(ctx, j, engine.Event{Kind: engine.EventRun, Status: e.Run.Status, Message: e.Run.Reason})
	if e.Run.Status.Finished() {
		return nil
	}
	if !r.Trigger.Attended() && r.Overlap == engine.OverlapReplace {
		for _, old := range before {
			if err := x.cancelJob(ctx, old); err != nil {
				return fmt.Errorf("replace run %s: %w", old.id, err)
			}
			x.wakeParent(ctx, old)
		}
	}
	err = supersede(ctx, x, e.Run)
	x.queue.add(j)
	return err
}

// Busy reports whether a run of a kind has not ended: one of a workflow, or, without a name, any of the kind.
func (x *Executor) Busy(k engine.Kind, workflow string) bool {
	if workflow == "" {
		return x.queue.holds(k)
	}
	return len(x.queue.inLane(lane(engine.Request{Kind: k, Subject: workflow}))) > 0
}

// entry makes the journal's entry of a request and stores the blobs that it refers to.
func (c Config) entry(ctx context.Context, r engine.Request) (engine.Entry, error) {
	now := c.Now()
	id := newID(now)
	run := engine.RunRecord{
		ID: id, Kind: r.Kind, Workflow: r.Subject, Status: engine.Queued, Trigger: r.Trigger, Key: r.Key, Created: now,
	}
	if run.Trigger.Kind == "" {
		run.Trigger.Kind = engine.TriggerManual
	}
	if run.Key == "" {
		run.Key = string(run.Trigger.Kind) + ":" + id
	}
	run.At = orNow(r.At, now)
	s := spec{Timeout: r.Timeout}
	e := engine.Entry{Lane: lane(r)}
	var err error
	switch {
	case r.Kind == engine.KindImport && r.Import != nil:
		s.Import, e.Import = importPlan(r, run)
	case r.Kind == engine.KindUndo && r.Undo != "":
		s.Undo = &engine.UndoPlan{Run: run.ID, Of: r.Undo, Workflow: r.Subject, At: run.At}
	case r.Kind == engine.KindWorkflow:
		s.Pinned, err = c.pin(ctx, r, &run, &s)
	default:
		err = failure.New(failure.Internal, "", "a request of kind %q without content", r.Kind)
	}
	if err != nil {
		return engine.Entry{}, err
	}
	e.Run = run
	e.Spec, err = json.Marshal(s)
	return e, err
}

func orNow(t, now time.Time) time.Time {
	if t.IsZero() {
		return now
	}
	return t
}

// lane names what runs one at a time: a workflow; the bytes of an import, so that a copy finds what the first one made.
func lane(r engine.Request) string {
	if r.Kind == engine.KindImport && r.Import != nil {
		return "import:" + r.Import.SHA256
	}
	return string(r.Kind) + ":" + r.Subject // an undo does not wait for the workflow: it changes what is as the run left it
}

func importPlan(r engine.Request, run engine.RunRecord) (*engine.ImportPlan, *engine.ImportRecord) {
	i := r.Import
	return &engine.ImportPlan{
			Run: run.ID, Source: r.Subject, SHA256: i.SHA256, Size: i.Size, Mode: i.Mode, Options: i.Options, At: run.At, Where: i.Where, Drop: i.Drop,
		}, &engine.ImportRecord{
			ID: run.ID, Source: r.Subject, State: engine.ImportQueued, SHA256: i.SHA256, Size: i.Size, Created: run.Created,
		}
}

// pin stores the plan and the variables, and returns what the body begins with.
func (c Config) pin(ctx context.Context, r engine.Request, run *engine.RunRecord, s *spec) (*engine.Pinned, error) {
	plan, err := engine.ReadPlan(r.Plan)
	if err != nil {
		return nil, err
	}
	if run.Chosen, err = engine.ChooseSteps(plan, r.Steps); err != nil {
		return nil, err
	}
	if run.Plan, err = c.Journal.Put(ctx, r.Plan); err != nil {
		return nil, err
	}
	run.At = run.At.In(plan.Meta.Location(c.Location))
	if s.Timeout == 0 {
		s.Timeout = orDefault(plan.Meta.Timeout, c.Timeout)
	}
	p := &engine.Pinned{
		Run: run.ID, Workflow: r.Subject, Plan: run.Plan, At: run.At, Trigger: run.Trigger, Steps: engine.PinSteps(plan), Chosen: run.Chosen,
		Body: engine.BodyVersion, Origins: r.Origins,
	}
	for _, name := range slices.Sorted(maps.Keys(r.Vars)) {
		digest, err := c.Journal.Put(ctx, []byte(r.Vars[name]))
		if err != nil {
			return nil, fmt.Errorf("store variable %q: %w", name, err)
		}
		p.Vars = append(p.Vars, engine.Var{Name: name, Digest: digest, Origins: r.Origins})
	}
	return p, nil
}

// idLetters leaves out what is easily misread.
const idLetters = "abcdefghjkmnpqrstuvwxyz23456789"

// newID returns an id that sorts by the second and is easy to type: 20261121-052823-k3f9.
func newID(now time.Time) string {
	var b strings.Builder
	b.WriteString(now.UTC().Format("20060102-150405-"))
	random := make([]byte, 5)
	_, _ = rand.Read(random) // never fails
	for _, r := range random {
		b.WriteByte(idLetters[int(r)%len(idLetters)])
	}
	return b.String()
}
