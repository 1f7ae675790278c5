package settings

import (
	"encoding/json"
	"reflect"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Value is one setting in force.
type Value struct {
	Path   string `json:"path"`
	Value  string `json:"value"` // as it would be written; secrets are ***
	Origin Origin `json:"origin"`
	Doc    string `json:"doc,omitempty"`
}

// Values lists every setting in force with its origin, in the order of the settings file. Keys that were found stand as
// providers.NAME.key, hidden.
func (s *Settings) Values() []Value {
	var list []Value
	values(s, reflect.ValueOf(s).Elem(), "", false, &list)
	for _, name := range sortedKeys(s.Providers) {
		if p := s.Providers[name]; p.Key != "" {
			list = append(list, Value{
				Path: "providers." + name + ".key", Value: p.Key.String(), Origin: Origin{Source: SourceEnvironment, Name: p.KeyFrom}, Doc: "Found in " + p.KeyFrom + ".",
			})
		}
	}
	return list
}

func values(s *Settings, v reflect.Value, path string, sparse bool, list *[]Value) {
	for _, f := range fieldsOf(v.Type()) {
		child, path := v.Field(f.index), join(path, f.key)
		switch {
		case sparse && child.IsZero():
		case isSection(child.Type()):
			values(s, child, path, sparse, list)
		case child.Kind() == reflect.Map && child.Type().Elem().Kind() == reflect.Struct:
			for _, name := range sortedNames(child) {
				values(s, child.MapIndex(reflect.ValueOf(name)), join(path, name), true, list)
			}
		default:
			value, _ := yaml.Marshal(node(child)) // a node always marshals
			*list = append(*list, Value{Path: path, Value: string(value[:len(value)-1]), Origin: placeOf(s, path), Doc: f.doc})
		}
	}
}

// MarshalYAML returns the whole tree in its order, with secrets hidden.
func (s *Settings) MarshalYAML() (any, error) { return node(reflect.ValueOf(s).Elem()), nil }

// MarshalJSON returns the whole tree with secrets hidden, and with durations and sizes as words.
func (s *Settings) MarshalJSON() ([]byte, error) {
	var tree any
	if err := node(reflect.ValueOf(s).Elem()).Decode(&tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// node is a value as YAML. Entries of maps leave out what is not set.
func node(v reflect.Value) *yaml.Node {
	switch value := v.Interface().(type) {
	case Capabilities:
		return capabilitiesNode(value)
	case Arguments:
		return node(reflect.ValueOf(shownArguments(value)))
	case interface{ MarshalText() ([]byte, error) }:
		word, _ := value.MarshalText() // Duration, Bytes and Secret never fail
		if v.Kind() == reflect.String && len(word) == 0 {
			return scalarNode("", "!!str")
		}
		return scalarNode(string(word), "")
	}
	switch v.Kind() {
	case reflect.Struct:
		return structNode(v, false)
	case reflect.Map:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, name := range sortedNames(v) {
			entry := v.MapIndex(reflect.ValueOf(name))
			value := entry
			child := node(value)
			if value.Kind() == reflect.Struct {
				child = structNode(value, true)
			}
			n.Content = append(n.Content, scalarNode(name, "!!str"), child)
		}
		return n
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for i := range v.Len() {
			n.Content = append(n.Content, node(v.Index(i)))
		}
		return n
	case reflect.Pointer:
		if v.IsNil() {
			return scalarNode("null", "!!null")
		}
		return node(v.Elem())
	case reflect.String:
		return scalarNode(v.String(), "!!str")
	case reflect.Float64:
		return scalarNode(strconv.FormatFloat(v.Float(), 'f', -1, 64), "")
	}
	return scalarNode(text(v), "")
}

func structNode(v reflect.Value, sparse bool) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fieldsOf(v.Type()) {
		child := v.Field(f.index)
		if sparse && child.IsZero() {
			continue
		}
		value := node(child)
		if child.Kind() == reflect.Struct && sparse && child.Type() != capabilitiesType {
			value = structNode(child, true)
		}
		n.Content = append(n.Content, scalarNode(f.key, ""), value)
	}
	return n
}

func capabilitiesNode(c Capabilities) *yaml.Node {
	if c.IsExact {
		return node(reflect.ValueOf(append([]string{}, c.Exact...)))
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, name := range sortedKeys(c.Flags) {
		n.Content = append(n.Content, scalarNode(name, ""), scalarNode(strconv.FormatBool(c.Flags[name]), ""))
	}
	return n
}

// scalarNode is a word. With the tag of strings, yaml quotes what would be read as something else.
func scalarNode(word, tag string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: word}
}

func sortedNames(m reflect.Value) []string {
	names := map[string]bool{}
	for _, key := range m.MapKeys() {
		names[key.String()] = true
	}
	return sortedKeys(names)
}
