package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/vaultflow/vaultflow/cost"
)

// maxCatalogue is how many bytes of one page of a list of models are read, maxPages how many pages.
const (
	maxCatalogue = 32 << 20
	maxPages     = 20
)

// Listed is OpenRouter's description of a model (openrouter.ai, models page, 2026-11).
type Listed struct {
	ID            string
	Inputs        []string // text, image, file, audio, video
	Parameters    []string // of requests: tools, structured_outputs, reasoning, …
	ContextLength int      // tokens; 0: unknown
	Price         *cost.Price
}

// Takes reports whether the model reads a kind of input.
func (l Listed) Takes(input string) bool { return slices.Contains(l.Inputs, input) }

// Allows reports whether requests to the model may have a parameter.
func (l Listed) Allows(parameter string) bool { return slices.Contains(l.Parameters, parameter) }

var errNoList = errors.New("the answer is no list of models")

// Models returns OpenRouter's models. The lists of other services lack these facts.
func (p *Provider) Models(ctx context.Context) ([]Listed, error) {
	var all []Listed
	query := ""
	for range maxPages {
		listed, next, err := p.models(ctx, query)
		if err != nil {
			return nil, err
		}
		if all = append(all, listed...); next == "" {
			return all, nil
		}
		if query = next; len(listed) == 0 {
			return all, nil
		}
	}
	return all, nil
}

// models returns one page. next is the query of the following page.
func (p *Provider) models(ctx context.Context, query string) (all []Listed, next string, err error) {
	answer, err := p.endpoint.Get(ctx, "/models"+query)
	if err != nil {
		return nil, "", err
	}
	defer answer.Close()
	var list struct {
		Data []struct {
			ID            string `json:"id"`
			ContextLength int    `json:"context_length"`
			Architecture  struct {
				Inputs []string `json:"input_modalities"`
			} `json:"architecture"`
			Parameters []string                   `json:"supported_parameters"`
			Pricing    map[string]json.RawMessage `json:"pricing"`
		} `json:"data"`
		Links struct {
			Next string `json:"next"`
		} `json:"links"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxCatalogue)).Decode(&list); err != nil || list.Data == nil {
		return nil, "", answer.Broken(errNoList)
	}
	for _, m := range list.Data {
		all = append(all, Listed{m.ID, m.Architecture.Inputs, m.Parameters, max(m.ContextLength, 0), price(m.Pricing)})
	}
	if link, err := url.Parse(list.Links.Next); err == nil && link.RawQuery != "" {
		next = "?" + link.RawQuery // whatever host it names, the next page is requested here
	}
	return all, next, nil
}

// price converts dollars for a token, in text, to dollars for a million. Variable prices are listed as negative numbers.
func price(pricing map[string]json.RawMessage) *cost.Price {
	million := func(key string) float64 {
		var text string
		if json.Unmarshal(pricing[key], &text) != nil {
			return math.NaN()
		}
		dollars, err := strconv.ParseFloat(text, 64)
		if err != nil || dollars < 0 || dollars > 1 {
			return math.NaN()
		}
		return math.Round(dollars*1e12) / 1e6
	}
	known := func(v float64) float64 {
		if math.IsNaN(v) {
			return 0
		}
		return v
	}
	in, out := million("prompt"), million("completion")
	if math.IsNaN(in) || math.IsNaN(out) {
		return nil
	}
	return &cost.Price{Input: in, Output: out, Cached: known(million("input_cache_read")), CacheWrite: known(million("input_cache_write"))}
}
