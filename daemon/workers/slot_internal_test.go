package workers

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/policy/turns"
)

// A document waits for room while others make progress, however long that takes, and no longer than its patience when they do not.
func TestSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &Room{places: turns.New(1)}
		w := newQueue(room, time.Minute, slog.New(slog.DiscardHandler))
		free, err := w.slot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		go func() {
			for range 10 {
				time.Sleep(50 * time.Second)
				room.progress()
			}
		}()
		second, err := w.slot(t.Context())
		if waited := time.Since(began); err != nil || waited != 560*time.Second {
			t.Errorf("waited %s, %v; want a minute after the last progress", waited, err)
		}
		second() // it had no room to give back
		began = time.Now()
		go func() {
			time.Sleep(30 * time.Second)
			free()
		}()
		third, err := w.slot(t.Context())
		if waited := time.Since(began); err != nil || waited != 30*time.Second {
			t.Errorf("waited %s, %v", waited, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.slot(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		third()
	})
}

// A vault with 500 documents leaves room for one with a single document: it gets the next place.
func TestSlot_manyVaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		room := &Room{places: turns.New(2)}
		var ended atomic.Int64
		work := func(q *queue, n int) {
			for range n {
				go func() {
					free, err := q.slot(t.Context())
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Second)
					ended.Add(1)
					free()
				}()
			}
			synctest.Wait()
		}
		work(newQueue(room, time.Hour, slog.New(slog.DiscardHandler)), 500)
		began := time.Now()
		free, err := newQueue(room, time.Hour, slog.New(slog.DiscardHandler)).slot(t.Context())
		if waited := time.Since(began); err != nil || waited != time.Second || ended.Load() > 2 {
			t.Errorf("waited %s for %d others, %v; want a second for at most 2", waited, ended.Load(), err)
		}
		free()
		time.Sleep(300 * time.Second)
		if ended.Load() != 500 {
			t.Errorf("%d ended", ended.Load())
		}
	})
}
