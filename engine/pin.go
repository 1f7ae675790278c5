package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/workflow"
)

// ReadPlan reads a pinned plan.
func ReadPlan(raw json.RawMessage) (*workflow.Plan, error) {
	var p workflow.Plan
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("read the pinned plan: %w", err)
	}
	return &p, nil
}

// PinSteps returns the body's view of a plan's steps.
func PinSteps(p *workflow.Plan) []PinnedStep {
	steps := make([]PinnedStep, 0, len(p.Steps))
	for _, s := range p.Steps {
		pinned := PinnedStep{Name: s.Name, NoModel: s.Model != nil && s.Model.None, Outputs: len(s.Outputs)}
		if on := s.RunOn; on != nil && (on.Never || !on.Daily) {
			pinned.Limited = true
			if !on.Never {
				pinned.Days = on.Days
			}
		}
		pinDemands(&pinned, s)
		steps = append(steps, pinned)
	}
	return steps
}

// pinDemands takes over what bounds the step and its answer.
func pinDemands(p *PinnedStep, s workflow.Step) {
	p.When, p.Cache, p.Sets = len(s.When) > 0, s.Cache != nil && !p.NoModel, setsVariable(s)
	p.Subject = s.NeedsFile()
	p.Whole = s.WriteMode.Mode == "replace" || s.WriteMode.Mode == "new"
	if each := s.ForEach; each != nil {
		p.ForEach = &PinnedForEach{Parallel: each.Parallel, Skip: each.OnError == "skip"}
	}
	if s.Timeout != nil {
		p.Timeout = s.Timeout.For
	}
	if a := s.Approve; a != nil {
		p.ApproveOutputs, p.ApproveTools, p.ApprovePrompt = a.Outputs, a.Tools, a.Prompt && !p.NoModel
		if a.Outputs && !p.NoModel {
			p.ApproveRetries = a.Retries
		}
	}
	if p.NoModel {
		return
	}
	p.Cite = s.Cite != nil
	for _, o := range s.Outputs {
		p.TellsOmissions = p.TellsOmissions || o.Omissions
	}
	if s.Schema != nil {
		p.JSON, p.Repairs = true, s.Schema.Retries
	} else if answersJSON(s) {
		p.JSON, p.Repairs = true, jsonRepairs
	}
}

// jsonRepairs is how often a model may mend the answer of a step without @schema whose output is JSON.
const jsonRepairs = 2

// answersJSON reports whether an output needs JSON, by its format or because it sets properties of a note.
func answersJSON(s workflow.Step) bool {
	if s.WriteMode.Mode == "frontmatter" && len(s.Outputs) > 0 {
		return true
	}
	for _, o := range s.Outputs {
		if o.Format == "json" {
			return true
		}
	}
	return false
}

func setsVariable(s workflow.Step) bool {
	for _, o := range s.Outputs {
		if o.Target.Scheme == "variable" {
			return true
		}
	}
	for _, in := range s.Inputs {
		if in.Route != nil && in.Route.Target != nil && in.Route.Target.Scheme == "variable" {
			return true
		}
	}
	if s.Tools != nil {
		for _, use := range s.Tools.Uses {
			if use.Route != nil && use.Route.To == "variable" {
				return true
			}
		}
	}
	return false
}

// ChooseSteps returns the names of the chosen steps as the plan writes them; names are compared without case. An unknown
// one is a *Failure that lists the steps.
func ChooseSteps(p *workflow.Plan, chosen []string) ([]string, error) {
	var names []string
	for _, c := range chosen {
		s, ok := p.Step(c)
		if !ok {
			return nil, unknownStep(p.Name, c, PinSteps(p))
		}
		names = append(names, s.Name)
	}
	return names, nil
}

func unknownStep(workflow, name string, steps []PinnedStep) *failure.Error {
	var names []string
	for _, s := range steps {
		names = append(names, s.Name)
	}
	return failure.New(failure.InvalidWorkflow, "its steps are: "+strings.Join(names, ", "), "workflow %q has no step %q", workflow, name)
}
