package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/cost"
)

// BatchRecord is what became of one batch of an @for_each: a run of the step for one item, or for several.
type BatchRecord struct {
	Batch int      `json:"batch"` // from 1
	Items []string `json:"items"` // their names
	WorkRecord
}

// ItemsText names the first three items, and how many more there are.
func (b BatchRecord) ItemsText() string {
	const most = 3
	if len(b.Items) <= most {
		return strings.Join(b.Items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(b.Items[:most], ", "), len(b.Items)-most)
}

// Works returns the batches of a step, or the step itself as the only one: whatever has a prompt, a receipt and an answer
// of its own.
func (r StepRecord) Works() []BatchRecord {
	if len(r.Batches) > 0 {
		return r.Batches
	}
	return []BatchRecord{{WorkRecord: r.WorkRecord}}
}

// take copies the record of the step's only work. Status, reason, failure and times stay the step's own.
func (r *StepRecord) take(w BatchRecord) {
	own := r.WorkRecord
	r.WorkRecord = w.WorkRecord
	r.Status, r.Reason, r.Failure, r.Started, r.Finished = own.Status, own.Reason, own.Failure, own.Started, own.Finished
	r.Warnings = append(own.Warnings, w.Warnings...)
}

// Put puts a batch at its place and brings the step's sums up to date.
func (r *StepRecord) Put(b BatchRecord) {
	i, found := slices.BinarySearchFunc(r.Batches, b.Batch, func(x BatchRecord, n int) int { return x.Batch - n })
	if found {
		r.Batches[i] = b
	} else {
		r.Batches = slices.Insert(r.Batches, i, b)
	}
	r.sum()
}

// sum adds up what the batches of an @for_each step did. Warnings stay with their batches.
func (r *StepRecord) sum() {
	own := r.WorkRecord
	own.Usage, own.Calls, own.NestedUSD, own.Citations, own.Unmet = cost.Usage{}, 0, 0, Citations{}, false
	own.Inputs, own.Outputs, own.Changes, own.Omitted, own.LeftOut, own.Origins, own.Rejected, own.Defused, own.Counts = nil, nil, nil, nil, nil, nil, nil, nil, nil
	outputs := outputList{at: map[Output]int{}}
	for _, b := range r.Batches {
		if b.Model != "" {
			own.Model, own.Answered = b.Model, b.Answered
		}
		own.Usage, own.Calls, own.NestedUSD = own.Usage.Add(b.Usage), own.Calls+b.Calls, own.NestedUSD+b.NestedUSD
		own.Unmet = own.Unmet || b.Unmet
		own.Inputs, own.Omitted, own.LeftOut = append(own.Inputs, b.Inputs...), append(own.Omitted, b.Omitted...), append(own.LeftOut, b.LeftOut...)
		own.Changes, own.Origins = append(own.Changes, b.Changes...), addAll(own.Origins, b.Origins)
		own.Rejected, own.Defused = append(own.Rejected, b.Rejected...), append(own.Defused, b.Defused...)
		own.Counts, own.Citations = append(own.Counts, b.Counts...), own.Citations.add(b.Citations)
		for _, o := range b.Outputs {
			outputs.add(o)
		}
	}
	own.Outputs = outputs.list
	r.WorkRecord = own
}

// outputList gathers what batches wrote. What one batch made of another batch's content is one change.
type outputList struct {
	list []Output
	at   map[Output]int // place in the list, by kind, name and content now
}

func (l *outputList) add(o Output) {
	last := Output{Kind: o.Kind, Name: o.Name, After: o.Before} // a variable has no content before
	i, goesOn := l.at[last]
	if !goesOn {
		i = len(l.list)
		l.list = append(l.list, o)
	}
	delete(l.at, last)
	l.list[i].After = o.After
	if o.Kind == "variable" {
		o.After = ""
	}
	l.at[Output{Kind: o.Kind, Name: o.Name, After: o.After}] = i
}

// Sum derives what a run's record says about all its steps, and what those say about their batches: usage, outputs,
// warnings.
func (r *RunRecord) Sum() {
	r.Usage, r.Outputs, r.Changes, r.Warnings = cost.Usage{}, nil, nil, nil
	for i := range r.Steps {
		s := &r.Steps[i]
		if len(s.Batches) > 0 {
			s.sum()
		}
		r.Usage = r.Usage.Add(s.Usage)
		r.Outputs, r.Warnings = append(r.Outputs, s.Outputs...), append(r.Warnings, s.Warnings...)
		r.Changes = append(r.Changes, s.Changes...)
		for _, b := range s.Batches {
			for _, w := range b.Warnings {
				r.Warnings = addOnce(r.Warnings, w)
			}
		}
	}
}

// Lost counts the failed and skipped batches of steps that continued without them: what [RetryFrom].Failed repeats. The
// record must include its batches.
func (r RunRecord) Lost() int {
	n := 0
	for _, s := range r.Steps {
		if s.Status.Incomplete() {
			continue
		}
		for _, b := range s.Batches {
			if b.Status.Finished() && !b.Status.Succeeded() {
				n++
			}
		}
	}
	return n
}
