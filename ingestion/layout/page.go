// Package layout turns the positioned text of a page into Markdown: reading order over columns, headings, paragraphs,
// lists, tables and links, without running heads. It knows no renderer: whoever reads a document fills a [Page].
package layout

// Page is what a renderer knows of a page, in points (1/72 inch) from the upper left corner of the page as it is
// displayed.
type Page struct {
	Width, Height float64
	Lines         []Line // in the order of the file
	Rules         []Box  // drawn lines, thin bars and the sides of rectangles: borders of tables
	Pictures      []Box
}

// Line is a run of text on one baseline without a wide gap in it: a line of a paragraph, or a cell of a table.
type Line struct {
	Text      string
	Box       Box     // of the glyphs, from the ascent to the descent
	Size      float64 // of the font in which most of it is set, in points
	Font      string
	Bold      bool
	Italic    bool
	Invisible bool   // drawn without ink, as the text behind a scan is
	Link      string // URI that the line leads to; empty when to none
}

// Box is a rectangle with X0 ≤ X1 and Y0 ≤ Y1.
type Box struct{ X0, Y0, X1, Y1 float64 }
