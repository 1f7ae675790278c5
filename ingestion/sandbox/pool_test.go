//go:build unix

package sandbox

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// prepared returns a pool with one worker that waits.
func prepared(t *testing.T) (*Pool, *Session) {
	t.Helper()
	c := pretend(t, "well")
	p := NewPool(func() Config { return c })
	t.Cleanup(p.Close)
	p.Prepare(1)
	p.Prepare(1) // it is there already
	if len(p.waiting) != 1 {
		t.Fatalf("%d workers wait", len(p.waiting))
	}
	s := <-p.waiting[0]
	p.waiting[0] <- s
	return p, s
}

func TestPool_handsDocumentsOver(t *testing.T) {
	t.Parallel()
	p, waiting := prepared(t)
	for _, text := range []string{"first", "second"} { // the second starts a worker
		s, _, err := p.Start(t.Context(), document(t, text), extract.Open{Kind: extract.KindPDF})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if page, err := s.Page(t.Context(), extract.PageRequest{N: 1, Text: true}); err != nil || page.Text.Plain != text {
			t.Errorf("%s: %+v, %v", text, page.Text, err)
		}
		if (s == waiting) != (text == "first") {
			t.Errorf("%s: the worker that waited: %v", text, s == waiting)
		}
	}
}

// A worker that ends while it waits is not the document's fault.
func TestPool_replacesDeadWorkers(t *testing.T) {
	t.Parallel()
	p, waiting := prepared(t)
	waiting.p.kill()
	_ = waiting.p.reap() // it was killed
	s, _, err := p.Start(t.Context(), document(t, "text"), extract.Open{Kind: extract.KindPDF})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestPool_endsWhatWaits(t *testing.T) {
	t.Parallel()
	p, waiting := prepared(t)
	p.Close()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if err := syscall.Kill(waiting.p.cmd.Process.Pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatal("the worker is still there")
		}
	}
}
