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

// checker says what does not fit a schema; nil when the schema is of no use.
func checker(raw []byte) func(ctx context.Context, input json.RawMessage) error {
	schema, err := conform.Compile(raw, false)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, input json.RawMessage) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
		if err != nil {
			return errors.New("it is no JSON")
		}
		err = schema.Validate(ctx, value, len(input))
		switch {
		case err == nil, errors.Is(err, conform.ErrTooMuch): // the server looks at its input itself
			return nil
		case ctx.Err() != nil:
			return err
		}
		text := strings.ReplaceAll(err.Error(), conform.Root+"schema", "")
		_, problems, found := strings.Cut(text, "\n") // the first line only says that there are some
		if !found {
			problems = text
		}
		return errors.New(clip(strings.Join(strings.Fields(problems), " "), 600))
	}
}
