package wire

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWatch(t.Context(), time.Minute, 10*time.Second)
		defer w.stop()
		for range 5 {
			time.Sleep(9 * time.Second)
			w.moved()
		}
		if err := w.ctx.Err(); err != nil {
			t.Fatalf("a call that moves ended: %v", context.Cause(w.ctx))
		}
		time.Sleep(11 * time.Second)
		if got, want := context.Cause(w.ctx).Error(), "nothing was heard for 10s"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		whole := newWatch(t.Context(), time.Minute, 0)
		defer whole.stop()
		time.Sleep(61 * time.Second)
		if got, want := context.Cause(whole.ctx).Error(), "no complete answer within 1m0s"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		never := newWatch(t.Context(), orDefault(-1, time.Second), 0)
		time.Sleep(24 * time.Hour)
		if never.ctx.Err() != nil {
			t.Error("a call without time-outs ended")
		}
		never.stop()
		never.moved()
		if never.ctx.Err() == nil {
			t.Error("stop left the call open")
		}
	})
}
