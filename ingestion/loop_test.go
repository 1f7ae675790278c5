package ingestion

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// A long document is mostly pages: each look at a page's files opens at least one of them.
func TestImport_looksAtAPageFewTimes(t *testing.T) {
	t.Parallel()
	looks := func(pages int) int {
		b := newBench(t, extract.Document{Pages: pages})
		j := b.drop("imp-1", "Import/book.pdf", pdfBytes)
		j.Settings.PDF.Mode = config.ModePageImages
		before, _ := b.vault.Used()
		b.mustRun(j)
		after, _ := b.vault.Used()
		return after - before
	}
	const most = 3 // the record that is not there, and, to publish the bundle, record and picture
	if few, many := looks(10), looks(30); many-few > most*20 {
		t.Errorf("%d looks at 20 pages more, want at most %d at each", many-few, most)
	}
}

// Another worker takes longer to start than a letter takes to draw. A page that takes long gets help.
func TestImport_startsAnotherWorkerWhenPagesTakeLong(t *testing.T) {
	t.Parallel()
	for name, long := range map[string]bool{"a letter": false, "a slow page": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // a busy machine counts for nothing
				b := newBench(t, extract.Document{Pages: 2})
				second := make(chan struct{})
				b.worker.open = func(n int) error {
					if n == 2 {
						close(second)
					}
					return nil
				}
				b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
					if long && r.N == 1 {
						<-second
					}
					return goodPage(r), nil
				}
				b.mustRun(b.drop("imp-1", "Import/letter.pdf", pdfBytes))
				if want := map[bool]int{false: 1, true: 2}[long]; b.worker.starts != want {
					t.Errorf("%d workers were started, want %d", b.worker.starts, want)
				}
			})
		})
	}
}

// Where it is plain that the pages take longer, no time is lost before another worker starts.
func TestImport_startsAnotherWorkerAtOnceForManyPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, extract.Document{Pages: manyPages + 1})
		var first time.Time
		late := time.Hour
		b.worker.open = func(n int) error {
			if n == 1 {
				first = time.Now()
			} else {
				late = time.Since(first)
			}
			return nil
		}
		b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
			time.Sleep(20 * time.Millisecond)
			return goodPage(r), nil
		}
		b.mustRun(b.drop("imp-1", "Import/book.pdf", pdfBytes))
		if late >= startTime {
			t.Errorf("another worker started %s after the first", late)
		}
	})
}

// What has been drawn when an import is cancelled is not drawn again.
func TestImport_keepsFinishedPagesWhenCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := newBench(t, extract.Document{Pages: 9})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		if r.N == 6 {
			cancel()
		}
		return goodPage(r), nil
	}
	j := b.drop("imp-1", "Import/log.pdf", pdfBytes)
	j.Settings.Sessions = 1
	kind, err := b.im.Classify(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	j.Route = kind.Route
	if _, err := b.im.Extract(ctx, j); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	for n, recorded := 1, b.recorded(); n <= 5; n++ {
		if !recorded[n] {
			t.Errorf("page %d was finished and has no record", n)
		}
	}
}
