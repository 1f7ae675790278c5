package offline

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/llm"
)

// Model is the name under which the answers come.
const Model = "offline-extract-1"

// runesPerToken is the usual estimate where there is no tokenizer.
const runesPerToken = 4

// Provider answers by extraction. The zero value is ready and safe for concurrent use.
type Provider struct{}

// New makes a provider.
func New() *Provider { return &Provider{} }

// Generate implements llm.Provider. Pictures are loaded, one at a time, to tell those that are there from those that are
// not. Each section of the answer is one piece of progress. MaxOutputTokens cuts the answer as a real model would.
func (*Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	f := newFinder()
	input := utf8.RuneCountInString(request.System)
	var omitted []string
	for _, m := range request.Messages {
		if m.Role != llm.User {
			continue
		}
		for _, b := range m.Blocks {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("offline: %w", err)
			}
			picture, isPicture := b.(content.Image)
			if !isPicture {
				f.text(b.Text())
				input += utf8.RuneCountInString(b.Text())
				continue
			}
			if load(ctx, request.Media, picture) {
				f.picture(picture)
				continue
			}
			omitted = append(omitted, picture.Name)
			f.text(picture.Text())
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("offline: %w", err)
	}
	sections, stop := cut(f.sections(), request.MaxOutputTokens)
	answer := strings.Join(sections, "")
	if progress != nil {
		for _, s := range sections {
			progress(s)
		}
	}
	return &llm.Response{
		Text: answer, Blocks: []content.Block{content.Text{Value: answer}}, Stop: stop, Model: Model, Omitted: omitted,
		Usage: llm.Usage{InputTokens: tokens(input), OutputTokens: tokens(utf8.RuneCountInString(answer))},
	}, nil
}

// load tells whether a picture's bytes can be had. Without a loader its block is taken at its word.
func load(ctx context.Context, loader llm.Loader, picture content.Image) bool {
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
