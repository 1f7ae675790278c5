package prompt

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/policy"
)

// note is a note that is being listed, with the notes around it.
type note struct {
	input     Input
	name      string
	data      []byte
	untrusted bool
	trail     []string // name#fragment of the notes that this one is embedded in
}

// note lists the chunks of an input that is a note.
func (c *collector) note(n note) error {
	if len(n.data) == 0 {
		c.say("[empty]")
		return nil
	}
	fragment := n.input.Directive.Target.Fragment
	s := selection(n.input.Directive, n.data)
	if fragment != "" && n.input.Directive.Properties == nil {
		start, end, ok := chunking.Section(n.data, fragment)
		if !ok {
			c.say("[shown: nothing; this note has no " + quoted(fragment) + "]")
			c.warn(Warning{Note: n.name, Target: fragment, Message: "the note has no " + fragment})
		}
		inner := selection(n.input.Directive, n.data[start:end])
		s = inner.moved(start)
		s.why = "section"
		if s.words == "" {
			s.words = "[shown: the section " + quoted(fragment) + "]"
		}
	}
	if s.words != "" {
		c.say(s.words)
	}
	n.trail = []string{trailKey(n.name, fragment)}
	return c.chunks(n, s.clip(chunking.Split(n.data)))
}

func trailKey(name, fragment string) string { return name + "#" + strings.ToLower(fragment) }

// moved is the selection of a part that starts at the offset.
func (s selected) moved(by int) selected {
	s.ranges = slices.Clone(s.ranges)
	for i := range s.ranges {
		s.ranges[i][0] += by
		s.ranges[i][1] += by
	}
	return s
}

// chunks lists pieces of a note.
func (c *collector) chunks(n note, pieces []piece) error {
	for _, p := range pieces {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := c.piece(n, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) piece(n note, p piece) error {
	k := p.chunk
	if k.Kind == chunking.Text {
		c.text(p, Source{Note: n.name})
		return nil
	}
	l := Line{
		Kind: string(k.Kind), Source: source(n.name, k), Target: clipped(k.Written), Alt: k.Alt,
		Fate: policy.Omitted, Reason: p.cut,
	}
	switch {
	case p.cut != "":
		c.add(item{role: roleSilent}, l)
	case k.Kind == chunking.Comment && n.input.Directive.Comments != "keep":
		l.Reason = "comment"
		if !strings.HasSuffix(k.Text, "%%") || len(k.Text) < 4 {
			c.warn(Warning{Note: n.name, Line: k.FirstLine, Message: "the comment that begins here is never closed; all behind it is left out"})
		}
		c.add(item{role: roleSilent}, l)
	case k.Kind == chunking.Comment:
		l.Fate, l.Reason, l.Text, l.Tokens = policy.Sent, "", k.Text, policy.TextTokens(k.Text)
		c.add(item{role: roleText, words: k.Text}, l)
	case k.Kind == chunking.Image:
		return c.reference(n, k, l)
	default:
		return c.embed(n, k, l)
	}
	return nil
}

// clipped bounds a target in the receipt: a data: URL can be as long as the note.
func clipped(s string) string {
	if r := []rune(s); len(r) > maxWords {
		return string(r[:maxWords]) + "…"
	}
	return s
}
