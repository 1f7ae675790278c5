package local

import (
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// fold brings a run's views up to date with what its body said. The body knows no clock, so the times are put in here;
// those that are there stay, because a resumed body says everything again.
func fold(e *engine.Entry, ev engine.Event, now time.Time) {
	switch {
	case ev.Kind == engine.EventStep && ev.Record != nil:
		foldStep(e, *ev.Record, now)
	case ev.Kind == engine.EventBatch && ev.Work != nil:
		foldBatch(e, ev.Step, *ev.Work, now)
	case ev.Kind == engine.EventImport && ev.Import != nil && e.Import != nil:
		foldImport(e.Import, *ev.Import, now)
	case ev.Kind == engine.EventWarning && ev.Step == "":
		e.Run.Warnings = append(e.Run.Warnings, ev.Message)
	}
}

func foldStep(e *engine.Entry, s engine.StepRecord, now time.Time) {
	r, i := &e.Run, 0
	for i < len(r.Steps) && r.Steps[i].Index != s.Index {
		i++
	}
	if i == len(r.Steps) {
		r.Steps = append(r.Steps, engine.StepRecord{})
	}
	old := r.Steps[i]
	s.Started, s.Finished = old.Started, old.Finished
	if s.Started.IsZero() {
		s.Started = now
	}
	if s.Status.Finished() && s.Finished.IsZero() {
		s.Finished = now
	}
	s.Batches = batchTimes(s.Batches, old.Batches, now)
	if !s.Status.Finished() { // a resumed body has not said yet what became of its batches
		s.Batches = old.Batches
	}
	r.Steps[i] = s
	r.Sum()
	for _, b := range s.Batches {
		e.Changed = append(e.Changed, engine.BatchRef{Step: s.Index, Batch: b.Batch})
	}
}

// batchTimes returns the batches with the times that they had before.
func batchTimes(batches, old []engine.BatchRecord, now time.Time) []engine.BatchRecord {
	batches = slices.Clone(batches)
	for i := range batches {
		b := &batches[i]
		if at, found := slices.BinarySearchFunc(old, b.Batch, func(o engine.BatchRecord, n int) int { return o.Batch - n }); found {
			b.Started, b.Finished = old[at].Started, old[at].Finished
		}
		if b.Started.IsZero() {
			b.Started = now
		}
		if b.Status.Finished() && b.Finished.IsZero() {
			b.Finished = now
		}
	}
	return batches
}

func foldBatch(e *engine.Entry, step string, b engine.BatchRecord, now time.Time) {
	r := &e.Run
	i := slices.IndexFunc(r.Steps, func(s engine.StepRecord) bool { return s.Step == step })
	if i < 0 {
		return
	}
	r.Steps[i].Put(batchTimes([]engine.BatchRecord{b}, r.Steps[i].Batches, now)[0])
	r.Sum()
	e.Changed = append(e.Changed, engine.BatchRef{Step: r.Steps[i].Index, Batch: b.Batch})
}

func foldImport(old *engine.ImportRecord, r engine.ImportRecord, now time.Time) {
	r.Created, r.Started, r.Finished = old.Created, old.Started, old.Finished
	if r.Started.IsZero() {
		r.Started = now
	}
	if r.State.Finished() && r.Finished.IsZero() {
		r.Finished = now
	}
	if r.Pages == 0 {
		r.Page, r.Pages = old.Page, old.Pages
	}
	*old = r
}
