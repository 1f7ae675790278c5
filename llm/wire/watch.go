package wire

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// expiredError is the cause of a context ended by one of our own time-outs.
type expiredError struct{ message string }

func (e expiredError) Error() string { return e.message }

// watch ends a call that takes too long or stalls.
type watch struct {
	parent context.Context //nolint:containedctx // a watch lives exactly as long as one call
	ctx    context.Context //nolint:containedctx // as above
	cancel context.CancelCauseFunc
	idle   time.Duration

	mu     sync.Mutex // guards timers, which stop and reader race for
	whole  *time.Timer
	silent *time.Timer
}

func newWatch(parent context.Context, whole, idle time.Duration) *watch {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{parent: parent, ctx: ctx, cancel: cancel, idle: idle}
	expire := func(format string, d time.Duration) *time.Timer {
		return time.AfterFunc(d, func() { cancel(expiredError{fmt.Sprintf(format, d)}) })
	}
	if whole > 0 {
		w.whole = expire("no complete answer within %s", whole)
	}
	if idle > 0 {
		w.silent = expire("nothing was heard for %s", idle)
	}
	return w
}

// moved restarts the idle timer.
func (w *watch) moved() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.silent != nil && w.ctx.Err() == nil {
		w.silent.Reset(w.idle)
	}
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel(nil)
	for _, t := range []*time.Timer{w.whole, w.silent} {
		if t != nil {
			t.Stop()
		}
	}
}

// reader passes bytes through and restarts the idle timer.
func (w *watch) reader(r io.Reader) io.Reader { return movingReader{r, w} }

type movingReader struct {
	reader io.Reader
	watch  *watch
}

func (m movingReader) Read(p []byte) (int, error) {
	n, err := m.reader.Read(p)
	if n > 0 {
		m.watch.moved()
	}
	return n, err
}
