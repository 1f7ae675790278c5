package step

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/change"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/workflow"
)

// Context is where most activities begin: the pinned plan, the step, the items of its batch, and the facts for its patterns. Plan
// and Step are shared and must not be changed.
type Context struct {
	Plan  workflow.Plan
	Step  workflow.Step
	Facts directives.Facts

	NameFrom []string // untrusted sources of the names of items and of the files that started the run

	items    []item
	foreign  []string // untrusted sources of the items' list
	itemFrom []string // untrusted sources of what the prompt says of its items
	chosen   []string // untrusted things that chose the files that started the run
}

// FactsOf returns the facts for a step's patterns, for a run at a given time.
func FactsOf(plan workflow.Plan, step, run string, at time.Time) directives.Facts {
	return directives.Facts{
		Now: at.In(plan.Meta.Location(at.Location())), WeekStart: plan.Meta.WeekStartDay(),
		Workflow: plan.Name, Step: step, Run: run,
	}
}

// setBatch sets the items of a batch for the step's patterns.
func (s *Context) setBatch(batch int, items []item) {
	s.items, s.Facts.Batch, s.Facts.Items = items, batch, nil
	s.Facts.ItemValue = len(items) > 0 && items[0].Value
	for _, it := range items {
		s.Facts.Items = append(s.Facts.Items, it.text)
	}
	if len(items) > 0 {
		s.Facts.Item, s.Facts.ItemName = items[0].text, items[0].name()
		if part := items[0].Part; part != nil {
			s.Facts.ItemLabel, s.Facts.ItemTitle = part.Label(), part.Title
		}
	}
}

// part returns the part of a document that the item is, or nil.
func (s Context) part() *engine.ItemPart {
	if len(s.items) != 1 {
		return nil
	}
	return s.items[0].Part
}

// aimed returns an input with the pages or lines that it shows of its files: those of the item, or those that patterns name.
func (s Context) aimed(input directives.Input) (directives.Input, error) {
	part := s.part()
	if part != nil && (input.ReadsItem() || input.Index == directives.ForEachIndex) {
		if part.Paged() {
			input.Pages = ranges(part.Numbers())
		} else {
			input.Lines = &directives.Range{First: part.Lines[0], Last: part.Lines[1]}
		}
		return input, nil
	}
	var err error
	input.Pages, err = input.PagesFor(s.Facts)
	return input, failure.WithCode(err, failure.Input)
}

// ranges returns ascending numbers as ranges.
func ranges(numbers []int) []directives.Range {
	var list []directives.Range
	for _, n := range numbers {
		if last := len(list) - 1; last >= 0 && list[last].Last+1 == n {
			list[last].Last = n
			continue
		}
		list = append(list, directives.Range{First: n, Last: n})
	}
	return list
}

// About sets the files that the run is about; chosen are the untrusted things that chose them.
func (s *Context) About(files, chosen []string) {
	s.Facts.Files, s.Facts.ChosenFiles, s.chosen = files, len(chosen) > 0, chosen
}

// Plans reads pinned plans. It caches recent ones, because all activities of a step read the same plan.
type Plans struct {
	Blobs change.Blobs
	Title func(name string) string // of a note, for {trigger-title}; nil: none is known
	Moved func(name string) string // where a file is now that runs have moved; nil: none were

	mu     sync.Mutex
	recent []pinned // the latest first; guarded by mu
}

// pinned is a decoded plan. It never changes, because the digest names its content.
type pinned struct {
	digest string
	plan   workflow.Plan
}

// maxPlans is the size of the cache: more plans than run at the same time.
const maxPlans = 16

// Context returns the step context of an activity.
func (p *Plans) Context(ctx context.Context, ref engine.StepRef) (Context, error) {
	plan, err := p.plan(ctx, ref.Plan)
	if err != nil {
		return Context{}, err
	}
	if ref.Index < 0 || ref.Index >= len(plan.Steps) {
		return Context{}, failure.New(failure.InvalidWorkflow, "", "the plan has no step %d", ref.Index)
	}
	step := plan.Steps[ref.Index]
	s := Context{Plan: plan, Step: step, Facts: FactsOf(plan, step.Name, ref.Run, ref.At)}
	s.Facts.Title = p.titles(plan)
	s.About(p.present(ref.Subject), ref.Chosen)
	items, err := p.items(ctx, ref.Items)
	if err != nil {
		return Context{}, err
	}
	s.setBatch(ref.Batch, items)
	return s, nil
}

// present returns the files that started a run under the names that they have now: another run may have moved them.
func (p *Plans) present(files []string) []string {
	if p.Moved == nil {
		return files
	}
	now := make([]string, len(files))
	for i, name := range files {
		now[i] = p.Moved(name)
	}
	return now
}

// titles returns the titles of the notes that a workflow may read.
func (p *Plans) titles(plan workflow.Plan) func(name string) string {
	return func(name string) string {
		if p.Title == nil || !plan.Meta.Permissions.MayRead(name) {
			return ""
		}
		return p.Title(name)
	}
}

func (p *Plans) plan(ctx context.Context, digest string) (workflow.Plan, error) {
	if plan, known := p.known(digest); known {
		return plan, nil
	}
	data, err := p.Blobs.Get(ctx, digest)
	if err != nil {
		return workflow.Plan{}, failure.New(failure.State, "start the workflow again", "read the pinned plan: %v", err)
	}
	var plan workflow.Plan
	if err := json.Unmarshal(data, &plan); err != nil {
		return workflow.Plan{}, fmt.Errorf("read the pinned plan: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recent = append([]pinned{{digest, plan}}, p.recent[:min(len(p.recent), maxPlans-1)]...)
	return plan, nil
}

func (p *Plans) known(digest string) (workflow.Plan, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.recent {
		if one.digest == digest {
			return one.plan, true
		}
	}
	return workflow.Plan{}, false
}
