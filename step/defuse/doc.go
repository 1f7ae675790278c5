// Package defuse makes text inert that a model wrote after it was shown something foreign: pictures and links to hosts that
// nobody allowed, HTML that loads or runs something, and code that Obsidian's plugins run. Nothing is deleted. Where a
// construct begins, the mark ⟦⟧ is put into it, so that no parser recognises it any more, a person sees where, and deleting
// the marks gives the text back:
//
//	![x](http://a.example/?q=1)  becomes  !⟦⟧[x]⟦⟧(http⟦⟧://a.example/?q=1)
//	<iframe src=…>               becomes  <⟦⟧iframe src=…>
//	```dataviewjs                becomes  ```⟦⟧dataviewjs
//
// Kept are embeds and links inside the vault, plain links whose address the step was shown word for word, plain HTML such
// as <br>, and whatever leads to a host that the workflow allows (permissions.links).
//
// The scans follow no single grammar, because Obsidian, its plugins and CommonMark differ: whatever one of them could read
// as active is marked. Only code that all of them must take for code keeps its pictures and tags. The package reads and
// writes nothing but its arguments.
package defuse

import "strings"

// Mark is what is put into a construct to make it inert.
const Mark = "⟦⟧"

// Undo takes all marks out: Undo of a defused text is the text, provided that it held no marks itself.
func Undo(text string) string { return strings.ReplaceAll(text, Mark, "") }

// Rules say what may stay. The zero value keeps no address outside the vault.
type Rules struct {
	// Host reports whether pictures, frames and links of a host stay; nil: of none.
	Host func(host string) bool
	// Shown reports whether an address stood word for word in what the step was shown, so that a plain link to it stays;
	// nil: none did. See [Shown].
	Shown func(address string) bool
}

// Finding is one place that was made inert.
type Finding struct {
	Line   int    // of the text, from 1
	Reason string // what it was, in words: "picture from a.example"
	Text   string // the construct as it was, at most 120 bytes of it
}
