package ingestion

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// Bounds of a template, and of what it makes, in bytes.
const (
	layoutBytes = 64 << 10
	laidOut     = 64 << 20
)

// layout is a person's own layout of notes: text with placeholders such as {{title}}, and a section between {{#pages}} and
// {{/pages}} that is repeated for every page. There are no conditions and nothing is executed, so that a layout always
// comes to its end. What it makes stands between the marks; its properties are added to those of new notes.
type layout struct {
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
var noteWords = map[string]func(*note) (string, error){
	"title":       func(n *note) (string, error) { return markdown.Inline(n.title()), nil },
	"file":        func(n *note) (string, error) { return n.link(0, n.m.Source.Name), nil },
	"facts":       func(n *note) (string, error) { return n.facts(), nil },
	"warnings":    func(n *note) (string, error) { return n.apart(func(n *note) error { n.warnings(); return nil }) },
	"outline":     func(n *note) (string, error) { return n.apart(func(n *note) error { n.outline(); return nil }) },
	"body":        func(n *note) (string, error) { return n.apart(handlerFor(n.m.Source.Kind).write) },
	"author":      func(n *note) (string, error) { return markdown.Inline(n.m.Document.Author), nil },
	"created":     func(n *note) (string, error) { return markdown.Inline(n.m.Document.Created), nil },
	"imported":    func(n *note) (string, error) { return n.m.Import.Started.Format("2006-01-02"), nil },
	"source":      func(n *note) (string, error) { return markdown.Inline(n.m.Source.Path), nil },
	"source_type": func(n *note) (string, error) { return string(n.m.Source.Kind), nil },
	"sha256":      func(n *note) (string, error) { return n.m.Source.SHA256, nil },
	"import_id":   func(n *note) (string, error) { return markdown.Inline(n.m.Import.ID), nil },
	"page_count":  func(n *note) (string, error) { return strconv.Itoa(len(n.m.Pages)), nil },
}

// pageWords are the placeholders of a page.
var pageWords = map[string]func(*note, manifest.Page) (string, error){
	"page":  func(_ *note, p manifest.Page) (string, error) { return strconv.Itoa(p.N), nil },
	"label": func(_ *note, p manifest.Page) (string, error) { return markdown.Inline(p.Label), nil },
	"image": func(_ *note, p manifest.Page) (string, error) {
		if p.Image == nil {
			return "", nil
		}
		return "![[./" + p.Image.Path + "]]", nil
	},
	"link": func(n *note, p manifest.Page) (string, error) { return n.source(p) + " ^p" + strconv.Itoa(p.N), nil },
	"remarks": func(n *note, p manifest.Page) (string, error) {
		return n.apart(func(n *note) error { n.remarks(p); return nil })
	},
	"text": func(n *note, p manifest.Page) (string, error) {
		text, err := n.text(p)
		return strings.ReplaceAll(text, "](../assets/", "](./assets/"), err
	},
}

// readLayout reads a template of the vault.
func readLayout(fsys fs.FS, name string) (layout, error) {
	if !fs.ValidPath(name) {
		return layout{}, errors.New("it is no name within the vault")
	}
	data, err := readBounded(fsys, name, layoutBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return layout{}, errors.New("there is no such note")
	case err != nil:
		return layout{}, err
	case len(data) > layoutBytes:
		return layout{}, fmt.Errorf("it is larger than %d kB", layoutBytes>>10)
	}
	return parseLayout(string(data))
}

func parseLayout(s string) (layout, error) {
	s = markdown.Clean(strings.TrimPrefix(s, "\ufeff"))
	front, body, found := cutFront(s)
	var l layout
	if found {
		if l.properties = mapping(front); l.properties == nil {
			return l, errors.New("its properties cannot be read")
		}
	}
	if markdown.HasMark(body) {
		return l, errors.New("it holds a mark of vaultflow; leave the marks out")
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
func (n *note) lay(parts []layoutPart, page *manifest.Page) error {
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
			return errLaidOut
		}
		n.b.WriteString(text)
		for i := range n.m.Pages {
			if part.pages == nil {
				break
			}
			if err := n.lay(part.pages, &n.m.Pages[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// errLaidOut says that a template makes more than a note holds.
var errLaidOut = fmt.Errorf("it makes a note of more than %d MB", laidOut>>20)

// apart gives what write writes, without empty lines around it.
func (n *note) apart(write func(*note) error) (string, error) {
	part := &note{m: n.m, rec: n.rec, set: n.set, original: n.original, bundle: n.bundle, records: n.records}
	err := write(part)
	return strings.Trim(part.b.String(), "\n"), err
}
