package conform_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vaultflow/vaultflow/content/conform"
)

// doubling is a schema whose parts refer to the next one twice, so many levels deep.
func doubling(levels int, draft, word string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{%s"$ref": "#/$defs/d0", "$defs": {`, draft)
	for i := range levels {
		fmt.Fprintf(&b, `"d%d": {%q: [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}, `, i, word, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d": {"type": "string"}}}`, levels)
	return b.String()
}

func TestValidate_givesUp(t *testing.T) {
	t.Parallel()
	value := map[string]any{"a": "b"}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		for draft, v := range map[string]any{"": value, `"$schema": "http://json-schema.org/draft-07/schema#", `: "text"} {
			s, err := conform.Compile([]byte(doubling(60, draft, word)), true)
			if err != nil {
				t.Fatal(err)
			}
			err = s.Validate(t.Context(), v, 100)
			if first := word == "anyOf" && v == "text"; errors.Is(err, conform.ErrTooMuch) == first { // the first alternative fits
				t.Errorf("%s %s %v: %v", word, draft, v, err)
			}
		}
	}
	if s, err := conform.Compile([]byte(doubling(60, "", "allOf")), true); err != nil || !errors.Is(s.Probe(), conform.ErrTooMuch) {
		t.Errorf("the probe sees nothing: %v", err)
	}
	if s, err := conform.Compile([]byte(doubling(3, "", "allOf")), true); err != nil || s.Probe() != nil {
		t.Errorf("the probe refuses a small schema: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := conform.Compile([]byte(doubling(60, "", "allOf")), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(ctx, "text", 100); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

func TestValidate_ordinary(t *testing.T) {
	t.Parallel()
	s, err := conform.Compile([]byte(`{"type": "array", "items": {"type": "object", "required": ["a"], "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}}`), true)
	if err != nil {
		t.Fatal(err)
	}
	text := "[" + strings.Repeat(`{"a":"b"},`, 10_000) + `{"a":null}]`
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(t.Context(), value, len(text)); err != nil {
		t.Error(err)
	}
	value.([]any)[7] = map[string]any{}
	if err := s.Validate(t.Context(), value, len(text)); err == nil || errors.Is(err, conform.ErrTooMuch) {
		t.Errorf("what does not fit: %v", err)
	}
}

func TestCompile_loadsNothing(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"https://example.org/x.json", "other.json", "file:///etc/passwd"} {
		if _, err := conform.Compile([]byte(`{"$ref": "`+ref+`"}`), true); err == nil {
			t.Errorf("%s is followed", ref)
		}
	}
}
