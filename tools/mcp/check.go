package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vaultflow/vaultflow/content/conform"
)

// checker returns a function that lists what does not fit a schema; nil if the schema cannot be used.
func checker(raw []byte) func(ctx context.Context, input json.RawMessage) error {
	schema, err := conform.Compile(raw, false)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, input json.RawMessage) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
		if err != nil {
			return errors.New("it is not JSON")
		}
		err = schema.Validate(ctx, value, len(input))
		switch {
		case err == nil, errors.Is(err, conform.ErrTooMuch): // the server checks its input itself
			return nil
		case ctx.Err() != nil:
			return err
		}
		text := strings.ReplaceAll(err.Error(), conform.Root+"schema", "")
		_, problems, found := strings.Cut(text, "\n") // skip the first line, a heading
		if !found {
			problems = text
		}
		return errors.New(clip(strings.Join(strings.Fields(problems), " "), 600))
	}
}
