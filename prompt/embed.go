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

// embedding is one reference that transcludes.
type embedding struct {
	in   note // where it stands
	at   chunking.Chunk
	line Line
}

// embed lists a transcluded note in its place, or says why it is not there.
func (c *collector) embed(n note, k chunking.Chunk, l Line) error {
	e := embedding{in: n, at: k, line: l}
	if n.input.Directive.Embeds == "ref" {
		e.line.Fate, e.line.Reason = policy.Reference, "embeds=ref"
		c.add(item{role: roleText, words: k.Text}, e.line)
		return nil
	}
	found, err := c.aim(&e)
	if err != nil || !found {
		return err
	}
	name := e.line.Name
	switch key := trailKey(name, k.Fragment); {
	case directives.KindOf(name) != "markdown":
		c.not(e, policy.Reference, quoted(name)+page(k.Fragment)+", not shown in this version", "this version does not show "+strings.TrimPrefix(path.Ext(name), "."))
	case slices.Contains(n.trail, key):
		c.not(e, policy.Reference, quoted(name)+" is shown around this place already", "it would embed itself")
	case len(n.trail) > maxDepth:
		c.not(e, policy.Reference, quoted(name)+", not shown: nested more than "+strconv.Itoa(maxDepth)+" deep", "nested too deep")
	case c.embeds >= maxEmbeds:
		c.not(e, policy.Reference, quoted(name)+", not shown: more than "+strconv.Itoa(maxEmbeds)+" embedded notes", "too many embeds")
	default:
		return c.transclude(e)
	}
	return nil
}

// not puts a line in the place of a note that is not shown.
func (c *collector) not(e embedding, fate policy.Fate, words, reason string) {
	e.line.Fate, e.line.Reason = fate, reason
	c.add(item{role: roleWords, words: "[embed: " + words + "]"}, e.line)
}

// aim finds the file that is meant. An empty target is the note itself.
func (c *collector) aim(e *embedding) (found bool, err error) {
	if e.at.Target == "" {
		e.line.Name = e.in.name
		return true, nil
	}
	loc, err := c.locate(e.at.Target, e.in.name, e.at.FirstLine)
	if err != nil {
		return false, err
	}
	if loc.Found {
		e.line.Name = loc.Name
		return true, nil
	}
	near := ""
	if len(loc.Near) > 0 {
		near = "; similar names: " + quoted(list(loc.Near))
	}
	c.not(*e, policy.Missing, `missing, "`+quoted(e.line.Target)+`" was not found`+near, "not found")
	c.warn(Warning{Note: e.in.name, Line: e.at.FirstLine, Target: e.line.Target, Near: loc.Near, Message: "embedded file not found"})
	return false, nil
}

// transclude lists the note, or the part of it that the fragment names.
func (c *collector) transclude(e embedding) error {
	data, s, ok := c.transcluded(e)
	if !ok {
		return nil
	}
	c.embeds++
	l := e.line
	f := frame{tag: "embed", key: "path", name: l.Name, untrusted: e.in.untrusted || c.builder.imported(l.Name)}
	l.Fate, l.Reason = policy.Sent, ""
	c.add(item{role: roleOpen, frame: f}, l)
	inner := note{
		input: e.in.input, name: l.Name, data: data, untrusted: f.untrusted,
		trail: append(slices.Clone(e.in.trail), trailKey(l.Name, e.at.Fragment)),
	}
	var pieces []piece
	for _, p := range s.clip(chunking.Split(data)) {
		if p.chunk.Start >= s.ranges[0][0] && p.chunk.End <= s.ranges[0][1] {
			pieces = append(pieces, p)
		}
	}
	err := c.chunks(inner, pieces)
	c.items = append(c.items, item{role: roleClose, frame: f, input: c.inputs})
	return err
}

// transcluded reads the note and finds the part that is meant; without ok the reason stands in the prompt.
func (c *collector) transcluded(e embedding) (data []byte, s selected, ok bool) {
	name := quoted(e.line.Name)
	warn := func(message string) {
		c.warn(Warning{Note: e.in.name, Line: e.at.FirstLine, Target: e.line.Target, Message: message})
	}
	data, size, err := c.builder.read(e.line.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.not(e, policy.Missing, name+" is not there any more", "not found")
		warn("embedded file not found")
		return nil, s, false
	case err != nil:
		c.not(e, policy.Refused, name+", not shown: "+reason(err), reason(err))
		warn("embedded note: " + reason(err))
		return nil, s, false
	case size > int64(len(data)) || recognise(e.line.Name, data).kind != kindMarkdown:
		c.not(e, policy.Refused, name+", not shown: not a note of readable size", "not a note of readable size")
		warn("the embedded file is not a note of readable size")
		return nil, s, false
	}
	s.ranges = [][2]int{{0, len(data)}}
	if e.at.Fragment == "" {
		return data, s, true
	}
	start, end, ok := chunking.Section(data, e.at.Fragment)
	if !ok {
		c.not(e, policy.Missing, name+` has no "`+quoted(e.at.Fragment)+`"`, "no such section")
		warn("the embedded note has no " + e.at.Fragment)
		return nil, s, false
	}
	s.ranges[0] = [2]int{start, end}
	return data, s, true
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
