package tools

import (
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/content"
)

// Allowance limits the pictures and document pages in tool results. A picture is given once in a step. An Allowance belongs to one turn of a step and is not safe for concurrent use.
type Allowance struct {
	Result int // in one result
	Step   int // in all results that the step may still receive

	Before []Given                         // pictures that the model has been given
	Bytes  int64                           // that all pictures of a request may have
	Weigh  func(image content.Image) int64 // bytes of a picture as it is sent; nil: they do not matter

	given int
	added []Given
}

// Given is a picture that the model has been given.
type Given struct {
	Name  string `json:"name"`
	Key   string `json:"key"` // equal for the same picture
	Bytes int64  `json:"bytes,omitempty"`
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
func (a *Allowance) Added() []Given { return slices.Clone(a.added) }

// left returns how many the next result may hold.
func (a *Allowance) left() int { return max(min(a.Result, a.Step-a.given), 0) }

// spent reports whether the step has received all it may have.
func (a *Allowance) spent() bool { return a.given >= a.Step }

// admit replaces pictures that the model was given before, or for whose bytes a request has no room.
func (a *Allowance) admit(blocks []content.Block) []content.Block {
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
	same := func(g Given) bool { return g.Key == key }
	return slices.ContainsFunc(a.Before, same) || slices.ContainsFunc(a.added, same)
}

func (a *Allowance) weigh(image content.Image) int64 {
	if a.Weigh == nil {
		return 0
	}
	return a.Weigh(image)
}

// take counts the media in a result.
func (a *Allowance) take(blocks []content.Block) {
	_, n := weight(blocks)
	a.given += n
	for _, b := range blocks {
		if image, is := b.(content.Image); is {
			a.added = append(a.added, Given{Name: image.Name, Key: PictureKey(image), Bytes: a.weigh(image)})
		}
	}
}
