package prompt

import (
	"context"
	"strconv"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/policy"
)

// role is what an item of the prompt is.
type role int

const (
	roleWords  role = iota // a line of our own
	roleOpen               // a frame begins
	roleClose              // a frame ends
	roleText               // bytes of an input, or the step's prompt text (without a receipt line)
	roleMedia              // a picture, a page or a document, whose fate is decided
	roleRefs               // the IMAGE_REFS list of the input that ends here
	roleSilent             // a receipt line with nothing in the prompt: a comment, what head= cut
)

// item is one piece of the prompt, in order.
type item struct {
	role  role
	words string   // roleWords, roleText, and roleMedia for the text of a page
	frame *frame   // of roleOpen and roleClose their own, of others the innermost one that they stand in
	input int      // which input of the prompt the item belongs to, for IMAGE_REFS
	line  *Line    // its receipt; nil for our own words
	media *media   // roleMedia
	text  *decoded // of roleText: the file's text, in which words start …
	start int      // … at this byte
	held  bool     // there is no room for it: it joins a marker with its neighbours
}

// media is something that is attached as a whole, or stands as a reference.
type media struct {
	cand   int           // index of its candidate
	number int           // of a picture, counted from 1 over the prompt
	block  content.Block // what is attached; nil for the text of a page
	as     string        // the reference as written
	page   string        // "page 3 of 12", for a page of a document
	remote bool
	blind  bool     // the text of a page that the model would see, could it
	near   []string // similar names of a missing one
	parent *Line    // of the document that the page belongs to

	fallback string // its text, for a model that cannot see
	long     bool   // there is such a text, and no room for it
}

// memory is what one Build has learned about files; it outlives the tries.
type memory struct {
	pictures  map[string]probed
	documents map[string]described
	pages     map[pageKey]pageText
	notes     map[string]*parsed
	remote    map[string]fetched
	known     map[string]foreign
	fetches   int
	paged     map[string]bool // documents that do not fit as a file: they are shown page by page
}

func newMemory() *memory {
	return &memory{
		pictures: map[string]probed{}, documents: map[string]described{}, pages: map[pageKey]pageText{},
		notes: map[string]*parsed{}, known: map[string]foreign{}, remote: map[string]fetched{}, paged: map[string]bool{},
	}
}

// collector reads the inputs and lists the items of the prompt. It belongs to one try of a Build.
type collector struct {
	ctx     context.Context //nolint:containedctx // lives for one Build
	builder Builder
	spec    Spec
	*memory

	items      []item
	candidates []policy.Candidate // one for each roleMedia item, in order
	warnings   []Warning
	frames     []*frame      // that are open
	inputs     int           // inputs so far
	images     int           // pictures so far
	embeds     int           // embedded files so far
	embedded   int64         // their size in bytes
	reads      []policy.Read // what the prompt may show

	cutFate   policy.Fate // of what stands where the prompt was cut
	cutReason string
}

// put appends an item to the frame that is open.
func (c *collector) put(it item) {
	it.input = c.inputs
	if n := len(c.frames); it.frame == nil && n > 0 {
		it.frame = c.frames[n-1]
	}
	c.items = append(c.items, it)
}

// say adds a line of our own.
func (c *collector) say(words string) { c.put(item{role: roleWords, words: words}) }

// add adds an item with its receipt.
func (c *collector) add(it item, line Line) {
	it.line = &line
	c.put(it)
}

// attach adds something that is attached as a whole, with its candidate.
func (c *collector) attach(it item, cand policy.Candidate, line Line) {
	it.role = roleMedia
	if cand.Kind == policy.Picture {
		c.images++
		it.media.number = c.images
		cand.Number = c.images
	}
	it.media.cand = len(c.candidates)
	c.candidates = append(c.candidates, cand)
	c.add(it, line)
}

// within adds a frame around what the function adds. line is the receipt of the reference that opens it, or nil.
func (c *collector) within(f frame, line *Line, inside func() error) error {
	f.line = line
	c.reads = append(c.reads, f.read())
	c.put(item{role: roleOpen, frame: &f, line: line})
	c.frames = append(c.frames, &f)
	err := inside()
	c.frames = c.frames[:len(c.frames)-1]
	if f.tag == tagInput {
		c.put(item{role: roleRefs, frame: &f})
	}
	c.put(item{role: roleClose, frame: &f})
	return err
}

// number gives the chunks their ids, in the prompt's order.
func (c *collector) number() {
	ids := 0
	for _, it := range c.items {
		if it.line == nil {
			continue
		}
		ids++
		it.line.ID = "c" + strconv.Itoa(ids)
		if it.role == roleMedia {
			c.candidates[it.media.cand].ID = it.line.ID
		}
	}
}

func (c *collector) warn(w Warning) { c.warnings = append(c.warnings, w) }

// source is where a chunk of a note stands.
func source(note string, k chunking.Chunk) Source {
	return Source{Note: note, Lines: [2]int{k.FirstLine, k.LastLine}, Bytes: [2]int{k.Start, k.End}}
}
