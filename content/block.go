package content

// Type is the discriminator of a block in its JSON form.
type Type string

// The types of blocks. A type that this version does not know becomes its fallback text when it is read.
const (
	TypeText       Type = "text"
	TypeImage      Type = "image"
	TypeDocument   Type = "document"
	TypeAudio      Type = "audio"
	TypeVideo      Type = "video"
	TypeThinking   Type = "thinking"
	TypeToolCall   Type = "tool_call"
	TypeToolResult Type = "tool_result"
)

// Block is one part of a message. The implementations are the structs of this package, used as values.
type Block interface {
	// Type returns which struct this is.
	Type() Type
	// Text renders the block without touching a file: what a model or a person reads where the block itself cannot
	// be shown. It may be empty (thinking).
	Text() string
}

// Text is plain text, exactly as its author wrote it.
type Text struct {
	Value string `json:"text"`
}

// Type implements Block.
func (Text) Type() Type { return TypeText }

// Text implements Block: the text itself.
func (t Text) Text() string { return t.Value }

// Thinking is a model's reasoning. Signature and Redacted are the provider's opaque data, returned to it unchanged.
type Thinking struct {
	Value     string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

// Type implements Block.
func (Thinking) Type() Type { return TypeThinking }

// Text implements Block: nothing, since reasoning is never part of an answer.
func (Thinking) Text() string { return "" }

// Join renders blocks as one text, a blank line between two that have any.
func Join(blocks []Block) string {
	var out []byte
	for _, b := range blocks {
		text := b.Text()
		if text == "" {
			continue
		}
		if len(out) > 0 {
			out = append(out, "\n\n"...)
		}
		out = append(out, text...)
	}
	return string(out)
}
