package openai

import (
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// talk writes the messages of one request.
type talk struct {
	dialect     dialect
	wire, model string
	drawing     *wire.Drawing
	ids         map[string]string // maps ids of other services' calls to those used here
}

// turn returns the messages of one turn, none if it is empty: for the user one for each tool result, or one with all blocks.
// Tool messages cannot hold media in this format.
func (t *talk) turn(turn llm.Turn) []any {
	if turn.Role == llm.Assistant {
		return t.answer(turn)
	}
	var messages []any
	for _, r := range turn.Results {
		messages = append(messages, toolMessage{"tool", t.id(r.CallID), r.Text()})
	}
	if len(turn.Blocks) > 0 {
		messages = append(messages, t.say(turn.Blocks))
	}
	return messages
}

// answer returns an assistant's turn: unchanged if it came from here, else its texts and calls.
func (t *talk) answer(turn llm.Turn) []any {
	if raw, ok := wire.UnpackRaw(turn.Raw, t.wire, t.model); ok {
		return []any{raw}
	}
	var calls []call
	var said []content.Block
	for _, b := range turn.Blocks {
		if c, ok := b.(content.ToolCall); ok {
			calls = append(calls, newCall(t.foreign(c.ID), c))
			continue
		}
		said = append(said, b)
	}
	text := content.Join(said)
	switch {
	case len(calls) > 0:
		return []any{callingMessage{message{string(llm.Assistant), text}, calls}}
	case text != "":
		return []any{message{string(llm.Assistant), text}}
	}
	return nil
}

// say returns a message of the user. A single text is sent as a string, which even the simplest servers accept.
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

// foreign registers a call that is not echoed raw, and returns an id that this service accepts.
func (t *talk) foreign(id string) string {
	if !t.dialect.callID.MatchString(id) {
		t.ids[id] = wire.ForeignCallID(id, foreignID)
	}
	return t.id(id)
}

func (t *talk) id(id string) string {
	if mapped, ok := t.ids[id]; ok {
		return mapped
	}
	return id
}
