package content

import (
	"fmt"
	"strings"
	"unicode"
)

// Where the bytes of an image are found.
const (
	SourceVault  = "vault"  // Name is a file of the vault (the default)
	SourceBlob   = "blob"   // SHA256 is a blob beside the journal
	SourceRemote = "remote" // Name is a URL; nothing is fetched without the remote policy
	SourcePage   = "page"   // page Page of the document Name in the vault, rendered when it is sent; SHA256 is the document's
)

// Image is a picture. Width and Height are pixels as displayed, Size is bytes; zero means not known.
type Image struct {
	Name      string `json:"name"` // slash path inside the vault
	MediaType string `json:"media_type,omitempty"`
	Width     int    `json:"width,omitempty"`
	Height    int    `json:"height,omitempty"`
	Size      int64  `json:"size,omitempty"`
	SHA256    string `json:"sha256,omitempty"`
	Source    string `json:"source,omitempty"`   // one of the Source constants, empty is SourceVault
	Page      int    `json:"page,omitempty"`     // of SourcePage, from 1
	Rect      *Rect  `json:"rect,omitempty"`     // only this part of a page
	Alt       string `json:"alt,omitempty"`      // the author's alternative text
	Fallback  string `json:"fallback,omitempty"` // what to say instead of the picture, its OCR text say
}

// Rect is a part of a PDF page in points (1/72 inch): two opposite corners in the page's own coordinates, as in
// `#page=8&rect=x1,y1,x2,y2`. These usually begin at the lower left corner, and do not turn with the page.
type Rect struct{ X1, Y1, X2, Y2 float64 }

// Type implements Block.
func (Image) Type() Type { return TypeImage }

// Text implements Block: Fallback, or a line such as "[image: a/b.png, 640x480, 25 KB, png]".
func (i Image) Text() string {
	if strings.TrimSpace(i.Fallback) != "" {
		return i.Fallback
	}
	facts := []string{line(i.Name)}
	if i.Width > 0 && i.Height > 0 {
		facts = append(facts, fmt.Sprintf("%dx%d", i.Width, i.Height))
	}
	if i.Size > 0 {
		facts = append(facts, FormatSize(i.Size))
	}
	if short := strings.TrimPrefix(i.MediaType, "image/"); short != "" {
		facts = append(facts, short)
	}
	return "[image: " + strings.Join(facts, ", ") + "]"
}

// Document is a file with pages, a PDF say. PageRange is "1-4,7" when only those pages are meant.
type Document struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type,omitempty"`
	Pages     int    `json:"pages,omitempty"`
	PageRange string `json:"page_range,omitempty"`
	Size      int64  `json:"size,omitempty"`
	SHA256    string `json:"sha256,omitempty"`
	Extracted string `json:"extracted,omitempty"` // its text, when it was read
}

// Type implements Block.
func (Document) Type() Type { return TypeDocument }

// Text implements Block: the extracted text, or a line such as "[document: q3.pdf, 12 pages, 1.2 MB]".
func (d Document) Text() string {
	if strings.TrimSpace(d.Extracted) != "" {
		return d.Extracted
	}
	facts := []string{line(d.Name)}
	switch {
	case d.PageRange != "":
		facts = append(facts, "pages "+line(d.PageRange))
	case d.Pages == 1:
		facts = append(facts, "1 page")
	case d.Pages > 1:
		facts = append(facts, fmt.Sprintf("%d pages", d.Pages))
	}
	if d.Size > 0 {
		facts = append(facts, FormatSize(d.Size))
	}
	return "[document: " + strings.Join(facts, ", ") + "]"
}

// NameOf is the name of a medium's file; of any other block the name of its type.
func NameOf(b Block) string {
	switch m := b.(type) {
	case Image:
		return m.Name
	case Document:
		return m.Name
	case Audio:
		return m.Name
	case Video:
		return m.Name
	}
	return string(b.Type())
}

// FormatSize prints a number of bytes for people: "812 bytes", "25 KB", "1.2 MB". A KB is 1024 bytes.
func FormatSize(bytes int64) string {
	const kb, mb, gb = 1 << 10, 1 << 20, 1 << 30
	switch {
	case bytes == 1:
		return "1 byte"
	case bytes < kb:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < mb:
		return fmt.Sprintf("%d KB", min((bytes+kb/2)/kb, kb-1))
	case bytes < gb:
		return fmt.Sprintf("%.1f MB", float64(bytes)/mb)
	default:
		return fmt.Sprintf("%.1f GB", float64(bytes)/gb)
	}
}

// line keeps a name on one line, so that a file's name cannot pretend to be a line of its own in a prompt.
func line(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, name)
}

// IsMedia reports whether a block is a picture, a document or a recording.
func IsMedia(b Block) bool {
	switch b.Type() {
	case TypeImage, TypeDocument, TypeAudio, TypeVideo:
		return true
	}
	return false
}
