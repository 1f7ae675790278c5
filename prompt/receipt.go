package prompt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// Kinds of receipt lines. Image, embed and file lines are references; page and document lines say what became of the
// document that a file or embed line refers to.
const (
	KindText     = "text"
	KindImage    = "image"
	KindEmbed    = "embed"
	KindComment  = "comment"
	KindFile     = "file"     // an input that is not shown as a note, text or image: PDF, office, canvas, missing, refs_only
	KindPage     = "page"     // of a document: its picture, or its text or a part of it
	KindDocument = "document" // a document that is sent as the file that it is
)

// Receipt lists what became of every chunk of a prompt, in the prompt's order.
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
	Text      string      `json:"text,omitempty"`   // of a text chunk, or of an image sent as text
	Target    string      `json:"target,omitempty"` // as written
	Name      string      `json:"name,omitempty"`   // vault name of the target
	MediaType string      `json:"media_type,omitempty"`
	Width     int         `json:"width,omitempty"`  // pixels, before scaling
	Height    int         `json:"height,omitempty"` // pixels, before scaling
	Size      int64       `json:"size,omitempty"`   // bytes, before scaling
	SHA256    string      `json:"sha256,omitempty"`
	Pages     string      `json:"pages,omitempty"` // of a document: those that are sent, such as 1-4,7
	Tokens    int         `json:"tokens"`
	CostUSD   float64     `json:"cost_usd,omitempty"`
	Alt       string      `json:"alt,omitempty"`

	Page     int         `json:"page,omitempty"`     // that a picture of an import's note shows, from 1
	Document string      `json:"document,omitempty"` // the note of that import
	Step     policy.Step `json:"step,omitempty"`     // of the ladder: it is shown with less than it has

	// Why has the cause and the remedy if the model gets less than was written. Named is then where the reference stands, if that is not
	// Source: the directive of an input, or the embed of a document with pages.
	Why   omission.Why  `json:"omission,omitzero"`
	Named diag.Position `json:"named,omitzero"`
}

// IsReference reports whether the line is for a reference.
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

// Source is where a chunk stands. Bytes are those of the file, whatever its encoding; of extracted text they are those of
// the text.
type Source struct {
	Note      string `json:"note,omitempty"`      // vault name
	Variable  string `json:"variable,omitempty"`  // of a variable input
	Page      int    `json:"page,omitempty"`      // of a document, from 1
	Extracted bool   `json:"extracted,omitempty"` // the text was taken out of the file
	Lines     [2]int `json:"lines,omitzero"`      // first and last, counted from 1
	Bytes     [2]int `json:"bytes,omitzero"`      // start and end
}

// Totals add the receipt up. Tokens are those of the whole prompt: system prompt, texts, frames and labels included.
type Totals struct {
	Chunks     int     `json:"chunks"`
	References int     `json:"references"`
	Sent       int     `json:"sent"`        // attached images, pages shown as images among them
	Deferred   int     `json:"deferred"`    // chunks that can be asked for
	Tokens     int     `json:"tokens"`      // estimated
	Pages      int     `json:"pages"`       // of documents that are in the prompt
	ImageBytes int64   `json:"image_bytes"` // of images and documents, estimated, as sent, before base64
	CostUSD    float64 `json:"cost_usd"`    // of the input; 0 when the price is not known
}

// Limit is one budget and what was used of it. Sizes are in megabytes of 1,048,576 bytes.
type Limit struct {
	Key   string  `json:"key"`
	Value float64 `json:"value"`
	Used  float64 `json:"used"`
	From  string  `json:"from"`            // who bound it: default, settings, workflow, step, or a provider
	Guess string  `json:"guess,omitempty"` // why Value is only a guess; empty: it is none
}

// Warning is something that a person should know. Note and Line are where it stands, as far as that is known.
type Warning struct {
	Note    string   `json:"note,omitempty"`
	Line    int      `json:"line,omitempty"`
	Target  string   `json:"target,omitempty"` // as written
	Near    []string `json:"near,omitempty"`   // names that look similar
	Message string   `json:"message"`
}

// String is the warning in one line: where, what, about which target, and similar names.
func (w Warning) String() string {
	text := w.Message
	if w.Target != "" && !strings.HasPrefix(text, "input "+w.Target) {
		text += ": " + quoted(w.Target)
	}
	if len(w.Near) > 0 {
		text += " (similar: " + list(w.Near) + ")"
	}
	switch {
	case w.Note == "":
		return text
	case w.Line == 0:
		return w.Note + ": " + text
	}
	return fmt.Sprintf("%s:%d: %s", w.Note, w.Line, text)
}

// lose records that the model gets less than was written. Without words, the reason is that of the cause.
func (l *Line) lose(why omission.Why, words string) {
	l.Fate, l.Reason, l.Why = policy.Refused, cmp.Or(words, why.Words()), why
	switch why.Cause() {
	case omission.Missing, omission.Section, omission.Page, omission.Unset:
		l.Fate = policy.Missing
	}
}

// Place is where the reference stands that a line is about. Its line is 0 where the file has none, as in a canvas.
func (l Line) Place() diag.Position {
	if l.Named != (diag.Position{}) {
		return l.Named
	}
	return diag.Position{File: l.Source.Note, Line: l.Source.Lines[0]}
}

// Left lists what was meant to be in the prompt and is not, or is there with less than it has. A run with such lines is done with omissions.
func (r Receipt) Left() []Line {
	var left []Line
	for _, l := range r.Chunks {
		if !l.Why.IsZero() {
			left = append(left, l)
		}
	}
	return left
}

// receipt adds the collected lines up.
func receipt(out *outline, spec Spec, p *Prompt, decisions []policy.Decision) Receipt {
	r := Receipt{
		Type: "receipt", Workflow: spec.Workflow, Step: spec.Step, Model: spec.Model, PromptFormat: Format,
		Chunks: make([]Line, 0, len(out.items)), Warnings: append([]Warning{}, out.warnings...),
	}
	for _, it := range out.items {
		if it.line != nil {
			l := *it.line
			if !l.Why.IsZero() {
				l.Named = it.standsAt()
			}
			l.CostUSD = spec.cost(l.Tokens)
			r.Chunks = append(r.Chunks, l)
		}
	}
	for _, l := range r.Chunks {
		if l.IsReference() {
			r.Totals.References++
		}
		if l.Fate == policy.Deferred {
			r.Totals.Deferred++
		}
	}
	r.Totals.Chunks = len(r.Chunks)
	u := use(out.candidates, decisions, spec.Bounds.WhenExceeded == policy.Ladder)
	u.fallback = out.fallback
	r.Totals.Sent, r.Totals.Pages, r.Totals.ImageBytes = u.images, u.pages, u.bytes
	r.Totals.Tokens = textTokens(p) + u.tokens
	r.Totals.CostUSD = spec.cost(r.Totals.Tokens)
	r.Limits = limits(spec.Bounds, r.Totals, u)
	return r
}

func (s Spec) cost(tokens int) float64 { return float64(tokens) * s.InputPrice / 1e6 }
