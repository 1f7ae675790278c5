package prompt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// Documents reads files that are neither text nor a picture: PDF and office files. Errors say in words why a file cannot be
// shown ("encrypted", "the worker is missing"); one that is fs.ErrNotExist counts as missing. Implementations may be
// asked for the same file several times in one prompt.
type Documents interface {
	// Describe reads the pages with their sizes, and of an office file its Markdown. Nothing is rendered.
	Describe(ctx context.Context, name string) (Document, error)
	// PageText is the text of a page, counted from 1; "" when it has none.
	PageText(ctx context.Context, name string, page int) (string, error)
}

// Document is what is known about a file with pages. Size is in bytes.
type Document struct {
	MediaType string
	Size      int64
	SHA256    string
	Pages     []DocumentPage // of a PDF all pages; of an office file those that must be seen, or none
	Markdown  string         // of an office file: the whole of it as Markdown
	Imported  string         // vault name of the bundle, when this is an original that was imported
}

// DocumentPage is a page. Width and Height are pixels at the resolution at which it will be rendered.
type DocumentPage struct {
	Width   int
	Height  int
	Label   string // the page's own number, such as iv; empty when it has none
	Picture string // vault name of a picture of the page that exists already; empty: it is rendered when it is sent
}

const typePDF = "application/pdf"

// documentWriter writes documents and their pages into an outline.
type documentWriter struct {
	out       *outline
	notes     noteWriter
	files     *files
	documents *documentReader
	caps      policy.Capabilities
	bounds    policy.Bounds
	paged     map[string]bool // documents that do not fit as a file
}

// write lists a PDF or an office file: as a file, as pages or as text.
func (w documentWriter) write(ctx context.Context, s shown) error {
	d := w.documents.describe(ctx, s.name)
	if err := ctx.Err(); err != nil {
		return err
	}
	switch {
	case errors.Is(d.err, fs.ErrNotExist):
		return w.out.refuse(s, omission.Of(omission.Missing), "the file is not there any more")
	case d.err != nil:
		return w.out.refuse(s, omission.From(d.err), reason(d.err))
	}
	s.line.MediaType, s.line.Size, s.line.SHA256 = d.MediaType, d.Size, d.SHA256
	pages, ok := w.chosen(s, len(d.Pages))
	switch {
	case !ok:
		return w.out.refuse(s, omission.Of(omission.Page), pageProblem(s, len(d.Pages)))
	case w.sendsFile(s, d, pages):
		return w.out.framed(s, func() error { return w.asFile(ctx, s, d, pages) })
	}
	return w.out.framed(s, func() error {
		if len(d.Pages) == 0 || d.Markdown != "" && len(s.input.Directive.Pages) == 0 && s.page == 0 {
			w.markdown(s, d)
			if !w.sees(s) {
				return nil // the pages of an office file hold what the Markdown says
			}
		}
		for _, n := range pages {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.page(ctx, s, d, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// pageProblem returns the reason why no page is shown.
func pageProblem(s shown, of int) string {
	if s.fault != "" {
		return s.fault
	}
	if of == 0 {
		return "the file has no pages"
	}
	if s.page > 0 {
		return fmt.Sprintf("there is no page %d, the last one is %d", s.page, of)
	}
	return fmt.Sprintf("none of the pages is there, the last one is %d", of)
}

// chosen are the pages that are meant, and whether there is anything to show.
func (w documentWriter) chosen(s shown, of int) (pages []int, ok bool) {
	switch ranges := s.input.Directive.Pages; {
	case s.fault != "":
		return nil, false
	case s.page > 0:
		return []int{s.page}, s.page <= of
	case len(ranges) == 0 || s.embedded:
		return selectPages(nil, of), true
	case of == 0:
		w.out.warn(Warning{Note: s.name, Message: "the file has no pages: pages= has no effect"})
		return nil, true
	default:
		pages = selectPages(ranges, of)
		for _, r := range ranges {
			if len(pages) > 0 && (r.First > of || r.Last > of) {
				w.out.warn(Warning{Note: s.name, Message: fmt.Sprintf("pages= names pages behind the last one, %d", of)})
				break
			}
		}
		return pages, len(pages) > 0
	}
}

// sees reports whether pages are shown as pictures.
func (w documentWriter) sees(s shown) bool {
	return w.caps.Has(policy.Vision) && mode(s.input) != policy.Ignore
}

// sendsFile reports whether the model gets the file itself: it reads PDF, and no page must be left out. A single page, and an
// original whose pages are already pictures in the vault, are sent as pictures to a model with vision.
func (w documentWriter) sendsFile(s shown, d described, pages []int) bool {
	b := w.bounds
	switch {
	case !w.caps.Has(policy.PDF) || d.MediaType != typePDF || s.rect != nil || mode(s.input) == policy.Ignore:
		return false
	case w.sees(s) && (s.page > 0 || d.Imported != ""):
		return false
	case w.paged[s.name] || len(pages) == 0 || len(pages) > b.MaxPages:
		return false
	}
	return (b.MaxFileBytes == 0 || d.Size <= b.MaxFileBytes) && d.Size <= b.MaxTotalBytes
}

// asFile lists the document as one file. Its text goes along, for a model that turns out not to read it.
func (w documentWriter) asFile(ctx context.Context, s shown, d described, pages []int) error {
	doc := content.Document{Name: s.name, MediaType: d.MediaType, Pages: len(d.Pages), Size: d.Size, SHA256: d.SHA256}
	if len(pages) < len(d.Pages) {
		doc.PageRange = content.PageRange(pages)
	}
	var texts []string
	for _, n := range pages {
		text, err := w.documents.text(ctx, s.name, d, n)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err == nil && strings.TrimSpace(text) != "" {
			head := "[" + pageWords(n, len(d.Pages), d.Pages[n-1].Label) + "]\n"
			if remarks := d.bundle.remarksOf(n); remarks != "" {
				head += remarks + "\n"
			}
			texts = append(texts, head+strings.TrimSpace(text))
		}
	}
	doc.Extracted = strings.Join(texts, "\n\n")
	l := Line{Kind: KindDocument, Source: Source{Note: s.name}, Name: s.name, MediaType: d.MediaType, Size: d.Size, SHA256: d.SHA256, Pages: content.PageRange(pages)}
	cand := policy.Candidate{
		Kind: policy.PageDocument, Mode: mode(s.input), Name: s.name + "#" + l.Pages, MediaType: d.MediaType, Size: d.Size, Pages: len(pages),
	}
	w.out.attach(item{media: &media{block: doc, parent: s.line}}, cand, l)
	return nil
}

// markdown lists the text of an office file.
func (w documentWriter) markdown(s shown, d described) {
	if strings.TrimSpace(d.Markdown) == "" {
		if len(d.Pages) == 0 {
			w.out.say("[empty]")
		}
		return
	}
	w.out.cutText(s.input.Directive, decode([]byte(d.Markdown)), Source{Note: s.name, Extracted: true})
}

// page lists one page: a picture for a model that sees, else its text.
func (w documentWriter) page(ctx context.Context, s shown, d described, n int) error {
	p := d.Pages[n-1]
	m := &media{page: pageWords(n, len(d.Pages), p.Label), parent: s.line, leaf: leaf{file: s.name, n: n, of: len(d.Pages)}}
	src := Source{Note: s.name, Page: n}
	if !w.sees(s) {
		return w.pageAsText(ctx, s, d, n, m, src)
	}
	if p.Picture == "" && d.bundle != nil {
		p.Picture = d.bundle.picture(d.bundle.page(n))
	}
	key := fmt.Sprintf("%s#page=%d", s.name, n)
	cand := policy.Candidate{Mode: mode(s.input), Page: key}
	l := Line{Kind: KindPage, Source: src, Target: clipped(s.line.Target), Name: s.name}
	if p.Picture != "" && s.rect == nil {
		w.out.image(m, p.Picture, cand, l)
		return nil
	}
	image := content.Image{
		Name: s.name, MediaType: "image/png", Width: p.Width, Height: p.Height, SHA256: d.SHA256, Source: content.SourcePage,
		Page: n, Rect: s.rect,
	}
	cand.Name, cand.SHA256 = key, d.SHA256+key
	if s.rect != nil {
		cand.Name += rectWords(*s.rect)
		cand.SHA256 += rectWords(*s.rect)
		m.page += ", " + rectWords(*s.rect)
		m.cropped = true
		image.Width, image.Height = 0, 0 // of the part; the whole page is an upper bound
	}
	cand.Width, cand.Height, cand.MediaType = p.Width, p.Height, image.MediaType
	cand.Size = int64(p.Width) * int64(p.Height) / 2
	l.MediaType, l.Width, l.Height, l.SHA256 = image.MediaType, image.Width, image.Height, d.SHA256
	m.block = image
	w.out.attach(item{media: m}, cand, l)
	return nil
}

// maxPageText is how much text of a page is in one chunk, in bytes, so that read_chunks can return it.
const maxPageText = 24 << 10

// pageAsText lists the text of a page.
func (w documentWriter) pageAsText(ctx context.Context, s shown, d described, n int, m *media, src Source) error {
	text, err := w.documents.text(ctx, s.name, d, n)
	if err := ctx.Err(); err != nil {
		return err
	}
	l := Line{Kind: KindPage, Source: src, Target: clipped(s.line.Target), Name: s.name}
	switch {
	case err != nil:
		l.lose(omission.From(err), reason(err))
		w.out.warn(Warning{Note: s.name, Message: fmt.Sprintf("page %d not shown: %s", n, l.Reason)})
		w.out.add(item{role: roleWords, words: "[" + m.page + ", not shown: " + l.Reason + "]"}, l)
		return nil
	case strings.TrimSpace(text) == "":
		l.Fate, l.Reason = policy.Reference, "no text"
		if mode(s.input) != policy.Ignore {
			l.lose(omission.Of(omission.NoText), l.Reason)
			l.Step = policy.StepLine // it has a look, which the model does not get
		}
		w.out.add(item{role: roleWords, words: "[" + m.page + ", not shown: it has no text]"}, l)
		return nil
	}
	m.remarks = d.bundle.remarksOf(n)
	m.blind = !w.caps.Has(policy.Vision) && mode(s.input) != policy.Ignore
	w.pageParts(text, m, l)
	return nil
}

// pageParts adds the text of a page, in parts when it is long.
func (w documentWriter) pageParts(text string, m *media, l Line) {
	key := fmt.Sprintf("%s#page=%d", l.Source.Note, l.Source.Page)
	at := 0
	for part, rest := 1, text; rest != ""; part++ {
		size := cutBelow(rest, maxPageText)
		words := rest[:size]
		rest = rest[size:]
		one, line := *m, l
		if part > 1 {
			one.page += fmt.Sprintf(", part %d", part)
			one.remarks = ""
		}
		line.Source.Bytes = [2]int{at, at + size}
		at += size
		line.Source.Extracted = true
		line.Text, line.Tokens = words, policy.TextTokens(words)
		w.out.attach(item{words: words, media: &one}, policy.Candidate{Kind: policy.PageText, Tokens: line.Tokens, Page: key, Replaces: one.blind}, line)
	}
}
