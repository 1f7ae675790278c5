// Package origin knows where the content of a vault comes from: from its owner, or from somebody else. Content of
// somebody else (an import, an answer of the web or of a server, what a model wrote after it was shown such content) is
// foreign, and stays foreign wherever it goes: a [Book] recognises it by the digest of its bytes, by the name of the file
// that holds it, and by its sentences when somebody copied or edited it. Nothing recorded means one's own.
//
// The package decides and explains; a [Store], such as the journal's, keeps the records. It never writes to the vault, and
// reads a file only when it is asked about it.
package origin

import "context"

// Record is what a [Store] knows about a digest, a name or a piece of text. Known without Origins means one's own: a
// person trusts it, or it was the owner's before a run wrote over it.
type Record struct {
	Known   bool
	Origins []string // where it comes from, such as "import 01J… (report.pdf)" or "web https://example.org/"
}

// Foreign reports whether the record says that somebody else wrote it.
func (r Record) Foreign() bool { return len(r.Origins) > 0 }

// Entry is something to remember. Empty fields are left alone. Without Origins, what the entry names is one's own.
type Entry struct {
	Name    string // vault name
	Digest  string // SHA-256 of the content, in hexadecimal
	Pieces  []Piece
	Origins []string
	// Override replaces what is known of digest and pieces. Otherwise the first record of them stays. What is known of a
	// name is always replaced.
	Override bool
}

// Store keeps records. Its methods are safe for concurrent use. Names are compared as [Key] spells them.
type Store interface {
	// Content returns what is known about bytes, by their digest.
	Content(ctx context.Context, digest string) (Record, error)
	// Name returns what is known about the file of a name.
	Name(ctx context.Context, name string) (Record, error)
	// Pieces returns the records of those pieces that are known.
	Pieces(ctx context.Context, pieces []Piece) (map[Piece]Record, error)
	// Keep stores entries in one transaction.
	Keep(ctx context.Context, entries ...Entry) error
	// Forget removes what is known about a name: there is no such file any more.
	Forget(ctx context.Context, name string) error
}
