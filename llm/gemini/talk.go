package gemini

import (
	"encoding/json"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type callPart struct {
	Call      call   `json:"functionCall"`
	Signature string `json:"thoughtSignature,omitempty"`
}

// unsigned replaces the signature of a turn's first call if the service did not make the call: since the third generation it
// refuses a call without one. From the provider's page on thought signatures, read in November 2026.
const unsigned = "skip_thought_signature_validator"

type call struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type responsePart struct {
	Response response `json:"functionResponse"`
}

type response struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Response map[string]string `json:"response"`
	Parts    []any             `json:"parts,omitempty"`
}

func declare(list []llm.Tool) []tools {
	if len(list) == 0 {
		return nil
	}
	var functions []function
	for _, t := range list {
		description := t.Description
		if description == "" { // the service demands one
			description = t.Name
		}
		functions = append(functions, function{t.Name, description, t.Parameters})
	}
	return []tools{{functions}}
}

// answered is what a result must repeat of its call.
type answered struct {
	id   string // from the service; "" if it sent none
	name string
}

// talk writes the turns of one request.
type talk struct {
	model   string
	drawing *wire.Drawing
	calls   map[string]answered // by our id
}

// turn returns the contents of one turn, none if it is empty. The results of all calls have a content of their own.
func (t *talk) turn(turn llm.Turn) []any {
	if turn.Role == llm.Assistant {
		return t.answer(turn)
	}
	var results []any
	for _, r := range turn.Results {
		key := "output"
		if r.Failed {
			key = "error"
		}
		to := t.calls[r.CallID]
		results = append(results, responsePart{response{to.id, to.name, map[string]string{key: r.Text()}, t.inside(r.Media())}})
	}
	return append(contents("user", results), contents("user", t.parts(turn.Blocks))...)
}

// answer returns an assistant's turn: unchanged if it came from here, else its texts and calls. A call of another service is
// sent without its id: here ids are only echoed.
func (t *talk) answer(turn llm.Turn) []any {
	raw, echoed := wire.UnpackRaw(turn.Raw, wireName, t.model)
	given := givenIDs(raw)
	var parts []any
	var said []content.Block
	for _, b := range turn.Blocks {
		if c, ok := b.(content.ToolCall); ok {
			a := answered{name: c.Name}
			if echoed && given[c.ID] {
				a.id = c.ID
			}
			t.calls[c.ID] = a
			part := callPart{Call: call{Name: c.Name, Args: wire.CallObject(c.Input)}}
			if len(parts) == 0 && generation(t.model) >= 3 {
				part.Signature = unsigned
			}
			parts = append(parts, part)
			continue
		}
		said = append(said, b)
	}
	if echoed {
		return []any{raw}
	}
	if text := content.Join(said); text != "" {
		parts = append([]any{textPart{text}}, parts...)
	}
	return contents("model", parts)
}

// givenIDs returns the call ids in a turn of the service.
func givenIDs(raw json.RawMessage) map[string]bool {
	var turn struct {
		Parts []callPart `json:"parts"`
	}
	_ = json.Unmarshal(raw, &turn) // no turn, no ids
	ids := map[string]bool{}
	for _, p := range turn.Parts {
		ids[p.Call.ID] = p.Call.ID != ""
	}
	return ids
}

// inside returns the files of a result: only media, in the order in which the result's text names them.
func (t *talk) inside(files []content.Block) []any {
	var parts []any
	for _, b := range files {
		if medium, ok := t.drawing.MediaOr(b, plainFile); ok {
			parts = append(parts, medium)
		}
	}
	return parts
}

// plainFile is a file with the text of one that cannot be loaded, where only files are allowed.
func plainFile(fallback string) any {
	return map[string]any{"inlineData": map[string]any{"mimeType": "text/plain", "data": []byte(fallback)}}
}

func (t *talk) parts(blocks []content.Block) []any {
	var parts []any
	for _, b := range blocks {
		if medium, ok := t.drawing.Media(b); ok {
			parts = append(parts, medium)
			continue
		}
		parts = append(parts, textPart{b.Text()})
	}
	return parts
}

func contents(role string, parts []any) []any {
	if len(parts) == 0 {
		return nil
	}
	return []any{turn{role, parts}}
}
