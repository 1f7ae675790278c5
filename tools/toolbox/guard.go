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

// guard refuses calls that may come from content from outside: whatever the model was shown may have told it to call. The
// origins that count are those of before the turn: calls of one answer do not know each other's results.
type guard struct{ t *turn }

// refused is the result of a call that is not carried out because of what the model was shown, when it is one. The tools
// that change single files are asked for each file; see mayChange.
func (g guard) refused(tool string) (content.ToolResult, bool) {
	registry := g.t.registry
	if (consent(g)).needed(tool) { // a person saw this very call, and where it comes from
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

// changesFiles reports whether a tool asks for each file before it changes it.
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

// judge asks the policy. A refusal reaches everybody, with the sources: the model by the error, people by an event, a warning
// in the record and a line in the log.
func (g guard) judge(use policy.Use) error {
	t := g.t
	if len(t.in.Origins) == 0 {
		return nil
	}
	use = g.granted(use)
	origins := t.in.Origins
	if server, _, dotted := strings.Cut(use.Tool, "."); dotted {
		// Whoever describes a tool gets its calls anyway: this alone keeps no tool from the server that was named.
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
		"). Go on without it. " + g.advice(use.Tool))
}

// granted adds to a call what the step allows.
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

// outputs are the files that the step itself writes. A name that is not known yet is none of them, and neither is a file to
// which the step would not write because content from outside chose its name.
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

// report tells people that a call was not carried out.
func (g guard) report(tool, reason string) {
	t, ref := g.t, g.t.in.StepRef
	message := fmt.Sprintf("the tool %s was blocked: %s; shown before: %s", tool, reason, strings.Join(t.in.Origins, ", "))
	engine.Report(t.ctx, engine.Event{Kind: engine.EventBlocked, Step: ref.Step, Batch: ref.Batch, Name: tool, Message: message})
	if t.box.Log != nil {
		t.box.Log.WarnContext(t.ctx, "call of a tool blocked: the step was shown content from outside",
			"run", ref.Run, "workflow", ref.Workflow, "step", ref.Step, "tool", tool, "reason", reason, "sources", t.in.Origins)
	}
}

// advice tells how a person lets a step do what was refused after it was shown these things: for the tool, for the input that
// brought in the first file of them, or for that file everywhere.
func (g guard) advice(tool string) string {
	t := g.t
	text := "A person who wants this writes @tools " + tool + " (untrusted=allow)"
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
			text += ", or trust=trusted on the line @input " + in.Target.String()
			break
		}
	}
	return text + `, or runs: vaultflow trust "` + name + `"`
}
