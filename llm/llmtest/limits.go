package llmtest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"net/http"
	"slices"
)

// Limits are what a service takes in one request. Above them it refuses, in the words of a real service. Zero fields do not
// limit.
type Limits struct {
	Images     int      // pictures
	Side       int      // pixels a side of any picture
	ManyImages int      // above so many pictures, ManySide is the side
	ManySide   int      // pixels
	Pixels     int64    // of one picture
	Patches    int      // of 32 pixels a side, of one picture
	ImageBytes int64    // of one picture in base64
	Body       int64    // bytes
	Tokens     int      // one for four bytes of text, one for 750 pixels, 1500 for a page; see Pages
	Pages      int      // of all documents; see Pages
	Without    []string // kinds of parts, or media types, that are not taken
	Silent     bool     // too many tokens are not refused
}

// refuse is the service's reply to a request above its limits.
func (l Limits) refuse(c Captured) (Reply, bool) {
	for _, sentence := range []string{l.kinds(c), l.sizes(c), l.whole(c)} {
		if sentence != "" {
			return Reply{Status: http.StatusBadRequest, Code: "invalid_request_error", Message: sentence}, true
		}
	}
	return Reply{}, false
}

// kinds refuses parts that the service does not take.
func (l Limits) kinds(c Captured) string {
	for _, p := range c.Parts {
		switch {
		case p.Kind() == "image" && slices.Contains(l.Without, "image"):
			return "No endpoints found that support image input"
		case p.Kind() == "document" && slices.Contains(l.Without, "document"):
			return "No endpoints found that support file input"
		case p.Data != nil && slices.Contains(l.Without, p.MediaType):
			return "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg']."
		}
	}
	return ""
}

// sizes refuses single pictures.
func (l Limits) sizes(c Captured) string {
	count := 0
	for _, p := range c.Parts {
		if p.Kind() == "image" {
			count++
		}
	}
	for _, p := range c.Parts {
		if p.Kind() != "image" {
			continue
		}
		size := sizeOf(p)
		longest, pixels := max(size.Width, size.Height), int64(size.Width)*int64(size.Height)
		patches, encoded := (size.Width+31)/32*((size.Height+31)/32), int64(base64.StdEncoding.EncodedLen(len(p.Data)))
		switch {
		case l.Side > 0 && longest > l.Side:
			return fmt.Sprintf("messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: %d pixels", l.Side)
		case l.ManySide > 0 && count > l.ManyImages && longest > l.ManySide:
			return fmt.Sprintf("messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: %d pixels", l.ManySide)
		case l.Pixels > 0 && pixels > l.Pixels:
			return fmt.Sprintf("Image 0 failed: Image exceeds the maximum allowed total pixels. Current dimensions: %dx%d = %d pixels. Maximum allowed: %d pixels.", size.Width, size.Height, pixels, l.Pixels)
		case l.Patches > 0 && patches > l.Patches:
			return fmt.Sprintf("requires %d patches after processing, exceeding the limit of %d", patches, l.Patches)
		case l.ImageBytes > 0 && encoded > l.ImageBytes:
			return fmt.Sprintf("image exceeds 5 MB maximum: %d bytes > %d bytes", encoded, l.ImageBytes)
		}
	}
	if l.Images > 0 && count > l.Images {
		return fmt.Sprintf("Too many images in request: %d > %d", count, l.Images)
	}
	return ""
}

// whole refuses requests.
func (l Limits) whole(c Captured) string {
	pages := 0
	for _, p := range c.Parts {
		pages += bytes.Count(p.Data, []byte(pageMark))
	}
	switch tokens := c.tokens(); {
	case l.Pages > 0 && pages > l.Pages:
		return fmt.Sprintf("messages.0.content.0.pdf.source.base64.data: A maximum of %d PDF pages may be provided.", l.Pages)
	case l.Body > 0 && int64(len(c.Body)) > l.Body:
		return fmt.Sprintf("Request payload size exceeds the limit: %d bytes.", l.Body)
	case l.Tokens > 0 && tokens > l.Tokens && !l.Silent:
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", tokens, l.Tokens)
	}
	return ""
}

func (c Captured) tokens() int {
	tokens := 0
	for _, p := range c.Parts {
		tokens += len(p.Text) / 4
		if p.Kind() == "image" {
			size := sizeOf(p)
			tokens += size.Width * size.Height / 750
		}
		tokens += 1500 * bytes.Count(p.Data, []byte(pageMark))
	}
	return tokens
}

func sizeOf(p Part) image.Config {
	config, _, _ := image.DecodeConfig(bytes.NewReader(p.Data)) // what is no picture has no size
	return config
}

// pageMark is what Pages writes for each.
const pageMark = "/Type /Page\n"

// Pages is a PDF in name, with so many pages as Limits counts them.
func Pages(n int) []byte {
	return append([]byte("%PDF-1.4\n"), bytes.Repeat([]byte(pageMark), n)...)
}
