package llm

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/failure/drain"
)

// Limits bound the calls to a service. Zero is no limit.
type Limits struct {
	Calls             int // at the same time
	RequestsPerMinute int // started within any 60 seconds
	TokensPerMinute   int // of requests started within any 60 seconds, input and output
}

// Gate enforces the limits of one service for all providers that it wraps. Calls wait their turn, in order, or until their
// context ends. It is safe for concurrent use.
type Gate struct {
	limits  Limits
	places  chan struct{} // nil: any number at the same time
	turn    chan struct{} // held by the one call that waits for room in the minute
	changed chan struct{} // wakes it when a request took less than estimated

	mu   sync.Mutex
	last []*passed // within the minute, in order; guarded by mu
}

// passed is a request that went through, and its tokens: an estimate until it ends.
type passed struct {
	at     time.Time
	tokens int
}

// NewGate returns a gate with full capacity.
func NewGate(l Limits) *Gate {
	g := &Gate{limits: l, turn: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
	if l.Calls > 0 {
		g.places = make(chan struct{}, l.Calls)
	}
	return g
}

// Wrap makes a provider's calls pass the gate. Wrap Retry around it, not the other way round: a call that waits to be
// repeated holds no place, and each repetition passes the gate again.
func (g *Gate) Wrap(p Provider) Provider { return gated{p, g} }

type gated struct {
	provider Provider
	*Gate
}

// Generate implements Provider. If the context ends, or the process starts over, while a call waits, nothing is sent. A call that was
// sent is not cut by a process that starts over: it may have been paid for.
func (g gated) Generate(ctx context.Context, request Request, progress func(string)) (*Response, error) {
	if g.places != nil {
		select {
		case g.places <- struct{}{}:
		case <-ctx.Done():
			return nil, unsent(ctx.Err())
		case <-drain.Begun(ctx):
			return nil, unsent(drain.Err)
		}
		defer func() { <-g.places }()
	}
	p, err := g.pass(ctx, request)
	if err != nil {
		return nil, err
	}
	whole, end := drain.Outlasting(ctx)
	defer end()
	response, err := g.provider.Generate(whole, request, progress)
	if failure, ok := AsError(err); ok {
		g.correct(p, failure.Usage)
	} else if response != nil {
		g.correct(p, response.Usage)
	}
	return response, err
}

func unsent(why error) error {
	return &Error{Class: ClassOther, Unsent: true, Message: fmt.Sprintf("wait for a free place: %v", why), Err: why}
}

// pass waits until the minute has room for a request, and counts it.
func (g *Gate) pass(ctx context.Context, request Request) (*passed, error) {
	if g.limits.RequestsPerMinute == 0 && g.limits.TokensPerMinute == 0 {
		return &passed{}, nil
	}
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, unsent(ctx.Err())
	case <-drain.Begun(ctx):
		return nil, unsent(drain.Err)
	}
	defer func() { <-g.turn }()
	next := &passed{tokens: Meter{}.Measure(request).Tokens + request.MaxOutputTokens}
	for {
		wait := g.enter(next)
		if wait <= 0 {
			return next, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-g.changed:
		case <-ctx.Done():
		case <-drain.Begun(ctx):
			timer.Stop()
			return nil, unsent(drain.Err)
		}
		timer.Stop()
		if ctx.Err() != nil {
			return nil, unsent(ctx.Err())
		}
	}
}

// enter counts a request if there is room now, and otherwise returns how long to wait at most. One that is larger than the
// limit has room when it is the only one.
func (g *Gate) enter(next *passed) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for len(g.last) > 0 && now.Sub(g.last[0].at) >= time.Minute {
		g.last = g.last[1:]
	}
	requests, tokens := len(g.last)+1, next.tokens
	for _, p := range g.last {
		tokens += p.tokens
	}
	var wait time.Duration
	for _, p := range g.last { // the oldest leave first
		if !above(requests, g.limits.RequestsPerMinute) && !above(tokens, g.limits.TokensPerMinute) {
			break
		}
		requests, tokens, wait = requests-1, tokens-p.tokens, p.at.Add(time.Minute).Sub(now)
	}
	if wait == 0 {
		next.at = now
		g.last = append(g.last, next)
	}
	return wait
}

func above(n, limit int) bool { return limit > 0 && n > limit }

// correct replaces an estimate by the service's count.
func (g *Gate) correct(p *passed, u cost.Usage) {
	if !u.Counted() {
		return
	}
	g.mu.Lock()
	p.tokens = u.InputTokens + u.OutputTokens
	g.mu.Unlock()
	select {
	case g.changed <- struct{}{}:
	default: // it will look anyway
	}
}
