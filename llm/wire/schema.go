package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// SchemaRules describe the part of JSON Schema that a service can enforce.
type SchemaRules struct {
	Keywords    []string // supported; annotations ($schema, $comment, examples, …) are removed and need not be listed
	Constraints []string // unsupported, but optional: they are moved into the description
	Formats     []string // supported values of "format"
	AllRequired bool     // every property of an object must be required
	Close       bool     // objects without it get additionalProperties: false; otherwise they must have it
	MaxOptional int      // properties that are not required, in all; 0: any number
	MaxUnions   int      // uses of anyOf and of lists of types, in all; 0: any number
}

// annotations do not constrain an answer.
var annotations = []string{"$schema", "$id", "$comment", "examples", "default", "deprecated", "readOnly", "writeOnly"}

// Fit returns the schema as the service accepts it; false if the service cannot enforce it: then instruct the model
// (InstructSchema). What fits the returned schema fits the original, apart from dropped constraints. The order of members is
// lost.
func (r SchemaRules) Fit(schema json.RawMessage) (json.RawMessage, bool) {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root map[string]any
	if dec.Decode(&root) != nil || root["type"] != "object" {
		return nil, false
	}
	f := &fitting{rules: r, root: root}
	if !f.schema(root) || f.circular() || r.MaxOptional > 0 && f.optional > r.MaxOptional || r.MaxUnions > 0 && f.unions > r.MaxUnions {
		return nil, false
	}
	data, err := marshal(root)
	return data, err == nil
}

type fitting struct {
	rules            SchemaRules
	root             map[string]any
	optional, unions int
}

// schema fits one schema in place.
func (f *fitting) schema(s map[string]any) bool {
	for _, name := range annotations {
		delete(s, name)
	}
	f.moveConstraints(s)
	for name := range s {
		if !slices.Contains(f.rules.Keywords, name) {
			return false
		}
	}
	if list, ok := s["type"].([]any); ok && len(list) > 1 {
		f.unions++
	}
	if said, ok := s["format"].(string); ok && !slices.Contains(f.rules.Formats, said) {
		return false
	}
	return f.object(s) && plainValues(s) && f.inside(s)
}

// moveConstraints moves what the service does not check into the description.
func (f *fitting) moveConstraints(s map[string]any) {
	var told []string
	for _, name := range f.rules.Constraints {
		value, ok := s[name]
		if !ok || f.checks(name, value) {
			continue
		}
		if text, err := marshal(value); err == nil {
			told = append(told, name+": "+string(text))
		}
		delete(s, name)
	}
	if len(told) == 0 {
		return
	}
	said, _ := s["description"].(string) // none is ""
	s["description"] = strings.TrimSpace(said + " (" + strings.Join(told, ", ") + ")")
}

// checks reports whether the service checks a constraint with this value: a supported format, or minItems of 0 or 1.
func (f *fitting) checks(name string, value any) bool {
	if !slices.Contains(f.rules.Keywords, name) {
		return false
	}
	switch name {
	case "format":
		said, ok := value.(string)
		return ok && slices.Contains(f.rules.Formats, said)
	case "minItems":
		return value == json.Number("0") || value == json.Number("1")
	}
	return true
}

// object closes an object, or checks that it is closed.
func (f *fitting) object(s map[string]any) bool {
	properties, has := s["properties"].(map[string]any)
	if !has && s["type"] != "object" {
		return s["additionalProperties"] == nil && s["required"] == nil && s["properties"] == nil
	}
	if _, said := s["additionalProperties"]; !said && f.rules.Close && has {
		s["additionalProperties"] = false
	}
	if s["additionalProperties"] != false || !has {
		return false
	}
	required, _ := s["required"].([]any) // none: none is required
	for _, name := range required {
		if key, ok := name.(string); !ok || properties[key] == nil {
			return false
		}
	}
	f.optional += len(properties) - len(required)
	if f.rules.AllRequired && len(required) != len(properties) {
		return false
	}
	return f.all(properties)
}

// plainValues reports whether enum and const hold neither lists nor objects.
func plainValues(s map[string]any) bool {
	values, _ := s["enum"].([]any) // none: nothing to look at
	if value, ok := s["const"]; ok {
		values = append(slices.Clone(values), value)
	}
	return !slices.ContainsFunc(values, func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
}

// inside fits the schemas in a schema, including definitions, and checks that references lead to one of them.
func (f *fitting) inside(s map[string]any) bool {
	if items, ok := s["items"]; ok {
		if one, ok := items.(map[string]any); !ok || !f.schema(one) {
			return false
		}
	}
	if list, ok := s["anyOf"].([]any); ok {
		f.unions++
		for _, v := range list {
			if one, ok := v.(map[string]any); !ok || !f.schema(one) {
				return false
			}
		}
	}
	for _, name := range definitions {
		if defs, ok := s[name].(map[string]any); ok && !f.all(defs) {
			return false
		}
	}
	ref, ok := s["$ref"].(string)
	if ok {
		_, ok = f.find(ref)
		return ok
	}
	return s["$ref"] == nil
}

// all fits every schema of a map.
func (f *fitting) all(schemas map[string]any) bool {
	for _, v := range schemas { // fit or not: the order does not matter
		if one, ok := v.(map[string]any); !ok || !f.schema(one) {
			return false
		}
	}
	return true
}

// definitions are the members of the root that references may point to.
var definitions = []string{"$defs", "definitions"}

// find resolves a reference such as "#/$defs/page".
func (f *fitting) find(ref string) (map[string]any, bool) {
	for _, name := range definitions {
		if key, ok := strings.CutPrefix(ref, "#/"+name+"/"); ok {
			defs, _ := f.root[name].(map[string]any) // none: nothing is found
			target, ok := defs[key].(map[string]any)
			return target, ok
		}
	}
	return nil, false
}

// circular reports whether a definition leads back to itself.
func (f *fitting) circular() bool {
	const open, done = 1, 2
	state := map[string]int{}
	var visit func(ref string) bool
	visit = func(ref string) bool {
		if state[ref] != 0 {
			return state[ref] == open
		}
		state[ref] = open
		target, _ := f.find(ref) // inside has checked it
		if slices.ContainsFunc(references(target, nil), visit) {
			return true
		}
		state[ref] = done
		return false
	}
	return slices.ContainsFunc(references(f.root, nil), visit)
}

// references collects every $ref in a value.
func references(v any, refs []string) []string {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			refs = append(refs, ref)
		}
		for _, inner := range v { // only whether there is a circle counts: the order does not matter
			refs = references(inner, refs)
		}
	case []any:
		for _, inner := range v {
			refs = references(inner, refs)
		}
	}
	return refs
}

// InstructSchema adds to a system prompt that the answer must be JSON of a schema, for services that cannot enforce it, or
// enforce it without showing the schema to the model.
func InstructSchema(system string, schema json.RawMessage) string {
	words := "Answer with JSON only (no words around it, no code fence). It must fit this JSON Schema:\n" + string(schema)
	if system == "" {
		return words
	}
	return system + "\n\n" + words
}
