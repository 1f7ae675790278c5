// Package allowance limits the pictures and document pages that tools return to a model.
package allowance

import (
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/engine"
)

// Allowance limits the pictures and document pages in tool results. A picture is given once in a step. An Allowance belongs to one turn of a step and is not safe for concurrent use.
type Allowance struct {
	Result int // in one result
	Step   int // in all results that the step may still receive

	Before []engine.GivenPicture           // pictures that the model has been given
	Bytes  int64                           // that all pictures of a request may have
	Weigh  func(image content.Image) int64 // bytes of a picture as it is sent; nil: they do not matter

	given int
	added []engine.GivenPicture
}

// PictureKey identifies what a picture shows.
func PictureKey(image content.Image) string {
	key := image.SHA256
	if key == "" {
		key = image.Name
	}
	if image.Page > 0 {
		key += fmt.Sprintf("#page=%d", image.Page)
	}
	if image.Rect != nil {
		key += fmt.Sprintf("&rect=%g,%g,%g,%g", image.Rect.X1, image.Rect.Y1, image.Rect.X2, image.Rect.Y2)
	}
	return key
}

// Given returns how many were sent.
func (a *Allowance) Given() int { return a.given }

// Added lists the pictures that were given in this turn.
func (a *Allowance) Added() []engine.GivenPicture { return slices.Clone(a.added) }

// Left returns how many the next result may hold.
func (a *Allowance) Left() int { return max(min(a.Result, a.Step-a.given), 0) }

// Spent reports whether the step has received all it may have.
func (a *Allowance) Spent() bool { return a.given >= a.Step }

// Admit replaces pictures that the model was given before, or for whose bytes a request has no room.
func (a *Allowance) Admit(blocks []content.Block) []content.Block {
	room, bounded := a.Room()
	now := map[string]bool{}
	out := slices.Clone(blocks)
	for i, b := range out {
		image, is := b.(content.Image)
		if !is {
			continue
		}
		key, size := PictureKey(image), a.weigh(image)
		switch {
		case now[key] || a.has(key):
			out[i] = content.Text{Value: "[" + nameOf(image) + ": this step was given the picture before]\n"}
		case bounded && size > room:
			out[i] = content.Text{Value: image.Text() + "\n[no picture of " + nameOf(image) + ": max_total_mb reached]\n"}
		default:
			now[key], room = true, room-size
		}
	}
	return out
}

// nameOf names a picture, and the page that it shows.
func nameOf(image content.Image) string {
	if image.Page > 0 {
		return fmt.Sprintf("%s, page %d", image.Name, image.Page)
	}
	return image.Name
}

// Room returns how many bytes of pictures a request still takes, and whether they are bounded.
func (a *Allowance) Room() (bytes int64, bounded bool) {
	if a.Weigh == nil {
		return 0, false
	}
	left := a.Bytes
	for _, g := range slices.Concat(a.Before, a.added) {
		left -= g.Bytes
	}
	return max(left, 0), true
}

func (a *Allowance) has(key string) bool {
	same := func(g engine.GivenPicture) bool { return g.Key == key }
	return slices.ContainsFunc(a.Before, same) || slices.ContainsFunc(a.added, same)
}

func (a *Allowance) weigh(image content.Image) int64 {
	if a.Weigh == nil {
		return 0
	}
	return a.Weigh(image)
}

// Take counts the media in a result.
func (a *Allowance) Take(blocks []content.Block) {
	_, n := Weight(blocks)
	a.given += n
	for _, b := range blocks {
		if image, is := b.(content.Image); is {
			a.added = append(a.added, engine.GivenPicture{Name: image.Name, Key: PictureKey(image), Bytes: a.weigh(image)})
		}
	}
}

// Bound replaces media beyond the allowance with their text, and counts the others. counted is how many of them the tool has
// counted itself.
func (a *Allowance) Bound(r *content.ToolResult, counted int) {
	result, step := a.Result, a.Step-a.given+counted
	given := 0
	r.Blocks = slices.Clone(r.Blocks)
	for i, b := range r.Blocks {
		_, n := Weight([]content.Block{b})
		if n == 0 {
			continue
		}
		if given+n > result || given+n > step {
			r.Blocks[i] = content.Text{Value: b.Text() + " [not shown: no room for more pictures]"}
			continue
		}
		given += n
	}
	a.given += max(given-counted, 0)
}

// Weight returns how much of the limits a chunk uses: bytes of text with its label, and pictures.
func Weight(blocks []content.Block) (text, images int) {
	text = 16
	for _, b := range blocks {
		switch b := b.(type) {
		case content.Image:
			images++
		case content.Document:
			images += b.PageCount()
		case content.Audio, content.Video:
			images++
		default:
			text += len(b.Text())
		}
	}
	return text, images
}

// Exceeds reports whether that many more pictures are too many for the step.
func (a *Allowance) Exceeds(pictures int) bool { return a.given+pictures > a.Step }
