package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/content"
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

// file shows one file of an input.
func (c *collector) file(in Input, name string) error {
	s := shown{
		input: in, name: name, untrusted: c.untrusted(in, name), fragment: in.Directive.Target.Fragment, at: Warning{Note: name},
		line: &Line{Kind: KindFile, Fate: policy.Sent, Source: Source{Note: name}, Name: name},
	}
	p, err := c.load(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.missing(name, "the file is not there any more")
		return nil
	case err != nil:
		return fmt.Errorf("read input %q: %w", name, err)
	}
	c.inputs++
	return c.show(s, p)
}

// show shows a file as what its bytes are.
func (c *collector) show(s shown, p *parsed) error {
	if p.is.warning != "" {
		c.warn(Warning{Note: s.name, Message: p.is.warning})
	}
	c.warnUnused(s, p.is.kind)
	switch k := p.is.kind; {
	case k == kindImage:
		return c.picture(s, s.name)
	case k == kindDocument && s.input.Directive.Properties != nil && !s.embedded:
		return c.framed(s, func() error { c.say("[shown: the properties; this file has none]"); return nil })
	case k == kindDocument:
		s.line.MediaType, s.line.Size = p.is.media, p.size
		s.aimAtPage()
		return c.document(s)
	case k == kindOpaque:
		return c.opaque(s, p)
	case p.size > int64(len(p.text.raw)):
		return c.tooLarge(s, p)
	}
	if p.text.encoding != utf8Plain && p.text.encoding != utf8Marked {
		c.warn(Warning{Note: s.name, Message: "the text is " + p.text.encoding.String() + "; it is shown as UTF-8, the receipt's bytes are those of the file"})
	}
	switch {
	case isDrawing(s.name, p) && (s.embedded || s.input.Directive.Properties == nil):
		return c.drawing(s, p)
	case hasExt(s.name, ".canvas") && s.input.Directive.Properties == nil:
		return c.canvas(s, p)
	case p.is.kind == kindMarkdown:
		return c.noteOrPages(s, p)
	}
	return c.inputFrame(s, func() error {
		d := s.input.Directive
		if s.embedded {
			d.Head, d.Tail, d.Lines, d.Properties = 0, 0, nil, nil
		}
		c.cutText(d, p.text, Source{Note: s.name})
		return nil
	})
}

// warnUnused says which parameters mean nothing for the file.
func (c *collector) warnUnused(s shown, k kind) {
	d := s.input.Directive
	if s.embedded {
		return
	}
	if len(d.Pages) > 0 && k != kindDocument && k != kindMarkdown {
		c.warn(Warning{Note: s.name, Message: "pages= selects pages of PDF, office files and imports; here it has no effect"})
	}
	if (d.Head > 0 || d.Tail > 0 || d.Lines != nil) && (k == kindImage || k == kindDocument && hasExt(s.name, ".pdf") || hasExt(s.name, ".canvas")) {
		c.warn(Warning{Note: s.name, Message: "head=, tail= and lines= select text; here they have no effect"})
	}
}

func hasExt(name, ext string) bool { return strings.EqualFold(path.Ext(name), ext) }

// inputFrame is the frame of a file whose content has receipt lines of its own: only an embed has one for the reference.
func (c *collector) inputFrame(s shown, inside func() error) error {
	if s.embedded {
		return c.framed(s, inside)
	}
	return c.within(s.frame(), nil, inside)
}

// framed is the frame of a file, with the receipt of the reference to it.
func (c *collector) framed(s shown, inside func() error) error {
	if s.embedded {
		c.embeds++
	}
	return c.within(s.frame(), s.line, inside)
}

func (s shown) frame() frame {
	f := frame{tag: tagInput, key: "path", name: s.name, untrusted: s.untrusted, origins: s.input.Origins}
	if s.embedded {
		f.tag = tagEmbed
	}
	return f
}

// refuse puts a line in the place of a file that is not shown, and warns.
func (c *collector) refuse(s shown, fate policy.Fate, why string) error {
	w := s.at
	w.Message = "not shown: " + why
	if s.embedded {
		w.Message = "embedded file not shown: " + why
	}
	c.warn(w)
	return c.leave(s, fate, why)
}

// leave puts a line in the place of a file that is not shown.
func (c *collector) leave(s shown, fate policy.Fate, why string) error {
	s.line.Fate, s.line.Reason = fate, why
	facts := []string{quoted(s.name)}
	if s.page > 0 {
		facts = append(facts, fmt.Sprintf("page %d", s.page))
	}
	if s.embedded {
		c.add(item{role: roleWords, words: "[embed: " + list(facts) + ", not shown: " + why + "]"}, *s.line)
		return nil
	}
	if s.line.MediaType != "" {
		facts = append(facts, s.line.MediaType)
	}
	if s.line.Size > 0 {
		facts = append(facts, formatSize(s.line.Size))
	}
	return c.within(s.frame(), nil, func() error {
		c.add(item{role: roleWords, words: "[file: " + list(facts) + "; not shown: " + why + "]"}, *s.line)
		return nil
	})
}

// opaque is a file that is neither text, picture nor document: one line about it.
func (c *collector) opaque(s shown, p *parsed) error {
	s.line.MediaType, s.line.Size = p.is.media, p.size
	return c.leave(s, policy.Reference, "neither text nor picture nor document")
}

func (c *collector) tooLarge(s shown, p *parsed) error {
	s.line.MediaType, s.line.Size = p.is.media, p.size
	return c.refuse(s, policy.Refused, "larger than "+formatSize(int64(len(p.text.raw))))
}

// trust tells what is data from outside. What it was told of a file holds for the whole Build.
func (c *collector) trust() policy.Trust {
	t := policy.Trust{ImportedDir: c.builder.ImportedDir}
	if known := c.builder.Known; known != nil {
		t.Known = func(name string) (bool, []string) {
			one, asked := c.known[name]
			if !asked {
				one.foreign, one.origins = known(c.ctx, name)
				c.known[name] = one
			}
			return one.foreign, one.origins
		}
	}
	if named := c.builder.Named; named != nil {
		t.Named = func(name string) (bool, []string) { return named(c.ctx, name) }
	}
	return t
}

// foreign is whether a file is foreign, and what it was made from.
type foreign struct {
	foreign bool
	origins []string
}

// names adds names of files that the prompt shows without their content.
func (c *collector) names(names []string) {
	for _, name := range names {
		c.reads = append(c.reads, policy.Read{Kind: policy.ReadName, Name: name})
	}
}

// reads is a file as something that the step is shown.
func (in Input) reads(name string) policy.Read {
	return policy.Read{Kind: policy.ReadFile, Name: name, Trust: in.Directive.Trust, Origins: in.Origins}
}

// untrusted tells whether what stands in the file is data from outside.
func (c *collector) untrusted(in Input, name string) bool {
	return c.trust().Untrusted(in.reads(name))
}

// noteOrPages shows a note, or the pages of the document that it is the import of.
func (c *collector) noteOrPages(s shown, p *parsed) error {
	if len(s.input.Directive.Pages) > 0 && !s.embedded && s.input.Directive.Properties == nil {
		m, err := c.builder.bundle(path.Dir(s.name))
		switch {
		case err == nil:
			return c.importedPages(s, m)
		case errors.Is(err, fs.ErrNotExist):
			c.warn(Warning{Note: s.name, Message: "this note is no import: pages= has no effect"})
		default:
			c.warn(Warning{Note: s.name, Message: "pages= has no effect: " + reason(err)})
		}
	}
	if s.embedded {
		return c.transclude(s, p)
	}
	return c.inputFrame(s, func() error { return c.note(s, p) })
}

// parsed is a file that was read, as far as it was needed.
type parsed struct {
	is     recognised
	size   int64
	text   *decoded // of a text: as much as may be read; otherwise nil
	chunks []chunking.Chunk
	split  bool

	extracted bool // the text was taken out of a file: offsets are not the file's
}

// pieces are the chunks of a note, cut once in a Build.
func (p *parsed) pieces() []chunking.Chunk {
	if !p.split {
		p.chunks, p.split = chunking.Split(p.text.text), true
	}
	return p.chunks
}
