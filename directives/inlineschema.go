package directives

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"

	"gopkg.in/yaml.v3"
)

// Bounds of an inline schema, because YAML aliases can multiply.
const (
	maxSchemaNodes = 20_000
	maxSchemaDepth = 64
)

// inlineSchema returns the JSON of a fenced block of YAML or JSON, with its keys in order, or nil after it reported a fault.
func inlineSchema(b Body, at diag.Position, r *report) json.RawMessage {
	text := strings.Join(b.Lines, "\n")
	switch {
	case strings.TrimSpace(text) == "":
		r.add(at, CodeSchema, "write a schema such as type: object into the block", "the schema is empty")
		return nil
	case b.Info == "json" || strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)):
		return schemaFromJSON(b, text, r)
	}
	var doc, second yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(text + "\n"))
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		r.schemaYAML(b, err)
		return nil
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		r.add(b.pos(second.Line, 1), CodeSchema, "remove the --- line and everything below it", "the block contains more than one schema")
		return nil
	}
	w := schemaWriter{body: b, r: r}
	if len(doc.Content) == 0 {
		r.add(at, CodeSchema, "write a schema such as type: object into the block", "the schema is empty")
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode && root.ShortTag() != "!!bool" {
		r.add(b.node(root), CodeSchema, "write type: object, or another key of JSON Schema", "a schema must be a mapping of keys")
		return nil
	}
	if !w.write(root, 0) {
		return nil
	}
	return w.out.Bytes()
}

// pos returns a position in the body; lines count from 1.
func (b Body) pos(line, column int) diag.Position {
	line = min(max(line, 1), max(len(b.Lines), 1))
	p := offsetLines(b.At, line-1)
	if line <= len(b.Lines) {
		column = min(column, utf8.RuneCountInString(b.Lines[line-1])+1)
	}
	p.Column = max(column, 1)
	return p
}

func (b Body) node(n *yaml.Node) diag.Position { return b.pos(n.Line, n.Column) }

// yamlPlace finds the line in the library's messages.
var yamlPlace = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?line (\d+): `)

// schemaYAML reports an error of the YAML library, at the first character of the line.
func (r *report) schemaYAML(b Body, err error) {
	message, line := err.Error(), 1
	if m := yamlPlace.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1]) // the expression allows digits only
		message = message[len(m[0]):]
	}
	message = strings.TrimPrefix(message, "yaml: ")
	line = min(max(line, 1), len(b.Lines))
	text, hint := b.Lines[line-1], "quote values that contain a colon or start with @ { [ or *"
	if strings.Contains(text[:indentBytes(text)], "\t") {
		hint = "indent with spaces"
	}
	r.add(b.pos(line, utf8.RuneCountInString(text[:indentBytes(text)])+1), CodeSchema, hint, "the schema is not valid YAML: %s", message)
}

// schemaFromJSON checks a block of JSON.
func schemaFromJSON(b Body, text string, r *report) json.RawMessage {
	dec := json.NewDecoder(strings.NewReader(text))
	var value any
	err := dec.Decode(&value)
	if err == nil {
		switch value.(type) {
		case map[string]any, bool:
		default:
			r.add(b.offset(text, len(text)-len(strings.TrimLeft(text, " \t\n"))), CodeSchema, "write {\"type\": \"object\"}, or another key of JSON Schema", "a schema must be an object")
			return nil
		}
		if rest := strings.TrimLeft(text[dec.InputOffset():], " \t\n"); rest != "" {
			r.add(b.offset(text, len(text)-len(rest)), CodeSchema, "", "text follows the end of the schema")
			return nil
		}
		var out bytes.Buffer
		if json.Compact(&out, []byte(strings.TrimSpace(text))) == nil {
			return out.Bytes()
		}
	}
	at := len(text)
	var fault *json.SyntaxError
	if errors.As(err, &fault) && int(fault.Offset) <= len(text) && fault.Offset > 0 {
		at = int(fault.Offset) - 1
	}
	message := "it ends too early"
	if fault != nil {
		message = fault.Error()
	}
	r.add(b.offset(text, at), CodeSchema, "", "the schema is not valid JSON: %s", message)
	return nil
}

// offset returns the position of a byte of the joined lines.
func (b Body) offset(text string, at int) diag.Position {
	before := text[:min(at, len(text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return b.pos(strings.Count(before, "\n")+1, utf8.RuneCountInString(before[start:])+1)
}

// schemaWriter turns YAML nodes into JSON.
type schemaWriter struct {
	body  Body
	r     *report
	out   bytes.Buffer
	nodes int
}

func (w *schemaWriter) fail(n *yaml.Node, suggestion, format string, args ...any) bool {
	w.r.add(w.body.node(n), CodeSchema, suggestion, format, args...)
	return false
}

func (w *schemaWriter) write(n *yaml.Node, depth int) bool {
	if w.nodes++; w.nodes > maxSchemaNodes || depth > maxSchemaDepth {
		return w.fail(n, "make it smaller", "the schema is too large")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.write(n.Alias, depth+1)
	case yaml.MappingNode:
		return w.object(n, depth)
	case yaml.SequenceNode:
		return w.list(n, depth)
	}
	return w.scalar(n)
}

func (w *schemaWriter) object(n *yaml.Node, depth int) bool {
	w.out.WriteByte('{')
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		line, twice := seen[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			return w.fail(key, "", "a key of a schema must be text")
		case key.ShortTag() == "!!merge":
			return w.fail(key, "write the keys out", "<< has no meaning in a schema")
		case twice:
			return w.fail(key, "keep one of them", "%s appears twice; the first is on line %d", clip(key.Value), line)
		}
		seen[key.Value] = w.body.node(key).Line
		if i > 0 {
			w.out.WriteByte(',')
		}
		w.text(key.Value)
		w.out.WriteByte(':')
		if !w.write(n.Content[i+1], depth+1) {
			return false
		}
	}
	w.out.WriteByte('}')
	return true
}

func (w *schemaWriter) list(n *yaml.Node, depth int) bool {
	w.out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if !w.write(item, depth+1) {
			return false
		}
	}
	w.out.WriteByte(']')
	return true
}

// scalar writes numbers, true, false and null as such, and everything else, even dates, as text.
func (w *schemaWriter) scalar(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!int", "!!float", "!!bool", "!!null":
		var value any
		if err := n.Decode(&value); err != nil {
			return w.fail(n, "quote it if it is text", "%q cannot be read: %v", clip(n.Value), err)
		}
		data, err := json.Marshal(value)
		if err != nil {
			return w.fail(n, "", "%q is not a JSON number", clip(n.Value))
		}
		w.out.Write(data)
	default:
		w.text(n.Value)
	}
	return true
}

func (w *schemaWriter) text(s string) {
	enc := json.NewEncoder(&w.out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can always be encoded
	w.out.Truncate(w.out.Len() - 1)
}
