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
	"slices"
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
// element, else windows-1252, like browsers. Its text has no soft hyphens. A page above MaxSize or nested too deep is an error.
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
	for n := range doc.Descendants() {
		if n.Type == html.TextNode { // soft hyphens keep words from being found
			n.Data = strings.ReplaceAll(n.Data, "\u00ad", "")
		}
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
	displayed(doc)
	answers(doc)
	numbered(doc)
	tables(doc)
	apart(doc)
	anchors := Anchors(doc)
	notes := footnotes(doc)
	for _, part := range append([]*html.Node{doc}, notes...) {
		scripts(part)
	}
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
	for _, name := range []string{"td", "th", "tr", "caption", "option", "legend"} { // whatever tables remain: no text joins another one
		conv.Register.TagType(name, converter.TagTypeBlock, converter.PriorityEarly)
	}
	if body := find(doc, "body"); body != nil {
		doc = body // the head's title is no text
	}
	out, err := conv.ConvertNode(doc)
	if err != nil {
		return "", fmt.Errorf("write the page as Markdown: %w", err)
	}
	var b strings.Builder
	b.WriteString(cellBreaks.ReplaceAllStringFunc(strings.TrimSpace(string(out)), func(row string) string {
		return breaks.ReplaceAllString(row, "<br>") // the converter's line breaks, within a cell
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

var (
	cellBreaks = regexp.MustCompile(`(?m)^\|.*<br />.*\|$`)
	breaks     = regexp.MustCompile(`(?:\s*<br />)+`)
)

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
	displayed(doc) // before the library drops the styles
	answers(doc)   // and the forms
	asides(doc)
	address, err := url.Parse(base)
	if err != nil || address.Host == "" {
		address = nil
	}
	p := Page{Title: first(oneLine(text(find(doc, "title"))), oneLine(text(find(doc, "h1")))), Language: attribute(find(doc, "html"), "lang")}
	node := doc
	article, err := readable(doc, address)
	if err == nil && article.Node != nil {
		p.Title, p.Author, p.Site, p.Language = first(article.Title(), p.Title), oneLine(article.Byline()), oneLine(article.SiteName()), first(article.Language(), p.Language)
		if t, err := article.PublishedTime(); err == nil && !t.IsZero() {
			p.Published = t.Format("2006-01-02T15:04:05Z07:00")
		}
		node = article.Node
	}
	if part := mainPart(doc, address); part != nil && utf8.RuneCountInString(text(part)) >= utf8.RuneCountInString(text(node)) || part != nil && node == doc {
		node = part
	}
	if node == doc || sparse(node, doc) {
		node, p.Whole = doc, true
	}
	p.Markdown, err = Convert(node, h)
	return p, err
}

// advertising fits the names that pages use for what is no part of an article.
var advertising = regexp.MustCompile(`(?i)(?:^|[\s_-])(?:ads?|advert\w*|sponsor\w*|promo\w*|related|share|sharing|social|newsletter|subscribe|recirc\w*)(?:$|[\s_-])`)

// asides keeps the boxes beside the prose of an article, which the library leaves out.
func asides(doc *html.Node) {
	for _, a := range all(doc, "article") {
		for _, n := range all(a, "aside") {
			if !advertising.MatchString(attribute(n, "class") + " " + attribute(n, "id")) {
				rename(n, "section")
				n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "class" })
			}
		}
	}
}

// mainPart returns what the page itself names its main part, without menus in it; nil if it names none or several. The library leaves out
// what is in it beside the prose: ingredients of a recipe, figures, comments.
func mainPart(doc *html.Node, address *url.URL) *html.Node {
	var parts []*html.Node
	for d := range doc.Descendants() {
		if d.Type == html.ElementNode && (d.Data == "main" || attribute(d, "role") == "main") {
			parts = append(parts, d)
		}
	}
	if len(parts) != 1 || text(parts[0]) == "" {
		return nil
	}
	part := clone(parts[0])
	for _, menu := range all(part, "nav") {
		if menu.Parent != nil {
			menu.Parent.RemoveChild(menu)
		}
	}
	for _, n := range all(part, "a", "img") {
		key := "href"
		if n.Data == "img" {
			key = "src"
		}
		if to, err := url.Parse(strings.TrimSpace(attribute(n, key))); err == nil && address != nil && !strings.HasPrefix(attribute(n, key), "#") {
			set(n, key, address.ResolveReference(to).String())
		}
	}
	return part
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
