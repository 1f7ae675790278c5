package ollama

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"regexp"
	"strings"

	_ "image/jpeg" // read the size of a picture
	_ "image/png"

	_ "golang.org/x/image/webp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// minSide is the least number of pixels a side: below it the runner of the vision models crashes.
const minSide = 15

type chatBody struct {
	Model    string         `json:"model"`
	Messages []any          `json:"messages"`
	Stream   bool           `json:"stream"`
	Truncate bool           `json:"truncate"` // false: say that the prompt is too long instead of cutting it
	Shift    bool           `json:"shift"`    // false: end the answer instead of forgetting the prompt's beginning
	Think    any            `json:"think,omitempty"`
	Options  map[string]any `json:"options,omitempty"`
}

type textMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// pictures is a message that holds one picture and nothing else.
var pictures = llm.Form{
	Accept: []string{"image/png", "image/jpeg", "image/webp"},
	Check:  bigEnough,
	Frame: func(string) (string, string) {
		return `{"role":"user","content":"","images":["`, `"]}`
	},
	Text: func(fallback string) any { return textMessage{"user", escape(fallback)} },
}

func bigEnough(data []byte, _ string) error {
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("read the size of a picture: %w", err)
	}
	if config.Width < minSide || config.Height < minSide {
		return fmt.Errorf("%dx%d is too small: Ollama needs %d pixels a side", config.Width, config.Height, minSide)
	}
	return nil
}

// pictureMark is what Ollama takes for the place of a picture in a text.
var pictureMark = regexp.MustCompile(`\[(img(?:-\d+)?\])`)

// escape sets a blank into every picture mark of a text: "[ img-0]".
func escape(text string) string { return pictureMark.ReplaceAllString(text, "[ $1") }

// write builds the request body: one message for each part.
func (p *Provider) write(r llm.Request) (*llm.Body, error) {
	drawing := llm.NewDrawing(r.Media, pictures)
	body := chatBody{Model: r.Model, Stream: true, Options: options(r), Think: think(r.Model, r.Thinking)}
	if r.System != "" {
		body.Messages = append(body.Messages, textMessage{"system", escape(r.System)})
	}
	before := len(body.Messages)
	for _, m := range r.Messages {
		body.Messages = append(body.Messages, turn(drawing, r.Model, m)...)
	}
	if len(body.Messages) == before {
		return nil, &llm.Error{Class: llm.ClassParameter, Provider: p.endpoint.Provider(), Message: "there is nothing to send: the prompt is empty"}
	}
	return drawing.Body(body)
}

func turn(drawing *llm.Drawing, model string, m llm.Message) []any {
	blocks := llm.SendableBlocks(m.Blocks)
	if m.Role == llm.Assistant {
		if raw, ok := llm.UnpackRaw(m.Raw, wire, model); ok {
			return []any{json.RawMessage(escape(string(raw)))} // the marks are plain letters in JSON too
		}
		if text := content.Join(blocks); text != "" {
			return []any{textMessage{string(m.Role), escape(text)}}
		}
		return nil
	}
	var messages []any
	for _, b := range blocks {
		if picture, ok := b.(content.Image); ok {
			messages = append(messages, drawing.Image(picture))
			continue
		}
		messages = append(messages, textMessage{string(m.Role), escape(b.Text())})
	}
	return messages
}

func options(r llm.Request) map[string]any {
	o := map[string]any{}
	if r.ContextWindow > 0 {
		o["num_ctx"] = r.ContextWindow
	}
	if r.MaxOutputTokens > 0 {
		o["num_predict"] = r.MaxOutputTokens
	}
	if r.Temperature != nil {
		o["temperature"] = *r.Temperature
	}
	return o
}

// think is the member of that name: gpt-oss takes a level, all others yes or no.
func think(model, level string) any {
	switch level {
	case "":
		return nil
	case "off":
		return false
	case "low", "medium", "high":
		if strings.Contains(model, "gpt-oss") {
			return level
		}
	}
	return true
}
