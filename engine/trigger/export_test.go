package trigger

import (
	"context"
	"time"
)

// Look does what is due, once, without the waiting of Run.
func (t *Triggers) Look(ctx context.Context) time.Time { return t.look(ctx) }
