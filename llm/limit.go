package llm

import (
	"context"
	"fmt"
)

// Limit wraps a provider so that at most n of its calls run at once; others wait for their turn or the end of their
// context. Wrap it by Retry, not the other way round: a call that waits to be repeated holds no place. n below 1 is no limit.
func Limit(p Provider, n int) Provider {
	if n < 1 {
		return p
	}
	return limited{p, make(chan struct{}, n)}
}

type limited struct {
	provider Provider
	places   chan struct{}
}

// Generate implements Provider.
func (l limited) Generate(ctx context.Context, request Request, progress func(string)) (*Response, error) {
	select {
	case l.places <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a free place: %w", ctx.Err())
	}
	defer func() { <-l.places }()
	return l.provider.Generate(ctx, request, progress)
}
