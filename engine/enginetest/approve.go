package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

// Decide says yes or no to everything that the world's steps have proposed of a file; with an empty name, to everything.
// It does not wake anybody.
func (w *World) Decide(name string, yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, p := range w.proposed {
		if !p.decided && (name == "" || p.name == name) {
			w.proposed[key] = proposed{p.name, true, yes}
		}
	}
}

// proposed is something that waits for a yes.
type proposed struct {
	name         string // of a file; empty for calls
	decided, yes bool
}

// ask returns what was decided about a proposal.
func (a activities) ask(key, name string) proposed {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	if _, known := a.w.proposed[key]; !known {
		a.w.proposed[key] = proposed{name: name}
	}
	return a.w.proposed[key]
}

func (a activities) approve(ctx context.Context, in engine.ApproveIn) (out engine.ApproveOut, err error) {
	leave, err := a.w.enter(ctx, engine.ActivityApprove, work(in.StepRef))
	if err != nil {
		return out, err
	}
	defer leave()
	if in.Prompt != nil {
		return a.approvePrompt(in)
	}
	if in.Tools != nil {
		p := a.ask(in.Run+" "+work(in.StepRef)+" "+in.Tools.Raw, "")
		if !p.decided {
			return out, engine.Park("", "calls of %s", work(in.StepRef))
		}
		return engine.ApproveOut{Verdicts: []engine.Verdict{{Call: in.Tools.Raw, Approved: p.yes}}}, nil
	}
	for _, f := range in.Files {
		if p := a.ask(in.Run+" "+f.Name+" "+f.Base+" "+f.New, f.Name); p.decided {
			out.Verdicts = append(out.Verdicts, engine.Verdict{Name: f.Name, Approved: p.yes, By: engine.DecidedCommand})
		}
	}
	if len(out.Verdicts) == 0 {
		if a.w.Asked != nil {
			a.w.Asked(in.Run)
		}
		return out, engine.Park("", "files of %s", work(in.StepRef))
	}
	if rejected := func(v engine.Verdict) bool { return !v.Approved }; in.Revise && slices.ContainsFunc(slices.Concat(in.Declined, out.Verdicts), rejected) {
		out.Reply = "why not"
	}
	return out, nil
}

// approvePrompt lets a prompt be sent that is as a person agreed to it, or as it was agreed to before.
func (a activities) approvePrompt(in engine.ApproveIn) (out engine.ApproveOut, err error) {
	key := in.Run + " " + work(in.StepRef) + " " + in.Prompt.Prompt
	a.w.mu.Lock()
	_, known := a.w.proposed[key]
	agreed := a.w.agreed[work(in.StepRef)] == in.Prompt.Prompt
	a.w.mu.Unlock()
	p := a.ask(key, "")
	switch now := a.assemble(engine.AssembleIn{StepRef: in.StepRef, Vars: in.Prompt.Vars}).Prompt; {
	case agreed && !known:
		return engine.ApproveOut{Verdicts: []engine.Verdict{{Approved: true}}}, nil
	case p.decided && !p.yes:
	case known && now != in.Prompt.Prompt:
		return engine.ApproveOut{Outdated: []string{"note changed: note.md"}}, nil
	case !p.decided:
		return out, engine.Park("", "the prompt of %s", work(in.StepRef))
	}
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	if p.yes {
		a.w.agreed[work(in.StepRef)] = in.Prompt.Prompt
	}
	return engine.ApproveOut{Verdicts: []engine.Verdict{{Name: "the prompt", Approved: p.yes, By: engine.DecidedCommand}}}, nil
}

const (
	asksPrompt  = `"outputs":[{},{}],"approve":{"prompt":true}`
	asksOutputs = `"outputs":[{},{}],"approve":{"outputs":true}`
	asksTools   = `"outputs":[{},{}],"approve":{"tools":true}`
)

// parked waits until a run is parked.
func (r *rig) parked(run string) engine.RunRecord {
	r.t.Helper()
	rec, err := r.x.Wait(r.ctx, run)
	if !errors.Is(err, engine.ErrParked) || rec.Status != engine.AwaitingApproval || rec.Reason == "" || rec.Activity != "" {
		r.t.Fatalf("Wait(%s): %s (%s), activity %q, %v; want awaiting_approval with a reason and ErrParked", run, rec.Status, rec.Reason, rec.Activity, err)
	}
	return rec
}

// wake lets a run go on.
func (r *rig) wake(run string) {
	r.t.Helper()
	if err := r.x.Wake(r.ctx, run); err != nil {
		r.t.Fatalf("Wake(%s): %v", run, err)
	}
}

// approvalParks has one place for all runs.
func approvalParks(t *testing.T, factory Factory) {
	const many = 20
	w := NewWorld()
	r := start(t, factory, w, Setup{MaxRuns: 1})
	var runs []string
	for i := range many {
		q := planOf(asksOutputs)
		q.Subject = fmt.Sprintf("w%d", i)
		runs = append(runs, r.begin(q).Run)
	}
	for _, run := range runs {
		rec := r.parked(run)
		if s := rec.Steps[0]; s.Status != engine.AwaitingApproval || s.Reason != "files of a" {
			t.Errorf("step of a parked run: %s (%s)", s.Status, s.Reason)
		}
	}
	wantStatus(t, r.run(manual("other", "b")), engine.Done)
	again := planOf(asksOutputs) // the lane of a parked run is free, also for a run that would not wait for it
	again.Subject, again.Key, again.Trigger = "w0", "cron:w0:1", engine.Trigger{Kind: engine.TriggerCron}
	id := r.begin(again).Run
	r.parked(id)
	if err := r.x.Cancel(r.ctx, id); err != nil {
		t.Fatal(err)
	}
	if got := len(w.Files()); got != 1 {
		t.Errorf("%d files were written before anybody agreed", got-1)
	}
	w.Decide("", true)
	for _, run := range runs {
		r.wake(run)
	}
	for _, run := range runs {
		got := r.wait(run)
		wantStatus(t, got, engine.Done)
		if got.Resumed != 0 || len(got.Outputs) == 0 {
			t.Errorf("run %s: resumed %d times, outputs %v; being parked is no interruption", run, got.Resumed, got.Outputs)
		}
	}
	wantCalls(t, w, engine.ActivityGenerate, "a", many+1)
	wantCalls(t, w, engine.ActivityStage, "a", many+1)
}

// approvalToldWhy has a model that is told why its files were rejected, and answers the same again.
func approvalToldWhy(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Second["a"] = true
	r := start(t, factory, w, Setup{})
	q := planOf(`"outputs":[{},{}],"approve":{"outputs":true,"retries":2},"cache":{"until":"forever"}`)
	run := r.begin(q).Run
	r.parked(run)
	w.Decide("", false)
	r.wake(run)
	got := r.wait(run)
	wantStatus(t, got, engine.Skipped)
	wantCalls(t, w, engine.ActivityGenerate, "a", 3)
	if n := len(got.Steps[0].Turns); n != 2 || len(got.Steps[0].Rejected) != 2 || len(w.Files())+len(w.Cache()) != 0 {
		t.Errorf("%d turns, rejected %v, files %v, cache %v; want 2 turns with the reason and nothing written", n, got.Steps[0].Rejected, w.Files(), w.Cache())
	}

	run = r.begin(q).Run // one of the files was agreed to: nobody asks again
	r.parked(run)
	w.Decide("w-2.md", false)
	w.Decide("w.md", true)
	r.wake(run)
	wantStatus(t, r.wait(run), engine.DoneWithOmissions)
	wantCalls(t, w, engine.ActivityGenerate, "a", 4)
}

// approvalPrompt has a prompt that waits before anything is sent, until somebody agrees to it as it is. Then it is sent without asking.
func approvalPrompt(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Write("note.md", ".")
	r := start(t, factory, w, Setup{})
	run := r.begin(planOf(asksPrompt)).Run
	r.parked(run)
	r.wake(run) // nobody has decided
	r.parked(run)
	w.Write("note.md", " and more")
	w.Decide("", true)
	r.wake(run)
	r.parked(run) // agreed to what it is not any more
	if w.Paid() != 0 || len(w.Marks()) != 0 {
		t.Errorf("%d answers were paid for a prompt that nobody agreed to", w.Paid())
	}
	w.Decide("", true)
	r.wake(run)
	done := r.wait(run)
	wantStatus(t, done, engine.Done)
	if got, want := w.File("w.md"), "answer to prompt of a and more\n"; got != want || len(done.Warnings) != 1 {
		t.Errorf("w.md: %q, want %q; warnings %q", got, want, done.Warnings)
	}
	wantStatus(t, r.run(planOf(asksPrompt)), engine.Done)

	w.Write("note.md", " and less")
	both := r.begin(planOf(`"outputs":[{},{}],"approve":{"prompt":true,"outputs":true}`)).Run
	r.parked(both)
	w.Decide("", true)
	r.wake(both)
	r.parked(both) // with its files
	wantCalls(t, w, engine.ActivityGenerate, "a", 3)
	w.Decide("", true)
	r.wake(both)
	wantStatus(t, r.wait(both), engine.Done)

	w.Write("note.md", " and nothing")
	run = r.begin(planOf(asksPrompt)).Run
	r.parked(run)
	w.Decide("", false)
	r.wake(run)
	got := r.wait(run)
	wantStatus(t, got, engine.Skipped)
	if want := "not approved: the prompt (rejected by command)"; got.Reason != want || len(got.Steps[0].Rejected) != 1 {
		t.Errorf("reason %q, want %q; rejected %q", got.Reason, want, got.Steps[0].Rejected)
	}
	wantCalls(t, w, engine.ActivityGenerate, "a", 3)
}

// approvalPrompts has the prompts of several items wait beside each other.
func approvalPrompts(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Items["a"] = items("x", "y", "z")
	r := start(t, factory, w, Setup{})
	run := r.begin(planOf(asksPrompt + `,"for_each":{"parallel":2}`)).Run
	for _, b := range r.parked(run).Steps[0].Batches {
		if b.Status != engine.AwaitingApproval {
			t.Errorf("batch %d: %s (%s)", b.Batch, b.Status, b.Reason)
		}
	}
	w.Decide("", true)
	r.wake(run)
	r.parked(run)
	if w.Paid() != 2 {
		t.Errorf("%d answers paid for two prompts", w.Paid())
	}
	w.Decide("", false)
	r.wake(run)
	wantStatus(t, r.wait(run), engine.DoneWithOmissions)
	if w.Paid() != 2 || strings.Count(w.File("w.md"), "\n") != 2 {
		t.Errorf("%d answers paid, wrote %q", w.Paid(), w.File("w.md"))
	}
}

func approvalRejected(t *testing.T, factory Factory) {
	w := NewWorld()
	w.When["a"] = engine.WhenOut{Marks: []engine.Mark{{Directive: -2, Name: "m", SHA256: "d"}}}
	w.Second["a"] = true
	r := start(t, factory, w, Setup{})
	q := planOf(asksOutputs + `,"when":[{}],"cache":{"until":"forever"}`)
	run := r.begin(q).Run
	r.parked(run)
	w.Decide("", false)
	r.wake(run)
	got := r.wait(run)
	wantStatus(t, got, engine.Skipped)
	if len(w.Files())+len(w.Marks())+len(w.Cache()) != 0 || len(got.Steps[0].Rejected) != 2 || len(got.Outputs) != 0 {
		t.Errorf("rejected: files %v, marks %v, rejected %v, outputs %v; want nothing but the two rejections", w.Files(), w.Marks(), got.Steps[0].Rejected, got.Outputs)
	}

	run = r.begin(q).Run
	r.parked(run)
	w.Decide("w-2.md", false)
	w.Decide("w.md", true)
	r.wake(run)
	got = r.wait(run)
	wantStatus(t, got, engine.DoneWithOmissions)
	want := `step "a": 1 of 2 files not approved: w-2.md (rejected by command)`
	if got.Reason != want || w.File("w.md") == "" || w.File("w-2.md") != "" || len(w.Marks()) != 1 {
		t.Errorf("one of two: %q, files %v, marks %v; want %q, w.md alone and its mark", got.Reason, w.Files(), w.Marks(), want)
	}
}

// approvalPiecemeal agrees to one file after the other: each is written at once, the marks come with the last.
func approvalPiecemeal(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Second["a"] = true
	w.When["a"] = engine.WhenOut{Marks: []engine.Mark{{Directive: -2, Name: "m", SHA256: "d"}}}
	r := start(t, factory, w, Setup{})
	run := r.begin(planOf(asksOutputs + `,"when":[{}]`)).Run
	r.parked(run)
	r.wake(run) // nobody has decided
	r.parked(run)
	w.Decide("w-2.md", true)
	r.wake(run)
	r.parked(run)
	if w.File("w-2.md") == "" || w.File("w.md") != "" || len(w.Marks()) != 0 {
		t.Errorf("after one yes: files %v, marks %v; want w-2.md alone", w.Files(), w.Marks())
	}
	w.Decide("", true)
	r.wake(run)
	got := r.wait(run)
	wantStatus(t, got, engine.Done)
	if len(w.Files()) != 2 || len(w.Marks()) != 1 || len(got.Outputs) != 3 {
		t.Errorf("at the end: files %v, marks %v, outputs %v", w.Files(), w.Marks(), got.Outputs)
	}
	wantCalls(t, w, engine.ActivityGenerate, "a", 1)
}

// approvalAtOnce decides while the run is about to be parked: it is woken before it sleeps, and must not sleep.
func approvalAtOnce(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	w.Asked = func(run string) {
		w.Decide("", true)
		r.wake(run)
	}
	wantStatus(t, r.run(planOf(asksOutputs)), engine.Done)
	wantCalls(t, w, engine.ActivityApprove, "a", 2)
}

// approvalConflict lets a person edit the file before the yes: the yes was to something else.
func approvalConflict(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	run := r.begin(planOf(asksOutputs)).Run
	r.parked(run)
	w.Write("w.md", "a person's line\n")
	w.Decide("", true)
	r.wake(run)
	r.parked(run)
	if got := w.File("w.md"); got != "a person's line\n" {
		t.Errorf("w.md: %q; it had changed since it was proposed", got)
	}
	w.Decide("", true)
	r.wake(run)
	wantStatus(t, r.wait(run), engine.Done)
	if got, want := w.File("w.md"), "a person's line\nanswer to prompt of a\n"; got != want {
		t.Errorf("w.md: got %q, want %q", got, want)
	}
	wantCalls(t, w, engine.ActivityGenerate, "a", 1)
}

// approvalTools asks before calls, in batches beside each other: each batch waits for its own.
func approvalTools(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Items["a"] = items("x", "y", "z")
	w.Talk["a"] = []engine.GenerateOut{w.calling("write"), w.says("end")}
	r := start(t, factory, w, Setup{})
	run := r.begin(planOf(asksTools + `,"for_each":{"parallel":3}`)).Run
	rec := r.parked(run)
	for _, b := range rec.Steps[0].Batches {
		if b.Status != engine.AwaitingApproval {
			t.Errorf("batch %d: %s (%s)", b.Batch, b.Status, b.Reason)
		}
	}
	for i := range 3 {
		wantCalls(t, w, engine.ActivityUseTools, fmt.Sprintf("a#%d", i+1), 0)
	}
	w.Decide("", true)
	r.wake(run)
	got := r.wait(run)
	wantStatus(t, got, engine.Done)
	if w.Paid() != 6 || w.File("w.md") != "end\nend\nend\n" {
		t.Errorf("%d answers paid, wrote %q; want 6, three lines", w.Paid(), w.File("w.md"))
	}
}

// approvalIdle approves a call that fails: the run says so.
func approvalIdle(t *testing.T, factory Factory) {
	w := NewWorld()
	w.Undone = map[string][]string{"a": {"move x.md (move_file): x.md is not there"}}
	w.Talk["a"] = []engine.GenerateOut{w.calling("write"), w.says("end")}
	r := start(t, factory, w, Setup{})
	run := r.begin(planOf(asksTools)).Run
	r.parked(run)
	w.Decide("", true)
	r.wake(run)
	got := r.wait(run)
	wantStatus(t, got, engine.DoneWithOmissions)
	if want := "approved, but nothing was done: move x.md (move_file): x.md is not there"; !strings.Contains(got.Reason, want) || !slices.Contains(got.Warnings, want) {
		t.Errorf("reason %q, warnings %q", got.Reason, got.Warnings)
	}
}

// approvalSuperseded asks for a run about a file about which one waits: the newer one takes its place, and a run about other files, of
// other steps or of a tool keeps waiting. So does one of whose files only some are asked for.
func approvalSuperseded(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	about := func(files ...string) string {
		t.Helper()
		request := planOf(asksOutputs)
		request.Trigger.Files = files
		run := r.begin(request).Run
		r.parked(run)
		return run
	}
	first, both, other := about("a.md"), about("b.md", "c.md"), about("d.md")
	second := about("a.md")
	got := r.wait(first)
	wantStatus(t, got, engine.Cancelled)
	if want := "superseded by run " + second + ", about the newer a.md"; got.Reason != want {
		t.Errorf("reason %q, want %q", got.Reason, want)
	}
	third := about("b.md")
	for _, run := range []string{both, other, second, third} {
		r.parked(run)
	}
	last := about("c.md", "b.md")
	for _, run := range []string{both, third} {
		wantStatus(t, r.wait(run), engine.Cancelled)
	}
	r.parked(last)
}

// approvalEnds cancels a parked run, and takes it up again.
func approvalEnds(t *testing.T, factory Factory) {
	w := NewWorld()
	r := start(t, factory, w, Setup{})
	run := r.begin(planOf(asksOutputs)).Run
	r.parked(run)
	if err := r.x.Cancel(r.ctx, run); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, r.wait(run), engine.Cancelled)
	r.wake(run) // it has ended: nothing
	wantStatus(t, r.wait(run), engine.Cancelled)
	if err := r.x.Wake(r.ctx, "none"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("Wake of no run: %v, want ErrNotFound", err)
	}
	if err := r.x.Retry(r.ctx, run, engine.RetryFrom{}); err != nil {
		t.Fatal(err)
	}
	r.parked(run)
	w.Decide("", true)
	r.wake(run)
	wantStatus(t, r.wait(run), engine.Done)
	wantCalls(t, w, engine.ActivityGenerate, "a", 1)
}

// approvalNested parks a run that a tool has started: the run that waits for it is parked too, and goes on when it ends.
func approvalNested(t *testing.T, factory Factory) {
	for _, end := range []string{"approved", "cancelled"} {
		w := parenting()
		w.Nested["a"] = engine.Request{
			Kind: engine.KindWorkflow, Subject: "child", Plan: []byte(`{"name":"child","meta":{},"steps":[{"name":"c",` + asksOutputs + `}]}`),
		}
		r := start(t, factory, w, Setup{MaxRuns: 1})
		run := r.begin(manual("w", "a")).Run
		rec := r.parked(run)
		child := w.NestedRuns()[0]
		r.parked(child)
		if rec.Awaits != child {
			t.Errorf("the parent waits for %q, want its child %s", rec.Awaits, child)
		}
		wantStatus(t, r.run(manual("other", "b")), engine.Done)
		if end == "approved" {
			w.Decide("", true)
			r.wake(child)
		} else if err := r.x.Cancel(r.ctx, child); err != nil {
			t.Fatal(err)
		}
		for got := (engine.RunRecord{}); got.Status != engine.Done; { // it may still be parked when the child has just ended
			var err error
			if got, err = r.x.Wait(r.ctx, run); err != nil && !errors.Is(err, engine.ErrParked) {
				t.Fatal(err)
			}
		}
		r.stop()
	}
}

// approvalWaitedFor lets somebody decide just when somebody else begins to wait: the wait goes on until the run has ended.
func approvalWaitedFor(t *testing.T, factory Factory) {
	w := NewWorld()
	j := &meddled{}
	r := start(t, factory, w, Setup{Wrap: func(under engine.Journal) engine.Journal { j.Journal = under; return j }})
	run := r.begin(planOf(asksOutputs)).Run
	r.parked(run)
	g := hold(w, engine.ActivityCommit)
	w.Decide("", true)
	j.meddle(func() {
		r.wake(run)
		<-g.begun
	}, func() { close(g.open) })
	wantStatus(t, r.wait(run), engine.Done)
}

// meddled is a journal before and after whose next Load something happens.
type meddled struct {
	engine.Journal

	mu            sync.Mutex // guards what follows
	before, after func()
}

func (m *meddled) meddle(before, after func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before, m.after = before, after
}

func (m *meddled) Load(ctx context.Context, run string) (engine.Entry, []engine.Record, error) {
	m.mu.Lock()
	before, after := m.before, m.after
	m.before, m.after = nil, nil
	m.mu.Unlock()
	if before != nil {
		before()
		defer after()
	}
	return m.Journal.Load(ctx, run)
}

// approvalReplaced replaces a nested run that was woken and waits for its lane: the parked run that waits for it goes on.
func approvalReplaced(t *testing.T, factory Factory) {
	w := parenting()
	w.Nested["a"] = engine.Request{
		Kind: engine.KindWorkflow, Subject: "child", Plan: []byte(`{"name":"child","meta":{},"steps":[{"name":"c",` + asksOutputs + `}]}`),
	}
	r := start(t, factory, w, Setup{})
	parent := r.begin(manual("w", "a")).Run
	r.parked(parent)
	child := w.NestedRuns()[0]
	r.parked(child)
	began := make(chan struct{})
	w.Before = func(ctx context.Context, activity, step string) error {
		if activity != engine.ActivityGenerate || step != "d" {
			return nil
		}
		close(began)
		<-ctx.Done()
		return ctx.Err()
	}
	blocker := r.begin(manual("child", "d")).Run
	<-began
	w.Decide("", true)
	r.wake(child) // it waits behind the run that holds its lane
	events, unsubscribe := r.x.Subscribe(1024)
	defer unsubscribe()
	replacing := r.begin(scheduled("1", engine.OverlapReplace, "child", "e")).Run
	for _, run := range []string{blocker, child} {
		wantStatus(t, r.wait(run), engine.Cancelled)
	}
	wantStatus(t, r.wait(replacing), engine.Done)
	for {
		select {
		case e := <-events:
			if e.Run != parent || e.Kind != engine.EventRun || !e.Status.Finished() {
				continue
			}
			wantStatus(t, r.wait(parent), engine.Done)
		case <-r.ctx.Done():
			t.Error("the run that waited for the replaced one was not woken")
		}
		return
	}
}

// approvalRestarts parks a run and ends the executor: the next one leaves it parked until it is woken.
func approvalRestarts(t *testing.T, factory Factory) {
	w := NewWorld()
	dir := t.TempDir()
	r := start(t, factory, w, Setup{Dir: dir})
	run := r.begin(planOf(asksOutputs)).Run
	r.parked(run)
	r.stop()
	r = start(t, factory, w, Setup{Dir: dir})
	if n, err := r.x.Resume(r.ctx); n != 0 || err != nil {
		t.Fatalf("Resume: %d, %v; want none, since the only run is parked", n, err)
	}
	r.parked(run)
	wantCalls(t, w, engine.ActivityApprove, "a", 1)
	w.Decide("", true)
	r.wake(run)
	wantStatus(t, r.wait(run), engine.Done)
	wantCalls(t, w, engine.ActivityGenerate, "a", 1)
}

// approvalKilled kills runs that ask at each append, before and after it is on disk, also while one waits, and wants what
// an undisturbed run wants: the same files and marks, and no answer bought twice. Of the longer one every seventh append is
// tried; all are with VAULTFLOW_LONG=1.
func approvalKilled(t *testing.T, factory Factory) {
	for _, c := range []struct {
		properties     string
		appends, every int
	}{
		{asksOutputs, 8, 1}, // of the two files one is agreed to after the other: two approvals, two commits
		{`"outputs":[{},{}],"approve":{"outputs":true,"tools":true},"for_each":{"parallel":2}`, 1 + 2*(2+2+2+1+4), 7},
		{`"outputs":[{},{}],"approve":{"outputs":true,"prompt":true}`, 9, 2},
	} {
		if os.Getenv("VAULTFLOW_LONG") != "" {
			c.every = 1
		}
		world := func() *World {
			w := NewWorld()
			w.Second["a"] = true
			if strings.Contains(c.properties, "for_each") {
				w.Items["a"] = items("x", "y")
				w.Talk["a"] = []engine.GenerateOut{w.calling("write"), w.says("end")}
			}
			return w
		}
		undisturbed := world()
		whole := start(t, factory, undisturbed, Setup{})
		whole.agree(whole.begin(planOf(c.properties)).Run)
		for _, kept := range []bool{true, false} {
			for at := 1; at <= c.appends+c.every; at += c.every {
				w, m, dir := world(), NewMortal(at, kept), t.TempDir()
				r := start(t, factory, w, Setup{Dir: dir, Wrap: m.Over})
				run := r.begin(planOf(c.properties)).Run
				finished := r.agree(run)
				r.stop()
				if finished != (at > c.appends) {
					t.Fatalf("append %d: finished %v; want a run of %d appends", at, finished, c.appends)
				}
				r = start(t, factory, w, Setup{Dir: dir})
				if _, err := r.x.Resume(r.ctx); err != nil {
					t.Fatal(err)
				}
				if !r.agree(run) {
					t.Fatalf("append %d: the resumed run did not finish", at)
				}
				if diff := cmp.Diff(undisturbed.Files(), w.Files()); diff != "" {
					t.Errorf("killed at append %d, on disk %v (-undisturbed +resumed):\n%s", at, kept, diff)
				}
				if want := undisturbed.Paid() + m.Lost(); w.Paid() != want {
					t.Errorf("killed at append %d, on disk %v: %d answers paid, want %d", at, kept, w.Paid(), want)
				}
				r.stop()
			}
		}
	}
}

// agree says yes to what a run proposes, to its second file first, until it has finished; false when its executor died.
func (r *rig) agree(run string) bool {
	r.t.Helper()
	for {
		_, err := r.x.Wait(r.ctx, run)
		switch {
		case err == nil:
			return true
		case !errors.Is(err, engine.ErrParked):
			return false
		}
		if !r.world.waits("w-2.md") {
			r.world.Decide("", true)
		}
		r.world.Decide("w-2.md", true)
		if err := r.x.Wake(r.ctx, run); err != nil {
			return false
		}
	}
}

// waits reports whether a file's content waits for a yes.
func (w *World) waits(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.proposed {
		if p.name == name && !p.decided {
			return true
		}
	}
	return false
}
