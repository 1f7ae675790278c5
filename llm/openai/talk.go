package openai

import (
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// talk writes the messages of one request.
type talk struct {
	dialect     dialect
	wire, model string
	drawing     *llm.Drawing
	files       llm.FileIDs
	ids         map[string]string // of calls by other services: what they are called here
}

// turn returns the messages of one turn, none when it has no content.
func (t *talk) turn(m llm.Message) []any {
	if m.Role == llm.Assistant {
		return t.answer(m)
	}
	return t.question(m.Blocks)
}

// answer is an assistant's turn: as it came when it came from here, else its texts and calls.
func (t *talk) answer(m llm.Message) []any {
	if raw, ok := llm.UnpackRaw(m.Raw, t.wire, t.model); ok {
		return []any{raw}
	}
	var calls []call
	var said []content.Block
	for _, b := range m.Blocks {
		if c, ok := b.(content.ToolCall); ok {
			calls = append(calls, newCall(t.foreign(c.ID), c))
			continue
		}
		said = append(said, b)
	}
	text := content.Join(t.drawing.Sendable(said))
	switch {
	case len(calls) > 0:
		return []any{callingMessage{message{string(llm.Assistant), text}, calls}}
	case text != "":
		return []any{message{string(llm.Assistant), text}}
	}
	return nil
}

// question is a user's turn: first a message for each tool result, in the order of the calls and with nothing between
// them, then one message of the user with the files that the results speak of, and whatever else was said. Tool messages
// have no place for media in this format.
func (t *talk) question(blocks []content.Block) []any {
	var messages []any
	var said, rest []content.Block
	for _, b := range blocks {
		result, ok := b.(content.ToolResult)
		if !ok {
			rest = append(rest, b)
			continue
		}
		text, files := t.files.Split(t.drawing.Sendable(result.Parts()))
		messages = append(messages, toolMessage{"tool", t.id(result.CallID), text})
		said = append(said, files...)
	}
	said = append(said, t.drawing.Sendable(rest)...)
	if len(said) == 0 {
		return messages
	}
	if t.dialect.bridge && len(messages) > 0 {
		messages = append(messages, message{string(llm.Assistant), "OK"})
	}
	return append(messages, t.say(said))
}

// say is a message of the user. A single text is sent as a string, which the simplest servers take too.
func (t *talk) say(blocks []content.Block) message {
	if len(blocks) == 1 && blocks[0].Type() == content.TypeText {
		return message{string(llm.User), blocks[0].Text()}
	}
	var parts []any
	for _, b := range blocks {
		if medium, ok := t.drawing.Media(b); ok {
			parts = append(parts, medium)
			continue
		}
		parts = append(parts, textPart{"text", b.Text()})
	}
	return message{string(llm.User), parts}
}

// foreign notes a call that is not echoed raw, and names it as this service wants.
func (t *talk) foreign(id string) string {
	if !t.dialect.callID.MatchString(id) {
		t.ids[id] = llm.ForeignCallID(id, foreignID)
	}
	return t.id(id)
}

func (t *talk) id(id string) string {
	if mapped, ok := t.ids[id]; ok {
		return mapped
	}
	return id
}
