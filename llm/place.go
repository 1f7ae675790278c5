package llm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// MaxPagePictures is how many pages of a document are converted to pictures at most: every service accepts that many in
// one request.
const MaxPagePictures = 20

// placed is a block and its place. Texts are always inside.
type placed struct {
	content.Block
	place policy.Place
}

// place returns what is sent for a block, and where. The turn notes media that are sent as text.
func (p *planning) place(b content.Block, inResult bool, turn *Turn) ([]placed, error) {
	if !content.IsMedia(b) {
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
			Message: fmt.Sprintf("the %s %s in the %s cannot be sent: %s", b.Type(), content.NameOf(b), where, why),
		}
	case place == policy.Refuse || place == policy.Convert:
		return p.converted(b, inResult, turn), nil
	}
	return []placed{{b, place}}, nil
}

// converted returns the text of a medium. A document without text becomes pictures of its first pages where pictures are
// accepted.
func (p *planning) converted(b content.Block, inResult bool, turn *Turn) []placed {
	place, _ := p.delivery.Place(policy.Image, inResult)
	d, isDocument := b.(content.Document)
	if isDocument && !hasWords(b) && place != policy.Convert && place != policy.Refuse {
		if out := p.pictured(d, place, turn); out != nil {
			return out
		}
	}
	turn.Omitted = append(turn.Omitted, content.NameOf(b))
	return in(said(b))
}

// pictured returns pages of a document as pictures, and a note about those that exceed the limit.
func (p *planning) pictured(d content.Document, place policy.Place, turn *Turn) []placed {
	most := MaxPagePictures
	if p.delivery.MaxImages > 0 {
		most = min(most, p.delivery.MaxImages)
	}
	var out []placed
	for _, picture := range PagePictures(d, most) {
		out = append(out, placed{picture, place})
	}
	if all, _ := d.PageNumbers(); len(all) > most {
		turn.Omitted = append(turn.Omitted, d.Name)
		d.PageRange = content.PageRange(all[most:])
		out = append(out, placed{content.Text{Value: d.Text() + " left out: too many for one request"}, policy.In})
	}
	return out
}

func in(blocks []content.Block) []placed {
	var out []placed
	for _, b := range blocks {
		out = append(out, placed{b, policy.In})
	}
	return out
}

// PagePictures returns the first pages of a document as pictures, `most` at most, to be drawn when they are sent. It returns
// none if the pages are unknown.
func PagePictures(d content.Document, most int) []content.Image {
	var pictures []content.Image
	pages, _ := d.PageNumbers() // none of an invalid range
	for _, n := range pages[:min(len(pages), most)] {
		pictures = append(pictures, content.Image{
			Name: d.Name, SHA256: d.SHA256, Source: content.SourcePage, Page: n,
			Fallback: content.Document{Name: d.Name, PageRange: strconv.Itoa(n)}.Text(),
		})
	}
	return pictures
}

// hasWords reports whether a medium has a text to send instead.
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

// said returns the text of a block, or nothing if it is blank: services refuse empty parts.
func said(b content.Block) []content.Block {
	if text := b.Text(); strings.TrimSpace(text) != "" {
		return []content.Block{content.Text{Value: text}}
	}
	return nil
}
