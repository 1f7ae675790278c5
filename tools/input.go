package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// parse decodes a model's input. An error names the parameter that is wrong, and shows the example.
func parse[T any](input json.RawMessage, example string) (in T, err error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&in); err == nil {
		return in, nil
	}
	said := "the input is not valid"
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		said = fmt.Sprintf("%.80s cannot be a %s", wrong.Field, wrong.Value)
	} else if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
		said = fmt.Sprintf("no parameter %.80s", field)
	}
	return in, fmt.Errorf("%s; for example: %s", said, example)
}

// said returns a successful result of text.
func said(text string) content.ToolResult {
	return content.ToolResult{Success: true, Blocks: []content.Block{content.Text{Value: text}}}
}

// room returns how much text a result may have, in bytes.
func room(most int) int {
	if most > 0 {
		return most
	}
	return content.MaxToolText
}
