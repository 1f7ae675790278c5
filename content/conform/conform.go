// Package conform reports whether JSON fits a JSON Schema, and stops when that takes too much work: a schema whose parts
// refer to each other twice at every level would keep a processor busy for years. It loads nothing and keeps no state.
package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrTooMuch is matched when a schema asks for more work than a value of its size deserves.
var ErrTooMuch = errors.New("the schema takes too much work: its parts refer to each other too often")

// ErrForeignRef refuses a $ref that leaves the schema: nothing is loaded, neither from the network nor from files.
var ErrForeignRef = errors.New("a $ref leads outside the schema, which is not followed")

// The address of a schema; nothing lies beside it.
const (
	Root = "vault:///"
	name = Root + "schema"
)

// Schema is a schema made ready. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	mu       sync.Mutex // held while a value is looked at
	meter    *meter
}

// Compile makes a schema of JSON ready. Without $schema it is draft 2020-12. Errors of the schema are those of the package
// jsonschema, or match ErrForeignRef.
func Compile(raw []byte, formats bool) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	switch doc.(type) {
	case map[string]any, bool:
	default:
		return nil, errors.New("a schema is an object, such as {\"type\": \"object\"}")
	}
	s := &Schema{meter: &meter{}}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if formats {
		c.AssertFormat()
	}
	c.UseLoader(noLoader{})
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: Root + "meter", Compile: s.meter.compile})
	c.AssertVocabs()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	s.compiled, err = c.Compile(name)
	return s, err
}

// noLoader loads nothing.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(string) (any, error) { return nil, ErrForeignRef }

// Validate returns what does not fit, as an error of the package jsonschema. It matches ErrTooMuch, or the error of ctx, when
// it was given up. size is the length of the value's text, in bytes.
func (s *Schema) Validate(ctx context.Context, value any, size int) error {
	return s.validate(ctx.Err, value, size)
}

// Probe looks at small values of every kind, so that a schema which would never end is known before there is an answer. The
// error matches ErrTooMuch.
func (s *Schema) Probe() error {
	goOn := func() error { return nil }
	for _, value := range []any{map[string]any{}, []any{}, "", json.Number("0"), true, nil} {
		if err := s.validate(goOn, value, 0); errors.Is(err, ErrTooMuch) {
			return ErrTooMuch
		}
	}
	return nil
}

func (s *Schema) validate(over func() error, value any, size int) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.over, s.meter.left = over, freeWork+workPerByte*size
	defer func() {
		s.meter.over = nil
		if given := recover(); given != nil {
			up, ours := given.(givenUp)
			if !ours {
				panic(given)
			}
			err = up.err
		}
	}()
	return s.compiled.Validate(value)
}

// How often a value may be looked at by parts of a schema.
const (
	freeWork    = 100_000
	workPerByte = 2
)

// givenUp ends the work of the library, which knows no other way.
type givenUp struct{ err error }

// meter counts the work of one validation.
type meter struct {
	over func() error // returns why the validation must stop, or nil
	left int
}

// gauge is a part of a schema that counts itself.
type gauge struct {
	*meter
	weight int // parts that are looked at with it
}

func (m *meter) compile(_ *jsonschema.CompilerContext, part map[string]any) (jsonschema.SchemaExt, error) {
	g := gauge{m, 1}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		if list, is := part[word].([]any); is {
			g.weight += len(list)
		}
	}
	return g, nil
}

// Validate implements jsonschema.SchemaExt.
func (g gauge) Validate(*jsonschema.ValidatorContext, any) {
	if g.left -= g.weight; g.left < 0 {
		panic(givenUp{ErrTooMuch})
	}
	if g.left%1024 < g.weight {
		if err := g.over(); err != nil {
			panic(givenUp{err})
		}
	}
}
