// Package origintest is a store of origins in memory, and the suite that it and the journal pass.
package origintest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/policy/origin"
)

// Store is an origin.Store in memory. The zero value is empty.
type Store struct {
	mu       sync.Mutex
	contents map[string]origin.Record // guarded by mu, as are the others
	sizes    map[int64]bool
	names    map[string]origin.Record
	pieces   map[origin.Piece]origin.Record
}

var _ origin.Store = (*Store)(nil)

// Content implements origin.Store.
func (s *Store) Content(_ context.Context, digest string) (origin.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.contents[digest], nil
}

// MayHave implements origin.Store.
func (s *Store) MayHave(_ context.Context, size int64) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sizes[size] || s.sizes[0], nil
}

// Name implements origin.Store.
func (s *Store) Name(_ context.Context, name string) (origin.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[origin.Key(name)], nil
}

// Pieces implements origin.Store.
func (s *Store) Pieces(_ context.Context, pieces []origin.Piece) (map[origin.Piece]origin.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := maps.Clone(s.pieces)
	maps.DeleteFunc(known, func(p origin.Piece, _ origin.Record) bool { return !slices.Contains(pieces, p) })
	return known, nil
}

// Keep implements origin.Store.
func (s *Store) Keep(_ context.Context, entries ...origin.Entry) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.contents == nil {
		s.contents, s.names, s.pieces = map[string]origin.Record{}, map[string]origin.Record{}, map[origin.Piece]origin.Record{}
		s.sizes = map[int64]bool{}
	}
	for _, e := range entries {
		r := origin.Record{Known: true, Origins: e.Origins}
		if _, known := s.contents[e.Digest]; e.Digest != "" && (!known || e.Override) {
			s.contents[e.Digest], s.sizes[e.Size] = r, true
		}
		if e.Name != "" {
			s.names[origin.Key(e.Name)] = r
		}
		for _, p := range e.Pieces {
			if _, known := s.pieces[p]; !known || e.Override {
				s.pieces[p] = r
			}
		}
	}
	return nil
}

// Forget implements origin.Store.
func (s *Store) Forget(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.names, origin.Key(name))
	return nil
}

// Exercise checks that a store, which is empty, keeps its promises.
func Exercise(t *testing.T, s origin.Store) {
	t.Helper()
	ctx := t.Context()
	digest := "00000000000000000000000000000000000000000000000000000000000000aa"
	keep := func(e origin.Entry) {
		t.Helper()
		if err := s.Keep(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, known bool, origins ...string) {
		t.Helper()
		content, err := s.Content(ctx, digest)
		if err != nil {
			t.Fatal(err)
		}
		name, err := s.Name(ctx, "notes/E\u0301T\u00c9.md")
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := s.Pieces(ctx, []origin.Piece{7, 8, 9})
		if err != nil {
			t.Fatal(err)
		}
		for place, r := range map[string]origin.Record{"content": content, "name": name, "piece": pieces[8]} {
			if r.Known != known || !slices.Equal(r.Origins, origins) {
				t.Errorf("%s, %s: got %+v, want known %v, %q", what, place, r, known, origins)
			}
		}
		if _, known := pieces[7]; known {
			t.Errorf("%s: a piece is known that was never kept", what)
		}
	}
	may := func(what string, want bool) {
		t.Helper()
		if got, err := s.MayHave(ctx, 5); err != nil || got != want {
			t.Errorf("%s: may have contents of 5 bytes: %v, %v", what, got, err)
		}
	}
	expect("empty", false)
	may("empty", false)
	keep(origin.Entry{Digest: digest[2:] + "bb", Size: 6, Origins: []string{"web a"}})
	may("another size", false)
	keep(origin.Entry{Digest: digest[2:] + "cc", Size: 5})
	may("the same size", true)
	keep(origin.Entry{Name: "Notes/\u00e9t\u00e9.md", Digest: digest, Pieces: []origin.Piece{8}, Origins: []string{"web a", "import b"}})
	expect("kept", true, "web a", "import b")
	keep(origin.Entry{Digest: digest, Pieces: []origin.Piece{8}, Origins: []string{"web other"}})
	expect("the first record stays", true, "web a", "import b")
	keep(origin.Entry{Name: "Notes/\u00e9t\u00e9.md", Digest: digest, Pieces: []origin.Piece{8}, Override: true})
	expect("trusted", true)
	keep(origin.Entry{Name: "Notes/\u00e9t\u00e9.md", Digest: digest, Pieces: []origin.Piece{8}, Origins: []string{"run c"}, Override: true})
	expect("foreign again", true, "run c")
	if got, err := s.MayHave(ctx, 7); err != nil || !got {
		t.Errorf("contents of unknown size are on record, and none of 7 bytes may be: %v", err)
	}
	if err := s.Forget(ctx, "notes/\u00c9t\u00e9.md"); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Name(ctx, "Notes/\u00e9t\u00e9.md"); err != nil || r.Known {
		t.Errorf("a forgotten name is known: %+v, %v", r, err)
	}
	mixed := []origin.Entry{{Name: "1", Origins: []string{"web a"}}, {Name: "2", Origins: []string{"web a"}}, {Name: "3"}, {Name: "4", Origins: []string{"web a", "import b"}}}
	if err := s.Keep(ctx, mixed...); err != nil {
		t.Fatal(err)
	}
	for _, e := range mixed {
		if r, err := s.Name(ctx, e.Name); err != nil || !r.Known || !slices.Equal(r.Origins, e.Origins) {
			t.Errorf("of several kept at once, %s: got %+v, %v, want %q", e.Name, r, err, e.Origins)
		}
	}
}
