package step

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"gopkg.in/yaml.v3"
)

// member is one entry of a JSON object, and object is one with its entries in the order of the text: a person's
// properties do not jump about because a map has no order. A value is nil, bool, json.Number, string, []any or object.
type member struct {
	key   string
	value any
}

type object []member

// maxJSONDepth bounds the nesting of an answer that is read.
const maxJSONDepth = 100

// readJSON reads one JSON value. Of a key that stands twice the last value counts, at the place of the first.
func readJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	value, err := readValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the JSON")
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
	all := object{}
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

func (o object) with(key string, value any) object {
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	return append(o, member{key, value})
}

// unfenced is the JSON or YAML of an answer: the whole of it, or what stands in its only code fence.
func unfenced(answer string) string {
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

// orderedYAML is a YAML value as JSON has it, in the order of the text.
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
		all := object{}
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

// marshalOrdered is JSON on one line, with the members of objects in their order.
func marshalOrdered(value any) ([]byte, error) {
	var b bytes.Buffer
	err := writeOrdered(&b, value)
	return b.Bytes(), err
}

func writeOrdered(b *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case object:
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
