package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
)

// parse reads a model's input, and says in words what does not fit. The example shows how it should look.
func parse[T any](input json.RawMessage, example string) (in T, err error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.DisallowUnknownFields()
	if err = dec.Decode(&in); err == nil {
		return in, nil
	}
	said := "the input does not fit"
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		said = fmt.Sprintf("%.80s cannot be a %s", wrong.Field, wrong.Value)
	} else if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
		said = fmt.Sprintf("there is no parameter %.80s", field)
	}
	return in, fmt.Errorf("%s; write for example %s", said, example)
}

// said is a result of text.
func said(text string) content.ToolResult {
	return content.ToolResult{Success: true, Blocks: []content.Block{content.Text{Value: text}}}
}

// room is how much text a result may have, in bytes: what is set, or what is shown of one at most.
func room(most int) int {
	if most > 0 {
		return most
	}
	return content.MaxToolText
}
