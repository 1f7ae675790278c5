// Package drain lets a process start over without cutting what was paid for: calls under way end and are kept, waits end at
// once, and nothing else begins.
package drain

import (
	"context"
	"errors"
)

// Err is the error of work that did not begin, or no longer waited, because the process starts over. It is resumed afterwards.
var Err = errors.New("vaultflow starts over")

type key struct{}

// With returns a context whose waits end once begun is closed. The context itself does not end.
func With(ctx context.Context, begun <-chan struct{}) context.Context {
	return context.WithValue(ctx, key{}, begun)
}

// Begun returns a channel that is closed once no wait should continue; nil if that never happens.
func Begun(ctx context.Context) <-chan struct{} {
	begun, _ := ctx.Value(key{}).(<-chan struct{})
	return begun
}

// Outlasting returns a context that ends with ctx, unless ctx was cancelled with [Err] as its cause: a call that may cost money
// is made with it. Call the function when the call has ended.
func Outlasting(ctx context.Context) (context.Context, func()) {
	whole, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if cause := context.Cause(ctx); !errors.Is(cause, Err) {
			end(cause)
		}
	})
	return outlasting{whole, ctx}, func() {
		stop()
		end(nil)
	}
}

// outlasting has the error of the context that ended it: past a deadline is not cancelled.
type outlasting struct {
	context.Context
	of context.Context //nolint:containedctx // a context itself
}

// Err implements context.Context.
func (o outlasting) Err() error {
	if o.Context.Err() == nil {
		return nil
	}
	if err := o.of.Err(); err != nil {
		return err
	}
	return o.Context.Err()
}
