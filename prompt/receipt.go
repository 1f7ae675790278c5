package prompt

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/vaultflow/vaultflow/policy"
)

// Kinds of receipt lines. Image, embed and file lines are references.
const (
	KindText    = "text"
	KindImage   = "image"
	KindEmbed   = "embed"
	KindComment = "comment"
	KindFile    = "file" // an input that is not shown as text or image: PDF, office, missing, refs_only
)

// Receipt says what became of every chunk of a prompt, in the prompt's order.
type Receipt struct {
	Type         string    `json:"type"` // "receipt"
	Workflow     string    `json:"workflow"`
	Step         string    `json:"step"`
	Model        string    `json:"model"`
	PromptFormat int       `json:"prompt_format"`
	Chunks       []Line    `json:"chunks"`
	Totals       Totals    `json:"totals"`
	Limits       []Limit   `json:"limits"`
	Warnings     []Warning `json:"warnings"`
}

// Line is the receipt of one chunk.
type Line struct {
	ID        string      `json:"id"`
	Kind      string      `json:"kind"`
	Fate      policy.Fate `json:"fate"`
	Reason    string      `json:"reason,omitempty"`
	Source    Source      `json:"source"`
	Text      string      `json:"text,omitempty"`   // of a text chunk, or what stands for an image that became text
	Target    string      `json:"target,omitempty"` // as written
	Name      string      `json:"name,omitempty"`   // vault name of what is referred to
	MediaType string      `json:"media_type,omitempty"`
	Width     int         `json:"width,omitempty"`  // pixels, before scaling
	Height    int         `json:"height,omitempty"` // pixels, before scaling
	Size      int64       `json:"size,omitempty"`   // bytes, before scaling
	SHA256    string      `json:"sha256,omitempty"`
	Tokens    int         `json:"tokens"`
	CostUSD   float64     `json:"cost_usd,omitempty"`
	Alt       string      `json:"alt,omitempty"`
}

// IsReference tells whether the line stands for a reference.
func (l Line) IsReference() bool {
	return l.Kind == KindImage || l.Kind == KindEmbed || l.Kind == KindFile
}

// MarshalJSON writes alt for every image, also an empty one. Marks such as < stay readable.
func (l Line) MarshalJSON() ([]byte, error) {
	type plain Line
	var v any = plain(l)
	if l.Kind == KindImage {
		v = struct {
			plain
			Alt string `json:"alt"`
		}{plain(l), l.Alt}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// Source is where a chunk stands.
type Source struct {
	Note     string `json:"note,omitempty"`     // vault name
	Variable string `json:"variable,omitempty"` // of a variable input
	Lines    [2]int `json:"lines,omitzero"`     // first and last, counted from 1
	Bytes    [2]int `json:"bytes,omitzero"`     // start and end
}

// Totals add the receipt up. Tokens are those of the whole prompt: system prompt, texts, frames and labels included.
type Totals struct {
	Chunks     int     `json:"chunks"`
	References int     `json:"references"`
	Sent       int     `json:"sent"`        // attached images
	Deferred   int     `json:"deferred"`    // chunks that can be asked for
	Tokens     int     `json:"tokens"`      // estimated
	ImageBytes int64   `json:"image_bytes"` // estimated, as sent, before base64
	CostUSD    float64 `json:"cost_usd"`    // of the input; 0 when the price is not known
}

// Limit is one budget and what was used of it. Sizes are in megabytes of 1,048,576 bytes.
type Limit struct {
	Key   string  `json:"key"`
	Value float64 `json:"value"`
	Used  float64 `json:"used"`
	From  string  `json:"from"` // who bound it: default, settings, workflow, step, or a provider
}

// Warning is something that a person should know. Note and Line are where it stands, as far as that is known.
type Warning struct {
	Note    string   `json:"note,omitempty"`
	Line    int      `json:"line,omitempty"`
	Target  string   `json:"target,omitempty"` // as written
	Near    []string `json:"near,omitempty"`   // names that look similar
	Message string   `json:"message"`
}

// Left lists the references and texts that were meant to be in the prompt and are not: deferred, dropped, missing and
// refused ones. A run with such lines is done with omissions.
func (r Receipt) Left() []Line {
	var left []Line
	for _, l := range r.Chunks {
		switch l.Fate {
		case policy.Deferred, policy.Missing, policy.Refused:
			left = append(left, l)
		case policy.Omitted:
			if strings.HasPrefix(l.Reason, "max_") { // dropped by the budget; a comment or what head= cut is not missed
				left = append(left, l)
			}
		}
	}
	return left
}

// receipt adds the collected lines up.
func (c *collector) receipt(p *Prompt, decisions []policy.Decision) Receipt {
	r := Receipt{
		Type: "receipt", Workflow: c.spec.Workflow, Step: c.spec.Step, Model: c.spec.Model, PromptFormat: Format,
		Chunks: []Line{}, Warnings: append([]Warning{}, c.warnings...),
	}
	for _, it := range c.items {
		if it.line != nil {
			l := *it.line
			l.CostUSD = c.cost(l.Tokens)
			r.Chunks = append(r.Chunks, l)
		}
	}
	largest := r.Totals.add(r.Chunks, decisions)
	r.Totals.Tokens += textTokens(p)
	r.Totals.CostUSD = c.cost(r.Totals.Tokens)
	r.Limits = c.limits(r.Totals, largest)
	return r
}

// add counts the lines and what the attached images need; largest is the size of the largest one.
func (t *Totals) add(lines []Line, decisions []policy.Decision) (largest int64) {
	t.Chunks = len(lines)
	for _, l := range lines {
		if l.IsReference() {
			t.References++
		}
		if l.Fate == policy.Deferred {
			t.Deferred++
		}
	}
	for _, d := range decisions {
		if d.Fate.Attached() {
			t.Sent++
			t.ImageBytes += d.Bytes
			t.Tokens += d.Tokens
			largest = max(largest, d.Bytes)
		}
	}
	return largest
}

func (c *collector) cost(tokens int) float64 { return float64(tokens) * c.spec.InputPrice / 1e6 }

// limits shows each bound with what was used of it.
func (c *collector) limits(t Totals, largest int64) []Limit {
	b := c.spec.Bounds
	const mb = 1 << 20
	list := []Limit{
		{Key: "max_images", Value: float64(b.MaxImages), Used: float64(t.Sent)},
		{Key: "max_image_mb", Value: float64(b.MaxImageBytes) / mb, Used: float64(largest) / mb},
		{Key: "max_total_mb", Value: float64(b.MaxTotalBytes) / mb, Used: float64(t.ImageBytes) / mb},
	}
	if b.MaxPromptTokens > 0 {
		list = append(list, Limit{Key: "max_prompt_tokens", Value: float64(b.MaxPromptTokens), Used: float64(t.Tokens)})
	}
	for i := range list {
		list[i].Value, list[i].Used = math.Round(list[i].Value*1000)/1000, math.Round(list[i].Used*1000)/1000
		if list[i].From = b.From[list[i].Key]; list[i].From == "" {
			list[i].From = "default"
		}
	}
	return list
}
