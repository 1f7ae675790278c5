package ingestion

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// ownProperties are written anew with each version. All others are the person's, and so are aliases and tags once they
// are there: of these, ours are only added.
var ownProperties = []string{
	"title", "aliases", "source", "source_type", "imported", "pages", "mode", "languages", "sha256", "author", "created", "tags",
	"import_id", "low_confidence_pages",
}

const localTime = "2006-01-02T15:04:05"

// properties writes the note's frontmatter over that of the version before, which may be nil.
func (n *note) properties(before *yaml.Node) (string, error) {
	m := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, value *yaml.Node) {
		if value != nil {
			m.Content = append(m.Content, text(key), value)
		}
	}
	add("title", text(n.title()))
	add("aliases", union(field(before, "aliases"), n.rec.aliasOf(n.m.Source.Name)))
	add("source", text(n.m.Source.Path))
	add("source_type", text(string(n.m.Source.Kind)))
	add("imported", text(n.m.Import.Started.Format(localTime)))
	if len(n.m.Pages) > 0 {
		add("pages", scalar("!!int", strconv.Itoa(len(n.m.Pages))))
		add("mode", text(n.m.Import.Mode))
	}
	add("languages", list(n.languages()))
	add("sha256", text(n.m.Source.SHA256))
	add("author", text(n.rec.Document.Author))
	add("created", text(n.rec.Document.Created))
	add("tags", union(field(before, "tags"), []string{"imported/" + string(n.m.Source.Kind)}))
	add("import_id", text(n.m.Import.ID))
	add("low_confidence_pages", numbers(n.lowPages()))
	keepOthers(m, before)
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(m); err != nil {
		return "", fmt.Errorf("write properties: %w", err)
	}
	return "---\n" + b.String() + "---\n", nil
}

// aliasOf makes the note findable by the name of the file: it is called index.md, as all of them are.
func (rec documentRecord) aliasOf(name string) []string {
	if i := strings.LastIndex(name, "."); i > 0 {
		name = name[:i]
	}
	return []string{name}
}

// languages are those that text was recognised in; none when no page needed it.
func (n *note) languages() []string {
	used := func(p Page) bool { return p.OCR != nil && p.OCR.Engine != "" }
	if !slices.ContainsFunc(n.m.Pages, used) {
		return nil
	}
	return n.set.OCR.Languages
}

func (n *note) lowPages() []int {
	var pages []int
	for _, p := range n.m.Pages {
		if low(p, n.set.OCR.MinConfidence) {
			pages = append(pages, p.N)
		}
	}
	return pages
}

func keepOthers(m, before *yaml.Node) {
	if before == nil {
		return
	}
	for i := 0; i+1 < len(before.Content); i += 2 {
		if !slices.Contains(ownProperties, before.Content[i].Value) {
			m.Content = append(m.Content, before.Content[i], before.Content[i+1])
		}
	}
}

// text is a string value, quoted where YAML would take it for something else; nil when empty.
func text(s string) *yaml.Node { return scalar("!!str", s) }

func scalar(tag, s string) *yaml.Node {
	if s == "" {
		return nil
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s}
	if tag == "!!str" {
		n.SetString(s)
	}
	return n
}

func list(values []string) *yaml.Node {
	if len(values) == 0 {
		return nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		n.Content = append(n.Content, text(v))
	}
	return n
}

func numbers(values []int) *yaml.Node {
	if len(values) == 0 {
		return nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		n.Content = append(n.Content, scalar("!!int", strconv.Itoa(v)))
	}
	return n
}

// union adds values to a list that a person may have edited.
func union(before *yaml.Node, values []string) *yaml.Node {
	var all []string
	if before != nil {
		switch before.Kind {
		case yaml.SequenceNode:
			for _, c := range before.Content {
				all = append(all, c.Value)
			}
		case yaml.ScalarNode:
			all = append(all, before.Value)
		}
	}
	for _, v := range values {
		if v != "" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return list(slices.DeleteFunc(all, func(s string) bool { return s == "" }))
}

// field gives the value of a property, nil when there is none.
func field(m *yaml.Node, key string) *yaml.Node {
	if m == nil {
		return nil
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

var pdfDate = regexp.MustCompile(`^(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?`)

// moment reads the date of a document (ISO 32000-1 section 7.9.4, or RFC 3339) as local time there; empty when it is none.
func moment(s string) string {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339, localTime, "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format(localTime)
		}
	}
	found := pdfDate.FindStringSubmatch(s)
	if found == nil {
		return ""
	}
	digits := found[1]
	for i, otherwise := range []string{"01", "01", "00", "00", "00"} {
		if part := found[i+2]; part != "" {
			otherwise = part
		}
		digits += otherwise
	}
	t, err := time.Parse("20060102150405", digits)
	if err != nil || t.Year() < 1000 {
		return ""
	}
	return t.Format(localTime)
}
