package trigger

import (
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

// The loop guard goes by content. What a workflow wrote never starts it, for ever; and what a run wrote never starts a
// workflow to which that run goes back: one that wrote what started the run, and so on. So a circle of workflows ends
// after one round, whatever its length.

// causesOf are the workflows to which a content goes back.
func causesOf(writers []engine.Writer) []string {
	var causes []string
	for _, w := range writers {
		causes = append(append(causes, w.Workflow), w.Causes...)
	}
	slices.Sort(causes)
	return slices.Compact(causes)
}

func loopReason(name string, writers []engine.Writer) string {
	for _, w := range writers {
		if slices.Contains(w.Causes, name) {
			return fmt.Sprintf("loop guard: a run of %s wrote it, and that goes back to a run of this workflow", w.Workflow)
		}
	}
	return "loop guard: a run of this workflow wrote it"
}

// loop is a run that the guard refuses.
type loop struct {
	plan    *workflow.Plan
	trigger engine.Trigger
	why     string
}

type loops []loop

// add joins what is refused of a workflow for the same reason.
func (l *loops) add(p *workflow.Plan, name string, causes []string, why string) {
	i := slices.IndexFunc(*l, func(o loop) bool { return o.plan.Name == p.Name && o.why == why })
	if i < 0 {
		*l = append(*l, loop{p, engine.Trigger{Kind: engine.TriggerWatch, Causes: causes}, why})
		i = len(*l) - 1
	}
	if files := &(*l)[i].trigger.Files; len(*files) < filesMost && !slices.Contains(*files, name) {
		*files = append(*files, name)
	}
}
