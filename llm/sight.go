package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/policy"
)

// A success is no proof that a model saw what it was sent: services have taken files and left them out. The tokens that they
// report tell, when the input is so small that the media cannot be in it. What is compared are bounds from below: a text has
// at least a token for runesPerToken characters, a medium at least a quarter of its estimate.
const (
	runesPerToken = 8
	mediumShare   = 4
	leastTokens   = 64 // of an image where no formula is published: the fewest that a model in use makes of one
)

// Unseen is media that were sent and, by the tokens that the service reported, cannot have been counted.
type Unseen struct {
	Media   []policy.Medium // their kinds
	Names   []string        // of the files
	Counted int             // tokens that were reported: of these media where the service says, else of the whole input
	Least   int             // the fewest that these can be
}

// String says it in words, for warnings and events. It holds names and numbers.
func (u Unseen) String() string {
	return fmt.Sprintf("suspected unseen: %s (%d tokens were counted, with it there are at least %d)", strings.Join(u.Names, ", "), u.Counted, u.Least)
}

// Sight looks whether the media of a request can be in the tokens that were reported for it. It is pure. omitted are the names
// of media that were sent as text. A service that reports nothing leaves nothing to say.
func Sight(r Request, d policy.Delivery, usage cost.Usage, omitted []string) (Unseen, bool) {
	turns, err := r.Plan("", d)
	if err != nil || usage.InputTokens == 0 {
		return Unseen{}, false
	}
	s := sight{formula: policy.Limits(d.Provider, d.Model).Tokens, omitted: omitted, media: map[policy.Medium][]content.Block{}}
	s.text(r.System)
	for _, t := range r.Tools {
		s.text(string(t.Parameters))
	}
	for _, t := range turns {
		for _, result := range t.Results {
			s.blocks(result.Parts)
		}
		s.blocks(t.Blocks)
	}
	return s.verdict(usage)
}

// sight gathers what a request holds at least.
type sight struct {
	formula policy.Formula
	omitted []string
	runes   int
	media   map[policy.Medium][]content.Block
}

func (s *sight) text(text string) { s.runes += len([]rune(text)) }

func (s *sight) blocks(blocks []content.Block) {
	for _, b := range blocks {
		switch kind := policy.Medium(b.Type()); {
		case !content.IsMedia(b):
			s.text(b.Text())
		case !slices.Contains(s.omitted, content.NameOf(b)):
			s.media[kind] = append(s.media[kind], b)
		}
	}
}

// verdict names the kinds of media that cannot have been counted: where the service tells them apart those without a token,
// else all of them when the whole input is too small.
func (s *sight) verdict(usage cost.Usage) (Unseen, bool) {
	var unseen Unseen
	least := 0
	for _, m := range policy.Media() {
		tokens := s.least(m)
		if least += tokens; tokens == 0 || usage.TextTokens > 0 && countedOf(usage, m) > 0 {
			continue
		}
		unseen.Media, unseen.Least = append(unseen.Media, m), unseen.Least+tokens
		for _, b := range s.media[m] {
			if name := content.NameOf(b); !slices.Contains(unseen.Names, name) {
				unseen.Names = append(unseen.Names, name)
			}
		}
	}
	if usage.TextTokens > 0 {
		return unseen, len(unseen.Media) > 0
	}
	unseen.Counted, unseen.Least = usage.InputTokens, least+s.runes/runesPerToken
	return unseen, len(unseen.Media) > 0 && unseen.Counted < unseen.Least
}

// countedOf returns the tokens counted for a medium. Services count pages as pictures or as documents, and a film's frames as pictures.
func countedOf(u cost.Usage, m policy.Medium) int {
	switch m {
	case policy.Image, policy.Document:
		return u.ImageTokens + u.DocumentTokens
	case policy.Audio:
		return u.AudioTokens
	}
	return u.VideoTokens + u.ImageTokens
}

// least is the fewest tokens that the media of a kind can be.
func (s *sight) least(m policy.Medium) int {
	sum := 0
	for _, b := range s.media[m] {
		switch b := b.(type) {
		case content.Image:
			tokens := s.formula.ImageTokens(b.Width, b.Height) / mediumShare
			if s.formula == policy.FormulaDefault {
				tokens = min(tokens, leastTokens)
			}
			sum += tokens
		case content.Document:
			sum += pageCount(b) * policy.PageTokens / mediumShare
		case content.Audio:
			sum += max(1, int(b.Seconds*policy.AudioTokens)/mediumShare)
		case content.Video:
			sum += max(1, int(b.Seconds*policy.VideoTokens)/mediumShare)
		}
	}
	return sum
}

// SightPolicy says what is done about media that were suspected to be unseen. The functions may be nil; they are called from
// the goroutine that asks.
type SightPolicy struct {
	// Suspected tells of them, before anything more is sent.
	Suspected func(unseen Unseen)
	// Again is called before the words of the media are sent in their place. spent is what the first request was charged. An
	// error keeps the first answer.
	Again func(next Request, spent cost.Usage) error
}

// Sighted wraps a provider so that media that a service cannot have counted are sent once more as their words (documents
// without words as pictures of their pages): one second request for a call, whose answer stands, never a third. When it fails,
// the first answer stands. Response.Unseen names what the model cannot have seen of the request whose answer stands. Usage is
// the sum of both. Requests without a Delivery are not looked at.
func Sighted(p Provider, s SightPolicy) Provider { return sighted{p, s} }

type sighted struct {
	provider Provider
	policy   SightPolicy
}

// Generate implements Provider.
func (s sighted) Generate(ctx context.Context, request Request, progress func(string)) (*Response, error) {
	first, err := s.provider.Generate(ctx, request, progress)
	if err != nil || request.Delivery == nil {
		return first, err
	}
	if first.sent != nil { // it was changed on its way
		request = *first.sent
	}
	unseen, suspected := Sight(request, *request.Delivery, first.Usage, first.Omitted)
	if !suspected {
		return first, nil
	}
	if s.policy.Suspected != nil {
		s.policy.Suspected(unseen)
	}
	first.Unseen = unseen.Names
	delivery := request.Delivery.Without(unseen.Media...)
	request.Delivery = &delivery
	if s.policy.Again != nil && s.policy.Again(request, first.Usage) != nil {
		return first, nil
	}
	second, err := s.provider.Generate(ctx, request, progress)
	if failure, ok := AsError(err); ok {
		first.Usage = first.Usage.AddCharged(failure.Usage)
	}
	switch {
	case err == nil:
		return s.again(request, first, second), nil
	case ctx.Err() != nil:
		return nil, err
	}
	return first, nil
}

// again is the answer to the second request, with what both were charged.
func (s sighted) again(request Request, first, second *Response) *Response {
	if second.sent != nil {
		request = *second.sent
	}
	if unseen, suspected := Sight(request, *request.Delivery, second.Usage, second.Omitted); suspected {
		second.Unseen = unseen.Names
		if s.policy.Suspected != nil {
			s.policy.Suspected(unseen)
		}
	}
	second.Usage = first.Usage.AddCharged(second.Usage)
	return second
}
