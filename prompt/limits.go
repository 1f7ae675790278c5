package prompt

import (
	"math"

	"github.com/vaultflow/vaultflow/policy"
)

// used is what the attached ones need.
type used struct {
	images  int
	pages   int
	counted int // pages that count for max_pages
	bytes   int64
	largest int64 // bytes of one image
	side    int   // longest side of an image, as sent
	least   int   // longest side of the smallest image
	pixels  int64 // of the largest image before scaling
	tokens  int   // of images and documents; text counts as text

	fallback int // tokens of texts that replace pictures
}

// use adds up what is attached.
func use(candidates []policy.Candidate, decisions []policy.Decision, ladder bool) used {
	var u used
	pages, counted := map[string]bool{}, map[string]bool{}
	for i, d := range decisions {
		if !d.Fate.Attached() {
			continue
		}
		cand := candidates[i]
		if cand.Page != "" {
			pages[cand.Page] = true
			if !ladder || !cand.Replaces {
				counted[cand.Page] = true
			}
		}
		u.pages += cand.Pages
		u.bytes += d.Bytes
		if cand.Kind != policy.PageText {
			u.tokens += d.Tokens
		}
		if cand.Kind == policy.Picture {
			u.picture(cand, d)
		}
	}
	u.counted = u.pages + len(counted)
	u.pages += len(pages)
	return u
}

func (u *used) picture(cand policy.Candidate, d policy.Decision) {
	u.images++
	u.largest = max(u.largest, d.Bytes)
	side := max(d.Width, d.Height)
	u.side = max(u.side, side)
	if u.images == 1 || side < u.least {
		u.least = side
	}
	u.pixels = max(u.pixels, int64(cand.Width)*int64(cand.Height))
}

// limits shows each bound with what was used of it. A bound that there is not has no row.
func limits(b policy.Bounds, t Totals, u used) []Limit {
	const mb = 1 << 20
	list := []Limit{
		{Key: "max_images", Value: float64(b.MaxImages), Used: float64(u.images)},
		{Key: "max_image_mb", Value: float64(b.MaxImageBytes) / mb, Used: float64(u.largest) / mb},
		{Key: "max_total_mb", Value: float64(b.MaxTotalBytes) / mb, Used: float64(u.bytes) / mb},
		{Key: "max_image_pixels", Value: float64(b.MaxSide), Used: float64(u.side)},
		{Key: "min_image_side", Value: float64(b.MinSide), Used: float64(u.least)},
		{Key: "max_decode_pixels", Value: float64(b.MaxDecodePixels), Used: float64(u.pixels)},
		{Key: "max_pages", Value: float64(b.MaxPages), Used: float64(u.counted)},
		{Key: "max_prompt_tokens", Value: float64(b.MaxPromptTokens), Used: float64(t.Tokens), Guess: b.WindowGuess},
		{Key: "max_tool_images", Value: float64(b.MaxToolImages)},
		{Key: "max_step_images", Value: float64(b.MaxStepImages)},
		{Key: "max_fallback_tokens", Value: float64(b.MaxFallbackTokens), Used: float64(u.fallback)},
		{Key: "max_cost_usd", Value: b.MaxCostUSD, Used: t.CostUSD},
	}
	out := list[:0]
	for _, l := range list {
		if l.Key == "max_fallback_tokens" && b.WhenExceeded != policy.Ladder {
			continue
		}
		if l.Value == 0 && !policy.ZeroIsNone(l.Key) {
			continue
		}
		l.Value, l.Used = rounded(l.Value), rounded(l.Used)
		if l.From = b.From[l.Key]; l.From == "" {
			l.From = "default"
		}
		out = append(out, l)
	}
	return out
}

func rounded(v float64) float64 { return math.Round(v*1e4) / 1e4 }
