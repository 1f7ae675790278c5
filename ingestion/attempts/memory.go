package attempts

import (
	"context"
	"maps"
	"strings"
	"sync"
)

// memory is a book for one process.
type memory struct {
	mu     sync.Mutex
	counts map[string]int // by piece; guarded by mu
}

var _ Book = (*memory)(nil)

// Attempt implements Book. Progress does not matter: nothing here outlives the process.
func (m *memory) Attempt(_ context.Context, piece string, _ int) (earlier int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[piece]++
	return m.counts[piece] - 1, nil
}

// Attempts implements Book.
func (m *memory) Attempts(_ context.Context, piece string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counts[piece], nil
}

// Forget implements Book.
func (m *memory) Forget(_ context.Context, prefix string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.counts, func(piece string, _ int) bool { return strings.HasPrefix(piece, prefix) })
	return nil
}
