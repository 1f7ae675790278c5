package prompt

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
)

// maxDepth is how deep notes are transcluded, as in Obsidian; maxEmbeds how many in one prompt.
const (
	maxDepth  = 5
	maxEmbeds = 500
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

// embed lists a transcluded note in its place, or says why it is not there.
func (c *collector) embed(n note, k chunking.Chunk, l Line) error {
	not := func(fate policy.Fate, marker, reason string) {
		l.Fate, l.Reason = fate, reason
		c.add(item{role: roleWords, words: "[embed: " + marker + "]"}, l)
	}
	if n.input.Directive.Embeds == "ref" {
		l.Fate, l.Reason = policy.Reference, "embeds=ref"
		c.add(item{role: roleText, words: k.Text}, l)
		return nil
	}
	name := n.name
	if k.Target != "" {
		loc, err := c.locate(k.Target, n.name, k.FirstLine)
		if err != nil {
			return err
		}
		if !loc.Found {
			near := ""
			if len(loc.Near) > 0 {
				near = "; similar names: " + quoted(list(loc.Near))
			}
			not(policy.Missing, `missing, "`+quoted(l.Target)+`" was not found`+near, "not found")
			c.warn(Warning{Note: n.name, Line: k.FirstLine, Target: l.Target, Near: loc.Near, Message: "embedded file not found"})
			return nil
		}
		name = loc.Name
	}
	l.Name = name
	if directives.KindOf(name) != "markdown" {
		not(policy.Reference, quoted(name)+page(k.Fragment)+", not shown in this version", "this version does not show "+strings.TrimPrefix(path.Ext(name), "."))
		return nil
	}
	key := trailKey(name, k.Fragment)
	switch {
	case slices.Contains(n.trail, key):
		not(policy.Reference, quoted(name)+" is shown around this place already", "it would embed itself")
		return nil
	case len(n.trail) > maxDepth:
		not(policy.Reference, quoted(name)+", not shown: nested more than "+strconv.Itoa(maxDepth)+" deep", "nested too deep")
		return nil
	case c.embeds >= maxEmbeds:
		not(policy.Reference, quoted(name)+", not shown: more than "+strconv.Itoa(maxEmbeds)+" embedded notes", "too many embeds")
		return nil
	}
	return c.transclude(n, k, l, not)
}

// transclude lists the note, or the part of it that the fragment names.
func (c *collector) transclude(n note, k chunking.Chunk, l Line, not func(policy.Fate, string, string)) error {
	data, size, err := c.builder.read(l.Name)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		not(policy.Refused, quoted(l.Name)+", not shown: "+reason(err), reason(err))
		c.warn(Warning{Note: n.name, Line: k.FirstLine, Target: l.Target, Message: "embedded note: " + reason(err)})
		return nil
	case err != nil:
		not(policy.Missing, quoted(l.Name)+" is not there any more", "not found")
		c.warn(Warning{Note: n.name, Line: k.FirstLine, Target: l.Target, Message: "embedded file not found"})
		return nil
	case size > int64(len(data)) || recognise(l.Name, data).kind != kindMarkdown:
		not(policy.Refused, quoted(l.Name)+", not shown: not a note of readable size", "not a note of readable size")
		return nil
	}
	s := selected{ranges: [][2]int{{0, len(data)}}}
	if k.Fragment != "" {
		start, end, ok := chunking.Section(data, k.Fragment)
		if !ok {
			not(policy.Missing, quoted(l.Name)+` has no "`+quoted(k.Fragment)+`"`, "no such section")
			c.warn(Warning{Note: n.name, Line: k.FirstLine, Target: l.Target, Message: "the embedded note has no " + k.Fragment})
			return nil
		}
		s.ranges = [][2]int{{start, end}}
	}
	c.embeds++
	f := frame{tag: "embed", key: "path", name: l.Name, untrusted: n.untrusted || c.builder.imported(l.Name)}
	l.Fate, l.Reason = policy.Sent, ""
	c.add(item{role: roleOpen, frame: f}, l)
	inner := note{
		input: n.input, name: l.Name, data: data, untrusted: f.untrusted,
		trail: append(slices.Clone(n.trail), trailKey(l.Name, k.Fragment)),
	}
	var pieces []piece
	for _, p := range s.clip(chunking.Split(data)) {
		if p.chunk.Start >= s.ranges[0][0] && p.chunk.End <= s.ranges[0][1] {
			p.cut = ""
			pieces = append(pieces, p)
		}
	}
	err = c.chunks(inner, pieces)
	c.items = append(c.items, item{role: roleClose, frame: f, input: c.inputs})
	return err
}

// page says which page of a document is meant.
func page(fragment string) string {
	rest, ok := strings.CutPrefix(fragment, "page=")
	if !ok {
		return ""
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if digits == "" {
		return ""
	}
	return ", page " + digits
}
