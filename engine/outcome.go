package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure"
)

// Outcome is how a body ended.
type Outcome struct {
	Status  Status
	Reason  string // for the user; empty when everything was done
	Failure *failure.Error
	Steps   []StepRecord  // of a workflow run; without times
	Import  *ImportRecord // of an import; without times
}

// failed is the outcome of a run that could not begin.
func failed(f *failure.Error) Outcome {
	return Outcome{Status: failureStatus(f), Reason: f.Message, Failure: f}
}

// failureStatus is the status of a run, step or batch that ended with a failure.
func failureStatus(f *failure.Error) Status {
	switch f.Code {
	case failure.Cancelled:
		return Cancelled
	case failure.Refusal:
		return Refused
	case failure.EmptyAnswer:
		return Empty
	case failure.CutOff, failure.Incomplete:
		return Truncated
	case failure.InvalidAnswer:
		return Invalid
	case failure.Unseen:
		return Unseen
	}
	return Failed
}

// outcomeOf sums up the steps of a run. The worst step decides; skipped steps count only when there are no others, or when what
// they require was left out.
func outcomeOf(steps []StepRecord) Outcome {
	out := Outcome{Status: Skipped, Steps: steps}
	var omitted []string
	for _, s := range steps {
		switch {
		case s.Status.Incomplete():
			out.Status, out.Failure = s.Status, s.Failure
			out.Reason = fmt.Sprintf("step %q: %s", s.Step, s.Reason)
			return out
		case s.Status.Succeeded():
			omitted = append(omitted, s.Omitted...)
			out.Status = worse(out.Status, s.Status)
		}
		if s.Unmet {
			out.Status = DoneWithOmissions
		}
	}
	switch out.Status {
	case Skipped:
		out.Reason = skipReasons(steps)
	case DoneWithOmissions:
		out.Reason = omissionReasons(steps, omitted)
	}
	return out
}

func omissionReasons(steps []StepRecord, omitted []string) string {
	var reasons []string
	switch n := len(omitted); n {
	case 0:
	case 1:
		reasons = append(reasons, "the model got less than was written: "+omitted[0])
	default:
		reasons = append(reasons, fmt.Sprintf("the model got less than was written: %s; and %d more", omitted[0], n-1))
	}
	for _, s := range steps {
		if (s.Status == DoneWithOmissions || s.Unmet) && s.Reason != "" {
			reasons = append(reasons, fmt.Sprintf("step %q: %s", s.Step, s.Reason))
		}
	}
	return strings.Join(reasons, "; ")
}

func worse(run, step Status) Status {
	if run == DoneWithOmissions {
		return run
	}
	return step
}

func skipReasons(steps []StepRecord) string {
	var reasons []string
	for _, s := range steps {
		reasons = addOnce(reasons, s.Reason)
	}
	return strings.Join(reasons, "; ")
}

// addOnce adds a text to a list that does not hold it yet; empty ones are not added.
func addOnce(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
