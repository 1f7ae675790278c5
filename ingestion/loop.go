package ingestion

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// pageLoop makes the pages of a document.
type pageLoop struct{ w *work }

// giveUpAfter is how many pages may fail in a row before the rest of a document is left: at two attempts of 20 s each a
// hopeless one of 5000 pages would take two days.
const giveUpAfter = 25

// loop makes the pages that have no record yet, with several sessions side by side. Each takes a window of pages at a
// time. What fails is a page; only a fault of the vault, a missing worker or the end of ctx ends the loop.
func (l pageLoop) loop(ctx context.Context, first *reading.Reader, pages int) error {
	todo, err := l.w.store.missing(pages)
	if err != nil || len(todo) == 0 {
		return err
	}
	size := max(1, min(l.w.set.Window, (len(todo)+l.w.set.Sessions-1)/l.w.set.Sessions))
	windows := make(chan []int)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(windows)
		for window := range slices.Chunk(todo, size) {
			select {
			case windows <- window:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	var row atomic.Int32 // pages that failed one after the other
	open := first.Open   // each session learns by itself how the document can be opened
	seats := min(l.w.set.Sessions, (len(todo)+size-1)/size)
	l.w.store.pace.begin(seats)
	for i := range seats {
		s := first
		if i > 0 {
			s = l.w.reader(open)
		}
		group.Go(func() error {
			defer s.Close()
			return l.windows(ctx, s, windows, &row)
		})
	}
	return group.Wait()
}

func (l pageLoop) windows(ctx context.Context, s *reading.Reader, windows <-chan []int, row *atomic.Int32) error {
	for window := range windows {
		for _, n := range window {
			if row.Load() >= giveUpAfter {
				if err := l.w.store.finish(ctx, failedPage(n, fmt.Sprintf("not tried, after %d pages in a row had failed", giveUpAfter))); err != nil {
					return err
				}
				continue
			}
			began := l.w.im.Now()
			p, err := l.make(ctx, s, n)
			if err != nil {
				return fmt.Errorf("page %d of %s: %w", n, l.w.job.Source, err)
			}
			l.w.store.pace.took(l.w.im.Now().Sub(began))
			if err := l.w.store.finish(ctx, p); err != nil {
				return err
			}
			if p.Status == manifest.PageFailed {
				row.Add(1)
			} else {
				row.Store(0)
			}
		}
	}
	return nil
}

func failedPage(n int, why string) manifest.Page {
	return manifest.Page{N: n, Status: manifest.PageFailed, Error: why}
}

// paceWindow is how many of the last pages an estimate looks at: pages of one document are alike where they are near.
const paceWindow = 31

// pace estimates how long the rest of a document takes. The zero value knows nothing. It is safe for concurrent use.
type pace struct {
	mu    sync.Mutex // guards what follows
	seats int        // pages that are made at the same time
	last  []time.Duration
}

func (p *pace) begin(seats int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seats, p.last = seats, nil
}

// took takes how long a page took.
func (p *pace) took(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last = append(p.last, d); len(p.last) > paceWindow {
		p.last = p.last[1:]
	}
}

// left is about how many seconds so many pages take: the median of the last pages for each, which one slow scan does not
// move. It is 0 when nothing is known, or nothing is left, and else at least 1.
func (p *pace) left(pages int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pages <= 0 || len(p.last) == 0 || p.seats <= 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(p.last))
	rest := sorted[len(sorted)/2] * time.Duration(pages) / time.Duration(p.seats)
	return max(1, int(rest.Round(time.Second)/time.Second))
}
