package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// parts reads the content of a message: a string or a list of parts.
func (o OpenAI) parts(m openaiMessage) ([]Part, error) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []Part{{Text: text}}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(m.Content, &list); err != nil || len(list) == 0 {
		return nil, errors.New("content must be a string or a non-empty array")
	}
	var parts []Part
	for _, raw := range list {
		part, err := o.part(m, raw)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func (o OpenAI) part(m openaiMessage, raw json.RawMessage) (Part, error) {
	switch kind := typeOf(raw); {
	case kind == "text":
		var t struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		err := strict(raw, &t)
		return Part{Text: t.Text}, err
	case kind == "thinking" && m.Role == "assistant" && o.Kind == "mistral": // an echo; the published schema knows its form
		return Part{}, nil
	case kind == "image_url" && m.Role == "user":
		var i struct {
			Type     string `json:"type"`
			ImageURL struct {
				URL string `json:"url"`
			} `json:"image_url"`
		}
		if err := strict(raw, &i); err != nil {
			return Part{}, err
		}
		return dataURI(i.ImageURL.URL, "image/png", "image/jpeg", "image/gif", "image/webp")
	case kind == "file" && m.Role == "user" && slices.Contains([]string{"", "openai_chat", "openrouter", "openai_compatible"}, o.Kind):
		var f struct {
			Type string `json:"type"`
			File struct {
				Filename string `json:"filename"`
				FileData string `json:"file_data"`
			} `json:"file"`
		}
		if err := strict(raw, &f); err != nil {
			return Part{}, err
		}
		if f.File.Filename == "" {
			return Part{}, errors.New("missing required parameter: 'file.filename'")
		}
		return dataURI(f.File.FileData, "application/pdf")
	case (kind == "input_audio" || kind == "video_url") && m.Role == "user" && slices.Contains([]string{"", "openai_chat", "openrouter", "openai_compatible"}, o.Kind):
		return o.recordingPart(raw)
	case kind == "document_url" && m.Role == "user" && o.Kind == "mistral":
		var d struct {
			Type string `json:"type"`
			URL  string `json:"document_url"`
			Name string `json:"document_name"`
		}
		if err := strict(raw, &d); err != nil {
			return Part{}, err
		}
		return dataURI(d.URL, "application/pdf")
	default:
		return Part{}, fmt.Errorf("content blocks are expected to be either text or image_url type, got %q from %s", kind, m.Role)
	}
}

// dataURI decodes a data URI whose bytes must be of the type that it names, one of those accepted.
func dataURI(uri string, accepted ...string) (Part, error) {
	head, encoded, ok := strings.Cut(uri, ";base64,")
	if !ok {
		return Part{}, errors.New("not a data URI")
	}
	part, err := picture(encoded, accepted...)
	if err == nil && head != "data:"+part.MediaType {
		err = fmt.Errorf("%s holds %s", head, part.MediaType)
	}
	return part, err
}
