package prompt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// shown is a file that is being listed: an input, or what a note embeds.
type shown struct {
	input     Input
	name      string
	untrusted bool
	embedded  bool
	fragment  string        // of the link: heading, block, page
	page      int           // of a document, when the link names one
	rect      *content.Rect // only this part of that page
	fault     string        // what is wrong with the fragment
	line      *Line         // receipt of the reference
	at        Warning       // where the reference stands
	trail     []string      // name#fragment of the notes that this one is embedded in
}

// aimAtPage reads the fragment as that of a document. pages= goes before it.
func (s *shown) aimAtPage() {
	page, rect, ok := chunking.Page(s.fragment)
	switch {
	case !ok:
		s.fault = quoted(s.fragment) + " names no page, or no part of one"
	case len(s.input.Directive.Pages) > 0 && !s.embedded:
	default:
		s.page = page
		if rect != nil {
			s.rect = &content.Rect{X1: rect[0], Y1: rect[1], X2: rect[2], Y2: rect[3]}
		}
	}
}

// fileWriter writes one file into an outline, as what its bytes are.
type fileWriter struct {
	out       *outline
	files     *files
	trust     policy.Trust
	notes     noteWriter
	documents documentWriter
	canvas    canvasWriter
}

// input shows one file of an input.
func (w *fileWriter) input(ctx context.Context, in Input, name string) error {
	s := shown{
		input: in, name: name, untrusted: w.trust.Untrusted(in.reads(name)), fragment: in.Directive.Target.Fragment, at: Warning{Note: name},
		line: &Line{Kind: KindFile, Fate: policy.Sent, Source: Source{Note: name}, Name: name},
	}
	p, err := w.files.load(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.out.missing(name, omission.Of(omission.Missing), "the file is not there any more")
		return nil
	case err != nil:
		return fmt.Errorf("read input %q: %w", name, err)
	}
	w.out.inputs++
	return w.show(ctx, s, p)
}

// show shows a file as what its bytes are.
func (w *fileWriter) show(ctx context.Context, s shown, p *parsed) error {
	if p.is.warning != "" {
		w.out.warn(Warning{Note: s.name, Message: p.is.warning})
	}
	w.warnUnused(s, p.is.kind)
	switch k := p.is.kind; {
	case k == kindImage:
		return w.picture(s, s.name)
	case k == kindDocument && s.input.Directive.Properties != nil && !s.embedded:
		return w.out.framed(s, func() error { w.out.say("[shown: the properties; this file has none]"); return nil })
	case k == kindDocument:
		s.line.MediaType, s.line.Size = p.is.media, p.size
		s.aimAtPage()
		return w.documents.write(ctx, s)
	case k == kindOpaque:
		return w.opaque(s, p)
	case p.size > int64(len(p.text.raw)):
		return w.tooLarge(s, p)
	}
	if p.text.encoding != utf8Plain && p.text.encoding != utf8Marked {
		w.out.warn(Warning{Note: s.name, Message: "the text is " + p.text.encoding.String() + "; it is shown as UTF-8, the receipt's bytes are those of the file"})
	}
	switch {
	case isDrawing(s.name, p) && (s.embedded || s.input.Directive.Properties == nil):
		return w.drawing(s, p)
	case hasExt(s.name, ".canvas") && s.input.Directive.Properties == nil:
		return w.canvas.write(ctx, s, p)
	case p.is.kind == kindMarkdown:
		return w.noteOrPages(ctx, s, p)
	}
	return w.out.inputFrame(s, func() error {
		d := s.input.Directive
		if s.embedded {
			d.Head, d.Tail, d.Lines, d.Properties = 0, 0, nil, nil
		}
		w.out.cutText(d, p.text, Source{Note: s.name})
		return nil
	})
}

// warnUnused warns of parameters without effect on the file.
func (w *fileWriter) warnUnused(s shown, k kind) {
	d := s.input.Directive
	if s.embedded {
		return
	}
	if len(d.Pages) > 0 && k != kindDocument && k != kindMarkdown {
		w.out.warn(Warning{Note: s.name, Message: "pages= selects pages of PDF, office files and imports; here it has no effect"})
	}
	if (d.Head > 0 || d.Tail > 0 || d.Lines != nil) && (k == kindImage || k == kindDocument && hasExt(s.name, ".pdf") || hasExt(s.name, ".canvas")) {
		w.out.warn(Warning{Note: s.name, Message: "head=, tail= and lines= select text; here they have no effect"})
	}
}

func hasExt(name, ext string) bool { return strings.EqualFold(path.Ext(name), ext) }

func (s shown) frame() frame {
	f := frame{tag: tagInput, key: "path", name: s.name, untrusted: s.untrusted, origins: s.input.Origins}
	if s.embedded {
		f.tag = tagEmbed
	}
	return f
}

// opaque is a file that is neither text, picture nor document: one line about it.
func (w *fileWriter) opaque(s shown, p *parsed) error {
	s.line.MediaType, s.line.Size = p.is.media, p.size
	if w.writtenDown(s) {
		s.line.Fate, s.line.Reason = policy.Reference, inNote
		w.out.add(item{role: roleWords, words: "[embed: " + quoted(s.name) + ", whose text is in this note]"}, *s.line)
		return nil
	}
	if p.size == 0 {
		return w.out.refuse(s, omission.Of(omission.Empty), "")
	}
	return w.out.refuse(s, omission.Of(omission.Kind), "")
}

// inNote is the reason of an original that is embedded in the note of its import, such as a recording that was written down.
const inNote = "its text is in this note"

// writtenDown reports whether a file is the original of the note in which it is embedded, and its import read it.
func (w *fileWriter) writtenDown(s shown) bool {
	if !s.embedded || path.Dir(s.name) != path.Dir(s.at.Note) {
		return false
	}
	m, err := w.files.bundle(path.Dir(s.name))
	return err == nil && m.note() == s.at.Note && m.inside(m.Source.Name) == s.name && m.textOf(1) != ""
}

func (w *fileWriter) tooLarge(s shown, p *parsed) error {
	s.line.MediaType, s.line.Size = p.is.media, p.size
	return w.out.refuse(s, omission.Of(omission.TooLarge), "larger than "+formatSize(int64(len(p.text.raw))))
}

// reads is a file as something that the step is shown.
func (in Input) reads(name string) policy.Read {
	return policy.Read{Kind: policy.ReadFile, Name: name, Trust: in.Directive.Trust, Origins: in.Origins}
}

// noteOrPages shows a note, or the pages of the document that it is the import of.
func (w *fileWriter) noteOrPages(ctx context.Context, s shown, p *parsed) error {
	if m, page, ok := w.wholeDocument(s); ok {
		s.page = page
		return w.documents.importedPages(ctx, s, m, p)
	}
	if len(s.input.Directive.Pages) > 0 && !s.embedded && s.input.Directive.Properties == nil {
		m, err := w.files.bundle(path.Dir(s.name))
		switch {
		case err == nil:
			return w.documents.importedPages(ctx, s, m, nil)
		case errors.Is(err, fs.ErrNotExist):
			w.out.warn(Warning{Note: s.name, Message: "this note is no import: pages= has no effect"})
		default:
			w.out.warn(Warning{Note: s.name, Message: "pages= has no effect: " + reason(err)})
		}
	}
	if s.embedded {
		return w.notes.transclude(ctx, s, p)
	}
	return w.out.inputFrame(s, func() error { return w.notes.write(ctx, s, p) })
}

// wholeDocument reports whether a note represents all pages of its document, or the one that the link names: notes of chapters have
// them. A part of the note itself, such as head=10, is a part of the overview.
func (w *fileWriter) wholeDocument(s shown) (m *bundle, page int, ok bool) {
	d := s.input.Directive
	if !s.embedded && (len(d.Pages) > 0 || d.Properties != nil || d.Head > 0 || d.Tail > 0 || d.Lines != nil) {
		return nil, 0, false
	}
	m, err := w.files.bundle(path.Dir(s.name))
	if err != nil || !m.divided(s.name) {
		return nil, 0, false
	}
	if s.fragment != "" {
		number, found := strings.CutPrefix(s.fragment, "^p")
		if !found {
			number, found = strings.CutPrefix(strings.ToLower(s.fragment), "page ")
		}
		if page, err = strconv.Atoi(number); !found || err != nil || page < 1 {
			return nil, 0, false
		}
	}
	return m, page, true
}

// pieces are the chunks of a note, cut once in a Build.
func (p *parsed) pieces() []chunking.Chunk {
	if !p.split {
		p.chunks, p.split = chunking.Split(p.text.text), true
	}
	return p.chunks
}

// picture lists a file that is itself a picture, or that has one. An embed needs no frame: a picture is no text.
func (w *fileWriter) picture(s shown, name string) error {
	m, cand := &media{as: s.name}, policy.Candidate{Mode: mode(s.input)}
	if s.embedded {
		m.as = "[embed: " + quoted(s.name) + "]\n"
		w.out.reads = append(w.out.reads, policy.Read{Kind: policy.ReadFile, Name: name})
		w.out.image(m, name, cand, *s.line)
		return nil
	}
	return w.out.inputFrame(s, func() error {
		w.out.image(m, name, cand, Line{Kind: KindImage, Source: Source{Note: s.name}, Target: clipped(s.name)})
		return nil
	})
}
