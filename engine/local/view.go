package local

import (
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// fold brings a run's views up to date with what its body said. The body knows no clock, so the times are put in here;
// those that are there stay, because a resumed body says everything again.
func fold(e *engine.Entry, ev engine.Event, now time.Time) {
	switch {
	case ev.Kind == engine.EventStep && ev.Record != nil:
		foldStep(&e.Run, *ev.Record, now)
	case ev.Kind == engine.EventImport && ev.Import != nil && e.Import != nil:
		foldImport(e.Import, *ev.Import, now)
	case ev.Kind == engine.EventWarning && ev.Step == "":
		e.Run.Warnings = append(e.Run.Warnings, ev.Message)
	}
}

func foldStep(r *engine.RunRecord, s engine.StepRecord, now time.Time) {
	i := 0
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
	r.Steps[i] = s
	sum(r)
}

// sum derives what a run's record says about all its steps.
func sum(r *engine.RunRecord) {
	r.Usage, r.Outputs, r.Warnings = engine.Usage{}, nil, nil
	for _, s := range r.Steps {
		r.Usage = r.Usage.Add(s.Usage)
		r.Outputs = append(r.Outputs, s.Outputs...)
		r.Warnings = append(r.Warnings, s.Warnings...)
	}
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
