package web

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"
)

// part is a piece of a page that is updated on its own: an element with an id that is unique on the page.
type part struct {
	ID   string
	HTML template.HTML // the whole element
	hash string
}

// group is a list of parts: the children of the element whose id is Name.
type group struct {
	Name  string
	Parts []part
}

// HTML is all parts, without anything between them: an empty group is an :empty element.
func (g group) HTML() template.HTML {
	var b strings.Builder
	for _, p := range g.Parts {
		b.WriteString(string(p.HTML))
	}
	return template.HTML(b.String()) //nolint:gosec // put together from template output
}

// part renders a template into a list item. Key makes the id; whatever it holds, the id is plain.
func (p *pages) part(group, key, class, name string, data any) (part, error) {
	var inner bytes.Buffer
	if err := p.parts.ExecuteTemplate(&inner, name, data); err != nil {
		return part{}, fmt.Errorf("render %s: %w", name, err)
	}
	hash := digest(append(inner.Bytes(), class...))
	id := group + "-" + digest([]byte(key))
	var outer bytes.Buffer
	err := p.parts.ExecuteTemplate(&outer, "item", map[string]any{
		"ID": id, "Hash": hash, "Class": class, "Inner": template.HTML(inner.String()), //nolint:gosec // template output
	})
	if err != nil {
		return part{}, fmt.Errorf("render %s: %w", name, err)
	}
	return part{ID: id, HTML: template.HTML(outer.String()), hash: hash}, nil //nolint:gosec // template output
}
