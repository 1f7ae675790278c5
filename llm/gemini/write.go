package gemini

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

type body struct {
	System     *turn       `json:"systemInstruction,omitempty"`
	Contents   []any       `json:"contents"`
	Tools      []tools     `json:"tools,omitempty"`
	Generation *generating `json:"generationConfig,omitempty"`
}

type turn struct {
	Role  string `json:"role,omitempty"`
	Parts []any  `json:"parts"`
}

type textPart struct {
	Text string `json:"text"`
}

type generating struct {
	MaxOutputTokens    int             `json:"maxOutputTokens,omitempty"`
	Temperature        *float64        `json:"temperature,omitempty"`
	ThinkingConfig     *thinking       `json:"thinkingConfig,omitempty"`
	ResponseMIMEType   string          `json:"responseMimeType,omitempty"`
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"`
}

// says reports whether any option is set.
func (g *generating) says() bool {
	return g.MaxOutputTokens > 0 || g.Temperature != nil || g.ThinkingConfig != nil || g.ResponseJSONSchema != nil
}

type thinking struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	Level           string `json:"thinkingLevel,omitempty"`
	Budget          *int   `json:"thinkingBudget,omitempty"`
}

// media is the form of parts with bytes.
var media = wire.Form{
	Frame:         inline,
	Text:          func(fallback string) any { return textPart{fallback} },
	FrameDocument: func(mediaType, _ string) (string, string) { return inline(mediaType) },
	FrameRecording: func(mediaType, format string) (string, string) {
		if own, ok := ownTypes[format]; ok {
			mediaType = own
		}
		return inline(mediaType)
	},
}

// ownTypes are the service's names for types of recordings where they differ from the usual ones. From its pages on audio and
// video, read in November 2026.
var ownTypes = map[string]string{"mp3": "audio/mp3", "mov": "video/mov", "avi": "video/avi", "wmv": "video/wmv"}

func inline(mediaType string) (before, after string) {
	return `{"inlineData":{"mimeType":"` + mediaType + `","data":"`, `"}}`
}

// write builds the request body.
func (p *Provider) write(r llm.Request) (*wire.Body, error) {
	turns, drawing, err := p.endpoint.Draw(r, media)
	if err != nil {
		return nil, err
	}
	talk := talk{model: r.Model, drawing: drawing, calls: map[string]answered{}}
	out := body{Tools: declare(r.Tools)}
	for _, t := range turns {
		out.Contents = append(out.Contents, talk.turn(t)...)
	}
	if len(out.Contents) == 0 {
		return nil, p.endpoint.Empty()
	}
	set := generating{MaxOutputTokens: max(r.MaxOutputTokens, 0), Temperature: r.Temperature, ThinkingConfig: think(r.Model, r.Thinking)}
	if system := set.demand(r); strings.TrimSpace(system) != "" {
		out.System = &turn{Parts: []any{textPart{system}}}
	}
	if set.says() {
		out.Generation = &set
	}
	return drawing.Body(out)
}

// budgets translates the three words for models that want a number of tokens.
var budgets = map[string]int{"low": 4096, "medium": 10240, "high": 24576}

// think sets how much a model thinks: by level since the third generation, by tokens before. Not all models can turn it off;
// for those "off" means the least. From the provider's page on thinking, read in November 2026.
func think(model, level string) *thinking {
	if level == "" {
		return nil
	}
	tokens, isNumber := budgets[level], false
	if n, err := strconv.Atoi(level); err == nil {
		tokens, isNumber = max(n, 0), true
	}
	if generation(model) >= 3 {
		switch {
		case level == "off", isNumber && tokens <= budgets["low"]:
			level = "low"
		case isNumber && tokens <= budgets["medium"]:
			level = "medium"
		case isNumber:
			level = "high"
		}
		return &thinking{IncludeThoughts: true, Level: strings.ToUpper(level)} // an enumeration, by name
	}
	if strings.Contains(model, "-pro") {
		tokens = max(tokens, 128) // the least of these models
	}
	return &thinking{IncludeThoughts: tokens > 0, Budget: &tokens}
}
