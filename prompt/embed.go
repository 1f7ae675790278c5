package prompt

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// maxDepth is how deep notes are transcluded, as in Obsidian; maxEmbeds how many files are embedded in one prompt.
const (
	maxDepth  = 5
	maxEmbeds = 500
)

// maxEmbedded bounds the files that notes embed in one prompt, together, in bytes.
const maxEmbedded = 256 << 20

// embed lists a transcluded file in its place, or the reason why it is missing.
func (w noteWriter) embed(ctx context.Context, in shown, k chunking.Chunk, l Line) error {
	if in.input.Directive.Embeds == "ref" {
		l.Fate, l.Reason = policy.Reference, "embeds=ref"
		w.out.add(item{role: roleText, words: k.Text}, l)
		return nil
	}
	l.Fate, l.Reason = policy.Sent, ""
	s := shown{
		input: in.input, embedded: true, fragment: k.Fragment, line: &l,
		at: Warning{Note: in.name, Line: k.FirstLine, Target: l.Target},
	}
	found, err := w.aim(&s, in, k)
	if err != nil || !found {
		return err
	}
	l.Name = s.name
	s.untrusted = in.untrusted || w.trust.Untrusted(policy.Read{Kind: policy.ReadFile, Name: s.name})
	s.trail = append(slices.Clone(in.trail), trailKey(s.name, k.Fragment))
	switch {
	case slices.Contains(in.trail, trailKey(s.name, k.Fragment)):
		l.Fate, l.Reason = policy.Reference, "it would embed itself"
		w.out.add(item{role: roleWords, words: "[embed: " + quoted(s.name) + " is shown around this place already]"}, l)
	case len(in.trail) > maxDepth:
		w.out.loseEmbed(l, omission.Of(omission.Nested), quoted(s.name)+", not shown: nested more than "+strconv.Itoa(maxDepth)+" deep")
	case w.out.embeds >= maxEmbeds:
		w.out.loseEmbed(l, omission.Of(omission.Embeds), quoted(s.name)+", not shown: more than "+strconv.Itoa(maxEmbeds)+" embedded files")
	case !w.files.mayRead(s.name):
		return w.out.refuse(s, omission.Of(omission.Denied), notPermitted)
	default:
		return w.embedFile(ctx, s)
	}
	return nil
}

// embedFile shows the file that is embedded.
func (w noteWriter) embedFile(ctx context.Context, s shown) error {
	p, err := w.files.load(s.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.out.loseEmbed(*s.line, omission.Of(omission.Missing), quoted(s.name)+" is not there any more")
		s.at.Message = "embedded file not found"
		w.out.warn(s.at)
		return nil
	case err != nil:
		return w.out.refuse(s, omission.From(err), reason(err))
	}
	if w.out.embedded += p.size; p.text != nil && w.out.embedded > maxEmbedded {
		return w.out.refuse(s, omission.Of(omission.Embeds), "the embedded files have more than "+formatSize(maxEmbedded)+" together")
	}
	return w.show(ctx, s, p)
}

// aim finds the file that is meant. An empty target is the note itself.
func (w noteWriter) aim(s *shown, in shown, k chunking.Chunk) (found bool, err error) {
	if k.Target == "" {
		s.name = in.name
		return true, nil
	}
	loc, err := w.links.locate(k.Target, in.name, k.FirstLine)
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
		w.out.names(loc.Near)
	}
	w.out.loseEmbed(*s.line, omission.Of(omission.Missing), `missing, "`+quoted(s.line.Target)+`" was not found`+near)
	s.at.Message, s.at.Near = "embedded file not found", loc.Near
	w.out.warn(s.at)
	return false, nil
}

// transclude lists a note, or the part of it that the fragment names.
func (w noteWriter) transclude(ctx context.Context, s shown, p *parsed) error {
	from, to := 0, len(p.text.text)
	if s.fragment != "" {
		start, end, ok := chunking.Section(p.text.text, s.fragment)
		if !ok {
			w.out.loseEmbed(*s.line, omission.Of(omission.Section), quoted(s.name)+` has no "`+quoted(s.fragment)+`"`)
			s.at.Message = "the embedded note has no " + s.fragment
			w.out.warn(s.at)
			return nil
		}
		from, to = start, end
	}
	s.line.Fate, s.line.Reason = policy.Sent, ""
	return w.out.framed(s, func() error {
		if to == 0 {
			w.out.say("[empty]")
			return nil
		}
		var pieces []piece
		for _, one := range (selected{ranges: [][2]int{{from, to}}}).clip(p.pieces()) {
			if one.chunk.Start >= from && one.chunk.End <= to {
				pieces = append(pieces, one)
			}
		}
		return w.chunks(ctx, s, p, pieces)
	})
}
