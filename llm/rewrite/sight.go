package rewrite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/policy"
)

// A successful answer does not prove that the model saw what was sent: services have accepted files and dropped them. The
// tokens that they report show it when the input is too small to hold the media. The comparison uses lower bounds: a text
// has at least one token for runesPerToken characters, a medium at least a quarter of its estimate.
const (
	runesPerToken = 8
	mediumShare   = 4
	leastTokens   = 64 // of a picture where no formula is published: the fewest that any model in use counts
)

// Unseen describes media that were sent and, by the tokens that the service reported, cannot have been counted.
type Unseen struct {
	Media   []policy.Medium // their kinds
	Names   []string        // of the files
	Counted int             // tokens reported: of these media if the service says, else of the whole input
	Least   int             // the fewest that these can be
}

// String describes them for warnings and events. It holds names and numbers.
func (u Unseen) String() string {
	return fmt.Sprintf("suspected unseen: %s (%d tokens were counted, with it there are at least %d)", strings.Join(u.Names, ", "), u.Counted, u.Least)
}

// Sight reports the media of a request that cannot be part of the tokens reported for it. omitted holds the names of media
// that were sent as text. Without reported tokens nothing is suspected. Sight is pure.
func Sight(r llm.Request, d policy.Delivery, usage cost.Usage, omitted []string) (Unseen, bool) {
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

// sight collects what a request holds.
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

// verdict returns the kinds of media that cannot have been counted: kinds without a token if the service counts them
// apart, else all kinds if the whole input is too small.
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

// least returns the fewest tokens that the media of a kind can be.
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
			sum += b.PageCount() * policy.PageTokens / mediumShare
		case content.Audio:
			sum += max(1, int(b.Seconds*policy.AudioTokens)/mediumShare)
		case content.Video:
			sum += max(1, int(b.Seconds*policy.VideoTokens)/mediumShare)
		}
	}
	return sum
}

// SightPolicy configures Sighted. The functions may be nil; they are called from the goroutine that calls Generate.
type SightPolicy struct {
	// Suspected is called when media are suspected to be unseen, before anything more is sent.
	Suspected func(unseen Unseen)
	// Again is called before the text of the media is sent instead. spent is what the first request was charged. On an
	// error the first answer is returned.
	Again func(next llm.Request, spent cost.Usage) error
}

// Sighted wraps a provider so that media that a service cannot have counted are sent once more as text (documents without
// text as pictures of their pages). Each call has at most one such second request. Its answer is returned, or the first
// one if it fails. Response.Unseen names the media that the model cannot have seen for that answer. Usage is the sum of
// both requests. Requests without a Delivery are not checked.
func Sighted(p llm.Provider, s SightPolicy) llm.Provider { return sighted{p, s} }

type sighted struct {
	provider llm.Provider
	policy   SightPolicy
}

var _ llm.Provider = sighted{}

// Generate implements llm.Provider.
func (s sighted) Generate(ctx context.Context, request llm.Request, progress func(string)) (*llm.Response, error) {
	first, err := s.provider.Generate(ctx, request, progress)
	if err != nil || request.Delivery == nil {
		return first, err
	}
	request, suspected := s.check(request, first)
	if !suspected {
		return first, nil
	}
	if s.policy.Again != nil && s.policy.Again(request, first.Usage) != nil {
		return first, nil
	}
	second, err := s.provider.Generate(ctx, request, progress)
	if failure, ok := llm.AsError(err); ok {
		first.Usage = first.Usage.AddCharged(failure.Usage)
	}
	switch {
	case err == nil:
		s.check(request, second)
		second.Usage = first.Usage.AddCharged(second.Usage)
		return second, nil
	case ctx.Err() != nil:
		return nil, err
	}
	return first, nil
}

// check notes in the answer which media the model cannot have seen, and returns the request without them.
func (s sighted) check(request llm.Request, answer *llm.Response) (next llm.Request, suspected bool) {
	if answer.Rewritten != nil {
		request = *answer.Rewritten
	}
	unseen, suspected := Sight(request, *request.Delivery, answer.Usage, answer.Omitted)
	if !suspected {
		return request, false
	}
	answer.Unseen = unseen.Names
	if s.policy.Suspected != nil {
		s.policy.Suspected(unseen)
	}
	delivery := request.Delivery.Without(unseen.Media...)
	request.Delivery = &delivery
	return request, true
}
