package llm

import (
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/policy"
)

// Meter estimates requests in tokens, by a provider's formula. The zero value uses the formula
// for services that publish none.
type Meter struct {
	Formula policy.Formula
	MaxSide int // pixels of the longer side to which pictures are scaled before sending; 0: not scaled
	// Most counts the most tokens that a text is likely to have, for cost bounds: one for three bytes instead of one for
	// four characters. Few languages and tokenizers need more.
	Most bool

	delivery *policy.Delivery // of the measured request
	mute     bool             // it has no loader: all media are sent as text
}

// Measure estimates a request. It reads no file. Media that the delivery turns into text count as
// text.
func (m Meter) Measure(r Request) cost.Estimate {
	m = m.For(r)
	e := cost.Estimate{Tokens: m.text(r.System) + m.text(string(r.Schema))}
	for _, t := range r.Tools {
		e.Tokens += m.text(t.Name + t.Description + string(t.Parameters))
	}
	for _, message := range r.Messages {
		e.Tokens += m.Blocks(false, message.Blocks...)
		if message.Role == User {
			m.count(&e, message.Blocks, false)
		}
	}
	return e
}

// count adds the number of texts, pictures and documents among blocks.
func (m Meter) count(e *cost.Estimate, blocks []content.Block, inResult bool) {
	for _, b := range blocks {
		switch {
		case !content.IsMedia(b) || m.words(b, inResult):
			e.Texts++
		case b.Type() == content.TypeImage:
			e.Images++
		case b.Type() == content.TypeDocument:
			e.Documents++
		}
		if result, ok := b.(content.ToolResult); ok {
			m.count(e, result.Blocks, true)
		}
	}
}

// For returns the meter for blocks of a request: it knows which media are sent as text.
func (m Meter) For(r Request) Meter {
	m.delivery, m.mute = r.Delivery, r.Media == nil
	return m
}

// words reports whether a medium is sent as text.
func (m Meter) words(b content.Block, inResult bool) bool {
	if m.mute {
		return true
	}
	if m.delivery == nil {
		return false
	}
	place, _ := m.delivery.Place(policy.Medium(b.Type()), inResult)
	return place == policy.Refuse || place == policy.Convert && hasWords(b)
}

// Blocks estimates blocks in tokens.
func (m Meter) Blocks(inResult bool, blocks ...content.Block) int {
	sum := 0
	for _, b := range blocks {
		sum += m.block(b, inResult)
	}
	return sum
}

func (m Meter) block(b content.Block, inResult bool) int {
	if content.IsMedia(b) && m.words(b, inResult) {
		return m.text(b.Text())
	}
	switch b := b.(type) {
	case content.Image:
		return m.Formula.ImageTokens(scaled(b.Width, b.Height, m.MaxSide))
	case content.Document:
		return b.PageCount() * policy.PageTokens
	case content.Audio:
		return int(b.Seconds*policy.AudioTokens) + 1
	case content.Video:
		return int(b.Seconds*policy.VideoTokens) + 1
	case content.Thinking: // is echoed unchanged
		return m.text(b.Value) + m.text(b.Redacted)
	case content.ToolResult:
		return m.Blocks(true, b.Parts()...)
	}
	return m.text(b.Text())
}

func (m Meter) text(s string) int {
	if m.Most {
		return m.Formula.Text((len(s) + 2) / 3)
	}
	return m.Formula.Text(policy.TextTokens(s))
}

// scaled returns the sides of a picture scaled down to a longest side; 0 is no limit.
func scaled(width, height, side int) (int, int) {
	long := max(width, height)
	if side <= 0 || long <= side {
		return width, height
	}
	return max(1, width*side/long), max(1, height*side/long)
}
