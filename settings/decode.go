package settings

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"

	"gopkg.in/yaml.v3"
)

// maxNodes bounds how far YAML aliases may expand.
const maxNodes = 20_000

// decoder decodes a YAML tree into the settings and reports everything that does not fit.
type decoder struct {
	*reporter
	source  Source
	name    string // file path, or name of the variable or flag
	origins map[string]Origin
	nodes   int
}

func (d *decoder) at(n *yaml.Node) Origin {
	o := Origin{Source: d.source, Name: d.name}
	if d.source.isFile() {
		o.Line, o.Column = n.Line, n.Column
	}
	return o
}

func (d *decoder) fault(n *yaml.Node, code, suggestion, format string, args ...any) {
	d.report(d.at(n), diag.SeverityError, code, suggestion, format, args...)
}

// value decodes a node into v. A null leaves v as it is.
func (d *decoder) value(path string, n *yaml.Node, v reflect.Value, f field) {
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.fault(n, CodeSyntax, "", "the file is too large")
		}
		return
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	switch t := v.Type(); {
	case t == capabilitiesType:
		d.capabilities(path, n, v)
	case t.Kind() == reflect.Struct:
		d.section(path, n, v)
	case t.Kind() == reflect.Map:
		d.table(path, n, v, f)
	case t.Kind() == reflect.Slice:
		d.list(path, n, v, f)
	case t.Kind() == reflect.Pointer:
		target := reflect.New(t.Elem())
		if d.scalar(path, n, target.Elem(), f) {
			v.Set(target)
		}
	default:
		d.scalar(path, n, v, f)
	}
}

// pairs visits the keys and values of a mapping and reports duplicate keys.
func (d *decoder) pairs(path string, n *yaml.Node, each func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.fault(n, CodeType, "", "%s takes keys, not %s", shown(path), article(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			d.fault(key, CodeType, "", "a key of %s is %s, but must be a word", shown(path), article(key))
			continue
		}
		if line, twice := seen[key.Value]; twice {
			d.fault(key, CodeTwice, "", "%s is set twice, first in line %d", join(path, key.Value), line)
			continue
		}
		seen[key.Value] = key.Line
		each(key, n.Content[i+1])
	}
}

func (d *decoder) section(path string, n *yaml.Node, v reflect.Value) {
	fields := fieldsOf(v.Type())
	d.pairs(path, n, func(key, value *yaml.Node) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key.Value })
		if i < 0 {
			d.unknown(path, key, fields)
			return
		}
		d.value(join(path, key.Value), value, v.Field(fields[i].index), fields[i])
	})
}

// unknown reports an unknown key and suggests the nearest one, or the section that has a key of this name.
func (d *decoder) unknown(path string, key *yaml.Node, fields []field) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	suggestion := "known are " + strings.Join(names, ", ")
	if near := diag.Nearest(key.Value, names); near != "" {
		suggestion = fmt.Sprintf("did you mean %q?", near)
	} else if elsewhere := pathsOf(key.Value); len(elsewhere) > 0 && len(elsewhere) <= 3 {
		suggestion = "it belongs to " + strings.Join(elsewhere, " or ")
	}
	d.fault(key, CodeUnknownKey, suggestion, "%s has no key %q", shown(path), key.Value)
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]*$`)

// table decodes a map. A flag changes the existing entry; the entries of files are combined later.
func (d *decoder) table(path string, n *yaml.Node, v reflect.Value, f field) {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	d.pairs(path, n, func(key, value *yaml.Node) {
		if !nameForm.MatchString(key.Value) {
			d.fault(key, CodeValue, "use letters, digits and - _ . : /", "%q is not a valid name for an entry of %s", key.Value, shown(path))
			return
		}
		name := reflect.ValueOf(key.Value).Convert(v.Type().Key())
		entry := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(name); d.source == SourceFlag && old.IsValid() {
			entry.Set(old)
		}
		d.origins[join(path, key.Value)] = d.at(key)
		d.value(join(path, key.Value), value, entry, f)
		v.SetMapIndex(name, entry)
	})
}

// list decodes a list of words. In variables and flags it is one text with commas.
func (d *decoder) list(path string, n *yaml.Node, v reflect.Value, f field) {
	items := n.Content
	switch {
	case n.Kind == yaml.ScalarNode && !d.source.isFile():
		items = nil
		for part := range strings.SplitSeq(n.Value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				items = append(items, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: part})
			}
		}
	case n.Kind != yaml.SequenceNode:
		d.fault(n, CodeType, fmt.Sprintf("write [%s]", n.Value), "%s is a list, not %s", path, article(n))
		return
	}
	list := reflect.MakeSlice(v.Type(), 0, len(items))
	for _, item := range items {
		element := reflect.New(v.Type().Elem()).Elem()
		if item.Kind == yaml.ScalarNode && item.Value == "" {
			d.fault(item, CodeValue, "", "%s has an empty entry", path)
		} else if d.scalar(path, item, element, f) {
			list = reflect.Append(list, element)
		}
	}
	v.Set(list)
	d.origins[path] = d.at(n)
}

func (d *decoder) capabilities(path string, n *yaml.Node, v reflect.Value) {
	c := Capabilities{}
	known := func(key *yaml.Node) bool {
		if slices.Contains(capabilityNames, key.Value) {
			return true
		}
		d.fault(key, CodeValue, guess(key.Value, capabilityNames), "there is no capability %q", key.Value)
		return false
	}
	switch n.Kind {
	case yaml.SequenceNode:
		c.IsExact = true
		for _, item := range n.Content {
			if known(item) {
				c.Exact = append(c.Exact, item.Value)
			}
		}
	case yaml.MappingNode:
		c.Flags = map[string]bool{}
		d.pairs(path, n, func(key, value *yaml.Node) {
			var on bool
			if known(key) && d.scalar(join(path, key.Value), value, reflect.ValueOf(&on).Elem(), field{}) {
				c.Flags[key.Value] = on
			}
		})
		if on, said := c.Flags["text"]; said && !on {
			d.fault(n, CodeValue, "", "capability text cannot be turned off")
		}
	default:
		d.fault(n, CodeType, "write [text, vision] for the exact set, or {vision: true} to turn one on", "%s takes a list or keys, not %s", path, article(n))
		return
	}
	v.Set(reflect.ValueOf(c))
	d.origins[path] = d.at(n)
}

func shown(path string) string {
	if path == "" {
		return "settings"
	}
	return path
}

func article(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys"
	case yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%q", n.Value)
}

// guess suggests the nearest name, or lists all of them.
func guess(word string, names []string) string {
	if near := diag.Nearest(word, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known are " + strings.Join(names, ", ")
}

// pathsOf lists the paths outside maps whose last part is the key.
func pathsOf(key string) []string {
	var found []string
	walk(reflect.ValueOf(Settings{}), "", func(path string, f field, _ reflect.Value) {
		if f.key == key {
			found = append(found, path)
		}
	})
	return found
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
