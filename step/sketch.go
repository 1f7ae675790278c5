package step

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/previewed"
)

// sketch describes a prompt for the comparison with its preview.
func sketch(s Context, m made, spec prompt.Spec, budget policy.Budget) previewed.Sketch {
	limits, call := m.model.RequestLimits(), callSettings(s.Step, m.model)
	out := previewed.Sketch{
		Digest: m.digest, Model: fmt.Sprintf("%s (%s)", m.model.Alias, strings.TrimSuffix(m.model.ProviderName+", "+m.model.ID, ", ")), Window: limits.ContextWindow, Guess: limits.WindowGuess,
		Settings: map[string]string{},
	}
	set := func(key string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "0" && text != "false" {
			out.Settings[key] = text
		}
	}
	for _, l := range m.prompt.Receipt.Limits {
		if l.Key != "max_prompt_tokens" || budget.MaxPromptTokens == spec.Bounds.MaxPromptTokens { // else it follows from the window
			out.Settings[l.Key] = fmt.Sprint(l.Value)
		}
	}
	set("when_exceeded", spec.Bounds.WhenExceeded)
	set("min_page_dpi", spec.Bounds.MinPageDPI)
	if call.Temperature != nil {
		out.Settings["temperature"] = fmt.Sprint(*call.Temperature)
	}
	set("thinking", call.Thinking)
	set("max_output_tokens", call.MaxOutputTokens)
	set("capabilities", spec.Caps.List())
	tools := ""
	for _, t := range m.stored.Tools {
		tools += t.Name + "\x00" + t.Description + "\x00" + string(t.Parameters) + "\x00"
	}
	for _, t := range [][2]string{
		{"the instructions", strings.Join(spec.System, "\n")},
		{"the facts of the run (vault, date)", strings.Join(spec.Facts, "\n")},
		{"the step's text", spec.Prompt},
		{"the tools on offer", tools},
		{"the schema", string(m.stored.Demand.Schema)},
	} {
		if t[1] != "" {
			out.Parts = append(out.Parts, previewed.Text(previewed.KindText, t[0], t[1]))
		}
	}
	out.Parts = append(out.Parts, receiptParts(m.prompt.Receipt)...)
	return out
}

// withFallback returns the sketch of a prompt together with that of the fallback model's, which is one of its parts.
func withFallback(first, second previewed.Sketch) previewed.Sketch {
	if second.Digest == "" {
		return first
	}
	part := previewed.Part{Kind: previewed.KindText, Name: "the prompt for the fallback " + second.Model, Digest: second.Digest}
	first.Parts = append(slices.Clone(first.Parts), part)
	first.Digest = previewed.Text("", "", first.Digest+second.Digest).Digest
	return first
}

// receiptParts returns each reference of a prompt, and all text of each note where its first line is.
func receiptParts(r prompt.Receipt) []previewed.Part {
	var parts []previewed.Part
	texts, at := map[string]*strings.Builder{}, map[string]int{}
	for _, l := range r.Chunks {
		switch l.Kind {
		case prompt.KindComment:
		case prompt.KindText:
			name := cmp.Or(l.Source.Note, "variable "+l.Source.Variable)
			if texts[name] == nil {
				texts[name], at[name] = &strings.Builder{}, len(parts)
				parts = append(parts, previewed.Part{})
			}
			fmt.Fprintf(texts[name], "%s\x00%s\x00", l.Fate, l.Text)
		default:
			name := cmp.Or(l.Name, l.Target, l.Document, l.Source.Note)
			if page := max(l.Page, l.Source.Page); page > 0 {
				name += fmt.Sprintf("#page=%d", page)
			}
			part := previewed.Part{Kind: l.Kind, Name: name, Digest: l.SHA256, Fate: string(l.Fate), Why: l.Reason, Torn: l.Why.Cause() == omission.Damaged}
			if l.Text != "" {
				part.Digest = previewed.Text("", "", l.SHA256+l.Text).Digest
			}
			parts = append(parts, part)
		}
	}
	for name, text := range texts {
		parts[at[name]] = previewed.Text(previewed.KindNote, name, text.String())
	}
	return parts
}

// previewKey names what a preview of the step would be of: its files and the items of its batch.
func previewKey(s Context) string {
	return previewed.Key(s.Plan.Name, s.Step.Name, about(s)...)
}

// about names the files that started the run and the items of the batch.
func about(s Context) []string {
	about := slices.Clone(s.Facts.Files)
	for _, it := range s.items {
		about = append(about, it.Shown())
	}
	return about
}

// compared compares a prompt with its last preview, if there was one.
func (a *Assembler) compared(s Context, now previewed.Sketch) engine.Sent {
	out := engine.Sent{Digest: now.Digest}
	if before, found := a.previews.Last(previewKey(s)); found {
		out.Previewed, out.Differences = before.Time, previewed.Differences(before, now)
	}
	return out
}
