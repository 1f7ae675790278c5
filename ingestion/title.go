package ingestion

import (
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// Bounds of what is read to find a title.
const (
	titlePages = 3
	titleHead  = 64 << 10 // bytes of a page's text
	titleTop   = 400      // likewise, of a file that has no title: a heading further down is that of a section
)

// slideTitle is the label of a slide with a title.
var slideTitle = regexp.MustCompile(`^Slide \d+: (.+?)(?: \(hidden\))?$`)

// composedKinds are the files whose headings are marked as such. In a PDF, they are only found by their looks.
var composedKinds = []filetype.Kind{filetype.KindHTML, filetype.KindOffice, filetype.KindPackage, filetype.KindArchive}

// title returns the document's title. A placeholder that a program wrote is replaced by the first heading of the text, and a missing
// title by a heading at the top. Without one, the title is empty, for the name of the file.
func (pub publishing) title(own string, pages []manifest.Page) string {
	most := int64(titleHead)
	switch {
	case own == "" && slices.Contains(composedKinds, pub.w.job.Route.Kind):
		pages, most = pages[:min(len(pages), 1)], titleTop
	case own == "" || !choose.Generic(own):
		return own
	}
	for _, p := range pages[:min(len(pages), titlePages)] {
		if m := slideTitle.FindStringSubmatch(p.Label); m != nil && !choose.Generic(m[1]) {
			return m[1]
		}
		if heading := choose.Heading(pub.begins(p, most)); heading != "" {
			return markdown.OneLine(heading, 300)
		}
	}
	return ""
}

// begins returns the beginning of a page's text, at most so many bytes. What cannot be read has no title; the note's own reader reports it.
func (pub publishing) begins(p manifest.Page, most int64) string {
	if p.Text == nil || p.Text.Path == "" {
		return ""
	}
	file, err := pub.w.store.bundle.FS().Open(p.Text.Path)
	if err != nil {
		return ""
	}
	defer file.Close()
	var b strings.Builder
	if _, err := io.Copy(&b, io.LimitReader(file, most)); err != nil {
		return ""
	}
	return strings.ToValidUTF8(b.String(), "")
}
