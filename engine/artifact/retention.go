package artifact

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Sweep removes what is beyond the limits: what is too old, and of each scope the oldest until it has few enough files and
// bytes. What a live run refers to stays, and counts.
func (s *Store) Sweep() (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sweep("")
}

// sweep is Sweep that also keeps one artifact. The caller holds mu.
func (s *Store) sweep(keep string) (removed int, err error) {
	scopes := map[string][]Artifact{}
	for _, a := range s.kept {
		scopes[a.Scope] = append(scopes[a.Scope], a)
	}
	oldest := s.now().Add(-s.limits.MaxAge)
	for _, all := range scopes {
		oldestFirst(all)
		count, bytes := len(all), int64(0)
		for _, a := range all {
			bytes += a.SizeBytes
		}
		for _, a := range all {
			if !a.CreatedAt.Before(oldest) && count <= s.limits.MaxFiles && bytes <= s.limits.MaxBytes {
				break
			}
			if a.Ref == keep || slices.ContainsFunc(a.Runs, s.live) {
				continue
			}
			if err := s.remove(a, s.now()); err != nil {
				return removed, err
			}
			removed, count, bytes = removed+1, count-1, bytes-a.SizeBytes
		}
	}
	return removed, nil
}

func (s *Store) remove(a Artifact, at time.Time) error {
	at = at.UTC()
	if err := s.record(entry{Artifact: Artifact{Ref: a.Ref, Scope: a.Scope, CreatedAt: a.CreatedAt}, RemovedAt: &at}); err != nil {
		return err
	}
	delete(s.kept, a.Ref)
	if err := os.Remove(filepath.Join(s.dir, a.Path)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("remove an artifact: %w", err)
	}
	return nil
}
