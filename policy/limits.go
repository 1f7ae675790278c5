package policy

import (
	"cmp"
	"strings"
)

const megabyte = 1 << 20

// ProviderLimits are a provider's published limits of one request. Zero means not published. Sizes are bytes before base64:
// if the provider counts the encoded string, this is three quarters of the table's value.
type ProviderLimits struct {
	Provider       string
	Model          string
	MaxImages      int
	MaxImageBytes  int64
	CountsBase64   bool // the user's max_image_mb means the encoded size too
	MaxSide        int  // pixels
	MinSide        int  // pixels; smaller images crash the server
	ManyImages     int  // a request with more images than this …
	ManySide       int  // … has this longest side
	MaxPixels      int64
	MaxRequest     int64
	MaxPDFPages    int
	MaxPDFBytes    int64
	ContextWindow  int      // tokens
	Formats        []string // of pictures, by short names: png, jpeg, …; empty: all that we can read
	Still          bool     // animations in these formats are not accepted
	Tokens         Formula
	Source         string
	Checked        string
	WindowFromUser bool   // ContextWindow was set in settings
	WindowGuess    string // why ContextWindow is only a guess; empty: it is none
}

// Limits returns the published limits of a provider's model. An unknown provider has only a token formula; where no formats are published,
// pictures are sent as PNG and JPEG.
func Limits(provider, model string) ProviderLimits {
	provider = strings.ToLower(provider)
	l := ProviderLimits{Provider: provider, Model: model, Tokens: FormulaDefault}
	if row := capabilityRow(provider, model); row != nil {
		l.ContextWindow = row.Window
	}
	for _, row := range limitRows() {
		if row.fits(provider, model) {
			row.fill(&l)
			break
		}
	}
	if len(l.Formats) == 0 {
		l.Formats = []string{"png", "jpeg"}
	}
	return l
}

func (r limitRow) fill(l *ProviderLimits) {
	l.MaxImages, l.MaxSide, l.MinSide, l.ManyImages, l.ManySide = r.MaxImages, r.MaxSide, r.MinSide, r.ManyImages, r.ManySide
	l.MaxPixels, l.MaxPDFPages, l.MaxPDFBytes = r.MaxPixels, r.MaxPDFPages, raw(r.MaxPDFMB, r.Base64)
	l.MaxImageBytes, l.MaxRequest = raw(r.MaxImageMB, r.Base64), raw(r.MaxRequestMB, r.Base64)
	l.CountsBase64, l.Formats, l.Still, l.Tokens = r.Base64, r.Formats, r.Still, r.Tokens
	l.Source, l.Checked = r.Source, r.Checked
}

// raw converts megabytes to bytes, before base64 if the provider counts the encoded size.
func raw(mb float64, base64 bool) int64 {
	if base64 {
		mb = mb * 3 / 4
	}
	return int64(mb * megabyte)
}

// OwnLimits are a user's limits for a model, which replace the published ones unless zero. Megabytes are as the provider
// counts them, perhaps in base64. The tags are for package settings.
type OwnLimits struct {
	MaxImages    int     `yaml:"max_images" min:"0" max:"100000" doc:"Pictures. 0: the published number."`
	MaxImageMB   float64 `yaml:"max_image_mb" min:"0" max:"1000" doc:"Megabytes of one picture, as the service counts them."`
	MaxSide      int     `yaml:"max_side" min:"0" max:"100000" doc:"Pixels of a picture's longer side."`
	MaxPixels    int64   `yaml:"max_pixels" min:"0" max:"1000000000" doc:"Pixels of a picture."`
	MaxRequestMB float64 `yaml:"max_request_mb" min:"0" max:"10000" doc:"Megabytes of the whole request, as the service counts them."`
	MaxPDFPages  int     `yaml:"max_pdf_pages" min:"0" max:"100000" doc:"Pages of a PDF sent as a file."`
	MaxPDFMB     float64 `yaml:"max_pdf_mb" min:"0" max:"10000" doc:"Megabytes of such a PDF."`
}

// With replaces published limits with the user's own.
func (l ProviderLimits) With(o OwnLimits) ProviderLimits {
	l.MaxImages = cmp.Or(o.MaxImages, l.MaxImages)
	l.MaxImageBytes = cmp.Or(raw(o.MaxImageMB, l.CountsBase64), l.MaxImageBytes)
	l.MaxSide = cmp.Or(o.MaxSide, l.MaxSide)
	l.MaxPixels = cmp.Or(o.MaxPixels, l.MaxPixels)
	l.MaxRequest = cmp.Or(raw(o.MaxRequestMB, l.CountsBase64), l.MaxRequest)
	l.MaxPDFPages = cmp.Or(o.MaxPDFPages, l.MaxPDFPages)
	l.MaxPDFBytes = cmp.Or(raw(o.MaxPDFMB, l.CountsBase64), l.MaxPDFBytes)
	if o.MaxSide > 0 { // it applies to requests with many pictures too
		l.ManyImages, l.ManySide = 0, 0
	}
	return l
}

// WithWindow replaces the context window with the size from a probe or settings. Zero changes nothing.
func (l ProviderLimits) WithWindow(tokens int) ProviderLimits {
	if tokens > 0 {
		l.ContextWindow = tokens
		l.WindowFromUser = true
	}
	return l
}
