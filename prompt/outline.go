package prompt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/omission"
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
	words string    // roleWords, roleText, and roleMedia for the text of a page
	frame *frame    // of roleOpen and roleClose their own, of others the innermost one around them
	input int       // which input of the prompt the item belongs to, for IMAGE_REFS
	line  *Line     // its receipt; nil for our own words
	media *media    // roleMedia
	text  *decoded  // of roleText: the file's text, in which words start …
	start int       // … at this byte
	held  bool      // there is no room for it: it joins a marker with its neighbours
	span  *leftOut  // the range that names it
	gap   bool      // it says nothing without what is next to it, which is in a range: it goes with it
	from  *directed // the input that it belongs to; nil: none
}

// media is something that is attached as a whole, or stands as a reference.
type media struct {
	cand    int           // index of its candidate
	number  int           // of a picture, counted from 1 over the prompt
	block   content.Block // what is attached; nil for the text of a page
	as      string        // the reference as written
	page    string        // "page 3 of 12", for a page of a document
	remarks string        // on the text of the page: why it is doubtful, what is at the edge
	remote  bool
	blind   bool     // the text of a page that the model would see, could it
	near    []string // similar names of a missing one
	parent  *Line    // of the document that the page belongs to

	leaf     leaf   // the page that it shows or says
	fallback string // its text, where it replaces the picture
	foreign  *frame // around its text, if that is untrusted and the frame that is open is not
	above    bool   // its text is in the prompt already
	pictured bool   // of the text of a page: the page has a picture that is to be shown too
	cropped  bool   // of the picture of a page: only a part of it
	long     bool   // there is such a text, and no room for it
}

// outline is the list of a prompt's items in the making, with the candidates to attach, warnings and reads that come with
// them. It belongs to one try of a Build.
type outline struct {
	items      []item
	candidates []policy.Candidate // one for each roleMedia item, in order
	warnings   []Warning
	frames     []*frame      // that are open
	inputs     int           // inputs so far
	images     int           // pictures so far
	embeds     int           // embedded files so far
	embedded   int64         // their size in bytes
	from       *directed     // the input that is being written
	named      []*directed   // all inputs so far
	reads      []policy.Read // what the prompt may show

	cutFate   policy.Fate // of what stands where the prompt was cut
	cutReason string

	fallback int      // tokens of texts that replace pictures
	paged    []string // files some of whose pages are named in ranges
}

// leaf is a page of a file that read_pages reads.
type leaf struct {
	file  string // a document, or the note of an import
	n, of int
	doubt string // of its text
}

// put appends an item to the frame that is open.
func (o *outline) put(it item) {
	it.input, it.from = o.inputs, o.from
	if n := len(o.frames); it.frame == nil && n > 0 {
		it.frame = o.frames[n-1]
	}
	o.items = append(o.items, it)
}

// say adds a line of the prompt format.
func (o *outline) say(words string) { o.put(item{role: roleWords, words: words}) }

// add adds an item with its receipt.
func (o *outline) add(it item, line Line) {
	it.line = &line
	o.put(it)
}

// attach adds something that is attached as a whole, with its candidate.
func (o *outline) attach(it item, cand policy.Candidate, line Line) {
	it.role = roleMedia
	if cand.Kind == policy.Picture {
		o.images++
		it.media.number = o.images
		cand.Number = o.images
	}
	it.media.cand = len(o.candidates)
	o.candidates = append(o.candidates, cand)
	o.add(it, line)
}

// within adds a frame around what the function adds. line is the receipt of the reference that opens it, or nil.
func (o *outline) within(f frame, line *Line, inside func() error) error {
	f.line = line
	o.reads = append(o.reads, f.read())
	o.put(item{role: roleOpen, frame: &f, line: line})
	o.frames = append(o.frames, &f)
	err := inside()
	o.frames = o.frames[:len(o.frames)-1]
	if f.tag == tagInput {
		o.put(item{role: roleRefs, frame: &f})
	}
	o.put(item{role: roleClose, frame: &f})
	return err
}

// number assigns ids to the chunks, in the prompt's order.
func (o *outline) number() {
	ids := 0
	for _, it := range o.items {
		if it.line == nil {
			continue
		}
		ids++
		it.line.ID = "c" + strconv.Itoa(ids)
		if it.role == roleMedia {
			o.candidates[it.media.cand].ID = it.line.ID
		}
	}
}

func (o *outline) warn(w Warning) { o.warnings = append(o.warnings, w) }

// source is where a chunk of a note stands.
func source(note string, k chunking.Chunk) Source {
	return Source{Note: note, Lines: [2]int{k.FirstLine, k.LastLine}, Bytes: [2]int{k.Start, k.End}}
}

// missing is an input that is not there.
func (o *outline) missing(target string, why omission.Why, words string) {
	o.inputs++
	l := Line{Kind: KindFile, Target: target}
	l.lose(why, words)
	o.add(item{role: roleWords, words: "[input missing: " + quoted(target) + ": " + words + "]"}, l)
	o.warn(Warning{Target: target, Message: "input " + target + ": " + words})
}

// cutText adds a text that is no note, or the part of it that the directive asks for.
func (o *outline) cutText(d directives.Input, t *decoded, src Source) {
	if len(t.text) == 0 {
		o.say("[empty]")
		return
	}
	s := selection(d, t.text)
	o.selects(src.Note, s)
	for _, p := range s.clip(chunking.Plain(t.text)) {
		o.text(p, t, src)
	}
}

// text adds a piece of text, or its receipt alone when the directive cut it.
func (o *outline) text(p piece, t *decoded, src Source) {
	l := Line{Kind: KindText, Fate: policy.Sent, Source: src, Text: p.chunk.Text, Tokens: policy.TextTokens(p.chunk.Text)}
	l.Source.Lines = [2]int{p.chunk.FirstLine, p.chunk.LastLine}
	l.Source.Bytes = [2]int{t.place(p.chunk.Start), t.place(p.chunk.End)}
	if p.cut != "" {
		l.Fate, l.Reason, l.Text, l.Tokens = policy.Omitted, p.cut, "", 0
		o.add(item{role: roleSilent}, l)
		return
	}
	o.add(item{role: roleText, words: p.chunk.Text, text: t, start: p.chunk.Start}, l)
}

// selects notes which part of a text is shown, unless it is the whole.
func (o *outline) selects(name string, part selected) {
	if part.words != "" {
		o.say(part.words)
	}
	if part.lost != "" {
		o.warn(Warning{Note: name, Message: part.lost})
	}
}

// inputFrame is the frame of a file whose content has receipt lines of its own: only an embed has one for the reference.
func (o *outline) inputFrame(s shown, inside func() error) error {
	if s.embedded {
		return o.framed(s, inside)
	}
	return o.within(s.frame(), nil, inside)
}

// framed is the frame of a file, with the receipt of the reference to it.
func (o *outline) framed(s shown, inside func() error) error {
	if s.embedded {
		o.embeds++
	}
	return o.within(s.frame(), s.line, inside)
}

// refuse puts a line in the place of a file that is not shown, and warns.
func (o *outline) refuse(s shown, why omission.Why, words string) error {
	words = cmp.Or(words, why.Words())
	w := s.at
	w.Message = "not shown: " + words
	if s.embedded {
		w.Message = "embedded file not shown: " + words
	}
	o.warn(w)
	s.line.lose(why, words)
	facts := []string{quoted(s.name)}
	if s.page > 0 {
		facts = append(facts, fmt.Sprintf("page %d", s.page))
	}
	if s.embedded {
		o.add(item{role: roleWords, words: "[embed: " + list(facts) + ", not shown: " + words + "]"}, *s.line)
		return nil
	}
	if s.line.MediaType != "" {
		facts = append(facts, s.line.MediaType)
	}
	if s.line.Size > 0 {
		facts = append(facts, formatSize(s.line.Size))
	}
	return o.within(s.frame(), nil, func() error {
		o.add(item{role: roleWords, words: "[file: " + list(facts) + "; not shown: " + words + "]"}, *s.line)
		return nil
	})
}

// loseEmbed puts a line in the place of an embedded file that is not shown.
func (o *outline) loseEmbed(l Line, why omission.Why, words string) {
	l.lose(why, "")
	o.add(item{role: roleWords, words: "[embed: " + words + "]"}, l)
}

// image lists a picture of the vault. It is looked at later, when it is known how many there are.
func (o *outline) image(m *media, name string, cand policy.Candidate, l Line) {
	l.Name, cand.Name = name, name
	o.attach(item{media: m}, cand, l)
}

// names adds names of files that the prompt shows without their content.
func (o *outline) names(names []string) {
	for _, name := range names {
		o.reads = append(o.reads, policy.Read{Kind: policy.ReadName, Name: name})
	}
}

// holds reports whether anything from outside contains the word.
func (o *outline) holds(word string) bool {
	for _, it := range o.items {
		if strings.Contains(it.words, word) || it.frame != nil && it.role == roleOpen && strings.Contains(it.frame.name, word) {
			return true
		}
		if l := it.line; l != nil && (strings.Contains(l.Alt, word) || strings.Contains(l.Target, word) || strings.Contains(l.Name, word)) {
			return true
		}
		if m := it.media; m != nil && (strings.Contains(m.fallback, word) || strings.Contains(m.as, word)) {
			return true
		}
	}
	return false
}
