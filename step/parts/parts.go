// Package parts divides documents into parts that stay the same when the document changes elsewhere: windows of pages, chapters
// and sections. A part is known by the identities of its pages, and keeps its name. The package is pure.
package parts

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
)

// The kinds of parts, as `@for_each KIND of …` names them.
const (
	Pages    = "pages"
	Chapters = "chapters"
	Sections = "sections"
)

// Page is a page of a document, or the text of a section of a note.
type Page struct {
	N      int    `json:"n,omitempty"` // from 1; 0 of a section of a note
	ID     string `json:"id"`          // what the page looks like; see [Digest]
	Label  string `json:"label,omitempty"`
	Former string `json:"-"` // the same page's identity in an earlier version
}

// Part is a part of a document with its pages now.
type Part struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`            // unique in the document; it stays when other parts change
	Title string `json:"title,omitempty"` // of a chapter or section
	Shape string `json:"shape,omitempty"` // how the document was divided
	Lead  int    `json:"lead,omitempty"`  // how many of the first pages belong to the parts before
	Pages []Page `json:"pages"`
	Lines [2]int `json:"lines,omitzero"` // of a section of a note: first and last
}

// Digest is the identity of a part: that of its pages, in order.
func (p Part) Digest() string {
	h := sha256.New()
	for _, page := range p.Pages {
		fmt.Fprintln(h, page.ID)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Own returns the pages that belong to no part before.
func (p Part) Own() []Page { return p.Pages[min(p.Lead, len(p.Pages)):] }

// Begin returns where the part began in its document: a page, or a line.
func (p Part) Begin() int {
	if own := p.Own(); p.Paged() && len(own) > 0 {
		return own[0].N
	}
	return p.Lines[0]
}

// Paged reports whether the part has page numbers.
func (p Part) Paged() bool { return len(p.Pages) > 0 && p.Pages[0].N > 0 }

// Numbers returns the page numbers, ascending.
func (p Part) Numbers() []int {
	var list []int
	for _, page := range p.Pages {
		if page.N > 0 {
			list = append(list, page.N)
		}
	}
	slices.Sort(list)
	return list
}

// Label names the pages that the part has now: "pages 21–40", or the lines of a section.
func (p Part) Label() string {
	if !p.Paged() {
		if p.Lines[1] > p.Lines[0] {
			return fmt.Sprintf("lines %d–%d", p.Lines[0], p.Lines[1])
		}
		return fmt.Sprintf("line %d", p.Lines[0])
	}
	return content.PageList(p.Numbers())
}

// Moved reports whether pages of a part have other numbers or labels now. Both parts have the same pages.
func Moved(old, now Part) bool {
	return !slices.EqualFunc(old.Pages, now.Pages, func(was, is Page) bool {
		return was.N == 0 || was.N == is.N && was.Label == is.Label
	})
}

// Known returns the parts on record with the identities that their pages have now.
func Known(old []Part, pages []Page) []Part {
	former := map[string]string{}
	for _, p := range pages {
		if p.Former != "" && p.Former != p.ID {
			former[p.Former] = p.ID
		}
	}
	if len(former) == 0 {
		return old
	}
	for _, p := range pages {
		delete(former, p.ID) // still the identity of a page
	}
	list := slices.Clone(old)
	for i := range list {
		list[i].Pages = slices.Clone(list[i].Pages)
		for j, page := range list[i].Pages {
			if id, found := former[page.ID]; found {
				list[i].Pages[j].ID = id
			}
		}
	}
	return list
}

func ids(pages []Page) []string {
	list := make([]string, len(pages))
	for i, p := range pages {
		list[i] = p.ID
	}
	return list
}
