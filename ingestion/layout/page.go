// Package layout turns the positioned text of a page into Markdown: reading order over columns, headings, paragraphs,
// lists, tables and links, without running heads. It is independent of renderers, which fill a [Page].
package layout

import "github.com/vaultflow/vaultflow/ingestion/formula"

// Page is what a renderer knows about a page, in points (1/72 inch) from the upper left corner of the page as it is
// displayed.
type Page struct {
	Number        int // of the page in its document, from 1; [NewProfile] counts those of 0
	Width, Height float64
	Lines         []Line // in the order of the file
	Rules         []Box  // drawn lines, thin bars and the sides of rectangles: borders of tables
	Pictures      []Box
	Links         []Link
	Ticks         []Tick
	Struck        []Box // lines through words, from the first letter to the last one
	Tags          []Tag // in the reading order of the document's own structure; nil without one
	Hidden        int   // letters that nobody can see; no line has them
	Drawn         int   // letters in fonts that draw them, which may not say what they are
	Damage        Damage
	Turned        bool // the renderer has turned the page: boxes are not where they are displayed
}

// Tick is a drawn box to tick.
type Tick struct {
	Box Box
	On  bool
}

// Damage is what reading a page shows of damage in the file, which renderers pass over.
type Damage int

const (
	Sound    Damage = iota
	Faulty          // errors that also sound pages have: they explain a page without anything on it
	CutShort        // a content, or a font, cannot be read to its end, or is not what was written
)

// Line is a run of text on one baseline without a wide gap in it: a line of a paragraph, or a cell of a table.
type Line struct {
	Text      string
	Box       Box       // of the glyphs, from the ascent to the descent
	Edges     []float64 // left edge of each rune of Text; nil if unknown, or if they do not rise
	Size      float64   // of the font in which most of it is set, in points
	Font      string
	Bold      bool
	Italic    bool
	Invisible bool            // drawn without ink, like the text behind a scan
	Logical   bool            // numbers and foreign words in text from right to left are in order, by the places of their letters
	Turns     int             // quarter turns clockwise of its direction, or -1 for other angles
	Glyphs    []formula.Glyph // of a page with formulas; nil if unknown
	spans     []span
	at        int    // in the order of the file
	latex     string // what the line is instead of Text: a formula
	shown     bool   // the line is a part of a formula whose picture is to be shown
	amount    bool   // a row of several pieces, of which the last is a number apart from the others
	apart     bool   // a row of at least three names or numbers, further apart than words
	drawn     int    // the number of the formula that it begins, whose picture is to be shown; 0: none
}

// CharWidth is about the mean width of a letter, as a share of the font's size, for files that do not have the widths.
const CharWidth = 0.5

// Box is a rectangle with X0 ≤ X1 and Y0 ≤ Y1.
type Box struct{ X0, Y0, X1, Y1 float64 }

func (b Box) width() float64  { return b.X1 - b.X0 }
func (b Box) height() float64 { return b.Y1 - b.Y0 }

// join returns the smallest box around both.
func (b Box) join(o Box) Box {
	return Box{min(b.X0, o.X0), min(b.Y0, o.Y0), max(b.X1, o.X1), max(b.Y1, o.Y1)}
}

// holds reports whether the middle of o is in b.
func (b Box) holds(o Box) bool {
	x, y := (o.X0+o.X1)/2, (o.Y0+o.Y1)/2
	return x >= b.X0 && x <= b.X1 && y >= b.Y0 && y <= b.Y1
}
