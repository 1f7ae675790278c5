//go:build unix

package sandbox

import (
	"errors"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// waiting returns a pool with one worker that waits.
func waiting(t *testing.T) (*Pool, Config, *Session) {
	t.Helper()
	c, p := pretend(t, "well"), &Pool{}
	t.Cleanup(p.Close)
	p.Prepare(c, 1)
	p.Prepare(c, 1) // it is there already
	return p, c, p.only(t)
}

// only returns the one worker that waits.
func (p *Pool) only(t *testing.T) *Session {
	t.Helper()
	if len(p.waiting) != 1 {
		t.Fatalf("%d workers wait", len(p.waiting))
	}
	s := <-p.waiting[0].started
	p.waiting[0].started <- s
	return s
}

func TestPool_handsDocumentsOver(t *testing.T) {
	t.Parallel()
	p, c, waiting := waiting(t)
	for _, text := range []string{"first", "second"} { // the second starts a worker
		s, _, err := p.Start(t.Context(), c, document(t, text), extract.Open{Kind: extract.KindPDF})
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
	p, c, waiting := waiting(t)
	waiting.p.kill()
	_ = waiting.p.reap() // it was killed
	s, _, err := p.Start(t.Context(), c, document(t, "text"), extract.Open{Kind: extract.KindPDF})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

func TestPool_endsWhatWaits(t *testing.T) {
	t.Parallel()
	p, _, waiting := waiting(t)
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

// A worker waits only for documents that are read as it was told, and no more wait than the last who asked wants.
func TestPool_severalConfigs(t *testing.T) {
	t.Parallel()
	p, c, first := waiting(t)
	other := c
	other.MemoryBytes = 99 << 20
	s, _, err := p.Start(t.Context(), other, document(t, "text"), extract.Open{Kind: extract.KindPDF})
	if err != nil || s == first || p.only(t) != first {
		t.Fatalf("a worker with other limits got the document, %v", err)
	}
	s.Close()
	p.Prepare(other, 1)
	if second := p.only(t); second == first || second.config.MemoryBytes != other.MemoryBytes {
		t.Errorf("the worker that waits is for %d bytes", second.config.MemoryBytes)
	}
	other.Logger = slog.New(slog.DiscardHandler)
	second := p.only(t)
	if s, _, err = p.Start(t.Context(), other, document(t, "text"), extract.Open{Kind: extract.KindPDF}); err != nil || s != second || s.config.Logger != other.Logger {
		t.Errorf("another log made a difference: %v", err)
	}
	s.Close()
}
