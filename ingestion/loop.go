package ingestion

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// pageLoop makes the pages of a document.
type pageLoop struct{ w *work }

// giveUpAfter is how many pages may fail in a row before the rest is skipped: at two attempts of 20 s each, a hopeless document of
// 5000 pages would take two days.
const giveUpAfter = 25

// madePage is a page whose files and record are not written yet.
type madePage struct {
	page  manifest.Page
	files map[string][]byte
}

// Limits of what finished pages hold in memory until they are written; a kill loses that much work. A larger page waits until it is alone.
const (
	heldBytes = 12 << 20
	heldPages = 16
)

// loop makes the pages that have no record yet, in several sessions at once. Each takes a window of pages at a time. If something
// fails, it is a page; only the vault, a missing worker or the end of ctx stops the loop. Pages that were made until then are written.
func (l pageLoop) loop(ctx context.Context, first *reading.Reader, pages int) error {
	todo, err := l.w.store.missing(pages)
	if err != nil || len(todo) == 0 {
		return err
	}
	l.w.store.start()
	l.w.layer.pages = pages
	size := max(1, min(l.w.set.Window, (len(todo)+l.w.set.Sessions-1)/l.w.set.Sessions))
	windows := make(chan []int)
	written := context.WithoutCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	taken := make(chan struct{}) // closed when every window has its session
	group.Go(func() error {
		defer close(taken)
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
	out := outbox{pages: make(chan madePage, len(todo)), room: semaphore.NewWeighted(heldBytes)}
	group.Go(func() error { return out.write(written, l.w.store) })
	var row atomic.Int32 // pages that failed in a row
	open := first.Open   // each session finds out by itself how to open the document
	seats := min(l.w.set.Sessions, (len(todo)+size-1)/size)
	l.w.store.pace.begin(seats)
	var drawing sync.WaitGroup
	for i := range seats {
		s := first
		if i > 0 {
			s = l.w.reader(open)
		}
		drawing.Add(1)
		group.Go(func() error {
			defer drawing.Done()
			defer s.Close()
			if i > 0 && len(todo) <= manyPages && !needed(ctx, taken) {
				return nil
			}
			return l.windows(ctx, s, windows, out, &row)
		})
	}
	drawing.Wait()
	close(out.pages)
	return group.Wait()
}

// startTime is about what a worker that waits needs to open a document. A document that needs no longer for all its pages is left to one.
const startTime = 60 * time.Millisecond

// manyPages take longer than that even if they are the simplest.
const manyPages = 32

// needed waits that long and reports whether another session has something to do.
func needed(ctx context.Context, taken <-chan struct{}) bool {
	select {
	case <-taken:
		return false
	case <-ctx.Done():
		return false
	case <-time.After(startTime):
		return true
	}
}

func (l pageLoop) windows(ctx context.Context, s *reading.Reader, windows <-chan []int, out outbox, row *atomic.Int32) error {
	for window := range windows {
		for _, n := range window {
			if row.Load() >= giveUpAfter {
				why := fmt.Sprintf("not tried, after %d pages in a row had failed", giveUpAfter)
				if err := out.add(ctx, madePage{page: failedPage(n, why)}); err != nil {
					return err
				}
				continue
			}
			began := l.w.im.Now()
			made, err := l.make(ctx, s, n)
			if err != nil {
				return fmt.Errorf("page %d of %s: %w", n, l.w.job.Source, err)
			}
			l.w.store.pace.took(l.w.im.Now().Sub(began))
			if err := out.add(ctx, made); err != nil {
				return err
			}
			if made.page.Status == manifest.PageFailed && made.page.Image == nil { // one that was drawn took no attempts
				row.Add(1)
			} else {
				row.Store(0)
			}
		}
	}
	return nil
}

// outbox takes finished pages from the sessions and writes them while the next are drawn. Pages that are finished during a write are
// written together afterwards.
type outbox struct {
	pages chan madePage // never full
	room  *semaphore.Weighted
}

// add takes a page, once there is room for its files.
func (o outbox) add(ctx context.Context, made madePage) error {
	if err := o.room.Acquire(ctx, made.weight()); err != nil {
		return err
	}
	o.pages <- made
	return nil
}

// write writes pages until there are no more. If the vault fails, the sessions stop when they add their next page.
func (o outbox) write(ctx context.Context, s *store) error {
	for made := range o.pages {
		batch := []madePage{made}
		for more := true; more; {
			select {
			case next, ok := <-o.pages:
				if more = ok; ok {
					batch = append(batch, next)
				}
			default:
				more = false
			}
		}
		if err := s.finishAll(ctx, batch); err != nil {
			return err
		}
		for _, made := range batch {
			o.room.Release(made.weight())
		}
	}
	return nil
}

// weight is how much of the room a page takes.
func (m madePage) weight() int64 {
	sum := int64(0)
	for _, data := range m.files {
		sum += int64(len(data))
	}
	return min(max(sum, heldBytes/heldPages), heldBytes)
}

func failedPage(n int, why string) manifest.Page {
	return manifest.Page{N: n, Status: manifest.PageFailed, Error: why}
}

// paceWindow is how many of the last pages an estimate uses: neighbouring pages are similar.
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

// took records how long a page took.
func (p *pace) took(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last = append(p.last, d); len(p.last) > paceWindow {
		p.last = p.last[1:]
	}
}

// left estimates the seconds for this many pages: the median of the last ones for each, because one slow scan does not change that.
// It returns 0 if nothing is known or nothing is left, and otherwise at least 1.
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
