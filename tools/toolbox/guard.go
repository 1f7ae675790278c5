package toolbox

import (
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

// guard refuses calls that untrusted content may have caused. Only what the model saw before the turn counts: the calls of one
// answer do not know each other's results.
type guard struct{ t *turn }

// refused returns the result of a call that is refused because of what the model was shown, if it is. Tools that change files are
// checked for each file; see mayChange.
func (g guard) refused(tool string) (content.ToolResult, bool) {
	registry := g.t.registry
	if (consent(g)).needed(tool) { // the user sees this call with its sources
		return content.ToolResult{}, false
	}
	effect := registry.Effect(tool)
	if effect == tools.EffectWrite && changesFiles(tool) {
		return content.ToolResult{}, false
	}
	err := g.judge(policy.Use{Tool: registry.Called(tool), Network: effect == tools.EffectNetwork, Writes: effect == tools.EffectWrite})
	if err == nil {
		return content.ToolResult{}, false
	}
	return tools.Failed("%v", err), true
}

// changesFiles reports whether a tool changes single files, each of which is checked.
func changesFiles(tool string) bool {
	return slices.Contains([]string{tools.WriteFile, tools.AppendFile, tools.EditFile, tools.MoveFile, tools.DeleteFile}, tool)
}

// mayChange returns why a tool must not change a file after what the model was shown.
func (g guard) mayChange(tool, name string) error {
	if asks(g.t.s) {
		return nil
	}
	return g.judge(policy.Use{Tool: tool, Writes: true, Changes: []string{name}})
}

// judge asks the policy. A refusal, with its sources, is returned to the model and reported as an event, a warning in the record and
// a line in the log.
func (g guard) judge(use policy.Use) error {
	t := g.t
	if len(t.in.Origins) == 0 {
		return nil
	}
	use = g.granted(use)
	origins := t.in.Origins
	if server, _, dotted := strings.Cut(use.Tool, "."); dotted {
		// The server that describes a tool receives its calls anyway, so its own description does not block it.
		origins = slices.DeleteFunc(slices.Clone(origins), func(o string) bool { return o == policy.MCPOrigin(server) })
	}
	reason := use.Refused(origins)
	if reason == "" {
		return nil
	}
	sources := strings.Join(t.in.Origins, ", ")
	t.blocked = append(t.blocked, fmt.Sprintf("the tool %s was blocked: %s, and the step was shown content from outside (%s)", use.Tool, reason, sources))
	g.report(use.Tool, reason)
	return errors.New("blocked: " + reason + ", and content from outside was shown in this step (" + sources +
		"). Continue without it. " + g.advice(use.Tool))
}

// granted adds what the step allows to a call.
func (g guard) granted(use policy.Use) policy.Use {
	if len(g.t.in.Origins) == 0 {
		return use
	}
	use.Outputs = g.outputs()
	if t := g.t.s.Step.Tools; t != nil {
		for _, u := range t.Uses {
			use.Granted = use.Granted || u.Name == use.Tool && u.Untrusted
		}
	}
	return use
}

// outputs returns the files that the step itself writes: those with known names that the gate allows.
func (g guard) outputs() []string {
	ctx, b, s := g.t.ctx, g.t.box, g.t.s
	if ctx == nil || b.sources.NameItems(ctx, &s, g.t.in.Vars) != nil {
		return nil
	}
	var names []string
	for i, out := range s.Step.Outputs {
		place, err := out.Place(b.outputs.Env(s))
		if err != nil || out.Target.Scheme != directives.SchemeFile {
			continue
		}
		ask, err := b.outputs.Request(ctx, s, engine.StagedFile{
			Name: place.Name, Targets: []string{fmt.Sprintf("output:%d", i)}, Named: place.Named, NameFrom: s.NameFrom, Granted: out.Untrusted,
		})
		if err == nil && b.changes.Gate.Decide(ask).Verdict == policy.VerdictAllowed {
			names = append(names, place.Name)
		}
	}
	return names
}

// report reports a blocked call as an event and in the log.
func (g guard) report(tool, reason string) {
	t, ref := g.t, g.t.in.StepRef
	message := fmt.Sprintf("the tool %s was blocked: %s; shown before: %s", tool, reason, strings.Join(t.in.Origins, ", "))
	engine.Report(t.ctx, engine.Event{Kind: engine.EventBlocked, Step: ref.Step, Batch: ref.Batch, Name: tool, Message: message})
	if t.box.Log != nil {
		t.box.Log.WarnContext(t.ctx, "call of a tool blocked: the step was shown content from outside",
			"run", ref.Run, "workflow", ref.Workflow, "step", ref.Step, "tool", tool, "reason", reason, "sources", t.in.Origins)
	}
}

// advice returns how to allow what was refused: for the tool, for the input with the first untrusted file, or for that file
// everywhere.
func (g guard) advice(tool string) string {
	t := g.t
	text := "To allow this, the workflow's author can write @tools " + tool + " (untrusted=allow)"
	name := ""
	for _, o := range t.in.Origins {
		if file, is := strings.CutPrefix(o, string(policy.ReadFile)+" "); is {
			name = file
			break
		}
	}
	if name == "" {
		return text
	}
	for _, in := range t.s.Step.Inputs {
		found, _, err := t.box.inputs.Find(t.ctx, t.s, in, nil)
		if err == nil && slices.ContainsFunc(found.Files, func(f engine.ResolvedFile) bool { return f.Name == name }) {
			text += ", or add trust=trusted to the line @input " + in.Target.String()
			break
		}
	}
	return text + `, or run: vaultflow trust "` + name + `"`
}
