package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/cost"
)

// Exceeded is what happens to images that do not fit.
type Exceeded string

// The reactions.
const (
	Ladder     Exceeded = "ladder"      // what fits is attached, the rest is shown smaller, as its text, as one line, or in a range
	Defer      Exceeded = "defer"       // what fits is attached, the rest is deferred under its chunk id
	Fail       Exceeded = "fail"        // Decide returns an ExceededError
	DropOldest Exceeded = "drop_oldest" // the last ones that fit are attached, the others omitted
	DropNewest Exceeded = "drop_newest" // the first ones that fit are attached, the others omitted
	RefsOnly   Exceeded = "refs_only"   // none is attached if one does not fit
)

// Budget is what the user allows for one prompt, with the keys and defaults of the workflow language.
type Budget struct {
	MaxImages       int      `json:"max_images"`        // attached images after dedupe
	MaxImageMB      float64  `json:"max_image_mb"`      // per image, after normalising
	MaxTotalMB      float64  `json:"max_total_mb"`      // all images of a prompt
	MaxImagePixels  int      `json:"max_image_pixels"`  // longest side; larger ones are scaled down
	MinImageSide    int      `json:"min_image_side"`    // longest side; smaller ones remain references
	MaxDecodePixels int64    `json:"max_decode_pixels"` // width times height; refused before decoding
	MaxPages        int      `json:"max_pages"`         // document pages
	MaxPromptTokens int      `json:"max_prompt_tokens"` // 0: four fifths of the model's window
	MaxToolImages   int      `json:"max_tool_images"`   // per tool result
	MaxStepImages   int      `json:"max_step_images"`   // in all calls of a step
	MaxCostUSD      float64  `json:"max_cost_usd"`      // of a step; 0: unbounded
	MaxTotalTokens  int64    `json:"max_total_tokens"`  // of a step, input and output; 0: unbounded
	WhenExceeded    Exceeded `json:"when_exceeded"`

	MinPageDPI        int `json:"min_page_dpi,omitempty"`        // of a page that is made smaller to fit; see [LegibleSide]
	MaxFallbackTokens int `json:"max_fallback_tokens,omitempty"` // of the texts that replace pictures

	PerRun   cost.Amount `json:"per_run,omitzero"`
	PerDay   cost.Amount `json:"per_day,omitzero"`   // of a workflow
	PerMonth cost.Amount `json:"per_month,omitzero"` // of the vault

	// Origins holds who set each value, by key; an absent key has its default.
	Origins map[string]string `json:"origins,omitempty"`
}

// Caps returns the caps of the budget, with days and months of a zone.
func (b Budget) Caps(zone string) cost.Caps {
	return cost.Caps{
		Step: cost.Amount{USD: b.MaxCostUSD, Tokens: b.MaxTotalTokens},
		Run:  b.PerRun, Day: b.PerDay, Month: b.PerMonth, DayZone: zone, MonthZone: zone,
	}
}

// DefaultBudget returns the budget without any overlay.
func DefaultBudget() Budget {
	return Budget{
		MaxImages: 20, MaxImageMB: 5, MaxTotalMB: 100, MaxImagePixels: 2000, MinImageSide: 24,
		MaxDecodePixels: 100_000_000, MaxPages: 20, MaxToolImages: 10, MaxStepImages: 40, WhenExceeded: Ladder,
		MinPageDPI: 72, MaxFallbackTokens: 20_000,
	}
}

// Overlay is the part of a budget that settings, a workflow or a step sets. Limits are numbers by key; absent keys are
// unchanged.
type Overlay struct {
	From         string             `json:"from"` // settings, workflow, step
	Limits       map[string]float64 `json:"limits,omitempty"`
	WhenExceeded string             `json:"when_exceeded,omitempty"`
}

// Merge returns the budget with the overlay's values. It fails on an unknown key, a negative value or an unknown reaction,
// and does not change the receiver.
func (b Budget) Merge(over Overlay) (Budget, error) {
	b.Origins = maps.Clone(b.Origins)
	if b.Origins == nil {
		b.Origins = map[string]string{}
	}
	for _, key := range slices.Sorted(maps.Keys(over.Limits)) {
		if err := b.set(key, over.Limits[key]); err != nil {
			return Budget{}, fmt.Errorf("budget of %s: %w", over.From, err)
		}
		b.Origins[key] = over.From
	}
	switch e := Exceeded(over.WhenExceeded); e {
	case "":
	case Ladder, Defer, Fail, DropOldest, DropNewest, RefsOnly:
		b.WhenExceeded = e
		b.Origins["when_exceeded"] = over.From
	default:
		return Budget{}, fmt.Errorf("budget of %s: when_exceeded is ladder, defer, fail, drop_oldest, drop_newest or refs_only, not %q", over.From, e)
	}
	return b, nil
}

// Widened returns the budget with room for so many pages and their pictures, where nobody has set another number.
func (b Budget) Widened(pages int) Budget {
	b.Origins = maps.Clone(b.Origins)
	for key, most := range map[string]*int{"max_images": &b.MaxImages, "max_pages": &b.MaxPages} {
		if b.Origins[key] == "" && pages > *most {
			*most = pages
			if b.Origins == nil {
				b.Origins = map[string]string{}
			}
			b.Origins[key] = "window"
		}
	}
	return b
}

func (b *Budget) set(key string, v float64) error {
	if !(v >= 0) || v > 1e15 {
		return fmt.Errorf("%s must be a number that is not negative, not %v", key, v)
	}
	switch key {
	case "max_images":
		b.MaxImages = int(v)
	case "max_image_mb":
		b.MaxImageMB = v
	case "max_total_mb":
		b.MaxTotalMB = v
	case "max_image_pixels":
		b.MaxImagePixels = int(v)
	case "min_image_side":
		b.MinImageSide = int(v)
	case "max_decode_pixels":
		b.MaxDecodePixels = int64(v)
	case "max_pages":
		b.MaxPages = int(v)
	case "max_prompt_tokens":
		b.MaxPromptTokens = int(v)
	case "max_tool_images":
		b.MaxToolImages = int(v)
	case "max_step_images":
		b.MaxStepImages = int(v)
	case "min_page_dpi":
		b.MinPageDPI = int(v)
	case "max_fallback_tokens":
		b.MaxFallbackTokens = int(v)
	case "max_cost_usd":
		b.MaxCostUSD = v
	case "max_total_tokens":
		b.MaxTotalTokens = int64(v)
	default:
		return b.setCap(key, v)
	}
	return nil
}

func (b *Budget) setCap(key string, v float64) error {
	unit, per, _ := strings.Cut(key, "_per_")
	c, known := map[string]*cost.Amount{"run": &b.PerRun, "day": &b.PerDay, "month": &b.PerMonth}[per]
	switch {
	case known && unit == "max_cost_usd":
		c.USD = v
	case known && unit == "max_total_tokens":
		c.Tokens = int64(v)
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}

// origin returns who set the key.
func (b Budget) origin(key string) string {
	if from := b.Origins[key]; from != "" {
		return from
	}
	return "default"
}
