package settings

import (
	"reflect"
	"strings"
)

// field describes a key, as its struct tag does.
type field struct {
	index    int
	key      string
	doc      string
	min, max string
	oneof    []string
	env      string
	later    string
}

// fieldsOf reads the tags of a struct, in the order of its fields.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		key := tag.Get("yaml")
		if key == "" || key == "-" {
			continue
		}
		list = append(list, field{
			index: i, key: key, doc: tag.Get("doc"), min: tag.Get("min"), max: tag.Get("max"),
			oneof: strings.Fields(tag.Get("oneof")), env: tag.Get("env"), later: tag.Get("later"),
		})
	}
	return list
}

var (
	durationType     = reflect.TypeFor[Duration]()
	bytesType        = reflect.TypeFor[Bytes]()
	capabilitiesType = reflect.TypeFor[Capabilities]()
)

// isSection reports whether a value has keys of its own.
func isSection(t reflect.Type) bool { return t.Kind() == reflect.Struct && t != capabilitiesType }

// walk visits every leaf of the tree that is not inside a map, in order, with its dotted path.
func walk(v reflect.Value, prefix string, visit func(path string, f field, v reflect.Value)) {
	for _, f := range fieldsOf(v.Type()) {
		path := join(prefix, f.key)
		if child := v.Field(f.index); isSection(child.Type()) {
			walk(child, path, visit)
		} else {
			visit(path, f, child)
		}
	}
}

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}
