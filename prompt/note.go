package prompt

import (
	"context"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// noteWriter writes notes into an outline, with the pictures that they show and the files that they embed.
type noteWriter struct {
	out     *outline
	files   *files
	links   linker
	trust   policy.Trust
	mayLink func(host string) bool                              // permissions.links; nil: no host
	show    func(ctx context.Context, s shown, p *parsed) error // writes an embedded file
}

// write lists the chunks of an input that is a note.
func (w noteWriter) write(ctx context.Context, s shown, p *parsed) error {
	data := p.text.text
	if len(data) == 0 {
		w.out.say("[empty]")
		return nil
	}
	part := selection(s.input.Directive, data)
	if s.fragment != "" && s.input.Directive.Properties == nil {
		start, end, ok := chunking.Section(data, s.fragment)
		if !ok {
			s.line.lose(omission.Of(omission.Section), "")
			w.out.add(item{role: roleWords, words: "[shown: nothing; this note has no " + quoted(s.fragment) + "]"}, *s.line)
			w.out.warn(Warning{Note: s.name, Target: s.fragment, Message: "the note has no " + s.fragment})
		}
		inner := selection(s.input.Directive, data[start:end])
		part = inner.moved(start)
		part.why = "section"
		if part.words == "" && ok {
			part.words = "[shown: the section " + quoted(s.fragment) + "]"
		}
	}
	w.out.selects(s.name, part)
	s.trail = []string{trailKey(s.name, s.fragment)}
	return w.chunks(ctx, s, p, part.clip(p.pieces()))
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
func (w noteWriter) chunks(ctx context.Context, s shown, p *parsed, pieces []piece) error {
	for _, one := range pieces {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.piece(ctx, s, p, one); err != nil {
			return err
		}
	}
	return nil
}

func (w noteWriter) piece(ctx context.Context, s shown, p *parsed, one piece) error {
	k := one.chunk
	if k.Kind == chunking.Text {
		w.out.text(one, p.text, Source{Note: s.name, Extracted: p.extracted})
		return nil
	}
	l := Line{
		Kind: string(k.Kind), Source: source(s.name, k), Target: clipped(k.Written), Alt: k.Alt,
		Fate: policy.Omitted, Reason: one.cut,
	}
	l.Source.Extracted = p.extracted
	l.Source.Bytes = [2]int{p.text.place(k.Start), p.text.place(k.End)}
	switch {
	case one.cut != "":
		w.out.add(item{role: roleSilent}, l)
	case k.Kind == chunking.Comment && s.input.Directive.Comments != "keep":
		l.Reason = "comment"
		if !strings.HasSuffix(k.Text, "%%") || len(k.Text) < 4 {
			w.out.warn(Warning{Note: s.name, Line: k.FirstLine, Message: "the comment that begins here is never closed; all behind it is left out"})
		}
		w.out.add(item{role: roleSilent}, l)
	case k.Kind == chunking.Comment:
		l.Fate, l.Reason, l.Text, l.Tokens = policy.Sent, "", k.Text, policy.TextTokens(k.Text)
		w.out.add(item{role: roleText, words: k.Text, text: p.text, start: k.Start}, l)
	case k.Kind == chunking.Image:
		return w.reference(s, k, l)
	default:
		return w.embed(ctx, s, k, l)
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
