package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// CallInput converts the arguments of a call as the model wrote them to content.ToolCall.Input. Nothing becomes an empty
// object. Text that is not JSON, from a truncated answer or a poor model, becomes a JSON string: still what the model wrote,
// but not valid arguments for any tool.
func CallInput(arguments string) json.RawMessage {
	switch raw := bytes.TrimSpace([]byte(arguments)); {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case json.Valid(raw):
		return raw
	}
	quoted, err := marshal(arguments)
	if err != nil { // cannot happen: a string always has a JSON form
		return json.RawMessage("{}")
	}
	return quoted
}

// CallObject returns a call's input as the JSON object that services require in an echoed call; anything else becomes {}.
func CallObject(input json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil || members == nil {
		return json.RawMessage("{}")
	}
	return input
}

// ForeignCallID returns an id of n letters for another service's call that every service accepts.
func ForeignCallID(id string, n int) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:n]
}
