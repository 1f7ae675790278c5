package settings

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Describe returns the whole tree as YAML with secrets hidden. A comment after each value that is not a default names the
// file and line, variable or flag it comes from.
func (s *Settings) Describe() ([]byte, error) {
	tree := node(reflect.ValueOf(s).Elem())
	annotate(s, tree, "")
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(4)
	if err := enc.Encode(tree); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

func annotate(s *Settings, n *yaml.Node, path string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := join(path, key.Value)
		if value.Kind == yaml.MappingNode && value.Style != yaml.FlowStyle && len(value.Content) > 0 {
			annotate(s, value, at)
			continue
		}
		if from := placeOf(s, at); from.Source != SourceDefault && from.Source != "" {
			value.LineComment = "# " + brief(s, from)
		}
	}
}

// brief describes an origin in few words; the top of `vaultflow config` lists the files.
func brief(s *Settings, at Origin) string {
	o := at
	switch at.Source {
	case SourceFile:
		o.Name = filepath.Base(at.Name)
	case SourceUser:
		o.Name = "your settings"
	}
	return strings.ReplaceAll(o.String(), "\n", " ")
}

// Part is a source of settings and the keys it sets.
type Part struct {
	Source Source   // user, settings, environment or flag
	Name   string   // path of the file; empty for the others
	Keys   []string // dotted paths; an entry of a table counts as one, such as providers.lab
}

// Parts lists the sources of the values in force, weakest first, without the defaults.
func (s *Settings) Parts() []Part {
	var parts []Part
	for _, v := range s.Values() {
		if v.Origin.Source == SourceDefault || v.Origin.Source == "" || strings.HasPrefix(v.Path, "providers.") && strings.HasSuffix(v.Path, ".key") {
			continue
		}
		name, key := "", tableEntry(v.Path)
		if v.Origin.Source.isFile() {
			name = v.Origin.Name
		}
		i := slices.IndexFunc(parts, func(p Part) bool { return p.Source == v.Origin.Source && p.Name == name })
		if i < 0 {
			parts, i = append(parts, Part{Source: v.Origin.Source, Name: name}), len(parts)
		}
		if !slices.Contains(parts[i].Keys, key) {
			parts[i].Keys = append(parts[i].Keys, key)
		}
	}
	order := []Source{SourceUser, SourceFile, SourceEnvironment, SourceFlag}
	slices.SortStableFunc(parts, func(a, b Part) int { return slices.Index(order, a.Source) - slices.Index(order, b.Source) })
	return parts
}

// tableEntry returns the path of the table entry that contains a path, or the path itself.
func tableEntry(path string) string {
	for _, table := range []struct {
		name  string
		parts int
	}{{"models.aliases.", 3}, {"providers.", 2}, {"mcp_servers.", 2}} {
		if parts := strings.Split(path, "."); strings.HasPrefix(path, table.name) && len(parts) > table.parts {
			return strings.Join(parts[:table.parts], ".")
		}
	}
	return path
}
