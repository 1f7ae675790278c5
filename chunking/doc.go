// Package chunking cuts a note into ordered chunks: text, image, embed and comment. The chunks tile the note: joined in
// order, their bytes are the note, byte for byte, so a prompt can show text exactly as its author wrote it and put each
// picture at its own place.
//
// The note is parsed once with goldmark and the wikilink extension; references are never searched with patterns. What
// is in code, in an HTML comment, in math or in frontmatter is text. Obsidian's `%%…%%` comments are chunks of
// their own, because a prompt leaves them out.
//
// The package is pure: bytes in, chunks out. It resolves no target, reads no file and keeps no state.
package chunking
