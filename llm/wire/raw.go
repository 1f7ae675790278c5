package wire

import "encoding/json"

// rawTurn keeps a provider's own JSON of an assistant's turn with the wire format and the model it belongs to.
type rawTurn struct {
	Wire  string          `json:"wire"`
	Model string          `json:"model"`
	Turn  json.RawMessage `json:"turn"`
}

// PackRaw returns a Response.Raw: turn is the provider's JSON, wire the adapter's format, model the requested model.
func PackRaw(wire, model string, turn json.RawMessage) json.RawMessage {
	if !json.Valid(turn) {
		return nil
	}
	raw, err := json.Marshal(rawTurn{wire, model, turn})
	if err != nil { // cannot happen: the turn is valid JSON
		return nil
	}
	return raw
}

// UnpackRaw returns the turn of a Message.Raw when it came from the same wire format and model; signatures and
// reasoning are useless elsewhere.
func UnpackRaw(raw json.RawMessage, wire, model string) (turn json.RawMessage, ok bool) {
	var r rawTurn
	if len(raw) == 0 || json.Unmarshal(raw, &r) != nil {
		return nil, false
	}
	return r.Turn, r.Wire == wire && r.Model == model && len(r.Turn) > 0
}
