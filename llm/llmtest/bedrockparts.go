package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

var bedrockID = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,64}$`)

func (r *bedrockReading) block(i int, role, kind string, value json.RawMessage) error {
	if role == "assistant" {
		return r.said(i, kind, value)
	}
	if kind == "toolResult" {
		return r.result(value)
	}
	if kind == "cachePoint" {
		return r.point(value)
	}
	if err := r.open.none(); err != nil { // results stand first in their turn
		return err
	}
	part, err := r.content(kind, value, false)
	r.parts = append(r.parts, part)
	return err
}

// said reads a block of the model's.
func (r *bedrockReading) said(i int, kind string, value json.RawMessage) error {
	switch kind {
	case "text":
		_, err := r.content(kind, value, false)
		return err
	case "toolUse":
		var use struct {
			ToolUseID, Name string
			Input           map[string]json.RawMessage
		}
		if err := strict(value, &use); err != nil {
			return err
		}
		if use.Input == nil || !bedrockID.MatchString(use.ToolUseID) || !nameForm.MatchString(use.Name) {
			return fmt.Errorf("toolUseId, name and input are required, got %s", value)
		}
		return r.open.call(i, use.ToolUseID, r.tools)
	case "reasoningContent":
		return r.reasoning(value)
	case "citationsContent":
		var cited struct {
			Content   []struct{ Text string }
			Citations []struct {
				Title, Source string
				SourceContent []struct{ Text string }
				Location      map[string]json.RawMessage
			}
		}
		return strict(value, &cited)
	}
	return errors.New("unexpected from the assistant")
}

func (r *bedrockReading) reasoning(value json.RawMessage) error {
	kind, inner, err := member(value)
	switch {
	case err != nil:
		return err
	case r.wire.family() == "deepseek":
		return errors.New("this model takes no reasoning back")
	case kind == "redactedContent":
		var data []byte
		return strict(inner, &data)
	case kind == "reasoningText":
		var said struct{ Text, Signature *string }
		if err := strict(inner, &said); err != nil || said.Text == nil {
			return fmt.Errorf("reasoningText.text is required: %w", err)
		}
		return nil
	}
	return fmt.Errorf("%q", kind)
}

// result reads a toolResult: texts, JSON and media of the model's family.
func (r *bedrockReading) result(value json.RawMessage) error {
	var result struct {
		ToolUseID string            `json:"toolUseId"`
		Content   []json.RawMessage `json:"content"`
		Status    *string           `json:"status"`
	}
	if err := strict(value, &result); err != nil {
		return err
	}
	if err := r.open.result(result.ToolUseID); err != nil {
		return err
	}
	family := r.wire.family()
	if s := result.Status; s != nil && (family != "claude" && family != "nova" || *s != "success" && *s != "error") {
		return fmt.Errorf("status %q is not supported", *s)
	}
	if len(result.Content) == 0 {
		return errors.New("content: at least 1")
	}
	for _, raw := range result.Content {
		kind, inner, err := member(raw)
		if err != nil {
			return err
		}
		part, err := r.content(kind, inner, true)
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		part.Result = result.ToolUseID
		r.parts = append(r.parts, part)
	}
	return nil
}

// content reads a text, JSON or a medium of a user's turn.
func (r *bedrockReading) content(kind string, value json.RawMessage, inResult bool) (Part, error) {
	family := r.wire.family()
	switch {
	case kind == "text" && (family != "mistral" || !inResult):
		var said string
		if err := strict(value, &said); err != nil {
			return Part{}, err
		}
		return Part{Text: said}, notBlank(said)
	case kind == "json" && inResult:
		var object map[string]json.RawMessage
		if err := json.Unmarshal(value, &object); err != nil || object == nil {
			return Part{}, fmt.Errorf("the JSON of a result must be an object, got %s", value)
		}
		var said string
		if len(object) == 1 && json.Unmarshal(object["output"], &said) == nil {
			return Part{Text: said}, notBlank(said)
		}
		return Part{Text: string(value)}, nil
	case kind == "image" && !(inResult && (family == "mistral" || family == "writer")):
		return bedrockImage(value)
	case kind == "document" && !(inResult && (family == "claude" || family == "nova")):
		return r.document(value)
	case kind == "video" && family == "nova" && !inResult:
		return bedrockVideo(value)
	}
	return Part{}, fmt.Errorf("this model does not take it here (in a result: %v)", inResult)
}
