package workers

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// A document waits for room while others make progress, however long that takes, and no longer than its patience when they do not.
func TestSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &Starter{slots: make(chan struct{}, 1), patience: time.Minute, log: slog.New(slog.DiscardHandler)}
		free, err := w.slot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		go func() {
			for range 10 {
				time.Sleep(50 * time.Second)
				w.progress()
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
