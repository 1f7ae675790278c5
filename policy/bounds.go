package policy

import (
	"slices"
	"strings"
)

// Bounds combine a budget and a provider's limits: the smaller of each two. They are plain data. Zero means unbounded, except
// for MaxImages, MaxTotalBytes, MaxPages, MaxToolImages, MaxStepImages and MaxFallbackTokens, where it means none.
type Bounds struct {
	MaxImages       int      `json:"max_images"`
	MaxImageBytes   int64    `json:"max_image_bytes"` // of one image as sent, before base64
	MaxTotalBytes   int64    `json:"max_total_bytes"`
	MaxSide         int      `json:"max_side"`
	MinSide         int      `json:"min_side"`
	MaxPixels       int64    `json:"max_pixels,omitempty"` // of one image as sent
	MaxDecodePixels int64    `json:"max_decode_pixels"`
	MaxPages        int      `json:"max_pages"`
	MaxFileBytes    int64    `json:"max_file_bytes,omitempty"` // of a document sent as a file, before base64
	RequestImages   int      `json:"request_images,omitempty"` // accepted in one request, including tool results; 0: not published
	MaxToolImages   int      `json:"max_tool_images"`
	MaxStepImages   int      `json:"max_step_images"`
	MaxCostUSD      float64  `json:"max_cost_usd,omitempty"`
	MaxPromptTokens int      `json:"max_prompt_tokens,omitempty"`
	ReservedTokens  int      `json:"reserved_tokens,omitempty"` // text already in the prompt
	WhenExceeded    Exceeded `json:"when_exceeded"`

	MinPageDPI        int `json:"min_page_dpi,omitempty"`
	MaxFallbackTokens int `json:"max_fallback_tokens,omitempty"` // of the texts that replace pictures
	FitSide           int `json:"fit_side,omitempty"`            // the longest side at which the most pictures fit; see [Bounds.Smaller]

	FitService bool `json:"fit_service,omitempty"` // FitSide follows from limits of the service alone

	Accept []string `json:"accept,omitempty"` // media types sent as they are; empty: all
	Still  bool     `json:"still,omitempty"`  // send only the first frame of an animation
	Tokens Formula  `json:"tokens,omitempty"`

	WindowGuess string `json:"window_guess,omitempty"` // why MaxPromptTokens is only a guess; empty: it is none

	// From holds who set each bound, by key: default, settings, workflow, step, or the provider's name.
	From map[string]string `json:"from,omitempty"`
}

// bounder collects bounds and their sources.
type bounder struct {
	budget Budget
	from   map[string]string
	who    string // the provider
}

// ZeroIsNone reports whether zero of a budget key allows nothing. For any other key it means unbounded.
func ZeroIsNone(key string) bool {
	switch key {
	case "max_images", "max_total_mb", "max_pages", "max_tool_images", "max_step_images", "max_fallback_tokens":
		return true
	}
	return false
}

// smaller applies the provider's limit if it is below the budget's.
func (m bounder) smaller(key string, budget, limit int64) int64 {
	m.from[key] = m.budget.origin(key)
	if limit > 0 && (limit < budget || budget == 0 && !ZeroIsNone(key)) {
		m.from[key] = m.who
		return limit
	}
	return budget
}

// Bound merges the published limits of a provider into the budget.
func (b Budget) Bound(l ProviderLimits) Bounds {
	m := bounder{budget: b, from: map[string]string{}, who: l.Provider}
	out := Bounds{
		MaxImages:       int(m.smaller("max_images", int64(b.MaxImages), int64(l.MaxImages))),
		MaxImageBytes:   m.smaller("max_image_mb", raw(b.MaxImageMB, l.CountsBase64), l.MaxImageBytes),
		MaxTotalBytes:   m.smaller("max_total_mb", raw(b.MaxTotalMB, false), room(l.MaxRequest)),
		MaxSide:         int(m.smaller("max_image_pixels", int64(b.MaxImagePixels), int64(l.MaxSide))),
		MaxDecodePixels: m.smaller("max_decode_pixels", b.MaxDecodePixels, 0),
		MaxPages:        int(m.smaller("max_pages", int64(b.MaxPages), int64(l.MaxPDFPages))),
		MaxToolImages:   int(m.smaller("max_tool_images", int64(b.MaxToolImages), int64(l.MaxImages))),
		MaxStepImages:   int(m.smaller("max_step_images", int64(b.MaxStepImages), int64(l.MaxImages))),
		RequestImages:   l.MaxImages,
		MaxCostUSD:      b.MaxCostUSD,
		MaxFileBytes:    l.MaxPDFBytes,
		MaxPixels:       l.MaxPixels,
		MinSide:         b.MinImageSide,
		MaxPromptTokens: b.MaxPromptTokens,
		WhenExceeded:    b.WhenExceeded,
		MinPageDPI:      b.MinPageDPI, MaxFallbackTokens: b.MaxFallbackTokens,
		Still:  l.Still,
		Tokens: l.Tokens,
		From:   m.from,
	}
	if l.ManySide > 0 && out.MaxImages > l.ManyImages {
		out.MaxSide = int(m.smaller("max_image_pixels", int64(out.MaxSide), int64(l.ManySide)))
	}
	m.from["min_image_side"], m.from["max_cost_usd"] = b.origin("min_image_side"), b.origin("max_cost_usd")
	for _, key := range []string{"when_exceeded", "min_page_dpi", "max_fallback_tokens"} {
		m.from[key] = b.origin(key)
	}
	if l.MinSide > out.MinSide {
		out.MinSide, m.from["min_image_side"] = l.MinSide, l.Provider
	}
	m.tokens(&out, l)
	for _, f := range l.Formats {
		out.Accept = append(out.Accept, mediaType(f))
	}
	return out
}

// tokens sets the bound of the prompt: the user's, else four fifths of the window.
func (m bounder) tokens(out *Bounds, l ProviderLimits) {
	if m.budget.MaxPromptTokens > 0 {
		m.from["max_prompt_tokens"] = m.budget.origin("max_prompt_tokens")
	}
	window := l.ContextWindow * 4 / 5
	if window > 0 && (out.MaxPromptTokens == 0 || window < out.MaxPromptTokens) {
		out.MaxPromptTokens = window
		m.from["max_prompt_tokens"], out.WindowGuess = m.who, l.WindowGuess
		if l.WindowFromUser {
			m.from["max_prompt_tokens"] = "context window"
		}
	}
	out.MaxPromptTokens = l.Tokens.common(out.MaxPromptTokens)
}

// room reserves a tenth of a request's size, at least 256 KB, for text and JSON.
func room(request int64) int64 {
	if request == 0 {
		return 0
	}
	return max(request-max(request/10, 256<<10), 1)
}

func mediaType(format string) string {
	if format == "svg" {
		return "image/svg+xml"
	}
	return "image/" + format
}

// accepts reports whether an image is sent in its own format. A provider's list holds the formats it reads; an empty list
// means that all are assumed to work.
func (b Bounds) accepts(media string) bool {
	return len(b.Accept) == 0 || media == "" || slices.Contains(b.Accept, strings.ToLower(media))
}

// convertible holds the formats that we or the worker can convert to PNG or JPEG for a model that does not accept them. A
// format that neither can convert is a problem of the candidate.
var convertible = []string{
	"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff", "image/heic", "image/heif", "image/avif", "image/svg+xml",
}
