// Package mistralocr asks Mistral's text recognition (POST /v1/ocr) for the text of pictures. Wire format: the OpenAPI
// description in mistralai/platform-docs-public, commit 222f4ba of August 2026.
//
// It is an llm.Provider, so that retries, limits and prices work as for other services: a request holds one picture and
// nothing else, the answer's text is the page as Markdown, and [Pictures] returns the pictures that came with it.
package mistralocr

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// DefaultModel is the name under which Mistral offers its newest recogniser.
const DefaultModel = "mistral-ocr-latest"

// publicAddress is Mistral's own.
const publicAddress = "https://api.mistral.ai/v1"

// maxAnswer bounds an answer, its pictures in base64 included, in bytes.
const maxAnswer = 96 << 20

const wireName = "mistral-ocr"

// Config configures a provider.
type Config struct {
	wire.Config
	Pictures     bool    // request the pictures of the page too
	PricePerPage float64 // US dollars; 0: unknown
}

// Provider recognises text. It is safe for concurrent use.
type Provider struct {
	endpoint *wire.Endpoint
	pictures bool
	price    float64
}

// New returns a provider. BaseURL is with "/v1".
func New(c Config) *Provider {
	return &Provider{
		endpoint: c.Endpoint("mistral", publicAddress, ""),
		pictures: c.Pictures, price: c.PricePerPage,
	}
}

// form is the form of the picture in the request: {"type":"image_url","image_url":"data:image/png;base64,…"}.
var form = wire.Form{
	Accept: []string{"image/png", "image/jpeg", "image/webp", "image/gif"},
	Frame: func(mediaType string) (string, string) {
		return `{"type":"image_url","image_url":"data:` + mediaType + `;base64,`, `"}`
	},
	Text: func(string) any { return nil },
}

type request struct {
	Model    string `json:"model"`
	Document any    `json:"document"`
	Pictures bool   `json:"include_image_base64"`
}

// answer is the part of the service's answer that is read.
type answer struct {
	Model string `json:"model"`
	Pages []page `json:"pages"`
	Usage *struct {
		Pages int `json:"pages_processed"`
	} `json:"usage_info"`
}

type page struct {
	Markdown string `json:"markdown"`
	Images   []struct {
		ID     string `json:"id"`
		Base64 string `json:"image_base64"`
	} `json:"images"`
}

// Generate implements llm.Provider. The request must hold exactly one picture; its text is not sent.
// The service does not stream: progress gets the whole text at once.
func (p *Provider) Generate(ctx context.Context, r llm.Request, progress func(string)) (*llm.Response, error) {
	body, err := p.write(r)
	if err != nil {
		return nil, err
	}
	return p.endpoint.Ask(ctx, "/ocr", body, func(got *wire.Answer) (*llm.Response, error) {
		if len(body.Omitted()) > 0 {
			return nil, p.endpoint.Fault(llm.ClassUnsupportedMedia, "the picture could not be read when it was sent")
		}
		var a answer
		data, err := got.JSON(maxAnswer, &a)
		if err != nil {
			return nil, err
		}
		if len(a.Pages) == 0 {
			return nil, p.endpoint.Fault(llm.ClassOther, "the answer has no pages")
		}
		response := p.response(a, r.Model, data)
		got.Tell(progress)
		got.Say(response.Text)
		return response, nil
	})
}

func (p *Provider) write(r llm.Request) (*wire.Body, error) {
	drawing := wire.NewDrawing(r.Media, form)
	var document any
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Type() != content.TypeImage {
				continue
			}
			if document != nil {
				return nil, p.endpoint.Fault(llm.ClassImageCount, "one picture at a time is recognised")
			}
			document, _ = drawing.Media(b)
		}
	}
	if document == nil {
		return nil, p.endpoint.Fault(llm.ClassParameter, "there is no picture to recognise")
	}
	return drawing.Body(request{Model: r.Model, Document: document, Pictures: p.pictures})
}

func (p *Provider) response(a answer, model string, data []byte) *llm.Response {
	var pages []string
	for _, page := range a.Pages {
		pages = append(pages, page.Markdown)
	}
	text := strings.Join(pages, "\n\n")
	out := &llm.Response{
		Text: text, Blocks: []content.Block{content.Text{Value: text}}, Stop: llm.StopEnd, Model: a.Model,
		Raw: wire.PackRaw(wireName, model, data), Usage: cost.Usage{CostUnknown: p.price == 0},
	}
	if p.price > 0 {
		count := len(a.Pages)
		if a.Usage != nil && a.Usage.Pages > 0 {
			count = a.Usage.Pages
		}
		out.Usage.CostUSD = float64(count) * p.price
	}
	return out
}

// Pictures returns the pictures of a [Provider]'s response. It skips those whose bytes cannot be decoded.
func Pictures(r *llm.Response, model string) ([]imaging.Cutout, error) {
	data, ok := wire.UnpackRaw(r.Raw, wireName, model)
	if !ok {
		return nil, errors.New("the answer is not one of Mistral's text recognition")
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("read the pictures of an answer: %w", err)
	}
	var list []imaging.Cutout
	for _, page := range a.Pages {
		for _, image := range page.Images {
			encoded := image.Base64
			if _, after, isURI := strings.Cut(encoded, ";base64,"); isURI {
				encoded = after
			}
			if decoded, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(decoded) > 0 && image.ID != "" {
				list = append(list, imaging.Cutout{ID: image.ID, Data: decoded})
			}
		}
	}
	return list, nil
}
