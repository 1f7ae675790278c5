package prompt

import (
	"context"
	"strconv"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/policy"
)

// role is what an item of the prompt is.
type role int

const (
	roleWords  role = iota // a line of our own
	roleOpen               // a frame begins
	roleClose              // a frame ends
	roleText               // bytes of an input, or the step's prompt text (without a receipt line)
	roleImage              // a reference to an image, whose fate is decided
	roleRefs               // the IMAGE_REFS list of the input that ends here
	roleSilent             // a receipt line with nothing in the prompt: a comment, what head= cut
)

// item is one piece of the prompt, in order.
type item struct {
	role  role
	words string // roleWords, roleText
	frame frame  // roleOpen, roleClose
	input int    // which frame of the prompt the item belongs to, for IMAGE_REFS
	line  *Line  // its receipt; nil for our own words
	image *image // roleImage
}

// image is a reference to a picture.
type image struct {
	number int    // counted from 1 over the prompt
	as     string // the reference as written
	remote bool
	near   []string // similar names of a missing one

	fallback string // its text, for a model that cannot see
	long     bool   // there is such a text, and no room for it
}

// collector reads the inputs and lists the items of the prompt. It belongs to one Build.
type collector struct {
	ctx     context.Context //nolint:containedctx // lives for one Build
	builder Builder
	spec    Spec

	items      []item
	candidates []policy.Candidate // one for each roleImage item, in order
	warnings   []Warning
	inputs     int // frames of inputs so far
	embeds     int // transcluded notes so far
	pictures   map[string]probed
}

// say adds a line of our own.
func (c *collector) say(words string) {
	c.items = append(c.items, item{role: roleWords, words: words, input: c.inputs})
}

// add adds an item with its receipt.
func (c *collector) add(it item, line Line) {
	it.line = &line
	it.input = c.inputs
	c.items = append(c.items, it)
}

// number gives the chunks their ids, in the prompt's order.
func (c *collector) number() {
	ids, images := 0, 0
	for _, it := range c.items {
		if it.line == nil {
			continue
		}
		ids++
		it.line.ID = "c" + strconv.Itoa(ids)
		if it.role == roleImage {
			c.candidates[images].ID = it.line.ID
			images++
		}
	}
}

func (c *collector) warn(w Warning) { c.warnings = append(c.warnings, w) }

// source is where a chunk of a note stands.
func source(note string, k chunking.Chunk) Source {
	return Source{Note: note, Lines: [2]int{k.FirstLine, k.LastLine}, Bytes: [2]int{k.Start, k.End}}
}
