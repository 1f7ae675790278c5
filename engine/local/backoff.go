package local

import (
	"context"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/drain"
)

// Backoff is how often and how slowly a failed activity is repeated. Only retryable failures are.
type Backoff struct {
	Attempts int           // in all, at least one
	Base     time.Duration // wait before the second attempt; doubled for each further one
	Max      time.Duration // longest wait
}

// DefaultBackoff repeats twice after 1 s and 2 s. A model call is not repeated here: the llm package repeats requests
// itself, and two layers would multiply.
func DefaultBackoff(activity string) Backoff {
	if activity == engine.ActivityGenerate {
		return Backoff{Attempts: 1}
	}
	return Backoff{Attempts: 3, Base: time.Second, Max: 30 * time.Second}
}

// wait is how long to wait after an attempt, counted from one. What the error asks for wins if it is longer, within Max.
func (b Backoff) wait(attempt int, asked time.Duration) time.Duration {
	d := b.Base
	for i := 1; i < attempt && d < b.Max; i++ {
		d *= 2
	}
	return min(max(d, asked), max(b.Max, b.Base))
}

// pause waits and reports whether the time passed before ctx ended, or the executor drained.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-drain.Begun(ctx):
		return false
	case <-t.C:
		return true
	}
}
