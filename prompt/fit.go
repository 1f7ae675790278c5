package prompt

import (
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// Estimates for our own lines whose words are not known yet, in tokens: of a frame's tag, and of an image's label and its
// line in IMAGE_REFS without name and alternative text.
const (
	frameTokens = 25
	imageTokens = 60
)

// fit gives the prompt's tokens to text before any image: instructions, the step's text and our own lines always, then
// the texts of the inputs in order. What does not fit is deferred, from the first line that does not, and says so in its
// place. It leaves in the bounds what is spent, for policy.Decide.
func (c *collector) fit(system string) error {
	b := &c.spec.Bounds
	b.ReservedTokens = policy.TextTokens(system) + c.ownTokens()
	var items []item
	over := false
	for _, it := range c.items {
		if it.role == roleImage {
			c.fitFallback(it.image)
		}
		if it.role != roleText || it.line == nil {
			items = append(items, it)
			continue
		}
		kept, rest := it, item{}
		if b.MaxPromptTokens > 0 && strings.TrimSpace(it.words) != "" {
			kept, rest = it.split(b.MaxPromptTokens-b.ReservedTokens, over)
		}
		if kept.line != nil {
			items = append(items, kept)
			b.ReservedTokens += kept.line.Tokens
		}
		if rest.line == nil {
			continue
		}
		if err := c.full(rest, over); err != nil {
			return err
		}
		over = true
		items = append(items, rest)
	}
	c.items = items
	return nil
}

// full defers a text that does not fit, or fails. The first one is told as a warning.
func (c *collector) full(rest item, again bool) error {
	b := c.spec.Bounds
	rest.line.Reason = fmt.Sprintf("max_prompt_tokens %d reached", b.MaxPromptTokens)
	if b.WhenExceeded == policy.Fail {
		return &policy.ExceededError{Key: "max_prompt_tokens", From: b.From["max_prompt_tokens"], ID: rest.place(), Reason: rest.line.Reason}
	}
	if !again {
		c.warn(Warning{
			Note: rest.line.Source.Note, Line: rest.line.Source.Lines[0],
			Message: "the prompt is full: text from here on is deferred (" + rest.line.Reason + ")",
		})
	}
	return nil
}

// ownTokens estimates frames, labels, our own lines and the step's text.
func (c *collector) ownTokens() int {
	n := 0
	for _, it := range c.items {
		switch it.role {
		case roleOpen, roleClose:
			n += frameTokens + policy.TextTokens(it.frame.name)
		case roleImage:
			n += imageTokens + 2*policy.TextTokens(it.line.label()) + policy.TextTokens(it.line.Alt)
		case roleWords:
			n += policy.TextTokens(it.words)
		case roleText:
			if it.line == nil {
				n += policy.TextTokens(it.words)
			}
		case roleRefs, roleSilent:
		}
	}
	return n
}

// fitFallback spends tokens on the text of an image for a model that cannot see, or leaves that text out.
func (c *collector) fitFallback(img *image) {
	b := &c.spec.Bounds
	n := policy.TextTokens(img.fallback)
	if b.MaxPromptTokens > 0 && n > 0 && b.ReservedTokens+n > b.MaxPromptTokens {
		img.fallback, img.long = "", true
		return
	}
	b.ReservedTokens += n
}

// place names a chunk that has no id yet.
func (it item) place() string {
	return fmt.Sprintf("%s:%d", it.line.Source.Note+it.line.Source.Variable, it.line.Source.Lines[0])
}

// split divides a text at the last line end within the room, in tokens. kept or rest has no line when there is nothing of
// it. When the room was used up before, all is rest.
func (it item) split(room int, over bool) (kept, rest item) {
	if !over && it.line.Tokens <= room {
		return it, item{}
	}
	at := 0
	if !over && room > 0 {
		at = runes([]byte(it.words), room*4)
		at = strings.LastIndexByte(it.words[:at], '\n') + 1
	}
	if at > 0 {
		kept = it.part(0, at)
	}
	rest = it.part(at, len(it.words))
	rest.role = roleWords
	rest.words = "" // filled in when the id is known
	rest.line.Fate, rest.line.Text, rest.line.Tokens = policy.Deferred, "", 0
	return kept, rest
}

// part is the item for a part of its text.
func (it item) part(from, to int) item {
	line := *it.line
	line.Text = it.words[from:to]
	line.Tokens = policy.TextTokens(line.Text)
	line.Source.Bytes = [2]int{it.line.Source.Bytes[0] + from, it.line.Source.Bytes[0] + to}
	line.Source.Lines[0] += strings.Count(it.words[:from], "\n")
	line.Source.Lines[1] = line.Source.Lines[0] + strings.Count(strings.TrimSuffix(line.Text, "\n"), "\n")
	it.words, it.line = line.Text, &line
	return it
}

// textTokens estimates everything in the prompt that is text.
func textTokens(p *Prompt) int {
	n := policy.TextTokens(p.System)
	for _, b := range p.Blocks {
		if t, ok := b.(content.Text); ok {
			n += policy.TextTokens(t.Value)
		}
	}
	return n
}
