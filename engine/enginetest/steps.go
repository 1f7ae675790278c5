package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
)

// work names a step, or one batch of it.
func work(ref engine.StepRef) string {
	if ref.Batch == 0 {
		return ref.Step
	}
	return fmt.Sprintf("%s#%d", ref.Step, ref.Batch)
}

// activities are what an executor runs in a world.
type activities struct{ w *World }

func (a activities) when(in engine.StepIn) engine.WhenOut { return a.w.When[in.Step] }

func (a activities) expand(in engine.StepIn) engine.ExpandOut {
	return engine.ExpandOut{Batches: a.w.Items[in.Step]}
}

func (a activities) resolve(in engine.ResolveIn) engine.ResolveOut {
	if a.w.Missing[work(in.StepRef)] {
		return engine.ResolveOut{Missing: []string{"file: gone.md"}}
	}
	return engine.ResolveOut{}
}

func (a activities) assemble(in engine.AssembleIn) engine.AssembleOut {
	prompt := "prompt of " + in.Step
	for _, item := range in.Items {
		prompt += " " + item.Name
	}
	for _, v := range in.Vars {
		prompt += fmt.Sprintf("\n%s: %s", v.Name, a.w.blob(v.Digest))
	}
	var warnings []string
	if note := a.w.File("note.md"); note != "" && len(in.Vars) == 0 {
		prompt, warnings = prompt+note, []string{"a note is shown"}
	}
	digest := a.w.put(prompt)
	return engine.AssembleOut{
		Warnings: warnings,
		Prompt:   digest, Text: digest, Receipt: a.w.put("{}"), Model: "test", Omitted: a.w.Omitted[in.Step], Key: "key of " + digest,
	}
}

func (a activities) generate(in engine.GenerateIn) engine.GenerateOut {
	if c, ok := a.w.cached(in.Key); ok {
		return engine.GenerateOut{Answer: c.Answer, Raw: c.Raw, Stop: engine.StopEnd, Model: c.Model, Cached: true}
	}
	a.w.mu.Lock()
	a.w.paid++
	a.w.mu.Unlock()
	if out, ok := a.w.Answers[work(in.StepRef)]; ok {
		return out
	}
	if talk := a.w.Talk[in.Step]; len(talk) > 0 {
		return talk[min(len(in.Turns), len(talk)-1)]
	}
	return a.w.says("answer to " + strings.ReplaceAll(a.w.blob(in.Prompt), "\n", "; "))
}

func (a activities) useTools(in engine.UseToolsIn) engine.UseToolsOut {
	origin := fmt.Sprintf("%s, after %d others", a.w.blob(in.Raw), len(in.Origins))
	return engine.UseToolsOut{Reply: a.w.put("results of " + a.w.blob(in.Raw)), Media: 1, Shown: a.w.Shown[in.Step], Origins: []string{origin}, Undone: a.w.Undone[in.Step]}
}

func (a activities) validate(in engine.ValidateIn) engine.ValidateOut {
	text := a.w.blob(in.Answer)
	if strings.HasPrefix(text, "{") {
		return engine.ValidateOut{Answer: a.w.put(strings.TrimSpace(text))}
	}
	out := engine.ValidateOut{Problems: []string{"no object"}}
	if !in.Last {
		out.Reply = a.w.put("mend " + text)
	}
	return out
}

func (a activities) stage(in engine.StageIn) engine.StageOut {
	var out engine.StageOut
	targets := []string{"output:0", "output:1"}
	if !a.w.NoVars {
		out.Vars, targets = []engine.StagedVar{{Name: in.Step, Digest: in.Answer, Target: "output:1"}}, targets[:1]
	}
	names := []string{in.Workflow + ".md"}
	if a.w.Second[in.Step] {
		names = append(names, in.Workflow+"-2.md")
	}
	for i, name := range names {
		if slices.ContainsFunc(in.Committed, func(f engine.StagedFile) bool { return f.Name == name }) {
			continue
		}
		if i > 0 {
			targets = []string{"input:0"}
		}
		out.Files = append(out.Files, engine.StagedFile{
			Name: name, Base: a.w.digest(name), New: a.w.put(a.w.File(name) + a.w.blob(in.Answer) + "\n"), Targets: targets,
		})
	}
	return out
}

func (a activities) commit(in engine.CommitIn) engine.CommitOut {
	var out engine.CommitOut
	for _, f := range in.Files {
		switch a.w.digest(f.Name) {
		case f.New:
			out.Written = append(out.Written, f)
		case f.Base:
			a.w.Write(f.Name, a.w.blob(f.New))
			out.Written = append(out.Written, f)
		default:
			out.Conflicts = append(out.Conflicts, f.Name)
		}
	}
	if len(out.Conflicts) == 0 {
		a.remember(in)
	}
	return out
}

// remember keeps what a commit leaves behind.
func (a activities) remember(in engine.CommitIn) {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	for _, m := range in.Marks {
		a.w.marks[fmt.Sprintf("%s/%s/%d/%s", in.Workflow, in.Step, m.Directive, m.Name)] = m.SHA256
	}
	if in.Cache != nil {
		a.w.cache[in.Cache.Key] = *in.Cache
	}
}

func (a activities) classify(engine.ClassifyIn) engine.ClassifyOut {
	return engine.ClassifyOut{Kind: "pdf", MediaType: "application/pdf"}
}

func (a activities) extract(engine.ExtractIn) engine.ExtractOut { return engine.ExtractOut{Pages: 2} }

func (a activities) publish(in engine.PublishIn) engine.PublishOut {
	bundle := "Imported/" + in.Source
	a.w.Write(bundle+"/index.md", "note of "+in.Source)
	return engine.PublishOut{Bundle: bundle, Note: bundle + "/index.md"}
}

func (a activities) file(in engine.FileIn) engine.FileOut {
	name := in.Bundle + "/" + in.Source
	if in.State == engine.ImportFailed {
		name = "Import/Failed/" + in.Source
	}
	a.w.Write(name, "original")
	return engine.FileOut{Name: name}
}
