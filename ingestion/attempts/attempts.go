// Package attempts counts what ends processes: pages of which workers died, and imports in the middle of which this program did. What
// did so twice is put aside until a person asks for it again, so that no document can keep a machine busy with restarts.
package attempts

import (
	"context"
	"fmt"
	"sync"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/fault"
)

// Most is how often a piece of work may end a process.
const Most = 2

// Book keeps the counts across restarts; the journal is one.
type Book interface {
	// Attempt counts one more attempt at a piece of work and returns how many there were before. Earlier ones are forgotten if less
	// was made then: progress is how much is made now.
	Attempt(ctx context.Context, piece string, progress int) (earlier int, err error)
	// Attempts returns how many attempts are counted.
	Attempts(ctx context.Context, piece string) (int, error)
	// Forget forgets the pieces whose names begin so.
	Forget(ctx context.Context, prefix string) error
}

// Log counts attempts. Make one with [New]. It is safe for concurrent use.
type Log struct {
	book  Book
	alone chan struct{} // holds a token while an import works in the middle of which this program has ended before
}

// New returns a log over a book. Without one, it remembers for as long as this process lives.
func New(b Book) *Log {
	if b == nil {
		b = &memory{counts: map[string]int{}}
	}
	return &Log{book: b, alone: make(chan struct{}, 1)}
}

// Book returns what the log counts in.
func (l *Log) Book() Book { return l.book }

// Begin counts an attempt at an import before its work begins. It refuses one in the middle of which this program ended twice
// without a further page. end must be called when the work has ended, however it did: only a dead process leaves a count. Imports that
// were interrupted work one at a time, so that one that kills the program takes no other with it.
func (l *Log) Begin(ctx context.Context, run string, made int) (end func(), err error) {
	piece := importPiece(run)
	free := func() {}
	if n, err := l.book.Attempts(ctx, piece); err != nil {
		return nil, err
	} else if n > 0 {
		select {
		case l.alone <- struct{}{}:
			free = sync.OnceFunc(func() { <-l.alone })
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	earlier, err := l.book.Attempt(ctx, piece, made)
	switch {
	case err == nil && earlier >= Most:
		err = fault.Permanent(failure.Crashed, "free memory, then try again with `vaultflow import --retry "+run+"`",
			"vaultflow was ended %d times while it imported this file: the import is put aside", earlier)
	case err == nil:
		return func() {
			_ = l.book.Forget(context.WithoutCancel(ctx), piece) // one count too many is harmless
			free()
		}, nil
	}
	free()
	return nil, err
}

// Died counts the death of a worker and returns how many of this piece of work are known.
func (l *Log) Died(ctx context.Context, piece string) int {
	earlier, err := l.book.Attempt(context.WithoutCancel(ctx), piece, 0)
	if err != nil {
		return 1 // the journal's own fault stops the import elsewhere
	}
	return earlier + 1
}

// Aside reports whether a piece of work is put aside.
func (l *Log) Aside(ctx context.Context, piece string) bool {
	n, err := l.book.Attempts(ctx, piece)
	return err == nil && n >= Most
}

// Done forgets the deaths of a piece of work that was done at last.
func (l *Log) Done(ctx context.Context, piece string) {
	_ = l.book.Forget(context.WithoutCancel(ctx), piece) // one count too many is harmless
}

// Again forgets what is known of an import and its document, because a person asks for it again.
func (l *Log) Again(ctx context.Context, run, sha256 string) error {
	if err := l.book.Forget(ctx, importPiece(run)); err != nil {
		return err
	}
	return l.book.Forget(ctx, documentPiece(sha256))
}

func importPiece(run string) string { return "import:" + run + ";" }

func documentPiece(sha256 string) string { return "document:" + sha256 + ":" }

// Piece names a piece of work on a document: a page, and its part.
func Piece(sha256 string, page int, what string) string {
	return fmt.Sprintf("%s%d:%s;", documentPiece(sha256), page, what)
}
