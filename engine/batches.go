package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// batches does a step once for each batch of its @for_each items. Batches are prepared beside each other, as many as
// parallel= allows, each in a branch of its own; they are written one after another in the order of the items, so that
// the vault and the variables end up the same however fast the answers came. A batch sees what the batches before it
// wrote, with parallel=N those that lie N or more before it.
func (b *body) batches(s PinnedStep, ref StepRef, when []Mark, r *StepRecord) error {
	var items ExpandOut
	if err := b.flow.Do(ActivityExpand, StepIn{ref, b.vars}, &items); err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, items.Warnings...)
	l := &lineup{body: b, step: s, ref: ref, rec: r, items: items.Batches, parts: items.Parts}
	if len(items.Batches) == 0 {
		r.Status, r.Reason = Skipped, "no items"
		if items.Parts.empty() {
			return nil
		}
		r.Status, r.Reason = Done, "no part has other pages than before"
		out, err := l.follow(b.flow)
		r.Changes, r.Warnings = out.Changes, append(r.Warnings, out.Warnings...)
		return err
	}
	defer l.drain()
	for range max(s.ForEach.Parallel, 1) {
		l.begin()
	}
	for len(l.waiting) > 0 {
		if err := l.next(); err != nil {
			return err
		}
	}
	return l.end(when)
}

// lineup is the row of a step's batches: those before waiting are finished, those behind it have not started.
type lineup struct {
	*body
	step    PinnedStep
	ref     StepRef
	rec     *StepRecord
	items   [][]Item
	parts   *PartsChange
	begun   int
	waiting []*preparation // begun and not yet written, in order
	stop    *BatchRecord   // the batch that ends the step
	last    Flow           // of the last batch that was written or not
}

// preparation is a batch that is being prepared. Its work and fault may be read after wait.
type preparation struct {
	work *work
	err  error
	wait func() Flow // to be called once
}

// begin lets the next batch be prepared, if there is one.
func (l *lineup) begin() {
	if l.begun == len(l.items) || l.stop != nil {
		return
	}
	l.begun++
	ref := l.ref
	ref.Batch, ref.Items = l.begun, l.items[l.begun-1]
	p := &preparation{work: l.work(nil, l.step, ref, l.rec.Usage.CostUSD+l.rec.NestedUSD)}
	p.wait = l.flow.Fork(func(f Flow) {
		p.work.flow = f
		sayBatch(f, l.step, p.work.rec)
		p.err = p.work.prepare()
		if p.err == nil && l.step.ForEach.Parallel > 1 {
			sayBatch(f, l.step, p.work.rec)
		}
	})
	l.waiting = append(l.waiting, p)
}

func sayBatch(f Flow, s PinnedStep, rec BatchRecord) {
	f.Note(Event{
		Kind: EventBatch, Step: s.Name, Batch: rec.Batch, Status: rec.Status, Message: rec.Reason, Failure: rec.Failure, Work: &rec,
	})
}

// drain waits for everything that was begun; its outcomes are recorded, and recalled when the run is resumed or retried.
func (l *lineup) drain() {
	for _, p := range l.waiting {
		p.wait()
	}
	l.waiting = nil
}

// next writes the first waiting batch and lets another one begin. An error ends the step, and no other batch.
func (l *lineup) next() error {
	p := l.waiting[0]
	l.waiting = l.waiting[1:]
	p.work.flow = p.wait()
	w, err := p.work, p.err
	l.last = w.flow
	switch {
	case err != nil || w.rec.Status == Skipped:
	case l.stop != nil:
		w.skip(fmt.Sprintf("not written, because batch %d failed; a retry of the run uses the answer", l.stop.Batch))
	default:
		err = l.write(w, nil)
	}
	if Stopped(err) {
		return err
	}
	if err != nil {
		f := failure.Of(err)
		w.rec.Failure, w.rec.Status, w.rec.Reason = f, failureStatus(f), f.Message
	}
	sayBatch(w.flow, l.step, w.rec)
	l.rec.Put(w.rec)
	if l.stop == nil && err != nil && (!l.step.ForEach.Skip || Over(err)) {
		l.stop = &w.rec
	}
	l.begin()
	return nil
}

// end sums up what became of the batches.
func (l *lineup) end(when []Mark) error {
	t := tallyOf(l.rec.Batches)
	switch {
	case l.stop != nil:
		return t.failure(*l.stop, len(l.items))
	case t.done == 0 && t.failed > 0:
		return t.failure(t.first, len(l.items))
	case t.done == 0:
		l.rec.Status, l.rec.Reason = Skipped, t.reasons()
		return nil
	}
	l.rec.Status, l.rec.Reason = doneAs(l.rec.Omitted), t.reasons()
	if len(l.rec.Rejected) > 0 || slices.ContainsFunc(l.rec.Batches, func(b BatchRecord) bool { return b.Status == DoneWithOmissions }) {
		l.rec.Status = DoneWithOmissions
	}
	if t.failed > 0 {
		l.rec.Status = DoneWithOmissions
		return nil
	}
	closing := l.flow
	if l.pinned.Body >= 3 { // a retry may repeat batches of a run that had ended, so this can follow later steps
		closing = l.last
	}
	if err := l.followIn(closing); err != nil || len(when) == 0 {
		return err
	}
	return closing.Do(ActivityCommit, CommitIn{StepRef: l.ref, Marks: when}, &CommitOut{})
}

// follow lets outputs follow their documents: those of parts that are gone, and links to pages that moved.
func (l *lineup) follow(f Flow) (out FollowOut, err error) {
	if l.parts.empty() {
		return out, nil
	}
	return out, f.Do(ActivityFollow, FollowIn{l.ref, *l.parts}, &out)
}

// followIn is follow after the last batch, whose record gets the changes.
func (l *lineup) followIn(f Flow) error {
	out, err := l.follow(f)
	if err != nil || len(out.Changes)+len(out.Warnings) == 0 {
		return err
	}
	last := l.rec.Batches[len(l.rec.Batches)-1]
	last.Changes, last.Warnings = append(last.Changes, out.Changes...), append(last.Warnings, out.Warnings...)
	l.rec.Put(last)
	sayBatch(f, l.step, last)
	return nil
}

// tally counts how batches ended.
type tally struct {
	total, done, failed, skipped int
	first                        BatchRecord // the first one that failed
	why, partly                  []string    // reasons of skipped ones, and of those that were not written whole, each once
}

func tallyOf(batches []BatchRecord) tally {
	t := tally{total: len(batches)}
	for _, b := range batches {
		switch b.Status {
		case Done, DoneWithOmissions:
			t.done++
			t.partly = addOnce(t.partly, b.Reason)
		case Skipped:
			t.skipped++
			t.why = addOnce(t.why, b.Reason)
		default:
			if t.failed++; t.failed == 1 {
				t.first = b
			}
		}
	}
	return t
}

// failure is the failure of a step that a batch has ended: the batch's own, with where it happened.
func (t tally) failure(b BatchRecord, items int) error {
	f := *b.Failure
	f.Message = fmt.Sprintf("batch %d of %d (%s): %s", b.Batch, items, b.ItemsText(), b.Failure.Message)
	if t.failed == items && items > 1 && f.Code == t.first.Failure.Code {
		f.Message = fmt.Sprintf("all %d batches failed, the first one: %s", items, b.Failure.Message)
	}
	if n := items - t.total; n > 0 {
		f.Message += fmt.Sprintf("; %d not started", n)
	}
	return &f
}

// reasons explains which batches wrote nothing; it is empty when all did.
func (t tally) reasons() string {
	var parts []string
	if t.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d batches failed, first batch %d (%s): %s", t.failed, t.total, t.first.Batch, t.first.ItemsText(), t.first.Reason))
	}
	if t.skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d batches skipped: %s", t.skipped, t.total, strings.Join(t.why, "; ")))
	}
	return strings.Join(append(parts, t.partly...), "; ")
}
