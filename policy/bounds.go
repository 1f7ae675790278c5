package policy

import (
	"slices"
	"strings"
)

// Bounds are a budget and a provider's limits together: of each two the smaller one. It is plain data. Zero means no
// bound, except for MaxImages, MaxTotalBytes, MaxPages, MaxToolImages and MaxStepImages, where it means none.
type Bounds struct {
	MaxImages       int      `json:"max_images"`
	MaxImageBytes   int64    `json:"max_image_bytes"` // of one image as it is sent, before base64
	MaxTotalBytes   int64    `json:"max_total_bytes"`
	MaxSide         int      `json:"max_side"`
	MinSide         int      `json:"min_side"`
	MaxPixels       int64    `json:"max_pixels,omitempty"` // of one image as it is sent
	MaxDecodePixels int64    `json:"max_decode_pixels"`
	MaxPages        int      `json:"max_pages"`
	MaxFileBytes    int64    `json:"max_file_bytes,omitempty"` // of a document that is sent as a file, before base64
	RequestImages   int      `json:"request_images,omitempty"` // that the provider takes in one request, tool results included; 0: not published
	MaxToolImages   int      `json:"max_tool_images"`
	MaxStepImages   int      `json:"max_step_images"`
	MaxCostUSD      float64  `json:"max_cost_usd,omitempty"`
	MaxPromptTokens int      `json:"max_prompt_tokens,omitempty"`
	ReservedTokens  int      `json:"reserved_tokens,omitempty"` // text that is in the prompt already
	WhenExceeded    Exceeded `json:"when_exceeded"`
	Accept          []string `json:"accept,omitempty"` // media types that are sent as they are; empty: all
	Still           bool     `json:"still,omitempty"`  // of an animation the first frame is sent
	Tokens          Formula  `json:"tokens,omitempty"`

	// From says who bound a value, by key: default, settings, workflow, step, or the provider's name.
	From map[string]string `json:"from,omitempty"`
}

// bounder collects bounds and who set them.
type bounder struct {
	budget Budget
	from   map[string]string
	who    string // the provider
}

// zeroIsNone are the keys whose zero allows nothing. Zero of any other means that there is no bound.
var zeroIsNone = map[string]bool{"max_images": true, "max_total_mb": true, "max_pages": true, "max_tool_images": true, "max_step_images": true}

// smaller takes the provider's limit when there is one and it is below the budget's.
func (m bounder) smaller(key string, budget, limit int64) int64 {
	m.from[key] = m.budget.origin(key)
	if limit > 0 && (limit < budget || budget == 0 && !zeroIsNone[key]) {
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
		Still:           l.Still,
		Tokens:          l.Tokens,
		From:            m.from,
	}
	if l.ManySide > 0 && out.MaxImages > l.ManyImages {
		out.MaxSide = int(m.smaller("max_image_pixels", int64(out.MaxSide), int64(l.ManySide)))
	}
	m.from["min_image_side"], m.from["max_cost_usd"] = b.origin("min_image_side"), b.origin("max_cost_usd")
	m.from["when_exceeded"] = b.origin("when_exceeded")
	if l.MinSide > out.MinSide {
		out.MinSide, m.from["min_image_side"] = l.MinSide, l.Provider
	}
	m.tokens(&out, l)
	for _, f := range l.Formats {
		out.Accept = append(out.Accept, mediaType(f))
	}
	return out
}

// tokens sets the bound of the prompt: what the user says, else four fifths of the window.
func (m bounder) tokens(out *Bounds, l ProviderLimits) {
	if m.budget.MaxPromptTokens > 0 {
		m.from["max_prompt_tokens"] = m.budget.origin("max_prompt_tokens")
	}
	window := l.ContextWindow * 4 / 5
	if window > 0 && (out.MaxPromptTokens == 0 || window < out.MaxPromptTokens) {
		out.MaxPromptTokens = window
		m.from["max_prompt_tokens"] = m.who
		if l.WindowFromUser {
			m.from["max_prompt_tokens"] = "context window"
		}
	}
}

// room leaves a tenth of a request's size, at least 256 KB, to text and JSON.
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

// accepts tells whether an image is sent in its own format. Every provider's list holds the ones it reads; an empty list
// means that nothing is known against any.
func (b Bounds) accepts(media string) bool {
	return len(b.Accept) == 0 || media == "" || slices.Contains(b.Accept, strings.ToLower(media))
}

// convertible are the formats that are turned into PNG or JPEG where a model does not take them: here, or in the worker.
// What neither can do is a problem of the candidate.
var convertible = []string{
	"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff", "image/heic", "image/heif", "image/avif", "image/svg+xml",
}
