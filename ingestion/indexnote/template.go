package indexnote

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// Bounds of a template, and of what it makes, in bytes.
const (
	MaxLayout = 64 << 10
	laidOut   = 64 << 20
)

// Layout is a user's own layout of notes: text with placeholders such as {{title}}, and a section between {{#pages}} and
// {{/pages}} that is repeated for every page. There are no conditions and nothing is executed, so that a layout always
// comes to its end. What it makes stands between the marks; its properties are added to those of new notes.
type Layout struct {
	properties *yaml.Node
	parts      []layoutPart
}

// layoutPart is literal text, a placeholder, or a section.
type layoutPart struct {
	text  string
	name  string
	pages []layoutPart
}

// noteWords are the placeholders of a note.
var noteWords = map[string]func(*Note) (string, error){
	"title":       func(n *Note) (string, error) { return markdown.Inline(n.title()), nil },
	"file":        func(n *Note) (string, error) { return n.link(0, n.Manifest.Source.Shown()), nil },
	"facts":       func(n *Note) (string, error) { return n.facts(), nil },
	"warnings":    func(n *Note) (string, error) { return n.apart(func(n *Note) error { n.warnings(); return nil }) },
	"outline":     func(n *Note) (string, error) { return n.apart(func(n *Note) error { n.contents(); return nil }) },
	"document":    func(n *Note) (string, error) { return markdown.Inline(documentTitle(n.Manifest)), nil },
	"body":        func(n *Note) (string, error) { return n.apart(writeBody) },
	"author":      func(n *Note) (string, error) { return markdown.Inline(n.Manifest.Document.Author), nil },
	"created":     func(n *Note) (string, error) { return markdown.Inline(n.Manifest.Document.Created), nil },
	"imported":    func(n *Note) (string, error) { return n.Manifest.Import.Started.Format("2006-01-02"), nil },
	"source":      func(n *Note) (string, error) { return markdown.Inline(n.Manifest.Source.Path), nil },
	"source_type": func(n *Note) (string, error) { return string(n.Manifest.Source.Kind), nil },
	"sha256":      func(n *Note) (string, error) { return n.Manifest.Source.SHA256, nil },
	"import_id":   func(n *Note) (string, error) { return markdown.Inline(n.Manifest.Import.ID), nil },
	"page_count":  func(n *Note) (string, error) { return strconv.Itoa(len(n.Manifest.Pages)), nil },
}

// pageWords are the placeholders of a page.
var pageWords = map[string]func(*Note, manifest.Page) (string, error){
	"page":  func(_ *Note, p manifest.Page) (string, error) { return strconv.Itoa(p.N), nil },
	"label": func(_ *Note, p manifest.Page) (string, error) { return markdown.Inline(p.Label), nil },
	"image": func(n *Note, p manifest.Page) (string, error) {
		if p.Image == nil {
			return "", nil
		}
		return "![[" + n.here() + p.Image.Path + "]]", nil
	},
	"link": func(n *Note, p manifest.Page) (string, error) { return n.source(p) + " ^p" + strconv.Itoa(p.N), nil },
	"remarks": func(n *Note, p manifest.Page) (string, error) {
		return n.apart(func(n *Note) error { n.remarks(p); return nil })
	},
	"text": func(n *Note, p manifest.Page) (string, error) { return n.text(p) },
}

// ParseLayout reads the text of a template.
func ParseLayout(s string) (Layout, error) {
	s = markdown.Clean(strings.TrimPrefix(s, "\ufeff"))
	front, body, found := CutFront(s)
	var l Layout
	if found {
		if l.properties = mapping(front); l.properties == nil {
			return l, errors.New("its properties cannot be read")
		}
	}
	if markdown.HasMark(body) {
		return l, errors.New("it contains a mark of vaultflow; remove it")
	}
	p := layoutParser{rest: body, line: 1 + strings.Count(s, "\n") - strings.Count(body, "\n")}
	var err error
	l.parts, err = p.parts(false)
	return l, err
}

// layoutParser reads a template from its beginning.
type layoutParser struct {
	rest string
	line int // of rest, for messages
}

func (p *layoutParser) fault(format string, args ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{p.line}, args...)...)
}

// parts reads to the end of the section that it is in, or of the text.
func (p *layoutParser) parts(inPages bool) ([]layoutPart, error) {
	var list []layoutPart
	for {
		text, rest, found := strings.Cut(p.rest, "{{")
		if list = append(list, layoutPart{text: text}); !found {
			if inPages {
				return nil, p.fault("{{#pages}} has no {{/pages}}")
			}
			return list, nil
		}
		p.line += strings.Count(text, "\n")
		word, rest, closed := strings.Cut(rest, "}}")
		if !closed || strings.Contains(word, "\n") {
			return nil, p.fault("{{ without }}")
		}
		word, p.rest = strings.TrimSpace(word), rest
		_, ofNote := noteWords[word]
		_, ofPage := pageWords[word]
		switch {
		case word == "#pages" && !inPages:
			pages, err := p.parts(true)
			if err != nil {
				return nil, err
			}
			list = append(list, layoutPart{pages: pages})
		case word == "/pages" && inPages:
			return list, nil
		case ofNote || inPages && ofPage:
			list = append(list, layoutPart{name: word})
		case ofPage:
			return nil, p.fault("{{%s}} is of a page: it stands between {{#pages}} and {{/pages}}", word)
		default:
			return nil, p.fault("there is no {{%s}}; there are %s", markdown.OneLine(word, 60), strings.Join(layoutWords(), ", "))
		}
	}
}

func layoutWords() []string {
	words := []string{"#pages", "/pages"}
	for w := range noteWords {
		words = append(words, w)
	}
	for w := range pageWords {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}

// lay writes what the parts make of a note, and of a page when there is one.
func (n *Note) lay(parts []layoutPart, page *manifest.Page) error {
	for _, part := range parts {
		text, err := part.text, error(nil)
		switch {
		case page != nil && pageWords[part.name] != nil:
			text, err = pageWords[part.name](n, *page)
		case part.name != "":
			text, err = noteWords[part.name](n)
		}
		if err != nil {
			return err
		}
		if n.b.Len()+len(text) > laidOut {
			return ErrTooLarge
		}
		n.b.WriteString(text)
		if part.pages != nil && n.divided() {
			chapters, _ := n.apart(func(n *Note) error { writeOverview(n); return nil })
			n.b.WriteString(chapters)
			continue
		}
		for i := range n.Manifest.Pages {
			if part.pages == nil {
				break
			}
			if err := n.lay(part.pages, &n.Manifest.Pages[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// ErrTooLarge is returned for a template that makes more than a note may hold.
var ErrTooLarge = fmt.Errorf("it makes a note of more than %d MB", laidOut>>20)

// apart returns what write writes, without empty lines around it.
func (n *Note) apart(write func(*Note) error) (string, error) {
	part := &Note{
		Manifest: n.Manifest, Message: n.Message, Outline: n.Outline, Settings: n.Settings, Original: n.Original, Bundle: n.Bundle, chapter: n.chapter,
	}
	err := write(part)
	return strings.Trim(part.b.String(), "\n"), err
}
