// Package transcription asks for the text of recordings (POST /audio/transcriptions), as OpenAI, Groq and local servers of Whisper
// offer it. Wire format: OpenAI's published description of August 2026; fields that other servers leave out may be missing.
//
// It is an llm.Provider, so that retries, limits and prices work as for other services: a request holds one recording and
// nothing else, the answer's text is what was said, and [Segments] returns it with times.
package transcription

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/ingestion/sound"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// publicAddress is OpenAI's own.
const publicAddress = "https://api.openai.com/v1"

// maxAnswer bounds an answer in bytes: the segments of a day.
const maxAnswer = 32 << 20

const wireName = "audio-transcriptions"

// Config configures a provider.
type Config struct {
	wire.Config
	Language       string  // ISO 639-1, such as en; empty: the service finds out
	PricePerMinute float64 // US dollars; 0: unknown
}

// Provider recognises speech. It is safe for concurrent use.
type Provider struct {
	endpoint *wire.Endpoint
	language string
	price    float64
}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider. BaseURL is with "/v1".
func New(c Config) *Provider {
	return &Provider{endpoint: c.Endpoint("openai", publicAddress, ""), language: c.Language, price: c.PricePerMinute}
}

// extensions are those by which services recognise the format of a file.
var extensions = map[string]string{
	"audio/mpeg": "mp3", "audio/mp4": "m4a", "audio/wav": "wav", "audio/flac": "flac", "audio/ogg": "ogg", "audio/opus": "ogg", "audio/webm": "webm",
	"audio/x-m4a": "m4a", "audio/x-wav": "wav", "audio/x-flac": "flac", "audio/mp3": "mp3",
}

// Takes reports whether services accept recordings of a media type.
func Takes(mediaType string) bool { return extensions[mediaType] != "" }

// answer is the part of the service's answer that is read.
type answer struct {
	Text     *string           `json:"text"`
	Language string            `json:"language"`
	Duration seconds           `json:"duration"`
	Segments []sound.Utterance `json:"segments"`
	Usage    *struct {
		Seconds seconds `json:"seconds"`
		Input   int     `json:"input_tokens"`
		Output  int     `json:"output_tokens"`
	} `json:"usage"`
}

// seconds reads a number that some servers write as a string. Nonsense is zero.
type seconds float64

// UnmarshalJSON implements json.Unmarshaler.
func (s *seconds) UnmarshalJSON(data []byte) error {
	var v float64
	if json.Unmarshal([]byte(strings.Trim(string(data), `"`)), &v) == nil && v > 0 && v < 1e7 {
		*s = seconds(v)
	}
	return nil
}

// Generate implements llm.Provider. The request must hold exactly one recording; its text is not sent.
// The service does not stream: progress gets the whole text at once.
func (p *Provider) Generate(ctx context.Context, r llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(ctx, r)
	if err != nil {
		return nil, err
	}
	return p.endpoint.Ask(ctx, "/audio/transcriptions", body, func(got *wire.Answer) (*llm.Response, error) {
		var a answer
		data, err := got.JSON(maxAnswer, &a)
		if err != nil {
			return nil, err
		}
		if a.Text == nil {
			return nil, p.endpoint.Fault(llm.ClassOther, "the answer has no text")
		}
		response := p.response(a, r.Model, data)
		got.Tell(progress)
		got.Say(response.Text)
		return response, nil
	})
}

func (p *Provider) write(ctx context.Context, r llm.Request) (*wire.Body, error) {
	var recording content.Block
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Type() != content.TypeAudio {
				continue
			}
			if recording != nil {
				return nil, p.endpoint.Fault(llm.ClassParameter, "one recording at a time is transcribed")
			}
			recording = b
		}
	}
	if recording == nil || r.Media == nil {
		return nil, p.endpoint.Fault(llm.ClassParameter, "there is no recording to transcribe")
	}
	data, mediaType, err := r.Media.Load(ctx, recording)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, p.endpoint.Fault(llm.ClassUnsupportedMedia, "the recording could not be read when it was sent")
	case !Takes(mediaType):
		return nil, p.endpoint.Fault(llm.ClassUnsupportedMedia, "services take no recordings of this kind")
	}
	fields := [][2]string{{"model", r.Model}, {"response_format", format(r.Model)}}
	if p.language != "" {
		fields = append(fields, [2]string{"language", p.language})
	}
	return wire.Upload{Fields: fields, Field: "file", Name: "recording." + extensions[mediaType], MediaType: mediaType, Data: data}.Body()
}

// format is the form of the answer. OpenAI's newer models have no times and refuse the longer form.
func format(model string) string {
	if strings.HasPrefix(model, "gpt-") {
		return "json"
	}
	return "verbose_json"
}

func (p *Provider) response(a answer, model string, data []byte) *llm.Response {
	text := strings.TrimSpace(*a.Text)
	out := &llm.Response{
		Text: text, Blocks: []content.Block{content.Text{Value: text}}, Stop: llm.StopEnd, Model: model,
		Raw: wire.PackRaw(wireName, model, data), Usage: cost.Usage{CostUnknown: true},
	}
	length := float64(a.Duration)
	if a.Usage != nil {
		out.Usage.InputTokens, out.Usage.OutputTokens = max(a.Usage.Input, 0), max(a.Usage.Output, 0)
		length = max(length, float64(a.Usage.Seconds))
	}
	if p.price > 0 && length > 0 {
		out.Usage.CostUSD, out.Usage.CostUnknown = length/60*p.price, false
	}
	return out
}

// Segments returns the segments of a [Provider]'s response in order. There are none when the service reports no times.
func Segments(r *llm.Response, model string) (segments []sound.Utterance, err error) {
	data, ok := wire.UnpackRaw(r.Raw, wireName, model)
	if !ok {
		return nil, errors.New("the answer is not one of speech recognition")
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("read the segments of an answer: %w", err)
	}
	for _, s := range a.Segments {
		s.Text = strings.TrimSpace(s.Text)
		if s.Text != "" && s.Start >= 0 && !math.IsNaN(s.Start) && s.Start < 1e7 {
			segments = append(segments, s)
		}
	}
	return segments, nil
}
