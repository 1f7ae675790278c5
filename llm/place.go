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

// placed is a block and where it goes. Texts go in.
type placed struct {
	content.Block
	place policy.Place
}

// place says what is sent for a block, and where. Media of which the words alone are sent are noted in the turn.
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

// converted is a medium as its words; a document without words as the pictures of its first pages, where pictures can go.
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

// pictured are pages of a document as pictures, and what is said of those that are too many for a request.
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

// PagePictures are the pages of a document that are meant, as pictures that are made when they are sent, the first `most` of
// them. There are none when it is not known which pages there are.
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
