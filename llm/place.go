package llm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// maxPagePictures is how many pages of a document are converted to pictures: the images that every service takes in one
// request.
const maxPagePictures = 20

// placed is a block and where it goes. Texts go in.
type placed struct {
	content.Block
	place policy.Place
}

// place says what is sent for a block, and where. Media of which the words alone are sent are noted in the turn.
func (p *planning) place(b content.Block, inResult bool, turn *Turn) ([]placed, error) {
	if !isMedia(b) {
		return in(said(b)), nil
	}
	medium := policy.Medium(b.Type())
	place, why := p.delivery.Place(medium, inResult)
	switch {
	case place == policy.Refuse && !hasWords(b):
		where := "prompt"
		if inResult {
			where = "result of a tool"
		}
		return nil, &Error{
			Class: ClassUnsupportedMedia, Provider: p.provider, Unsent: true,
			Message: fmt.Sprintf("the %s %s in the %s cannot be sent: %s", b.Type(), nameOf(b), where, why),
		}
	case place == policy.Refuse || place == policy.Convert:
		return p.converted(b, inResult, turn), nil
	}
	return []placed{{b, place}}, nil
}

// converted is a medium as its words; a document without words as the pictures of its pages, where pictures can go.
func (p *planning) converted(b content.Block, inResult bool, turn *Turn) []placed {
	place, _ := p.delivery.Place(policy.Image, inResult)
	d, isDocument := b.(content.Document)
	if isDocument && !hasWords(b) && place != policy.Convert && place != policy.Refuse {
		var out []placed
		for _, picture := range PagePictures(d) {
			out = append(out, placed{picture, place})
		}
		if out != nil {
			return out
		}
	}
	turn.Omitted = append(turn.Omitted, nameOf(b))
	return in(said(b))
}

func in(blocks []content.Block) []placed {
	var out []placed
	for _, b := range blocks {
		out = append(out, placed{b, policy.In})
	}
	return out
}

// PagePictures are the pages of a document that are meant, as pictures that are made when they are sent: at most 20. There
// are none when it is not known which pages there are.
func PagePictures(d content.Document) []content.Image {
	var pictures []content.Image
	for _, n := range pagesOf(d) {
		pictures = append(pictures, content.Image{
			Name: d.Name, SHA256: d.SHA256, Source: content.SourcePage, Page: n,
			Fallback: content.Document{Name: d.Name, PageRange: strconv.Itoa(n)}.Text(),
		})
	}
	return pictures
}

// pagesOf are the pages that are meant, at most maxPagePictures; none when it is not known which there are.
func pagesOf(d content.Document) []int {
	words := d.PageRange
	if words == "" && d.Pages > 0 {
		words = "1-" + strconv.Itoa(d.Pages)
	}
	var pages []int
	for part := range strings.SplitSeq(words, ",") {
		low, high, ranged := strings.Cut(strings.TrimSpace(part), "-")
		if !ranged {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err != nil || err2 != nil || first < 1 {
			return nil
		}
		for n := first; n <= last && len(pages) < maxPagePictures; n++ {
			if !slices.Contains(pages, n) {
				pages = append(pages, n)
			}
		}
	}
	return pages
}

// hasWords tells whether a medium brings a text that can stand for it.
func hasWords(b content.Block) bool {
	words := ""
	switch m := b.(type) {
	case content.Image:
		words = m.Fallback
	case content.Document:
		words = m.Extracted
	case content.Audio:
		words = m.Fallback
	case content.Video:
		words = m.Fallback
	}
	return strings.TrimSpace(words) != ""
}

// said is a block as its words, nothing when they are blank: services refuse empty parts.
func said(b content.Block) []content.Block {
	if text := b.Text(); strings.TrimSpace(text) != "" {
		return []content.Block{content.Text{Value: text}}
	}
	return nil
}

func isMedia(b content.Block) bool {
	switch b.Type() {
	case content.TypeImage, content.TypeDocument, content.TypeAudio, content.TypeVideo:
		return true
	}
	return false
}

func nameOf(b content.Block) string {
	switch m := b.(type) {
	case content.Image:
		return m.Name
	case content.Document:
		return m.Name
	case content.Audio:
		return m.Name
	case content.Video:
		return m.Name
	}
	return string(b.Type())
}
