package indexnote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/note"
)

// ownProperties are written by every version, in this order when the note is new.
var ownProperties = []string{
	"title", "aliases", "source", "source_url", "source_type", "imported", "pages", "doubtful_pages", "mode", "languages", "sha256", "author", "created", "tags",
	"import_id", "low_confidence_pages", "cover",
}

// technical are those that only notes of older bundles have. In others they are the user's.
var technical = []string{"mode", "languages", "sha256", "import_id", "low_confidence_pages"}

// ownOf returns a function that reports whether an import writes a property into the note of a bundle.
func ownOf(m *manifest.Manifest) func(key string) bool {
	return func(key string) bool {
		return slices.Contains(ownProperties, key) && (m.Note == "" || !slices.Contains(technical, key))
	}
}

// properties writes the note's frontmatter over that of the version before. Order, comments and the user's own properties stay.
// So does what the user changed or removed of title, author, created, cover, aliases and tags: what differs from base, which is what
// the version before was written with. The others are facts, and are rewritten.
func (n *Note) properties(before *yaml.Node, base map[string]*yaml.Node) (string, error) {
	ours := n.generated()
	fit(n.Types, ours, nil)
	if before == nil {
		before = n.Layout.extra(ours, ownOf(n.Manifest))
	} else {
		for key, keep := range map[string]func(was, has, is *yaml.Node) *yaml.Node{
			"title": keepScalar, "author": keepScalar, "created": keepScalar, "cover": keepScalar, "aliases": keepList, "tags": keepList,
		} {
			ours[key] = keep(base[key], field(before, key), ours[key])
		}
		fit(n.Types, ours, before)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(merge(before, ours, ownOf(n.Manifest))); err != nil {
		return "", fmt.Errorf("write properties: %w", err)
	}
	if front := b.String(); mapping(front) != nil {
		return "---\n" + front + "---\n", nil
	}
	return "", errNoMerge
}

// extra returns the properties of the user's layout for a new note, and adds its tags and aliases to ours. Ours win over others of
// the same name.
func (l *Layout) extra(ours map[string]*yaml.Node, own func(key string) bool) *yaml.Node {
	if l == nil || l.properties == nil {
		return nil
	}
	extra := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(l.properties.Content); i += 2 {
		key, value := l.properties.Content[i], l.properties.Content[i+1]
		switch {
		case key.Value == "tags" || key.Value == "aliases":
			ours[key.Value] = keepList(nil, value, ours[key.Value])
		case !own(key.Value):
			extra.Content = append(extra.Content, key, value)
		}
	}
	return extra
}

// errNoMerge reports properties that cannot be merged, such as those with an alias of a value that is ours.
var errNoMerge = errors.New("the properties cannot be merged")

// generated returns the properties that this version writes, with nil for those it does not have.
func (n *Note) generated() map[string]*yaml.Node {
	ours := map[string]*yaml.Node{
		"title":       text(n.title()),
		"aliases":     list(aliasOf(n.Manifest)),
		"source":      text(n.Manifest.Source.Path),
		"source_url":  text(n.Manifest.Source.URL),
		"source_type": text(string(n.Manifest.Source.Kind)),
		"imported":    text(n.Manifest.Import.Started.Format(manifest.LocalTime)),
		"author":      text(n.Manifest.Document.Author),
		"created":     text(n.Manifest.Document.Created),
		"tags":        list(n.Manifest.Import.Tags),
	}
	pages := len(n.Manifest.Pages) > 0 && n.Manifest.Source.Kind != filetype.KindAudio
	if pages {
		ours["pages"] = scalar("!!int", strconv.Itoa(len(n.Manifest.Pages)))
	}
	ours["doubtful_pages"] = numbers(n.Manifest.Doubtful())
	if n.Manifest.Note != "" {
		ours["cover"] = text(cover(n.Manifest))
		return ours
	}
	// Notes of older bundles keep their technical facts. Of others, the manifest has them.
	ours["languages"] = list(n.languages())
	ours["sha256"] = text(n.Manifest.Source.SHA256)
	ours["import_id"] = text(n.Manifest.Import.ID)
	ours["low_confidence_pages"] = numbers(n.lowPages())
	if pages {
		ours["mode"] = text(n.Manifest.Import.Mode)
	}
	return ours
}

// fit converts properties to the forms of their types. What would lose something stays as it is, and so does what the user wrote.
func fit(types note.Types, properties map[string]*yaml.Node, users *yaml.Node) {
	for name, node := range properties {
		if node == nil || len(types) == 0 || node == field(users, name) {
			continue
		}
		switch fitting, ok := types.Fit(name, valueOf(node)); v := fitting.(type) {
		case string:
			if ok && node.Value != v {
				properties[name] = text(v)
			}
			if ok && node.Kind == yaml.ScalarNode && node.Tag != "!!str" {
				properties[name] = text(v)
			}
			if _, err := time.Parse(time.DateOnly, v); ok && err == nil {
				properties[name] = scalar("!!timestamp", v) // without quotes
			}
		case []any:
			if ok && node.Kind == yaml.ScalarNode {
				properties[name] = list([]string{v[0].(string)})
			}
		case json.Number:
			if ok && node.Tag == "!!str" {
				properties[name] = scalar("!!float", v.String())
			}
		}
	}
}

// valueOf returns the value of a property that an import writes: a text, a number or a list of texts.
func valueOf(n *yaml.Node) any {
	switch {
	case n.Kind == yaml.SequenceNode:
		all := []any{}
		for _, item := range n.Content {
			all = append(all, valueOf(item))
		}
		return all
	case n.Tag == "!!int":
		return json.Number(n.Value)
	}
	return n.Value
}

// cover returns a link to the first picture, which views of notes as cards show, or "".
func cover(m *manifest.Manifest) string {
	for _, p := range m.Pages {
		if p.Image != nil {
			return "[[./" + p.Image.Path + "]]"
		}
	}
	for _, a := range m.Assets {
		if strings.HasPrefix(a.MediaType, "image/") && path.Dir(a.Path) != manifest.AttachedDir {
			return "[[./" + a.Path + "]]"
		}
	}
	return ""
}

// baseProperties returns the properties that a version was written with. The user may have changed some since.
func baseProperties(m manifest.Manifest, types note.Types) map[string]*yaml.Node {
	if len(m.Import.Tags) == 0 { // an older program did not note them
		m.Import.Tags = []string{"imported/" + string(m.Source.Kind)}
	}
	base := (&Note{Manifest: &m}).generated()
	fit(types, base, nil)
	return base
}

// merge puts our values into the user's properties, in their order; new ones follow in ours.
func merge(before *yaml.Node, ours map[string]*yaml.Node, own func(key string) bool) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	seen := map[string]bool{}
	if before != nil {
		m.HeadComment, m.FootComment = before.HeadComment, before.FootComment
		for i := 0; i+1 < len(before.Content); i += 2 {
			key, value := before.Content[i], before.Content[i+1]
			if own(key.Value) {
				is := ours[key.Value]
				if is == nil || seen[key.Value] {
					continue
				}
				if is != value {
					is.HeadComment, is.LineComment, is.FootComment = value.HeadComment, value.LineComment, value.FootComment
				}
				value = is
			}
			seen[key.Value] = true
			m.Content = append(m.Content, key, value)
		}
	}
	for _, key := range ownProperties {
		if ours[key] != nil && !seen[key] {
			m.Content = append(m.Content, text(key), ours[key])
		}
	}
	return m
}

// keepScalar returns the user's value if it differs from what we wrote, else ours.
func keepScalar(was, has, is *yaml.Node) *yaml.Node {
	switch {
	case has == nil && was != nil:
		return nil // it was taken away
	case has == nil || was != nil && has.Kind == yaml.ScalarNode && has.Value == was.Value:
		return is
	}
	return has
}

// keepList returns the user's list with our new entries, without those of ours that are gone.
func keepList(was, has, is *yaml.Node) *yaml.Node {
	before, all := values(was), values(is)
	var kept []string
	for _, v := range values(has) {
		if slices.Contains(all, v) || !slices.Contains(before, v) {
			kept = append(kept, v)
		}
	}
	for _, v := range all {
		if !slices.Contains(before, v) && !slices.Contains(kept, v) {
			kept = append(kept, v)
		}
	}
	if has != nil && slices.Equal(kept, values(has)) {
		return has // as it was written
	}
	return list(kept)
}

// values returns the values of a list, or of a text with commas between them.
func values(n *yaml.Node) []string {
	var all []string
	switch {
	case n == nil:
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			all = append(all, c.Value)
		}
	case n.Kind == yaml.ScalarNode:
		for v := range strings.SplitSeq(n.Value, ",") {
			all = append(all, strings.TrimSpace(v))
		}
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// aliasOf makes the note findable by the name of the file, if the note has another name.
func aliasOf(m *manifest.Manifest) []string {
	name := m.Source.Shown()
	if i := strings.LastIndex(name, "."); i > 0 {
		name = name[:i]
	}
	if strings.EqualFold(name, strings.TrimSuffix(m.NoteName(), ".md")) {
		return nil
	}
	return []string{name}
}

// languages returns the languages of text recognition, or none if no page needed it.
func (n *Note) languages() []string {
	if n.Manifest.Source.Kind == filetype.KindAudio {
		return nil // they are those of text in pictures
	}
	var all []string
	for _, p := range n.Manifest.Pages {
		if p.OCR == nil || p.OCR.Engine == "" {
			continue
		}
		read := p.OCR.Languages
		if len(read) == 0 {
			read = n.Settings.Languages // of an older version
		}
		for _, language := range read {
			if !slices.Contains(all, language) {
				all = append(all, language)
			}
		}
	}
	return all
}

func (n *Note) lowPages() []int {
	var pages []int
	for _, p := range n.Manifest.Pages {
		if p.LowConfidence(n.Settings.MinConfidence) {
			pages = append(pages, p.N)
		}
	}
	return pages
}

// text is a string value, quoted where YAML would read something else; nil if empty.
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

// field returns the value of a property, or nil if there is none.
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
