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

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// minSide is the least number of pixels a side: below it the runner of the vision models crashes.
const minSide = 15

type chatBody struct {
	Model    string          `json:"model"`
	Messages []any           `json:"messages"`
	Stream   bool            `json:"stream"`
	Truncate bool            `json:"truncate"` // false: fail instead of cutting a prompt that is too long
	Shift    bool            `json:"shift"`    // false: end the answer instead of forgetting the prompt's beginning
	Think    any             `json:"think,omitempty"`
	Options  map[string]any  `json:"options,omitempty"`
	Tools    []tool          `json:"tools,omitempty"`
	Format   json.RawMessage `json:"format,omitempty"` // a JSON Schema
}

type textMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// pictures is the form of a message that holds one picture and nothing else.
var pictures = wire.Form{
	Check: bigEnough,
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

// pictureMark matches what Ollama treats as the place of a picture in a text.
var pictureMark = regexp.MustCompile(`\[(img(?:-\d+)?\])`)

// escape puts a space into every picture mark of a text: "[ img-0]".
func escape(text string) string { return pictureMark.ReplaceAllString(text, "[ $1") }

// write builds the request body: one message for each part.
func (p *Provider) write(r llm.Request) (*wire.Body, error) {
	turns, drawing, err := p.endpoint.Draw(r, pictures)
	if err != nil {
		return nil, err
	}
	body := chatBody{Model: r.Model, Stream: true, Options: options(r), Think: think(r.Model, r.Thinking), Tools: tools(r.Tools)}
	if bytes.HasPrefix(bytes.TrimSpace(r.Schema), []byte("{")) { // the schemas true and false are refused
		body.Format = r.Schema
	}
	if len(r.Schema) > 0 {
		r.System = wire.InstructSchema(r.System, r.Schema) // the server makes a grammar of it, which the model does not see
	}
	if r.System != "" {
		body.Messages = append(body.Messages, textMessage{"system", escape(r.System)})
	}
	before := len(body.Messages)
	talk := talk{drawing: drawing, model: r.Model}
	for _, t := range turns {
		body.Messages = append(body.Messages, talk.turn(t)...)
	}
	if len(body.Messages) == before {
		return nil, p.endpoint.Empty()
	}
	return drawing.Body(body)
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

// think returns the member of that name: gpt-oss takes a level, all others yes or no.
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
