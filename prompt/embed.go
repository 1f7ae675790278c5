package prompt

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/origin"
	"github.com/vaultflow/vaultflow/policy"
)

// maxDepth is how deep notes are transcluded, as in Obsidian; maxEmbeds how many files are embedded in one prompt.
const (
	maxDepth  = 5
	maxEmbeds = 500
)

// maxEmbedded bounds the files that notes embed in one prompt, together, in bytes.
const maxEmbedded = 256 << 20

// embed lists a transcluded file in its place, or says why it is not there.
func (c *collector) embed(in shown, k chunking.Chunk, l Line) error {
	if in.input.Directive.Embeds == "ref" {
		l.Fate, l.Reason = policy.Reference, "embeds=ref"
		c.add(item{role: roleText, words: k.Text}, l)
		return nil
	}
	l.Fate, l.Reason = policy.Sent, ""
	s := shown{
		input: in.input, embedded: true, fragment: k.Fragment, line: &l,
		at: Warning{Note: in.name, Line: k.FirstLine, Target: l.Target},
	}
	found, err := c.aim(&s, in, k)
	if err != nil || !found {
		return err
	}
	l.Name = s.name
	s.untrusted = in.untrusted || c.trust().Untrusted(policy.Read{Kind: policy.ReadFile, Name: s.name})
	s.trail = append(slices.Clone(in.trail), trailKey(s.name, k.Fragment))
	switch {
	case slices.Contains(in.trail, trailKey(s.name, k.Fragment)):
		c.not(l, policy.Reference, quoted(s.name)+" is shown around this place already", "it would embed itself")
	case len(in.trail) > maxDepth:
		c.not(l, policy.Reference, quoted(s.name)+", not shown: nested more than "+strconv.Itoa(maxDepth)+" deep", "nested too deep")
	case c.embeds >= maxEmbeds:
		c.not(l, policy.Reference, quoted(s.name)+", not shown: more than "+strconv.Itoa(maxEmbeds)+" embedded files", "too many embeds")
	case !c.mayRead(s.name):
		return c.refuse(s, policy.Refused, notPermitted)
	default:
		return c.embedFile(s)
	}
	return nil
}

const notPermitted = "permissions.read does not allow it"

// mayRead asks for the name, and for the one behind all links on the way to it.
func (c *collector) mayRead(name string) bool {
	if c.spec.MayRead == nil {
		return true
	}
	real, err := origin.Real(c.builder.FS, name)
	return err == nil && c.spec.MayRead(name) && c.spec.MayRead(real)
}

// embedFile shows the file that is embedded.
func (c *collector) embedFile(s shown) error {
	p, err := c.load(s.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.not(*s.line, policy.Missing, quoted(s.name)+" is not there any more", "not found")
		s.at.Message = "embedded file not found"
		c.warn(s.at)
		return nil
	case err != nil:
		return c.refuse(s, policy.Refused, reason(err))
	}
	if c.embedded += p.size; p.text != nil && c.embedded > maxEmbedded {
		return c.refuse(s, policy.Refused, "the embedded files have more than "+formatSize(maxEmbedded)+" together")
	}
	return c.show(s, p)
}

// not puts a line in the place of a file that is not shown.
func (c *collector) not(l Line, fate policy.Fate, words, reason string) {
	l.Fate, l.Reason = fate, reason
	c.add(item{role: roleWords, words: "[embed: " + words + "]"}, l)
}

// aim finds the file that is meant. An empty target is the note itself.
func (c *collector) aim(s *shown, in shown, k chunking.Chunk) (found bool, err error) {
	if k.Target == "" {
		s.name = in.name
		return true, nil
	}
	loc, err := c.locate(k.Target, in.name, k.FirstLine)
	if err != nil {
		return false, err
	}
	if loc.Found {
		s.name = loc.Name
		return true, nil
	}
	near := ""
	if len(loc.Near) > 0 {
		near = "; similar names: " + quoted(list(loc.Near))
		c.names(loc.Near)
	}
	c.not(*s.line, policy.Missing, `missing, "`+quoted(s.line.Target)+`" was not found`+near, "not found")
	s.at.Message, s.at.Near = "embedded file not found", loc.Near
	c.warn(s.at)
	return false, nil
}

// transclude lists a note, or the part of it that the fragment names.
func (c *collector) transclude(s shown, p *parsed) error {
	from, to := 0, len(p.text.text)
	if s.fragment != "" {
		start, end, ok := chunking.Section(p.text.text, s.fragment)
		if !ok {
			c.not(*s.line, policy.Missing, quoted(s.name)+` has no "`+quoted(s.fragment)+`"`, "no such section")
			s.at.Message = "the embedded note has no " + s.fragment
			c.warn(s.at)
			return nil
		}
		from, to = start, end
	}
	s.line.Fate, s.line.Reason = policy.Sent, ""
	return c.framed(s, func() error {
		if to == 0 {
			c.say("[empty]")
			return nil
		}
		var pieces []piece
		for _, one := range (selected{ranges: [][2]int{{from, to}}}).clip(p.pieces()) {
			if one.chunk.Start >= from && one.chunk.End <= to {
				pieces = append(pieces, one)
			}
		}
		return c.chunks(s, p, pieces)
	})
}
