package policy

import (
	"math"
	"unicode/utf8"
)

// Formula is a provider's own way to count an image in tokens.
type Formula string

// The formulas. All are estimates; the provider's answer has the real count.
const (
	// FormulaAnthropic scales to 1568 px, then w·h/750, at most 1600.
	FormulaAnthropic Formula = "anthropic"
	// FormulaAnthropicLarge scales to 2576 px, then patches of 28 px, at most 4784 (Claude 4.7 and later).
	FormulaAnthropicLarge Formula = "anthropic_large"
	// FormulaOpenAITiles scales into 2048 px and to 768 px on the short side, then 85 and 170 for each tile of 512 px.
	FormulaOpenAITiles Formula = "openai_tiles"
	// FormulaOpenAIPatches counts patches of 32 px, at most 1536.
	FormulaOpenAIPatches Formula = "openai_patches"
	// FormulaGemini counts 258 for each tile of 768 px, one for images up to 384 px.
	FormulaGemini Formula = "gemini"
	// FormulaDefault is w·h/750, at most 1600, if nothing is published.
	FormulaDefault Formula = "default"
)

// PageTokens is the estimate for a page of a document.
const PageTokens = 1500

// Estimates per second of a recording, for the only services that accept them (ai.google.dev, tokens page, 2026-08).
const (
	AudioTokens = 32
	VideoTokens = 295 // a frame a second, and its sound
)

// unknownSide is assumed for both sides of an image of unknown size.
const unknownSide = 1024

// TextTokens estimates a text: one token per four characters, rounded up.
func TextTokens(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// dense is by how much more tokens than others the tokenizer of Claude 4.7 and later makes of a text, in tenths. From
// platform.claude.com, migration guide of Sonnet 5.5 ("about 30% more"), read in November 2026.
const dense = 13

// Text scales the estimate of a text, which is that of common tokenizers, to those of the formula's models.
func (f Formula) Text(tokens int) int {
	if f == FormulaAnthropicLarge {
		return (tokens*dense + 9) / 10
	}
	return tokens
}

// common is the reverse: a number of the models' tokens in those of the estimate.
func (f Formula) common(tokens int) int {
	if f == FormulaAnthropicLarge {
		return tokens * 10 / dense
	}
	return tokens
}

// ImageTokens estimates an image of these dimensions.
func (f Formula) ImageTokens(width, height int) int {
	w, h := float64(width), float64(height)
	if width <= 0 || height <= 0 {
		w, h = unknownSide, unknownSide
	}
	switch f {
	case FormulaAnthropicLarge:
		w, h = within(w, h, 2576)
		return atMost(4784, math.Ceil(w/28)*math.Ceil(h/28))
	case FormulaOpenAITiles:
		w, h = within(w, h, 2048)
		if short := math.Min(w, h); short > 768 {
			w, h = w*768/short, h*768/short
		}
		return 85 + 170*int(math.Ceil(w/512)*math.Ceil(h/512))
	case FormulaOpenAIPatches:
		return atMost(1536, math.Ceil(w/32)*math.Ceil(h/32))
	case FormulaGemini:
		if w <= 384 && h <= 384 {
			return 258
		}
		return 258 * int(math.Ceil(w/768)*math.Ceil(h/768))
	}
	w, h = within(w, h, 1568)
	return atMost(1600, math.Ceil(w*h/750))
}

// within scales down to a longest side.
func within(w, h, side float64) (float64, float64) {
	if long := math.Max(w, h); long > side {
		return w * side / long, h * side / long
	}
	return w, h
}

func atMost(limit int, n float64) int {
	if n > float64(limit) {
		return limit
	}
	return int(n)
}
