package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ToolCall is a call that the model makes.
type ToolCall struct {
	ID    string // "": the server makes one in its service's form
	Name  string
	Input string // JSON of the arguments; services stream any text here, also one that is no JSON. "" is none
}

// id is the call's id at a place of the answer, in a service's form of two numbers.
func (c ToolCall) id(a Answer, place int, form string) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf(form, a.turn, place)
}

// pieces cuts a call's arguments in two, so that they must be put together again.
func (c ToolCall) pieces() []string {
	half := len(c.Input) / 2
	return []string{c.Input[:half], c.Input[half:]}
}

var nameForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// declared checks the tools of a request: names in the right form and only once, parameters a schema of an object.
type declared struct{ names []string }

func (d *declared) add(name string, parameters json.RawMessage) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("tools: name %q does not match %s", name, nameForm)
	}
	if slices.Contains(d.names, name) {
		return fmt.Errorf("tools: names must be unique, %q is not", name)
	}
	d.names = append(d.names, name)
	if _, err := schemaOf(parameters); err != nil {
		return fmt.Errorf("tools: %s: %w", name, err)
	}
	var root struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(parameters, &root) != nil || root.Type != "object" {
		return fmt.Errorf("tools: %s: schema must be a JSON Schema of type object", name)
	}
	return nil
}

// pending are the calls of the latest assistant's turn that have no result yet.
type pending struct {
	ids   []string
	owner int // message with the calls
}

// call notes a call of an assistant's turn.
func (p *pending) call(message int, id string, tools declared) error {
	switch {
	case len(tools.names) == 0:
		return errors.New("the conversation holds tool calls, but no tools are defined")
	case id == "":
		return errors.New("a tool call without id")
	case p.owner == message && slices.Contains(p.ids, id):
		return fmt.Errorf("tool call ids must be unique, %q is not", id)
	}
	p.ids, p.owner = append(p.ids, id), message
	return nil
}

// result notes that a call was answered.
func (p *pending) result(id string) error {
	at := slices.Index(p.ids, id)
	if at < 0 {
		return fmt.Errorf("unexpected tool result: %q answers no call of the message before", id)
	}
	p.ids = slices.Delete(p.ids, at, at+1)
	return nil
}

// none refuses whatever follows while calls are open.
func (p *pending) none() error {
	if len(p.ids) > 0 {
		return fmt.Errorf("tool calls without results immediately after: %s", strings.Join(p.ids, ", "))
	}
	return nil
}

func schemaOf(raw json.RawMessage) (*jsonschema.Schema, error) {
	if len(raw) == 0 {
		return nil, errors.New("no schema")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("invalid schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("mem:schema", doc); err != nil {
		return nil, fmt.Errorf("invalid schema: %w", err)
	}
	schema, err := compiler.Compile("mem:schema")
	if err != nil {
		return nil, fmt.Errorf("invalid schema: %w", err)
	}
	return schema, nil
}

// dialectOfSchema is what a service's grammar takes of JSON Schema.
type dialectOfSchema struct {
	refused     []string // keywords
	allRequired bool
}

// check walks a schema as the service does and refuses what its grammar does not know.
func (d dialectOfSchema) check(raw json.RawMessage) error {
	if _, err := schemaOf(raw); err != nil {
		return err
	}
	var root map[string]any
	if json.Unmarshal(raw, &root) != nil || root["type"] != "object" {
		return errors.New("schema must be a JSON Schema of type object")
	}
	return d.walk(root, "root")
}

func (d dialectOfSchema) walk(s map[string]any, at string) error {
	for _, word := range d.refused {
		if _, ok := s[word]; ok {
			return fmt.Errorf("%s: %q is not permitted", at, word)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	if s["type"] == "object" || properties != nil {
		if s["additionalProperties"] != false {
			return fmt.Errorf("%s: 'additionalProperties' is required to be supplied and to be false", at)
		}
		if required, _ := s["required"].([]any); d.allRequired && len(required) != len(properties) {
			return fmt.Errorf("%s: 'required' must be an array including every key in properties", at)
		}
	}
	for _, name := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[name].(map[string]any)
		for key, v := range inner {
			if one, ok := v.(map[string]any); ok {
				if err := d.walk(one, at+"/"+key); err != nil {
					return err
				}
			}
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		if err := d.walk(items, at+"/items"); err != nil {
			return err
		}
	}
	list, _ := s["anyOf"].([]any)
	for _, v := range list {
		if one, ok := v.(map[string]any); ok {
			if err := d.walk(one, at+"/anyOf"); err != nil {
				return err
			}
		}
	}
	return nil
}
