package prompt

import (
	"fmt"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// Estimates for our own lines whose words are not known yet, in tokens: of a frame's tag; of an image's label and its line
// in IMAGE_REFS without name and alternative text; of a page's label; of a marker for what has no room. Where they are too
// low the prompt is made again with more room.
const (
	frameTokens  = 25
	imageTokens  = 60
	pageTokens   = 30
	markerTokens = 60
	rangeTokens  = 4
)

// fitter divides the prompt's tokens among its parts.
type fitter struct {
	out    *outline
	caps   policy.Capabilities
	bounds policy.Bounds
}

// fit assigns the prompt's tokens to text before any image: always instructions, the step's text and our own lines, then the
// texts of the inputs. If all of it fits, images get the rest. If not, the prompt is cut at one place, and images before it
// count too, so that everything shown looks as its author sees it. reserved is already spent. fit returns the bounds with
// everything that is spent, for policy.Decide.
func fit(out *outline, spec Spec, reserved int) (policy.Bounds, error) {
	f := &fitter{out: out, caps: spec.Caps, bounds: spec.Bounds}
	err := f.fit(reserved)
	return f.bounds, err
}

func (f *fitter) fit(reserved int) error {
	b := &f.bounds
	costs, fixed := f.costs()
	fixed += reserved
	all := fixed
	for _, n := range costs {
		all += n
	}
	b.ReservedTokens = all
	if b.MaxPromptTokens == 0 || all <= b.MaxPromptTokens {
		f.fitFallbacks()
		return nil
	}
	why := fmt.Sprintf("max_prompt_tokens %d reached", b.MaxPromptTokens)
	exceeded := &policy.ExceededError{Key: "max_prompt_tokens", From: b.From["max_prompt_tokens"], Reason: why}
	if fixed > b.MaxPromptTokens {
		exceeded.ID, exceeded.Fixed = "what cannot be left out", true
		exceeded.Reason = fmt.Sprintf("instructions, the step's text and frames need about %d tokens", fixed)
		return exceeded
	}
	media, err := f.mediaTokens()
	if err != nil {
		return err
	}
	k := f.cutAt(costs, media, b.MaxPromptTokens-fixed-markerTokens)
	if b.WhenExceeded == policy.Fail {
		exceeded.ID = f.out.items[k.item].place()
		return exceeded
	}
	b.ReservedTokens = fixed + markerTokens + f.cut(k, costs, why)
	f.fitFallbacks()
	return nil
}

// mediaTokens are those of what could be attached with each item.
func (f *fitter) mediaTokens() ([]int, error) {
	decisions, err := trial(f.out.candidates, f.caps, f.bounds)
	if err != nil {
		return nil, err
	}
	tokens := make([]int, len(f.out.items))
	for i, it := range f.out.items {
		if it.role == roleMedia {
			tokens[i] = decisions[it.media.cand].Tokens
		}
	}
	return tokens, nil
}

// isFixed reports whether an item is always shown: the step's text.
func (it item) isFixed() bool { return it.role == roleText && it.line == nil }

// labelTokens estimates the lines above a page.
func (m *media) labelTokens() int {
	if m.remarks == "" {
		return pageTokens
	}
	return pageTokens + policy.TextTokens(m.remarks)
}

// costs estimates each item as text, without what is attached. fixed is what is always there.
func (f *fitter) costs() (costs []int, fixed int) {
	costs = make([]int, len(f.out.items))
	pages, ladder := 0, f.bounds.WhenExceeded == policy.Ladder
	for i, it := range f.out.items {
		n := 0
		switch it.role {
		case roleOpen:
			n = 2 * (frameTokens + policy.TextTokens(it.frame.name)) // and its closing tag
		case roleMedia:
			if it.media.page != "" {
				if pages++; pages > f.bounds.MaxPages {
					break // it joins a marker
				}
				n = it.media.labelTokens()
			}
			if ladder && it.media.number > f.bounds.MaxImages {
				n = rangeTokens // it joins a range, or the fallbacks pay for it
				break
			}
			if it.media.number > 0 {
				n = imageTokens + 2*policy.TextTokens(it.line.label()) + policy.TextTokens(it.line.Alt)
			}
		case roleWords, roleText:
			n = policy.TextTokens(it.words)
		case roleClose, roleRefs, roleSilent:
		}
		if it.isFixed() {
			fixed += n
			continue
		}
		costs[i] = n
	}
	return costs, fixed
}

// fitFallbacks spends tokens on the texts of images for a model that cannot see, or leaves them out.
func (f *fitter) fitFallbacks() {
	b := &f.bounds
	if b.WhenExceeded == policy.Ladder {
		return // the texts come after the pictures
	}
	for _, it := range f.out.items {
		if it.role != roleMedia || it.media.fallback == "" || it.held {
			continue
		}
		n := policy.TextTokens(it.media.fallback)
		if b.MaxPromptTokens > 0 && b.ReservedTokens+n > b.MaxPromptTokens {
			it.media.fallback, it.media.long = "", true
			continue
		}
		b.ReservedTokens += n
	}
}

// place names a chunk that has no id yet.
func (it item) place() string {
	if it.line == nil {
		return it.frame.name
	}
	return fmt.Sprintf("%s:%d", it.line.Source.Note+it.line.Source.Variable, it.line.Source.Lines[0])
}

// textTokens estimates everything in the prompt that is text.
func textTokens(p *Prompt) int {
	n := policy.TextTokens(p.System)
	for _, b := range p.Blocks {
		if t, ok := b.(content.Text); ok {
			n += policy.TextTokens(t.Value)
		}
	}
	return n
}

// cutBelow is how many bytes of a text make a part of at most limit bytes: up to a line's end where there is one, else
// between two characters.
func cutBelow(text string, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	if i := strings.LastIndexByte(text[:limit], '\n'); i >= limit/4 {
		return i + 1
	}
	return limit - partial(text[:limit])
}

// partial is how many bytes at the end belong to a character that is cut.
func partial(text string) int {
	for back := 1; back <= 3 && back < len(text); back++ {
		switch b := text[len(text)-back]; {
		case b < 0x80:
			return 0
		case b >= 0xc0:
			size := 2
			if b >= 0xf0 {
				size = 4
			} else if b >= 0xe0 {
				size = 3
			}
			if size > back {
				return back
			}
			return 0
		}
	}
	return 0
}

// trial decides without a bound of tokens.
func trial(candidates []policy.Candidate, caps policy.Capabilities, b policy.Bounds) ([]policy.Decision, error) {
	b.MaxPromptTokens, b.ReservedTokens, b.WhenExceeded = 0, 0, policy.Defer
	return policy.Decide(candidates, caps, policy.Auto, b)
}
