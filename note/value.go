package note

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// Object is a JSON object with its members in the order of the text: a map would shuffle a person's properties. A value is
// nil, bool, json.Number, string, []any or Object.
type Object []member

type member struct {
	key   string
	value any
}

// maxJSONDepth bounds the nesting of an answer that is read.
const maxJSONDepth = 100

// ReadJSON reads one JSON value. When a key appears twice, the last value wins, at the place of the first.
func ReadJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	value, err := readValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more text after the JSON")
	}
	return value, nil
}

func readValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("the JSON is nested more than %d deep", maxJSONDepth)
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return readObject(dec, depth)
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			item, err := readValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := dec.Token()
		return list, err
	}
	return token, nil
}

func readObject(dec *json.Decoder, depth int) (any, error) {
	all := Object{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		value, err := readValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		all = all.with(fmt.Sprint(key), value)
	}
	_, err := dec.Token()
	return all, err
}

func (o Object) with(key string, value any) Object {
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	return append(o, member{key, value})
}

// Unfenced returns the JSON or YAML of an answer: all of it, or the content of its only code fence.
func Unfenced(answer string) string {
	text := strings.TrimSpace(strings.ReplaceAll(answer, "\r\n", "\n"))
	lines := strings.Split(text, "\n")
	var inside []string
	fence, blocks := "", 0
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "" && strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "":
			fence = ""
		case fence != "":
			if blocks == 1 {
				inside = append(inside, line)
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			blocks++
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, trimmed[:1]))]
		}
	}
	if blocks != 1 || fence != "" {
		return text
	}
	return strings.TrimSpace(strings.Join(inside, "\n"))
}

// ReadYAML reads one YAML value as JSON has it, with the members of mappings in the order of the text.
func ReadYAML(text string) (any, error) {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		return nil, plainYAMLError(err)
	}
	return orderedYAML(&n, 0)
}

func orderedYAML(n *yaml.Node, depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxJSONDepth)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return orderedYAML(n.Content[0], depth)
	case yaml.AliasNode:
		return orderedYAML(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			value, err := orderedYAML(item, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case yaml.MappingNode:
		all := Object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := orderedYAML(n.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			all = all.with(n.Content[i].Value, value)
		}
		return all, nil
	case yaml.ScalarNode:
		var value any
		if n.ShortTag() == "!!timestamp" {
			return n.Value, nil
		}
		err := n.Decode(&value)
		return value, err
	}
	return nil, errors.New("there is nothing in it")
}

// EachString changes the strings in a value that ReadJSON has returned, except the keys of objects.
func EachString(value any, change func(string) string) any {
	switch v := value.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = EachString(v[i], change)
		}
	case Object:
		for i := range v {
			v[i].value = EachString(v[i].value, change)
		}
	}
	return value
}

// MarshalJSON returns a value as JSON on one line, with the members of objects in their order.
func MarshalJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	err := writeOrdered(&b, value)
	return b.Bytes(), err
}

func writeOrdered(b *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case Object:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeOrdered(b, m.key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeOrdered(b, m.value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeOrdered(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	b.Truncate(b.Len() - 1) // the encoder's line break
	return nil
}
