package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// CallInput is what a model wrote as a call's arguments, as content.ToolCall.Input. Nothing is an empty object. Text that
// is not JSON, from an answer that was cut off or a model that cannot do better, becomes a JSON string: still what the
// model wrote, and no arguments for any tool.
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

// CallObject is a call's input as the JSON object that services demand when a call goes back: anything else is empty.
func CallObject(input json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil || members == nil {
		return json.RawMessage("{}")
	}
	return input
}

// ForeignCallID is the id of another service's call in n letters that every service takes.
func ForeignCallID(id string, n int) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:n]
}
