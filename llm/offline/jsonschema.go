package offline

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// schema is the part of JSON Schema that answers are built from. Its properties keep their order.
type schema struct {
	Type       kinds             `json:"type"`
	Enum       []json.RawMessage `json:"enum"`
	Const      json.RawMessage   `json:"const"`
	AnyOf      []schema          `json:"anyOf"`
	OneOf      []schema          `json:"oneOf"`
	AllOf      []schema          `json:"allOf"`
	Ref        string            `json:"$ref"`
	Defs       map[string]schema `json:"$defs"`
	Old        map[string]schema `json:"definitions"`
	Properties properties        `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	MinItems   int               `json:"minItems"`
	MaxItems   *int              `json:"maxItems"`
	Unique     bool              `json:"uniqueItems"`
	Format     string            `json:"format"`
	Pattern    string            `json:"pattern"`
	MinLength  int               `json:"minLength"`
	MaxLength  *int              `json:"maxLength"`
	Min        *float64          `json:"minimum"`
	Max        *float64          `json:"maximum"`
	Above      *float64          `json:"exclusiveMinimum"`
	Below      *float64          `json:"exclusiveMaximum"`
	Multiple   float64           `json:"multipleOf"`
}

// UnmarshalJSON implements json.Unmarshaler: true and false are schemas, too.
func (s *schema) UnmarshalJSON(data []byte) error {
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] != '{' {
		return nil
	}
	type plain schema
	return json.Unmarshal(data, (*plain)(s))
}

// kinds is a type or a list of types.
type kinds []string

// UnmarshalJSON implements json.Unmarshaler.
func (k *kinds) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*k = kinds{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(k))
}

type property struct {
	name   string
	schema schema
}

// properties are an object's, in their order.
type properties []property

// UnmarshalJSON implements json.Unmarshaler.
func (p *properties) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return errors.New("properties: want an object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		one := property{}
		one.name, _ = name.(string) // the name of a member always is
		if err := dec.Decode(&one.schema); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}

// kind is what the answer will be: the first type that is not null.
func (s schema) kind() string {
	for _, k := range s.Type {
		if k != "null" || len(s.Type) == 1 {
			return k
		}
	}
	switch {
	case len(s.Properties) > 0 || len(s.Required) > 0:
		return "object"
	case s.Items != nil || s.MinItems > 0:
		return "array"
	case s.Min != nil || s.Max != nil || s.Above != nil || s.Below != nil || s.Multiple > 0:
		return "number"
	}
	return "string"
}

// resolved follows references inside the schema and takes the first alternative, of allOf everything.
func (s schema) resolved(root *schema) schema {
	for range 20 { // a reference that leads back to itself is no schema to build from
		switch {
		case s.Ref != "":
			s = root.definition(s.Ref)
		case len(s.AllOf) > 0:
			s = s.merged(root)
		case len(s.AnyOf)+len(s.OneOf) > 0:
			all := slices.Concat(s.AnyOf, s.OneOf)
			s.AnyOf, s.OneOf = nil, nil
			at := slices.IndexFunc(all, func(one schema) bool { return !slices.Equal(one.Type, kinds{"null"}) })
			s = s.and(all[max(at, 0)])
		default:
			return s
		}
	}
	return schema{}
}

func (s schema) merged(root *schema) schema {
	all := s.AllOf
	s.AllOf = nil
	for _, one := range all {
		s = s.and(one.resolved(root))
	}
	return s
}

// and adds what another schema says.
func (s schema) and(o schema) schema {
	if s.Ref == "" {
		s.Ref = o.Ref
	}
	if len(s.Type) == 0 {
		s.Type = o.Type
	}
	if len(s.Enum) == 0 {
		s.Enum = o.Enum
	}
	if s.Const == nil {
		s.Const = o.Const
	}
	if s.Items == nil {
		s.Items = o.Items
	}
	for _, pair := range [][2]**float64{{&s.Min, &o.Min}, {&s.Max, &o.Max}, {&s.Above, &o.Above}, {&s.Below, &o.Below}} {
		if *pair[0] == nil {
			*pair[0] = *pair[1]
		}
	}
	for _, pair := range [][2]**int{{&s.MaxItems, &o.MaxItems}, {&s.MaxLength, &o.MaxLength}} {
		if *pair[0] == nil {
			*pair[0] = *pair[1]
		}
	}
	s.MinItems, s.MinLength = max(s.MinItems, o.MinItems), max(s.MinLength, o.MinLength)
	s.Unique, s.Multiple = s.Unique || o.Unique, max(s.Multiple, o.Multiple)
	s.Format, s.Pattern = s.Format+o.Format, s.Pattern+o.Pattern
	s.Properties = slices.Concat(s.Properties, o.Properties)
	s.Required = slices.Concat(s.Required, o.Required)
	s.AllOf, s.AnyOf, s.OneOf = o.AllOf, slices.Concat(s.AnyOf, o.AnyOf), slices.Concat(s.OneOf, o.OneOf)
	return s
}

// definition is what "#", "#/$defs/x" or "#/definitions/x" means; nothing when there is no such one.
func (s *schema) definition(ref string) schema {
	if ref == "#" {
		return *s
	}
	if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
		return s.Defs[name]
	}
	return s.Old[strings.TrimPrefix(ref, "#/definitions/")]
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			buf.WriteByte(',')
		}
		for _, v := range []any{m.name, m.value} {
			data, err := plainJSON(v)
			if err != nil {
				return nil, err
			}
			buf.Write(data)
			buf.WriteByte(':')
		}
		buf.Truncate(buf.Len() - 1) // the colon behind the value
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// plainJSON leaves <, > and & as they are.
func plainJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(buf.Bytes()), err
}
