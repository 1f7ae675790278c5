// Package defuse makes text inert that a model wrote after untrusted content: pictures and links to hosts that are not allowed, HTML
// that loads or runs something, and code that Obsidian's plugins run. Nothing is deleted. The mark ⟦⟧ is inserted where a construct
// begins, so that no parser recognises it, people see the place, and deleting the marks restores the text:
//
//	![x](http://a.example/?q=1)  becomes  !⟦⟧[x]⟦⟧(http⟦⟧://a.example/?q=1)
//	<iframe src=…>               becomes  <⟦⟧iframe src=…>
//	```dataviewjs                becomes  ```⟦⟧dataviewjs
//
// These stay: embeds and links inside the vault, plain links whose address the step was shown word for word, plain HTML such as <br>,
// and everything that leads to hosts in the workflow's permissions.links.
//
// Obsidian, its plugins and CommonMark differ, so everything that any of them could read as active is marked. Only what all of them
// read as code keeps its pictures and tags.
package defuse

import "strings"

// Mark makes a construct inert.
const Mark = "⟦⟧"

// Undo removes all marks, and so restores a defused text that had no marks of its own.
func Undo(text string) string { return strings.ReplaceAll(text, Mark, "") }

// Rules define what may stay. The zero value keeps no address outside the vault.
type Rules struct {
	// Host reports whether pictures, frames and links of a host stay; nil: of none.
	Host func(host string) bool
	// Shown reports whether the step was shown an address word for word, so that a plain link to it stays; nil: none. See [Shown].
	Shown func(address string) bool
}

// Finding is one place that was made inert.
type Finding struct {
	Line   int    // of the text, from 1
	Reason string // what it was, in words: "picture from a.example"
	Text   string // the construct as it was, at most 120 bytes of it
}
