package gemini

import (
	"encoding/json"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

type callPart struct {
	Call call `json:"functionCall"`
}

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
		functions = append(functions, function{t.Name, t.Description, t.Parameters})
	}
	return []tools{{functions}}
}

// answered is what a result must say of its call.
type answered struct {
	id   string // as the service gave it; "" when it gave none
	name string
}

// talk writes the turns of one request.
type talk struct {
	model   string
	drawing *llm.Drawing
	files   llm.FileIDs
	calls   map[string]answered // by our id
}

// turn returns the contents of one turn, none when it has nothing to say.
func (t *talk) turn(m llm.Message) []any {
	if m.Role == llm.Assistant {
		return t.answer(m)
	}
	return t.question(m.Blocks)
}

// answer is an assistant's turn: as it came when it came from here, else its texts and calls. A call of another service goes
// without its id: here an id is only ever an echo.
func (t *talk) answer(m llm.Message) []any {
	raw, echoed := llm.UnpackRaw(m.Raw, wire, t.model)
	given := givenIDs(raw)
	var parts []any
	var said []content.Block
	for _, b := range m.Blocks {
		if c, ok := b.(content.ToolCall); ok {
			a := answered{name: c.Name}
			if echoed && given[c.ID] {
				a.id = c.ID
			}
			t.calls[c.ID] = a
			parts = append(parts, callPart{call{Name: c.Name, Args: llm.CallObject(c.Input)}})
			continue
		}
		said = append(said, b)
	}
	if echoed {
		return []any{raw}
	}
	if text := content.Join(t.drawing.Sendable(said)); text != "" {
		parts = append([]any{textPart{text}}, parts...)
	}
	return contents("model", parts)
}

// givenIDs are the ids of calls that the service itself gave.
func givenIDs(raw json.RawMessage) map[string]bool {
	var turn struct {
		Parts []callPart `json:"parts"`
	}
	_ = json.Unmarshal(raw, &turn) // no turn has no ids
	ids := map[string]bool{}
	for _, p := range turn.Parts {
		ids[p.Call.ID] = p.Call.ID != ""
	}
	return ids
}

// question is a user's turn: the results of all calls alone in a content of their own, then the rest. Media stand in the
// result itself since the third generation, and behind all results before it.
func (t *talk) question(blocks []content.Block) []any {
	var results, said []any
	var rest []content.Block
	for _, b := range blocks {
		result, ok := b.(content.ToolResult)
		if !ok {
			rest = append(rest, b)
			continue
		}
		text, files := t.files.Split(t.drawing.Sendable(result.Parts()))
		key := "output"
		if !result.Success {
			key = "error"
		}
		to := t.calls[result.CallID]
		r := response{ID: to.id, Name: to.name, Response: map[string]string{key: text}}
		if generation(t.model) >= 3 {
			r.Parts = t.inside(files)
		} else {
			said = append(said, t.parts(files)...)
		}
		results = append(results, responsePart{r})
	}
	said = append(said, t.parts(t.drawing.Sendable(rest))...)
	return append(contents("user", results), contents("user", said)...)
}

// inside are the files of a result without their labels: only media may stand there, in the order in which the result's
// text names them.
func (t *talk) inside(files []content.Block) []any {
	var parts []any
	for _, b := range files {
		if medium, ok := t.drawing.MediaOr(b, plainFile); ok {
			parts = append(parts, medium)
		}
	}
	return parts
}

// plainFile is the text of a file that cannot be had, where only files may stand.
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
