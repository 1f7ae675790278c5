package prompt

import (
	"path"
	"slices"

	"github.com/vaultflow/vaultflow/chunking"
)

// Kinds of a [Peeked] file.
const (
	PeekText     = "text"
	PeekNote     = "note"
	PeekImage    = "image"
	PeekDocument = "document" // PDF or office
	PeekOpaque   = "opaque"   // named, not shown
)

// Peeked is what a file is. Size is in bytes.
type Peeked struct {
	Kind      string
	MediaType string
	Size      int64
	Text      string // of a text and a note, as UTF-8; as much as may be read
	Cut       bool   // Text is not all of it
	Pages     int    // of a note: the pages of the document that it is the import of
	Pictures  bool   // of a note: it refers to pictures
}

// Peek identifies a file by its bytes, without showing it.
func (b Builder) Peek(name string) (Peeked, error) {
	read := b.files(nil)
	p, err := read.load(name)
	if err != nil {
		return Peeked{}, err
	}
	out := Peeked{MediaType: p.is.media, Size: p.size}
	switch p.is.kind {
	case kindText, kindMarkdown:
		out.Kind, out.Text, out.Cut = PeekText, string(p.text.text), p.size > int64(len(p.text.raw))
	case kindImage:
		out.Kind = PeekImage
	case kindDocument:
		out.Kind = PeekDocument
	case kindOpaque:
		out.Kind = PeekOpaque
	}
	if p.is.kind == kindMarkdown {
		out.Kind = PeekNote
		out.Pictures = slices.ContainsFunc(p.pieces(), func(c chunking.Chunk) bool { return c.Kind == chunking.Image })
		if m, err := read.bundle(path.Dir(name)); err == nil {
			out.Pages = m.last()
		}
	}
	return out, nil
}
