// Package webpage reads HTML as Markdown: the readable part of a saved or fetched page, or a whole document such as the
// chapter of an e-book or the body of an e-mail. It fetches nothing and runs nothing; scripts, styles, forms and frames are
// left out.
package webpage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// MaxSize is the largest document that is read, in bytes.
const MaxSize = 32 << 20

// maxDepth limits the nesting of elements: converters are recursive.
const maxDepth = 512

// Hooks decide about what leads out of a document.
type Hooks struct {
	Image func(src, alt string) string // returns Markdown to replace a picture; nil or "" leaves it out
	Link  func(href string) string     // where a link leads; nil or "" leaves its words alone, but for links to headings of the document
	Notes string                       // before the numbers of footnotes, where several documents become one note
}

// Page is a document as Markdown. Fields that it does not name are empty.
type Page struct {
	Title     string
	Author    string
	Site      string
	Language  string
	Published string // RFC 3339
	Markdown  string
	Whole     bool // no readable part was found, and all of it was taken
}

// Parse reads a document. The encoding is that of a byte order mark, of the content type, or of the document's own meta
// element, else windows-1252, like browsers. A page above MaxSize or nested too deep is an error.
func Parse(data []byte, contentType string) (*html.Node, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("the page is larger than %d MB", MaxSize>>20)
	}
	if !utf8.Valid(data) {
		in, err := charset.NewReader(bytes.NewReader(data), contentType)
		if err == nil {
			data, err = io.ReadAll(in)
		}
		if err != nil {
			return nil, fmt.Errorf("read the page's encoding: %w", err)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	doc, err := html.ParseWithOptions(bytes.NewReader(data), html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil, fmt.Errorf("read the page: %w", err)
	}
	if deeper(doc, maxDepth) {
		return nil, errors.New("the page is nested too deep")
	}
	return doc, nil
}

// deeper walks without calling itself, since it is the guard for those that do.
func deeper(root *html.Node, limit int) bool {
	depth := 0
	for n := root; n != nil; {
		if n.FirstChild != nil {
			if depth++; depth > limit {
				return true
			}
			n = n.FirstChild
			continue
		}
		for n != root && n.NextSibling == nil {
			n = n.Parent
			depth--
		}
		if n == root {
			return false
		}
		n = n.NextSibling
	}
	return false
}

// Convert writes a document as Markdown. It removes the footnotes from doc.
func Convert(doc *html.Node, h Hooks) (string, error) {
	anchors := Anchors(doc)
	notes := footnotes(doc)
	linesOfColumns(doc)
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
		strikethrough.NewStrikethroughPlugin(), table.NewTablePlugin(table.WithHeaderPromotion(true),
			table.WithNewlineBehavior(table.NewlineBehaviorPreserve), table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
	))
	conv.Register.RendererFor("img", converter.TagTypeInline, func(_ converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
		if h.Image != nil {
			_, _ = w.WriteString(h.Image(strings.TrimSpace(attribute(n, "src")), oneLine(attribute(n, "alt")))) // a buffer
		}
		return converter.RenderSuccess
	}, converter.PriorityEarly)
	conv.Register.RendererFor("a", converter.TagTypeInline, func(ctx converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
		to, href := "", strings.TrimSpace(attribute(n, "href"))
		if h.Link != nil {
			to = h.Link(href)
		}
		if id, here := strings.CutPrefix(href, "#"); to == "" && here && id != "" {
			to = anchors[id]
		}
		if to != "" {
			set(n, "href", to)
			return converter.RenderTryNext
		}
		ctx.RenderChildNodes(ctx, w, n)
		return converter.RenderSuccess
	}, converter.PriorityEarly)
	conv.Register.RendererFor(noteElement, converter.TagTypeInline, func(_ converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
		_, _ = w.WriteString("[^" + h.Notes + attribute(n, "n") + "]") // a buffer
		return converter.RenderSuccess
	}, converter.PriorityEarly)
	conv.Register.RendererFor("math", converter.TagTypeInline, func(_ converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
		_, _ = w.WriteString(formula(n)) // a buffer
		return converter.RenderSuccess
	}, converter.PriorityEarly)
	if body := find(doc, "body"); body != nil {
		doc = body // the head's title is no text
	}
	out, err := conv.ConvertNode(doc)
	if err != nil {
		return "", fmt.Errorf("write the page as Markdown: %w", err)
	}
	var b strings.Builder
	b.WriteString(cellBreaks.ReplaceAllStringFunc(strings.TrimSpace(string(out)), func(row string) string {
		return strings.ReplaceAll(row, "  <br />", "<br>") // the converter's line break, within a cell
	}))
	for i, note := range notes {
		out, err := conv.ConvertNode(contents(note))
		if err != nil {
			return "", fmt.Errorf("write a footnote as Markdown: %w", err)
		}
		b.WriteString("\n\n[^" + h.Notes + strconv.Itoa(i+1) + "]: " + strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "\n    "))
	}
	return strings.TrimSpace(b.String()), nil
}

var cellBreaks = regexp.MustCompile(`(?m)^\|.*  <br />.*\|$`)

// formula is an equation of MathML: the source in TeX that it carries, else its characters.
func formula(n *html.Node) string {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && strings.HasPrefix(d.Data, "annotation") && attribute(d, "encoding") == "application/x-tex" {
			if tex := oneLine(text(d)); tex != "" && !strings.Contains(tex, "$") {
				return "$" + tex + "$"
			}
		}
	}
	return text(n)
}

// Readable finds the part of a page that a reader came for, without menus and advertisements. What has no such part is
// taken as a whole. What the elements' own attributes hide is left out. base is the page's address, "" when it is not known; relative links are completed with it.
func Readable(data []byte, contentType, base string, h Hooks) (Page, error) {
	doc, err := Parse(data, contentType)
	if err != nil {
		return Page{}, err
	}
	dropUnseen(doc)
	address, err := url.Parse(base)
	if err != nil || address.Host == "" {
		address = nil
	}
	p := Page{Title: oneLine(text(find(doc, "title"))), Language: attribute(find(doc, "html"), "lang")}
	node := doc
	article, err := readable(doc, address)
	if err == nil && article.Node != nil {
		p.Title, p.Author, p.Site, p.Language = first(article.Title(), p.Title), oneLine(article.Byline()), oneLine(article.SiteName()), first(article.Language(), p.Language)
		if t, err := article.PublishedTime(); err == nil && !t.IsZero() {
			p.Published = t.Format("2006-01-02T15:04:05Z07:00")
		}
		node = article.Node
	}
	if node == doc || sparse(node, doc) {
		node, p.Whole = doc, true
	}
	p.Markdown, err = Convert(node, h)
	return p, err
}

// readable asks the library, which works on a copy of the document and may panic on odd ones.
func readable(doc *html.Node, address *url.URL) (a readability.Article, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the readable part cannot be found: %v", r)
		}
	}()
	return readability.FromDocument(clone(doc), address)
}

// sparse reports whether the readable part misses most of a short page: a letter, a table, a recipe.
func sparse(part, whole *html.Node) bool {
	few, all := utf8.RuneCountInString(text(part)), utf8.RuneCountInString(text(find(whole, "body")))
	return few == 0 || all < 3000 && few*10 < all*6
}

func first(words ...string) string {
	for _, w := range words {
		if w = oneLine(w); w != "" {
			return w
		}
	}
	return ""
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
