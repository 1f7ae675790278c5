package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/omission"
)

// Decide returns one decision for each candidate, in the same order and with the candidate's id. The attached ones never
// exceed the bounds in number, pages, total bytes, bytes each, or tokens. The same picture (by name or SHA-256) is attached
// and counted once. Local images get the budget before remote ones; within each group order decides, and an image that does
// not fit leaves room for later, smaller ones.
//
// mode applies to candidates that have none. The error is a *CapabilityError (images=required without vision) or, with
// when_exceeded=fail, an *ExceededError; then there are no decisions.
func Decide(cands []Candidate, caps Capabilities, mode ImageMode, b Bounds) ([]Decision, error) {
	d := decider{bounds: b, mode: mode, sees: caps.Has(Vision), out: make([]Decision, len(cands)), first: map[string]int{}}
	var fitting []int
	for i, c := range cands {
		if c.Mode == "" {
			c.Mode = mode
		}
		if c.Number == 0 {
			c.Number = i + 1
		}
		if c.Mode == Required && !d.sees && c.Kind == Picture {
			return nil, &CapabilityError{Need: Vision, ID: c.ID}
		}
		d.out[i] = d.situation(c)
		d.out[i].ID = c.ID
		if c.Kind != PageText && c.Mode != Ignore && c.Name != "" && !c.Missing {
			d.remember(c)
		}
		if d.out[i].Fate == Sent || d.out[i].Fate == Resized {
			fitting = append(fitting, i)
		}
	}
	if err := d.allot(fitting, cands); err != nil {
		return nil, err
	}
	return d.out, nil
}

type decider struct {
	bounds Bounds
	mode   ImageMode
	sees   bool
	out    []Decision
	first  map[string]int // number of the first candidate, by name and by digest
}

// situation implements the table of image decisions in docs/language.md, in order, without the budgets of the whole prompt.
func (d *decider) situation(c Candidate) Decision {
	side := max(c.Width, c.Height)
	pixels := int64(c.Width) * int64(c.Height)
	switch {
	case c.Mode == Ignore:
		return Decision{Fate: Reference, Reason: "images=ignore"}
	case c.Missing:
		return lost(Missing, omission.Of(omission.Missing), "")
	case c.Remote && c.SHA256 == "" && c.Why.IsZero():
		return Decision{Fate: Reference, Reason: "remote image, " + cmp.Or(c.Problem, "not fetched")}
	case c.Remote && c.SHA256 == "":
		return lost(Refused, c.Why, "remote image, "+c.Problem)
	case c.Problem != "":
		return lost(Refused, cmp.Or(c.Why, omission.Of(omission.Unreadable)), c.Problem)
	case c.Kind == PageText:
		return Decision{Fate: Sent, Tokens: c.Tokens}
	}
	if same := d.same(c); same > 0 {
		return Decision{Fate: Deduplicated, Reason: fmt.Sprintf("same as image %d", same), Same: same}
	}
	switch {
	case c.Kind == PageDocument:
		return Decision{Fate: Sent, Bytes: c.Size, Tokens: c.Pages * PageTokens}
	case side > 0 && side < d.bounds.MinSide && d.bounds.service("min_image_side") != "":
		return lost(Refused, d.bounds.Over("min_image_side"), fmt.Sprintf("longest side %d < %d", side, d.bounds.MinSide))
	case side > 0 && side < d.bounds.MinSide:
		return Decision{Fate: Reference, Reason: fmt.Sprintf("longest side %d < %d", side, d.bounds.MinSide), Bound: "min_image_side"}
	case d.bounds.MaxDecodePixels > 0 && pixels > d.bounds.MaxDecodePixels:
		over := lost(Refused, d.bounds.Over("max_decode_pixels"), fmt.Sprintf("too many pixels: %d > %d", pixels, d.bounds.MaxDecodePixels))
		over.Bound = "max_decode_pixels"
		return over
	case !d.sees:
		return Decision{Fate: Converted, Reason: "the model has no vision"}
	}
	s := d.bounds.estimate(c)
	if s.refused != "" {
		return lost(Refused, omission.Of(omission.Kind), s.refused)
	}
	fate, step, why := Sent, Step(""), omission.Why{}
	if s.scaled {
		fate = Resized
	}
	if s.fitted {
		step, why = StepSmaller, omission.Over("max_total_mb or max_prompt_tokens", "")
	}
	return Decision{Fate: fate, Step: step, Why: why, Reason: s.changed, Width: s.width, Height: s.height, Bytes: s.bytes, Tokens: s.tokens}
}

// lost is the decision on something of which the model gets less than was written.
func lost(f Fate, why omission.Why, reason string) Decision {
	return Decision{Fate: f, Reason: cmp.Or(reason, why.Words()), Why: why}
}

// Over returns why something is lost that a bound excludes, by the bound's key.
func (b Bounds) Over(key string) omission.Why { return omission.Over(key, b.service(key)) }

// service returns who set a bound, if that is a service and no user.
func (b Bounds) service(key string) string {
	switch from := b.From[key]; from {
	case "", "default", "settings", "workflow", "step":
		return ""
	default:
		return from
	}
}

func (d *decider) same(c Candidate) int {
	if n := d.first["name:"+c.Name]; n > 0 && c.Name != "" {
		return n
	}
	if c.SHA256 == "" {
		return 0
	}
	return d.first["sha:"+strings.ToLower(c.SHA256)]
}

func (d *decider) remember(c Candidate) {
	keys := []string{"name:" + c.Name}
	if c.SHA256 != "" {
		keys = append(keys, "sha:"+strings.ToLower(c.SHA256))
	}
	for _, key := range keys {
		if d.first[key] == 0 {
			d.first[key] = c.Number
		}
	}
}

// allot distributes the prompt's budgets among the images that could be attached.
func (d *decider) allot(fitting []int, cands []Candidate) error {
	a := account{bounds: d.bounds, tokens: d.bounds.ReservedTokens, shown: map[string]bool{}}
	var over []int
	for _, i := range order(fitting, cands, d.bounds.WhenExceeded) {
		key, reason := a.take(cands[i], d.out[i])
		if key == "" {
			continue
		}
		over = append(over, i)
		d.hold(i, key, reason)
	}
	if len(over) == 0 {
		return nil
	}
	switch d.bounds.WhenExceeded {
	case Fail:
		o := d.out[slices.Min(over)]
		return &ExceededError{Key: o.Bound, From: d.bounds.From[o.Bound], ID: o.ID, Reason: o.Reason}
	case Ladder:
		return d.needed(over, cands)
	case RefsOnly:
		why := d.out[over[0]]
		for _, i := range fitting {
			d.hold(i, why.Bound, why.Reason+"; when_exceeded=refs_only")
			d.out[i].Fate = Reference
		}
	}
	return nil
}

// needed returns an error if a picture that an input requires has no room.
func (d *decider) needed(over []int, cands []Candidate) error {
	slices.Sort(over)
	for _, i := range over {
		if c := cands[i]; c.Kind == Picture && cmp.Or(c.Mode, d.mode) == Required {
			o := d.out[i]
			return &ExceededError{Key: o.Bound, From: d.bounds.From[o.Bound], ID: o.ID, Reason: o.Reason, Needed: true}
		}
	}
	return nil
}

// hold removes an image from the prompt.
func (d *decider) hold(i int, key, reason string) {
	fate := Deferred
	if e := d.bounds.WhenExceeded; e == DropOldest || e == DropNewest {
		fate = Omitted
	}
	d.out[i] = Decision{ID: d.out[i].ID, Fate: fate, Reason: reason, Why: d.bounds.Over(key), Bound: key}
}

// order returns the order of allotment: local ones, then remote ones, each from the front, or from the back for drop_oldest.
func order(fitting []int, cands []Candidate, e Exceeded) []int {
	var local, remote []int
	for k := range fitting {
		i := fitting[k]
		if e == DropOldest {
			i = fitting[len(fitting)-1-k]
		}
		if cands[i].Remote {
			remote = append(remote, i)
		} else {
			local = append(local, i)
		}
	}
	return append(local, remote...)
}

// account tracks what is spent.
type account struct {
	bounds   Bounds
	images   int
	pages    int
	shown    map[string]bool // keys of counted pages
	bytes    int64
	tokens   int
	fallback int // tokens of texts that replace pictures
}

// take spends what the candidate needs, or returns the budget that it exceeds.
func (a *account) take(c Candidate, d Decision) (key, reason string) {
	b := a.bounds
	images, pages := 0, a.newPages(c)
	if c.Kind == Picture {
		images = 1
	}
	switch {
	case c.Cut != "":
		return "max_prompt_tokens", c.Cut
	case a.images+images > b.MaxImages && images > 0:
		return "max_images", fmt.Sprintf("max_images %d reached", b.MaxImages)
	case pages > 0 && a.pages+pages > b.MaxPages:
		return "max_pages", fmt.Sprintf("max_pages %d reached", b.MaxPages)
	case c.Unread:
		return "max_images", fmt.Sprintf("max_images %d reached: not examined", b.MaxImages)
	case c.Replaces && b.WhenExceeded == Ladder && a.fallback+d.Tokens > b.MaxFallbackTokens:
		return "max_fallback_tokens", fmt.Sprintf("max_fallback_tokens %d reached", b.MaxFallbackTokens)
	case d.Bytes > 0 && a.bytes+d.Bytes > b.MaxTotalBytes:
		return "max_total_mb", fmt.Sprintf("max_total_mb: %s and %s > %s", megabytes(a.bytes), megabytes(d.Bytes), megabytes(b.MaxTotalBytes))
	case b.MaxPromptTokens > 0 && a.tokens+d.Tokens > b.MaxPromptTokens:
		return "max_prompt_tokens", fmt.Sprintf("max_prompt_tokens: %d and %d > %d", a.tokens, d.Tokens, b.MaxPromptTokens)
	}
	a.images += images
	a.pages += pages
	a.bytes += d.Bytes
	a.tokens += d.Tokens
	if c.Replaces {
		a.fallback += d.Tokens
	}
	if c.Page != "" && c.Kind != PageDocument {
		a.shown[c.Page] = true
	}
	return "", ""
}

// newPages returns how many uncounted document pages the candidate adds.
func (a *account) newPages(c Candidate) int {
	switch {
	case c.Kind == PageDocument:
		return c.Pages
	case c.Page == "" || a.shown[c.Page] || c.Replaces && a.bounds.WhenExceeded == Ladder:
		return 0
	}
	return 1
}
