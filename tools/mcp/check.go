package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// noLoader loads nothing: a stranger's schema names no file and no address.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) {
	return nil, errors.New("a schema refers to another file")
}

// checker says what does not fit a schema; nil when the schema is of no use.
func checker(raw []byte) func(input json.RawMessage) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	const name = "mcp:///schema"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if err := c.AddResource(name, doc); err != nil {
		return nil
	}
	schema, err := c.Compile(name)
	if err != nil {
		return nil
	}
	return func(input json.RawMessage) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
		if err != nil {
			return errors.New("it is no JSON")
		}
		err = schema.Validate(value)
		if err == nil {
			return nil
		}
		text := strings.ReplaceAll(err.Error(), name, "")
		_, problems, found := strings.Cut(text, "\n") // the first line only says that there are some
		if !found {
			problems = text
		}
		return errors.New(clip(strings.Join(strings.Fields(problems), " "), 600))
	}
}
