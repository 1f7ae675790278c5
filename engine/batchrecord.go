package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// BatchRecord is what became of one batch of an @for_each: a run of the step for one item, or for several.
type BatchRecord struct {
	Batch    int       `json:"batch"` // from 1
	Items    []string  `json:"items"` // their names
	Status   Status    `json:"status"`
	Reason   string    `json:"reason,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	Model    string    `json:"model,omitempty"` // alias
	Answered string    `json:"answered_by,omitempty"`
	Usage    Usage     `json:"usage"`
	Calls    int       `json:"calls,omitempty"`   // answers of the model, those from the cache included
	Cached   bool      `json:"cached,omitempty"`  // the answer came from the cache, and nothing was paid
	Prompt   string    `json:"prompt,omitempty"`  // blob
	Receipt  string    `json:"receipt,omitempty"` // blob
	Turns    []Turn    `json:"turns,omitempty"`   // tool rounds and repairs before the answer
	Answer   string    `json:"answer,omitempty"`  // blob
	Raw      string    `json:"raw,omitempty"`     // blob
	Inputs   []string  `json:"inputs,omitempty"`  // vault names
	Outputs  []Output  `json:"outputs,omitempty"`
	Changes  []Change  `json:"changes,omitempty"` // by tools
	Omitted  []string  `json:"omitted,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	Origins  []string  `json:"origins,omitempty"` // the untrusted things that the model was shown
	Rejected []string  `json:"rejected,omitempty"`
	Defused  []Defused `json:"defused,omitempty"` // as in StepRecord
	Failure  *Failure  `json:"failure,omitempty"`

	Counts []TokenCount `json:"token_counts,omitempty"` // of the answered requests, in order

	NestedUSD float64 `json:"nested_usd,omitempty"` // as in StepRecord
}

// ItemsText names the items for people: the first three, and how many more there are.
func (b BatchRecord) ItemsText() string {
	const most = 3
	if len(b.Items) <= most {
		return strings.Join(b.Items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(b.Items[:most], ", "), len(b.Items)-most)
}

// Works gives the batches of a step, or the step itself as the only one: whatever has a prompt, a receipt and an answer
// of its own.
func (r StepRecord) Works() []BatchRecord {
	if len(r.Batches) > 0 {
		return r.Batches
	}
	return []BatchRecord{{
		Status: r.Status, Reason: r.Reason, Started: r.Started, Finished: r.Finished, Model: r.Model, Answered: r.Answered,
		Usage: r.Usage, Calls: r.Calls, Cached: r.Cached, Prompt: r.Prompt, Receipt: r.Receipt, Turns: r.Turns, Answer: r.Answer,
		Raw: r.Raw, Inputs: r.Inputs, Outputs: r.Outputs, Changes: r.Changes, Omitted: r.Omitted, Warnings: r.Warnings, Origins: r.Origins,
		Rejected: r.Rejected, Defused: r.Defused, Failure: r.Failure, NestedUSD: r.NestedUSD,
	}}
}

// take makes the step's record that of its only work. Status, reason, failure and times are the step's own.
func (r *StepRecord) take(w BatchRecord) {
	r.Model, r.Answered, r.Usage, r.Calls, r.Cached = w.Model, w.Answered, w.Usage, w.Calls, w.Cached
	r.Prompt, r.Receipt, r.Turns, r.Answer, r.Raw = w.Prompt, w.Receipt, w.Turns, w.Answer, w.Raw
	r.Inputs, r.Outputs, r.Changes, r.Omitted, r.Origins, r.Rejected = w.Inputs, w.Outputs, w.Changes, w.Omitted, w.Origins, w.Rejected
	r.Warnings, r.Counts, r.NestedUSD, r.Defused = append(r.Warnings, w.Warnings...), w.Counts, w.NestedUSD, w.Defused
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

// sum derives what the record of an @for_each step says about all its batches: usage, calls, inputs, outputs, omissions,
// origins, costs of nested runs. Warnings stay with their batches.
func (r *StepRecord) sum() {
	r.Usage, r.Calls, r.Inputs, r.Outputs, r.Changes, r.Omitted, r.Origins, r.Rejected, r.NestedUSD = Usage{}, 0, nil, nil, nil, nil, nil, nil, 0
	r.Defused = nil
	outputs := outputList{at: map[Output]int{}}
	for _, b := range r.Batches {
		if b.Model != "" {
			r.Model, r.Answered = b.Model, b.Answered
		}
		r.Usage, r.Calls, r.NestedUSD = r.Usage.Add(b.Usage), r.Calls+b.Calls, r.NestedUSD+b.NestedUSD
		r.Inputs, r.Omitted = append(r.Inputs, b.Inputs...), append(r.Omitted, b.Omitted...)
		r.Changes, r.Origins = append(r.Changes, b.Changes...), addAll(r.Origins, b.Origins)
		r.Rejected, r.Defused = append(r.Rejected, b.Rejected...), append(r.Defused, b.Defused...)
		for _, o := range b.Outputs {
			outputs.add(o)
		}
	}
	r.Outputs = outputs.list
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
	r.Usage, r.Outputs, r.Changes, r.Warnings = Usage{}, nil, nil, nil
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
