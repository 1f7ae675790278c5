package main

import (
	pb "cloud.google.com/go/ai/generativelanguage/apiv1beta/generativelanguagepb"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// fromProtos reads the messages of the Developer API. The JSON form is that of protocol buffers: names in camel case, bytes
// as base64, enumerations by name. Members of which only one may be there exclude each other.
func fromProtos() (definitions map[string]object, root string) {
	definitions = map[string]object{}
	request := (&pb.GenerateContentRequest{}).ProtoReflect().Descriptor()
	message(request, definitions)
	body := definitions[string(request.Name())]
	delete(body["properties"].(object), "model") // it stands in the address
	body["required"] = []string{"contents"}
	return definitions, string(request.Name())
}

// wellKnown are the messages with a JSON form of their own.
var wellKnown = map[protoreflect.FullName]object{
	"google.protobuf.Struct":    {"type": "object"},
	"google.protobuf.Value":     {},
	"google.protobuf.Duration":  {"type": "string"},
	"google.protobuf.Timestamp": {"type": "string"},
}

// message adds a message and what it holds.
func message(m protoreflect.MessageDescriptor, definitions map[string]object) object {
	if known, ok := wellKnown[m.FullName()]; ok {
		return known
	}
	name := string(m.Name())
	if outer, ok := m.Parent().(protoreflect.MessageDescriptor); ok {
		name = string(outer.Name()) + "." + name
	}
	ref := object{"$ref": prefix + name}
	if _, done := definitions[name]; done {
		return ref
	}
	properties := object{}
	definition := object{"type": "object", "properties": properties, "additionalProperties": false}
	definitions[name] = definition
	var required []string
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		properties[f.JSONName()] = field(f, definitions)
		if demanded(f) {
			required = append(required, f.JSONName())
		}
	}
	if required != nil {
		definition["required"] = required
	}
	if rules := exclusive(m); rules != nil {
		definition["allOf"] = rules
	}
	return ref
}

// demanded tells what the documentation of a field marks as required.
func demanded(f protoreflect.FieldDescriptor) bool {
	behaviours, _ := proto.GetExtension(f.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	for _, b := range behaviours {
		if b == annotations.FieldBehavior_REQUIRED {
			return true
		}
	}
	return false
}

// exclusive forbids two members of one union.
func exclusive(m protoreflect.MessageDescriptor) []object {
	var rules []object
	for i := range m.Oneofs().Len() {
		fields := m.Oneofs().Get(i).Fields()
		for a := range fields.Len() {
			for b := range a {
				both := []string{fields.Get(b).JSONName(), fields.Get(a).JSONName()}
				rules = append(rules, object{"not": object{"required": both}})
			}
		}
	}
	return rules
}

func field(f protoreflect.FieldDescriptor, definitions map[string]object) object {
	switch {
	case f.IsMap():
		return object{"type": "object", "additionalProperties": single(f.MapValue(), definitions)}
	case f.IsList():
		return object{"type": "array", "items": single(f, definitions)}
	}
	return single(f, definitions)
}

func single(f protoreflect.FieldDescriptor, definitions map[string]object) object {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return message(f.Message(), definitions)
	case protoreflect.BoolKind:
		return object{"type": "boolean"}
	case protoreflect.StringKind:
		return object{"type": "string"}
	case protoreflect.BytesKind:
		return object{"type": "string", "pattern": encoded}
	case protoreflect.EnumKind:
		var names []string
		for i := range f.Enum().Values().Len() {
			names = append(names, string(f.Enum().Values().Get(i).Name()))
		}
		return object{"type": "string", "enum": names}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return object{"type": "number"}
	case protoreflect.Int64Kind, protoreflect.Uint64Kind:
		return object{"type": []string{"integer", "string"}}
	}
	return object{"type": "integer"}
}
