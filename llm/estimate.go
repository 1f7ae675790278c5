package llm

import (
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// Estimate is what a request holds, without its content.
type Estimate struct {
	Texts     int `json:"texts"`
	Images    int `json:"images"`
	Documents int `json:"documents"`
	Tokens    int `json:"tokens"` // estimated, of the whole input
}

// Meter estimates requests in tokens, by a provider's formula. The zero value counts as where nothing is published.
type Meter struct {
	Formula policy.Formula
	MaxSide int // pixels of the longer side to which pictures are scaled before they are sent; 0: they are not
}

// Measure estimates a request. It reads no file.
func (m Meter) Measure(r Request) Estimate {
	e := Estimate{Tokens: policy.TextTokens(r.System) + policy.TextTokens(string(r.Schema))}
	for _, t := range r.Tools {
		e.Tokens += policy.TextTokens(t.Name + t.Description + string(t.Parameters))
	}
	for _, message := range r.Messages {
		e.Tokens += m.message(message)
	}
	r.blocks(func(_ spot, b content.Block) {
		switch b.Type() {
		case content.TypeText, content.TypeToolResult:
			e.Texts++
		case content.TypeImage:
			e.Images++
		case content.TypeDocument:
			e.Documents++
		}
	})
	return e
}

func (m Meter) message(message Message) int { return m.tokens(message.Blocks) }

// tokens estimates blocks.
func (m Meter) tokens(blocks []content.Block) int {
	sum := 0
	for _, b := range blocks {
		sum += m.block(b)
	}
	return sum
}

func (m Meter) block(b content.Block) int {
	switch b := b.(type) {
	case content.Image:
		return m.Formula.ImageTokens(scaled(b.Width, b.Height, m.MaxSide))
	case content.Document:
		return pageCount(b) * policy.PageTokens
	case content.Audio:
		return int(b.Seconds*policy.AudioTokens) + 1
	case content.Video:
		return int(b.Seconds*policy.VideoTokens) + 1
	case content.Thinking: // goes back as it came
		return policy.TextTokens(b.Value) + policy.TextTokens(b.Redacted)
	case content.ToolResult:
		sum := 0
		for _, part := range b.Parts() {
			sum += m.block(part)
		}
		return sum
	}
	return policy.TextTokens(b.Text())
}

// scaled are the sides of a picture that is scaled down to a longest side; 0 is no limit.
func scaled(width, height, side int) (int, int) {
	long := max(width, height)
	if side <= 0 || long <= side {
		return width, height
	}
	return max(1, width*side/long), max(1, height*side/long)
}
