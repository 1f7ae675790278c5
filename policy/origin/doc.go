// Package origin tracks where a vault's content comes from: its owner or somebody else. Content from somebody else (an
// import, an answer from the web or a server, what a model wrote after it was shown such content) is foreign, and remains so
// wherever it goes: a [Book] recognizes it by the digest of its bytes, by the name of its file, and after copying or editing
// by its sentences. Content without a record is the owner's.
//
// The package decides and explains; a [Store], such as the journal's, keeps the records. It never writes to the vault, and
// reads a file only to answer a question about it.
package origin

import "context"

// Record is what a [Store] knows about a digest, a name or a piece of text. Known without Origins means the owner's: the user
// trusts it, or it was the owner's before a run overwrote it.
type Record struct {
	Known   bool
	Origins []string // where it comes from, such as "import 01J… (report.pdf)" or "web https://example.org/"
}

// Foreign reports whether somebody else wrote it, according to the record.
func (r Record) Foreign() bool { return len(r.Origins) > 0 }

// Entry is something to remember. Empty fields are ignored. Without Origins, what the entry names is the owner's.
type Entry struct {
	Name    string // vault name
	Digest  string // SHA-256 of the content, in hexadecimal
	Size    int64  // of the content with this digest, in bytes; 0: unknown
	Pieces  []Piece
	Origins []string
	// Override replaces the records of digest and pieces; without it their first record is kept. The record of a name is
	// always replaced.
	Override bool
}

// Store keeps records. Its methods are safe for concurrent use. Names are compared as [Key] spells them.
type Store interface {
	// Content returns what is known about bytes, by their digest.
	Content(ctx context.Context, digest string) (Record, error)
	// MayHave reports whether it may know bytes of this size. If not, there is no need to read them.
	MayHave(ctx context.Context, size int64) (bool, error)
	// Name returns what is known about the file with this name.
	Name(ctx context.Context, name string) (Record, error)
	// Pieces returns the records of those pieces that are known.
	Pieces(ctx context.Context, pieces []Piece) (map[Piece]Record, error)
	// Keep stores entries in one transaction.
	Keep(ctx context.Context, entries ...Entry) error
	// Forget removes what is known about a name whose file is gone.
	Forget(ctx context.Context, name string) error
}
