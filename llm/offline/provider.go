package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/wire"
)

// Model is the name under which the answers come.
const Model = "offline-extract-1"

// Usual estimates where there is no tokenizer: letters for each token, and tokens of a small picture.
const (
	runesPerToken = 4
	pictureTokens = 258
)

// Provider answers by extraction. The zero value is ready and safe for concurrent use.
type Provider struct{}

// New makes a provider.
func New() *Provider { return &Provider{} }

// Generate implements llm.Provider. Media are loaded, one at a time, to tell those that are there from those that are not.
// Each section of the answer is one piece of progress. MaxOutputTokens cuts the answer as a real model would.
//
// With a schema the answer is JSON that fits it, filled from what was found (see answer). When the tool read_chunks is on
// offer and the prompt names deferred chunks, the first answer asks for them, once; the next one says that they were read.
func (*Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	turns, _, err := wire.Draw(request, "offline", "offline", wire.Form{})
	if err != nil {
		return nil, err
	}
	r := &reading{finder: newFinder(), media: request.Media, input: utf8.RuneCountInString(request.System)}
	for _, t := range turns {
		if t.Role == llm.User {
			err = errors.Join(err, r.turn(ctx, t))
		}
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, fmt.Errorf("offline: %w", err)
	}
	if call, asks := r.call(request); asks {
		return r.response([]string{call.notice()}, []content.Block{call.block(len(request.Messages))}, llm.StopToolUse, progress), nil
	}
	pieces := r.finder.sections()
	if wanted := schemaOf(request); wanted != nil {
		answer, err := r.finder.answer(wanted)
		if err != nil {
			return nil, &llm.Error{Class: llm.ClassParameter, Provider: "offline", Message: "the schema is not one that can be read: " + err.Error()}
		}
		pieces = []string{answer}
	}
	pieces, stop := cut(pieces, request.MaxOutputTokens)
	return r.response(pieces, nil, stop, progress), nil
}

// reading is one request as it is read.
type reading struct {
	finder  *finder
	media   llm.Loader
	input   int // runes
	seen    int // pictures
	omitted []string
	results bool // some tool was used
}

func (r *reading) turn(ctx context.Context, t llm.Turn) error {
	for _, result := range t.Results {
		r.results = true
		if err := r.blocks(ctx, result.Parts); err != nil {
			return err
		}
	}
	return r.blocks(ctx, t.Blocks)
}

func (r *reading) blocks(ctx context.Context, blocks []content.Block) error {
	for _, b := range blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		if picture, ok := b.(content.Image); ok {
			if loads(ctx, r.media, picture) {
				r.finder.picture(picture)
				r.seen++
				continue
			}
			r.omitted = append(r.omitted, picture.Name)
		}
		r.finder.text(b.Text())
		r.input += utf8.RuneCountInString(b.Text())
	}
	return nil
}

func (r *reading) response(pieces []string, calls []content.Block, stop llm.Stop, progress func(string)) *llm.Response {
	answer := strings.Join(pieces, "")
	if progress != nil {
		for _, piece := range pieces {
			progress(piece)
		}
	}
	return &llm.Response{
		Text: answer, Blocks: append([]content.Block{content.Text{Value: answer}}, calls...), Stop: stop, Model: Model, Omitted: r.omitted,
		Usage: cost.Usage{InputTokens: tokens(r.input) + r.seen*pictureTokens, OutputTokens: tokens(utf8.RuneCountInString(answer))},
	}
}

// anyJSON matches a system prompt that asks for JSON of no certain form.
var anyJSON = regexp.MustCompile(`(?mi)^answer with (?:one )?json\b`)

// schemaOf is the schema that the answer must fit, nil when it is free text.
func schemaOf(request llm.Request) json.RawMessage {
	if len(request.Schema) > 0 {
		return request.Schema
	}
	if anyJSON.MatchString(request.System) {
		return json.RawMessage("true")
	}
	return nil
}

// loads tells whether a picture's bytes can be had. Without a loader its block is taken at its word.
func loads(ctx context.Context, loader llm.Loader, picture content.Image) bool {
	if loader == nil {
		return true
	}
	data, _, err := loader.Load(ctx, picture)
	return err == nil && len(data) > 0
}

func tokens(runes int) int { return (runes + runesPerToken - 1) / runesPerToken }

// cut keeps at most limit tokens; 0 is no limit.
func cut(sections []string, limit int) ([]string, llm.Stop) {
	if limit <= 0 {
		return sections, llm.StopEnd
	}
	left := limit * runesPerToken
	for i, s := range sections {
		runes := []rune(s)
		if len(runes) <= left {
			left -= len(runes)
			continue
		}
		return append(sections[:i:i], string(runes[:left])), llm.StopLength
	}
	return sections, llm.StopEnd
}
