package content

import (
	"encoding/json"
	"fmt"
	"strings"
)

// MarshalBlocks returns the stored form of blocks: a JSON array of objects, each with its "type". Nothing in it is
// base64: media are names and digests, and long encoded strings in a tool's data are replaced by their length.
func MarshalBlocks(blocks []Block) ([]byte, error) {
	raw := make([]json.RawMessage, len(blocks))
	for i, b := range blocks {
		data, err := json.Marshal(b)
		if err != nil {
			return nil, fmt.Errorf("store block %d (%s): %w", i, b.Type(), err)
		}
		raw[i] = data
	}
	return json.Marshal(raw)
}

// UnmarshalBlocks reads what MarshalBlocks wrote. A block of a type that is not known here becomes a Text with its
// fallback: its "fallback" or "text" if it has one, else a line such as "[model: name]".
func UnmarshalBlocks(data []byte) ([]Block, error) {
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("read blocks: %w", err)
	}
	if len(raw) == 0 {
		return nil, nil
	}
	blocks := make([]Block, len(raw))
	for i, r := range raw {
		b, err := unmarshalBlock(r)
		if err != nil {
			return nil, fmt.Errorf("read block %d: %w", i, err)
		}
		blocks[i] = b
	}
	return blocks, nil
}

func unmarshalBlock(data []byte) (Block, error) {
	var head struct {
		Type     Type   `json:"type"`
		Name     string `json:"name"`
		Text     any    `json:"text"`
		Fallback any    `json:"fallback"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	switch head.Type {
	case TypeText:
		return into[Text](data)
	case TypeImage:
		return into[Image](data)
	case TypeDocument:
		return into[Document](data)
	case TypeAudio:
		return into[Audio](data)
	case TypeVideo:
		return into[Video](data)
	case TypeThinking:
		return into[Thinking](data)
	case TypeToolCall:
		return into[ToolCall](data)
	case TypeToolResult:
		return into[ToolResult](data)
	case "":
		return nil, fmt.Errorf("no type")
	}
	for _, known := range []any{head.Fallback, head.Text} {
		if text, ok := known.(string); ok && text != "" {
			return Text{Value: text}, nil
		}
	}
	facts := strings.TrimSuffix(line(string(head.Type))+": "+line(head.Name), ": ")
	return Text{Value: "[" + facts + "]"}, nil
}

func into[B Block](data []byte) (Block, error) {
	var b B
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Type(), err)
	}
	return b, nil
}

// MarshalJSON writes the stored form.
func (t Text) MarshalJSON() ([]byte, error) {
	type plain Text
	return json.Marshal(struct {
		Type Type `json:"type"`
		plain
	}{TypeText, plain(t)})
}

// MarshalJSON writes the stored form.
func (t Thinking) MarshalJSON() ([]byte, error) {
	type plain Thinking
	return json.Marshal(struct {
		Type Type `json:"type"`
		plain
	}{TypeThinking, plain(t)})
}

// MarshalJSON writes the stored form: never the bytes.
func (i Image) MarshalJSON() ([]byte, error) {
	type plain Image
	return json.Marshal(struct {
		Type Type `json:"type"`
		plain
	}{TypeImage, plain(i)})
}

// MarshalJSON writes the stored form: never the bytes.
func (d Document) MarshalJSON() ([]byte, error) {
	type plain Document
	return json.Marshal(struct {
		Type Type `json:"type"`
		plain
	}{TypeDocument, plain(d)})
}

// MarshalJSON writes the stored form: never the bytes.
func (a Audio) MarshalJSON() ([]byte, error) {
	type plain Audio
	return json.Marshal(struct {
		Type Type `json:"type"`
		plain
	}{TypeAudio, plain(a)})
}

// MarshalJSON writes the stored form: never the bytes.
func (v Video) MarshalJSON() ([]byte, error) {
	type plain Video
	return json.Marshal(struct {
		Type Type `json:"type"`
		plain
	}{TypeVideo, plain(v)})
}

// MarshalJSON writes the stored form.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	type plain ToolCall
	return json.Marshal(struct {
		Type Type `json:"type"`
		plain
	}{TypeToolCall, plain(c)})
}

// storedResult is the JSON form of a ToolResult.
type storedResult struct {
	Type         Type            `json:"type"`
	CallID       string          `json:"call_id"`
	Success      bool            `json:"success"`
	Output       string          `json:"output,omitempty"`
	Blocks       json.RawMessage `json:"blocks,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"`
	FilesChanged []string        `json:"files_changed,omitempty"`
	Error        string          `json:"error,omitempty"`
}

// MarshalJSON writes the stored form, its blocks and data without encoded media.
func (r ToolResult) MarshalJSON() ([]byte, error) {
	s := storedResult{
		Type: TypeToolResult, CallID: r.CallID, Success: r.Success, Output: r.Output,
		FilesChanged: r.FilesChanged, Error: r.Error,
	}
	if len(r.Blocks) > 0 {
		blocks, err := MarshalBlocks(r.Blocks)
		if err != nil {
			return nil, err
		}
		s.Blocks = blocks
	}
	if len(r.Data) > 0 {
		data, err := withoutMedia(r.Data)
		if err != nil {
			return nil, fmt.Errorf("tool data: %w", err)
		}
		s.Data = data
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads the stored form.
func (r *ToolResult) UnmarshalJSON(data []byte) error {
	var s storedResult
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*r = ToolResult{
		CallID: s.CallID, Success: s.Success, Output: s.Output, Data: s.Data,
		FilesChanged: s.FilesChanged, Error: s.Error,
	}
	if len(s.Blocks) == 0 {
		return nil
	}
	blocks, err := UnmarshalBlocks(s.Blocks)
	r.Blocks = blocks
	return err
}
