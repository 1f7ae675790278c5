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

// Model is the name of the model in answers.
const Model = "offline-quote-1"

// Estimates, as there is no tokenizer: letters of a token, and tokens of a small picture.
const (
	runesPerToken = 4
	pictureTokens = 258
)

// How much of a prompt is quoted.
const (
	maxLines = 200
	maxRunes = 400 // of a line
)

const (
	notice = "> Answer of the offline model: it quotes its prompt and understands none of it. Configure a real model for more.\n\n"
	cutOff = "> […] The prompt is longer; the rest is not quoted.\n"
)

// Provider quotes. The zero value is ready and safe for concurrent use.
type Provider struct{}

var _ llm.Provider = (*Provider)(nil)

// New returns a provider.
func New() *Provider { return &Provider{} }

// Generate implements llm.Provider. It loads each picture, one at a time, so that missing ones are reported as omitted.
// MaxOutputTokens cuts the answer, as with a real model.
func (*Provider) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	turns, _, err := wire.Draw(request, "offline", "offline", wire.Form{})
	if err != nil {
		return nil, err
	}
	q := &quotation{media: request.Media, input: utf8.RuneCountInString(request.System), pieces: []string{notice}}
	for _, t := range turns {
		if t.Role == llm.User {
			err = errors.Join(err, q.turn(ctx, t))
		}
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, fmt.Errorf("offline: %w", err)
	}
	pieces := q.pieces
	if schema := schemaOf(request); schema != nil {
		answer, err := fill(ctx, schema)
		if err != nil {
			return nil, err
		}
		pieces = []string{answer}
	}
	pieces, stop := cut(pieces, request.MaxOutputTokens)
	answer := strings.Join(pieces, "")
	if progress != nil {
		for _, piece := range pieces {
			progress(piece)
		}
	}
	return &llm.Response{
		Text: answer, Blocks: []content.Block{content.Text{Value: answer}}, Stop: stop, Model: Model, Omitted: q.omitted,
		Usage: cost.Usage{InputTokens: tokens(q.input) + q.pictures*pictureTokens, OutputTokens: tokens(utf8.RuneCountInString(answer))},
	}, nil
}

// quotation grows while a request is read.
type quotation struct {
	media    llm.Loader
	pieces   []string // a piece for each block
	lines    int
	blank    bool // the last line was; one is enough
	input    int  // runes
	pictures int
	omitted  []string
}

func (q *quotation) turn(ctx context.Context, t llm.Turn) error {
	for _, result := range t.Results {
		if err := q.blocks(ctx, result.Parts); err != nil {
			return err
		}
	}
	return q.blocks(ctx, t.Blocks)
}

func (q *quotation) blocks(ctx context.Context, blocks []content.Block) error {
	for _, b := range blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		text := b.Text()
		if picture, ok := b.(content.Image); ok {
			if loads(ctx, q.media, picture) {
				q.pictures++
				q.quote(q.label(picture))
				continue
			}
			q.omitted = append(q.omitted, picture.Name)
		}
		q.input += utf8.RuneCountInString(text)
		q.quote(text)
	}
	return nil
}

// quote adds the lines of a block as a Markdown quotation.
func (q *quotation) quote(text string) {
	var piece strings.Builder
	for line := range strings.Lines(text) {
		line = border.ReplaceAllString(strings.TrimRight(line, " \t\r\n"), "[$1$2]")
		if q.lines > maxLines || line == "" && q.blank {
			continue
		}
		q.blank = line == ""
		if q.lines++; q.lines > maxLines {
			piece.WriteString(cutOff)
			break
		}
		if runes := []rune(line); len(runes) > maxRunes {
			line = string(runes[:maxRunes]) + "…"
		}
		piece.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
	if piece.Len() > 0 {
		q.pieces = append(q.pieces, piece.String())
	}
}

// border matches the lines around an input. They are quoted without the brackets, which would be taken for HTML.
var border = regexp.MustCompile(`^<(/?(?:input|embed))-\w+(.*)>$`)

// label identifies a picture by name and content.
func (q *quotation) label(p content.Image) string {
	facts := []string{"`" + p.Name + "`"}
	if p.Page > 0 {
		facts = append(facts, fmt.Sprintf("page %d", p.Page))
	}
	if p.Width > 0 && p.Height > 0 {
		facts = append(facts, fmt.Sprintf("%d×%d", p.Width, p.Height))
	}
	if p.SHA256 != "" {
		facts = append(facts, fmt.Sprintf("SHA-256 %.12s…", p.SHA256))
	}
	if alt := strings.Join(strings.Fields(p.Alt), " "); alt != "" {
		facts = append(facts, alt)
	}
	return fmt.Sprintf("[picture %d: %s]", q.pictures, strings.Join(facts, ", "))
}

// loads reports whether a picture can be read. Without a loader every picture counts as readable.
func loads(ctx context.Context, loader llm.Loader, picture content.Image) bool {
	if loader == nil {
		return true
	}
	data, _, err := loader.Load(ctx, picture)
	return err == nil && len(data) > 0
}

// wantsJSON matches a system prompt that asks for JSON without a schema.
var wantsJSON = regexp.MustCompile(`(?mi)^answer with (?:one )?json\b`)

// schemaOf returns the schema that the answer must fit, or nil for free text.
func schemaOf(request llm.Request) json.RawMessage {
	if len(request.Schema) == 0 && wantsJSON.MatchString(request.System) {
		return json.RawMessage(`{"type": "object"}`)
	}
	return request.Schema
}

func tokens(runes int) int { return (runes + runesPerToken - 1) / runesPerToken }

// cut keeps at most limit tokens; 0 means no limit.
func cut(pieces []string, limit int) ([]string, llm.Stop) {
	if limit <= 0 {
		return pieces, llm.StopEnd
	}
	left := limit * runesPerToken
	for i, piece := range pieces {
		runes := []rune(piece)
		if len(runes) <= left {
			left -= len(runes)
			continue
		}
		return append(pieces[:i:i], string(runes[:left])), llm.StopLength
	}
	return pieces, llm.StopEnd
}
