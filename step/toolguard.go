package step

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/tools"
)

// What a model calls after it was shown something from outside may be what that told it to call. The origins that count
// are those of before the turn: calls of one answer do not know each other's results.

// refused is the result of a call that is not carried out because of what the model was shown, when it is one. The tools
// that change single files are asked for each file; see [toolbox.mayChange].
func (b *toolbox) refused(ctx context.Context, tool string) (content.ToolResult, bool) {
	b.ctx = ctx
	if b.asks(tool) { // a person saw this very call, and where it comes from
		return content.ToolResult{}, false
	}
	effect := b.registry.Effect(tool)
	if effect == tools.EffectWrite && changesFiles(tool) {
		return content.ToolResult{}, false
	}
	err := b.judge(policy.Use{Tool: b.registry.Called(tool), Network: effect == tools.EffectNetwork, Writes: effect == tools.EffectWrite})
	if err == nil {
		return content.ToolResult{}, false
	}
	return tools.Failed("%v", err), true
}

// changesFiles says whether a tool asks for each file before it changes it.
func changesFiles(tool string) bool {
	return slices.Contains([]string{tools.WriteFile, tools.AppendFile, tools.EditFile, tools.MoveFile, tools.DeleteFile}, tool)
}

// mayChange says why a tool must not change a file after what the model was shown.
func (b *toolbox) mayChange(tool, name string) error {
	if b.s.asks() {
		return nil
	}
	return b.judge(policy.Use{Tool: tool, Writes: true, Changes: []string{name}})
}

// judge asks the policy, and tells everybody when it says no: the model by the error, people by an event, a warning in the
// record and a line in the log, all with the sources.
func (b *toolbox) judge(use policy.Use) error {
	if len(b.in.Origins) == 0 {
		return nil
	}
	use = b.granted(use)
	origins := b.in.Origins
	if server, _, dotted := strings.Cut(use.Tool, "."); dotted {
		// Whoever describes a tool gets its calls anyway: this alone keeps no tool from the server that was named.
		origins = slices.DeleteFunc(slices.Clone(origins), func(o string) bool { return o == policy.MCPOrigin(server) })
	}
	reason := use.Refused(origins)
	if reason == "" {
		return nil
	}
	sources := strings.Join(b.in.Origins, ", ")
	b.blocked = append(b.blocked, fmt.Sprintf("the tool %s was blocked: %s, and the step was shown content from outside (%s)", use.Tool, reason, sources))
	b.w.reportBlocked(b.ctx, b.in.StepRef, use.Tool, reason, b.in.Origins)
	return errors.New("blocked: " + reason + ", and content from outside was shown in this step (" + sources +
		"). Go on without it. " + b.advice(use.Tool))
}

// granted adds to a call what the step allows.
func (b *toolbox) granted(use policy.Use) policy.Use {
	if len(b.in.Origins) == 0 {
		return use
	}
	use.Outputs = b.outputs()
	if t := b.s.step.Tools; t != nil {
		for _, u := range t.Uses {
			use.Granted = use.Granted || u.Name == use.Tool && u.Untrusted
		}
	}
	return use
}

// outputs are the files that the step itself writes. A name that cannot be told yet is none of them, and neither is a file to
// which the step would not write because content from outside chose its name.
func (b *toolbox) outputs() []string {
	s := b.s
	if b.ctx == nil || b.w.nameItems(b.ctx, &s, b.in.Vars) != nil {
		return nil
	}
	var names []string
	for i, out := range s.step.Outputs {
		place, err := out.Place(b.w.outputEnv(s))
		if err != nil || out.Target.Scheme != directives.SchemeFile {
			continue
		}
		ask, err := b.w.outputRequest(b.ctx, s, engine.StagedFile{
			Name: place.Name, Targets: []string{fmt.Sprintf("output:%d", i)}, Named: place.Named, NameFrom: s.nameFrom, Granted: out.Untrusted,
		})
		if err == nil && b.w.gate().Decide(ask).Verdict == policy.VerdictAllowed {
			names = append(names, place.Name)
		}
	}
	return names
}

// reportBlocked tells people that a call was not carried out.
func (w *Workflow) reportBlocked(ctx context.Context, ref engine.StepRef, tool, reason string, origins []string) {
	message := fmt.Sprintf("the tool %s was blocked: %s; shown before: %s", tool, reason, strings.Join(origins, ", "))
	engine.Report(ctx, engine.Event{Kind: engine.EventBlocked, Step: ref.Step, Batch: ref.Batch, Name: tool, Message: message})
	if w.Outside != nil && w.Outside.Log != nil {
		w.Outside.Log.WarnContext(ctx, "call of a tool blocked: the step was shown content from outside",
			"run", ref.Run, "workflow", ref.Workflow, "step", ref.Step, "tool", tool, "reason", reason, "sources", origins)
	}
}
