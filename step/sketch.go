package step

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/step/previewed"
)

// callSketch describes what a step's calls have besides a prompt.
func callSketch(s Context, model Model) previewed.Sketch {
	limits, call, caps := model.RequestLimits(), callSettings(s.Step, model), model.Capabilities
	if t := s.Step.Tools; t != nil && t.None {
		caps = caps.Without(policy.Tools)
	}
	out := previewed.Sketch{
		Model: fmt.Sprintf("%s (%s)", model.Alias, strings.TrimSuffix(model.ProviderName+", "+model.ID, ", ")), Service: cmp.Or(model.Service, model.Kind),
		Window: limits.ContextWindow, Guess: limits.WindowGuess, Reserved: reservesWindow(model), Settings: map[string]string{},
	}
	set := func(key string, value any) {
		if text := fmt.Sprint(value); text != "" && text != "0" {
			out.Settings[key] = text
		}
	}
	if call.Temperature != nil {
		out.Settings["temperature"] = fmt.Sprint(*call.Temperature)
	}
	set("thinking", call.Thinking)
	set("max_output_tokens", call.MaxOutputTokens)
	set(settingCapabilities, caps.List())
	return out
}

// otherCall lists how a call differs from the one that the prompt was made for. What a model without vision does not get is an omission.
func (p Prompt) otherCall(now previewed.Sketch) []string {
	before := p.Call
	if len(p.Tools) == 0 && len(p.Demand.Schema) == 0 {
		before.Settings, now.Settings = maps.Clone(before.Settings), maps.Clone(now.Settings)
		delete(before.Settings, settingCapabilities)
		delete(now.Settings, settingCapabilities)
	}
	return previewed.OfCalls(before, now)
}

const settingCapabilities = "capabilities"

// sketch describes a prompt for the comparison with its preview.
func sketch(s Context, m made, spec prompt.Spec, budget policy.Budget) (previewed.Sketch, error) {
	out, scaled := m.stored.Call, scaledBy(m.stored.Media, m.prompt.Blocks)
	out.Limits, out.Side = map[string]string{}, scaled.MaxSide
	for _, l := range m.prompt.Receipt.Limits {
		switch {
		case l.Key == "max_tool_images", l.Key == "max_step_images", l.Key == "max_cost_usd": // they bound what comes later
		case l.Key == "max_prompt_tokens" && budget.MaxPromptTokens != spec.Bounds.MaxPromptTokens: // it follows from the window
		default:
			out.Limits[l.Key] = fmt.Sprint(l.Value)
		}
	}
	out.Limits["when_exceeded"], out.Limits["min_page_dpi"] = string(spec.Bounds.WhenExceeded), fmt.Sprint(spec.Bounds.MinPageDPI)
	out.Limits["max_fallback_tokens"] = fmt.Sprint(spec.Bounds.MaxFallbackTokens) // the receipt has it with the ladder only
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
	out.Parts = append(out.Parts, receiptParts(m.prompt)...)
	var err error
	out.Digest, err = sentDigest(m, callSettings(s.Step, m.model), scaled)
	return out, err
}

// sentDigest returns the digest of a prompt's first request, and of the parts that it offers: no more than what changes their bytes, but
// for the code of the frames.
func sentDigest(m made, call llm.Request, scaled imaging.Limits) (string, error) {
	window, schema := 0, json.RawMessage(nil)
	if reservesWindow(m.model) {
		window = call.ContextWindow
	}
	if m.model.Capabilities.Has(policy.StructuredOutput) {
		schema = m.stored.Demand.Schema
	}
	var offered []json.RawMessage
	for _, c := range m.stored.Chunks {
		blocks, err := content.MarshalBlocks(c.Blocks)
		if err != nil {
			return "", fmt.Errorf("make the digest of a prompt: %w", err)
		}
		offered = append(offered, blocks)
	}
	data, err := json.Marshal(struct {
		Prompt, Model, Kind, Service string
		Window, MaxOutput            int
		Temperature                  *float64
		Thinking                     string
		Tools                        []llm.Tool
		Schema                       json.RawMessage
		Cites, Caches                bool
		Scaled                       imaging.Limits
		Offered                      []json.RawMessage
	}{
		m.prompt.Digest, call.Model, m.model.Kind, m.model.Service, window, call.MaxOutputTokens, call.Temperature, call.Thinking, m.stored.offered(), schema,
		m.cites, m.model.Capabilities.Has(policy.PromptCaching) && len(m.stored.Tools) > 0, scaled, offered,
	})
	if err != nil {
		return "", fmt.Errorf("make the digest of a prompt: %w", err)
	}
	return previewed.Text("", "", prompt.WithoutNonce(string(data), m.stored.Nonce)).Digest, nil
}

// reservesWindow reports whether the window is a part of requests.
func reservesWindow(m Model) bool { return m.Kind == "ollama" }

// scaledBy returns the limits of pictures, as far as they may change one that is attached. What is not of a file of the vault is made for its
// request.
func scaledBy(l imaging.Limits, blocks []content.Block) imaging.Limits {
	out := imaging.Limits{Accept: l.Accept, Reencode: l.Reencode, Still: l.Still}
	for _, b := range blocks {
		p, ok := b.(content.Image)
		switch {
		case b.Type() == content.TypeText:
			continue
		case !ok || p.Source != content.SourceVault || p.Width == 0:
			return l
		}
		pixels := int64(p.Width) * int64(p.Height)
		if max(p.Width, p.Height) > l.MaxSide {
			out.MaxSide = l.MaxSide
		}
		if pixels > l.MaxPixels {
			out.MaxPixels = l.MaxPixels
		}
		if p.Size > l.MaxBytes || mostPixelBytes*pixels+mostHeadBytes > l.MaxBytes { // it may be encoded again
			out.MaxBytes = l.MaxBytes
		}
	}
	return out
}

// What a picture takes at most when it is encoded.
const (
	mostPixelBytes = 4
	mostHeadBytes  = 64 << 10
)

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
func receiptParts(p *prompt.Prompt) []previewed.Part {
	var parts []previewed.Part
	notes := map[string]*noteText{}
	note := func(from prompt.Source) *noteText {
		name := cmp.Or(from.Note, "variable "+from.Variable)
		if notes[name] == nil {
			notes[name] = &noteText{at: len(parts)}
			parts = append(parts, previewed.Part{Name: name})
		}
		return notes[name]
	}
	for _, l := range p.Receipt.Chunks {
		switch l.Kind {
		case prompt.KindComment:
		case prompt.KindText:
			note(l.Source).add(l)
		default:
			if l.Alt != "" {
				note(l.Source).WriteString(l.Alt + "\x00")
			}
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
	for _, n := range notes {
		part := previewed.Text(previewed.KindNote, parts[n.at].Name, n.String())
		part.Fate, part.Why = n.fate, n.why
		parts[n.at] = part
	}
	for i := range parts {
		parts[i].Untrusted = slices.Contains(p.Origins, string(policy.ReadFile)+" "+parts[i].Name)
	}
	return parts
}

// noteText collects the texts of a note that are in a prompt or can be asked for.
type noteText struct {
	strings.Builder
	at        int // of its part
	fate, why string
	chunks    int
}

func (n *noteText) add(l prompt.Line) {
	switch fate := string(l.Fate); {
	case n.chunks == 0:
		n.fate, n.why = fate, l.Reason
	case fate != n.fate && !strings.HasPrefix(n.fate, "partly "):
		if l.Fate == policy.Sent {
			fate = n.fate
		} else {
			n.why = l.Reason
		}
		n.fate = "partly " + fate
	}
	n.chunks++
	if l.Fate == policy.Sent || l.Fate == policy.Deferred || l.Fate == policy.Converted {
		n.WriteString(l.Text + "\x00")
	}
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
	if before, found := a.previews.Last(previewKey(s), a.budgets.Now()); found {
		out.Previewed, out.Differences = before.Time, previewed.Differences(before, now)
	}
	return out
}
