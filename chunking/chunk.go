package chunking

import (
	"strconv"
)

// Kind is what a chunk is.
type Kind string

// The kinds of chunks.
const (
	// Text is everything that is none of the others: prose, code, tables, frontmatter, links.
	Text Kind = "text"
	// Image is a reference to a picture: `![[a.png]]`, `![alt](a.png)`, `![alt][ref]`, `<img src="a.png">`.
	Image Kind = "image"
	// Embed is the transclusion of a note or of another file: `![[note#heading]]`, `![[file.pdf#page=3]]`.
	Embed Kind = "embed"
	// Comment is an Obsidian comment with its `%%` marks. A block comment that is never closed runs to the end.
	Comment Kind = "comment"
)

// How a reference is written.
const (
	SyntaxWikilink  = "wikilink"
	SyntaxMarkdown  = "markdown"
	SyntaxReference = "reference"
	SyntaxHTML      = "html"
)

// Chunk is one span of a note.
type Chunk struct {
	ID    string // c1, c2, … in order; unique within one Split
	Kind  Kind
	Start int    // byte offset of the first byte
	End   int    // byte offset behind the last byte
	Text  string // exactly the bytes of the span

	FirstLine int // line of the first byte, counted from 1
	LastLine  int // line of the last byte; FirstLine when the chunk is empty

	// The rest belongs to Image and Embed.

	Target   string // what is meant: linkpath, decoded path or URL; empty for an embed of the note itself
	Written  string // the target as written in the note, before any decoding, with its fragment
	Fragment string // behind the first `#`, without it: heading, `^block`, `page=3`, or a CSS hook of an image
	Alt      string // alternative text or caption, without the size
	Width    int    // display width that the author set, in pixels; 0 when not set
	Height   int
	Remote   bool   // Target is an http or https URL
	Syntax   string // wikilink, markdown, reference or html
}

// MaxText is the size above which a text chunk is cut, in bytes: at a blank line where there is one, else at a line's
// end, else between two characters. So no note becomes one giant block.
const MaxText = 64 << 10

// Split cuts a note into chunks that tile it: the first starts at 0, each starts where the one before ends, the last
// ends at len(src). An empty note has no chunks. Any bytes are accepted; line ends may be LF or CRLF. Time and memory
// grow linearly with len(src); a note in which one line opens more than 100 quotes or list items is text alone, because
// the parser would not keep to that.
func Split(src []byte) []Chunk {
	t := tiling{src: src, line: 1}
	at := 0
	for _, f := range find(src) {
		if f.start < at || f.end <= f.start || f.end > len(src) {
			continue // inside the one before
		}
		t.text(at, f.start)
		t.add(f)
		at = f.end
	}
	t.text(at, len(src))
	return t.chunks
}

// Plain cuts a file that is not a note: text chunks only, under the same rules of size.
func Plain(src []byte) []Chunk {
	t := tiling{src: src, line: 1}
	t.text(0, len(src))
	return t.chunks
}

// found is a reference or comment in the source.
type found struct {
	start, end int
	Chunk
}

// tiling collects chunks from front to back and counts lines on the way.
type tiling struct {
	src    []byte
	chunks []Chunk
	line   int // of the byte where the next chunk starts
}

// add puts the chunk at the span of f.
func (t *tiling) add(f found) {
	c := f.Chunk
	c.Start, c.End = f.start, f.end
	c.ID = "c" + strconv.Itoa(len(t.chunks)+1)
	c.Text = string(t.src[c.Start:c.End])
	c.FirstLine = t.line
	breaks := 0
	for i := range len(c.Text) {
		if c.Text[i] == '\n' {
			breaks++
		}
	}
	t.line += breaks
	c.LastLine = t.line
	if breaks > 0 && c.Text[len(c.Text)-1] == '\n' {
		c.LastLine--
	}
	t.chunks = append(t.chunks, c)
}

// text adds the span as text, in parts of at most MaxText bytes.
func (t *tiling) text(start, end int) {
	for start < end {
		stop := start + cut(t.src[start:end])
		t.add(found{start: start, end: stop, Chunk: Chunk{Kind: Text}})
		start = stop
	}
}
