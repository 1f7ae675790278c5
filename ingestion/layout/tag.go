package layout

// Role is what a tagged block of text is.
type Role int

// The roles that matter here. Other blocks are paragraphs.
const (
	RoleNone Role = iota // outside of any block
	RoleParagraph
	RoleHeading
	RoleItem // of a list
	RoleCell // of a table
	RoleNote // at the foot of the page

	roleLines // of a receipt, where lines stay lines
)

// Tag is a piece of a page's text, as the document's own structure names it (PDF 32000-1, §14.7).
type Tag struct {
	Box    Box
	Block  int // pieces of one paragraph, heading, list item or cell share it; from 1, rising in reading order
	Role   Role
	Level  int // of a heading, from 1
	Table  int // the number of the table that a cell belongs to, from 1
	Row    int // of a cell, from 1
	Column int // of a cell, from 1
}
