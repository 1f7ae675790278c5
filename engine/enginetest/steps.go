package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
)

// work names a step, or one batch of it.
func work(ref engine.StepRef) string {
	if ref.Batch == 0 {
		return ref.Step
	}
	return fmt.Sprintf("%s#%d", ref.Step, ref.Batch)
}

func (w *World) when(in engine.WhenIn) engine.WhenOut { return w.When[in.Step] }

func (w *World) expand(in engine.ExpandIn) engine.ExpandOut {
	return engine.ExpandOut{Batches: w.Items[in.Step]}
}

func (w *World) resolve(in engine.ResolveIn) engine.ResolveOut {
	if w.Missing[work(in.StepRef)] {
		return engine.ResolveOut{Missing: []string{"file: gone.md"}}
	}
	return engine.ResolveOut{}
}

func (w *World) assemble(in engine.AssembleIn) engine.AssembleOut {
	prompt := "prompt of " + in.Step
	for _, item := range in.Items {
		prompt += " " + item.Name
	}
	for _, v := range in.Vars {
		prompt += fmt.Sprintf("\n%s: %s", v.Name, w.blob(v.Digest))
	}
	digest := w.put(prompt)
	return engine.AssembleOut{
		Prompt: digest, Text: digest, Receipt: w.put("{}"), Model: "test", Omitted: w.Omitted[in.Step], Key: "key of " + digest,
	}
}

func (w *World) generate(in engine.GenerateIn) engine.GenerateOut {
	if c, ok := w.cached(in.Key); ok {
		return engine.GenerateOut{Answer: c.Answer, Raw: c.Raw, Stop: engine.StopEnd, Model: c.Model, Cached: true}
	}
	w.mu.Lock()
	w.paid++
	w.mu.Unlock()
	if out, ok := w.Answers[work(in.StepRef)]; ok {
		return out
	}
	if talk := w.Talk[in.Step]; len(talk) > 0 {
		return talk[min(len(in.Turns), len(talk)-1)]
	}
	return w.says("answer to " + strings.ReplaceAll(w.blob(in.Prompt), "\n", "; "))
}

// says is a complete answer.
func (w *World) says(text string) engine.GenerateOut {
	return engine.GenerateOut{
		Answer: w.put(text), Raw: w.put("raw " + text), Stop: engine.StopEnd, Model: "test-1",
		Usage: cost.Usage{InputTokens: 10, OutputTokens: 5, CostUSD: 0.25},
	}
}

// calling is an answer that calls a tool.
func (w *World) calling(text string) engine.GenerateOut {
	out := w.says(text)
	out.Stop = engine.StopToolUse
	return out
}

func (w *World) cached(key string) (engine.CacheEntry, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.cache[key]
	return c, ok
}

func (w *World) useTools(in engine.UseToolsIn) engine.UseToolsOut {
	origin := fmt.Sprintf("%s, after %d others", w.blob(in.Raw), len(in.Origins))
	return engine.UseToolsOut{Reply: w.put("results of " + w.blob(in.Raw)), Media: 1, Shown: w.Shown[in.Step], Origins: []string{origin}}
}

func (w *World) validate(in engine.ValidateIn) engine.ValidateOut {
	text := w.blob(in.Answer)
	if strings.HasPrefix(text, "{") {
		return engine.ValidateOut{Answer: w.put(strings.TrimSpace(text))}
	}
	out := engine.ValidateOut{Problems: []string{"no object"}}
	if !in.Last {
		out.Reply = w.put("mend " + text)
	}
	return out
}

func (w *World) stage(in engine.StageIn) engine.StageOut {
	var out engine.StageOut
	targets := []string{"output:0", "output:1"}
	if !w.NoVars {
		out.Vars, targets = []engine.StagedVar{{Name: in.Step, Digest: in.Answer, Target: "output:1"}}, targets[:1]
	}
	names := []string{in.Workflow + ".md"}
	if w.Second[in.Step] {
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
			Name: name, Base: w.digest(name), New: w.put(w.File(name) + w.blob(in.Answer) + "\n"), Targets: targets,
		})
	}
	return out
}

func (w *World) commit(in engine.CommitIn) engine.CommitOut {
	var out engine.CommitOut
	for _, f := range in.Files {
		switch w.digest(f.Name) {
		case f.New:
			out.Written = append(out.Written, f)
		case f.Base:
			w.Write(f.Name, w.blob(f.New))
			out.Written = append(out.Written, f)
		default:
			out.Conflicts = append(out.Conflicts, f.Name)
		}
	}
	if len(out.Conflicts) == 0 {
		w.remember(in)
	}
	return out
}

// remember keeps what a commit leaves behind.
func (w *World) remember(in engine.CommitIn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range in.Marks {
		w.marks[fmt.Sprintf("%s/%s/%d/%s", in.Workflow, in.Step, m.Directive, m.Name)] = m.SHA256
	}
	if in.Cache != nil {
		w.cache[in.Cache.Key] = *in.Cache
	}
}
