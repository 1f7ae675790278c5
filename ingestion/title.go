package ingestion

import (
	"io"
	"regexp"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// Bounds of what is read to find a title.
const (
	titlePages = 3
	titleHead  = 64 << 10 // bytes of a page's text
)

// slideTitle is the label of a slide with a title.
var slideTitle = regexp.MustCompile(`^Slide \d+: (.+?)(?: \(hidden\))?$`)

// title returns the document's title. A placeholder that a program wrote is replaced by the first heading of the text, and without one
// to the name of the file, for which the title is empty.
func (pub publishing) title(own string, pages []manifest.Page) string {
	if own == "" || !choose.Generic(own) {
		return own
	}
	for _, p := range pages[:min(len(pages), titlePages)] {
		if m := slideTitle.FindStringSubmatch(p.Label); m != nil && !choose.Generic(m[1]) {
			return m[1]
		}
		if heading := choose.Heading(pub.begins(p)); heading != "" {
			return markdown.OneLine(heading, 300)
		}
	}
	return ""
}

// begins returns the beginning of a page's text. What cannot be read has no title; the note's own reader reports it.
func (pub publishing) begins(p manifest.Page) string {
	if p.Text == nil || p.Text.Path == "" {
		return ""
	}
	file, err := pub.w.store.bundle.FS().Open(p.Text.Path)
	if err != nil {
		return ""
	}
	defer file.Close()
	var b strings.Builder
	if _, err := io.Copy(&b, io.LimitReader(file, titleHead)); err != nil {
		return ""
	}
	return strings.ToValidUTF8(b.String(), "")
}
