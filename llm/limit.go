package llm

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/failure/drain"
	"github.com/vaultflow/vaultflow/policy/turns"
)

// Limits bound the calls to a service. Zero is no limit.
type Limits struct {
	Calls             int // at the same time
	RequestsPerMinute int // started within any 60 seconds
	TokensPerMinute   int // of requests started within any 60 seconds, input and output
}

// Service counts the calls to one service, over all its gates. Its limits are the highest of them, so that a gate with low limits slows
// only what passes it. Make it with [NewService]. It is safe for concurrent use.
type Service struct {
	places *turns.Places // for calls at the same time

	mu     sync.Mutex
	gates  map[*Gate]struct{} // that are open; guarded by mu
	limits Limits             // the highest; guarded by mu
	last   []*passed          // within the minute, in order; guarded by mu
}

// passed is a request that went through, and its tokens: an estimate until it ends.
type passed struct {
	by     *Gate
	at     time.Time
	tokens int
}

// NewService returns a service that nobody has asked.
func NewService() *Service { return &Service{places: turns.New(0), gates: map[*Gate]struct{}{}} }

// Gate enforces limits for all providers that it wraps, and those of the service. Calls wait their turn, in order, or until their
// context ends; the gates of a service take turns. It is safe for concurrent use.
type Gate struct {
	service *Service
	limits  Limits
	places  *turns.Line   // of this gate
	shared  *turns.Line   // of the service
	turn    chan struct{} // held by the one call that waits for the minute or the service
	changed chan struct{} // wakes it when a request took less than estimated, or the limits changed
}

// NewGate returns the only gate of a service.
func NewGate(l Limits) *Gate { return NewService().Gate(l) }

// Gate opens a gate.
func (s *Service) Gate(l Limits) *Gate {
	g := &Gate{
		service: s, limits: l, places: turns.New(l.Calls).Line(), shared: s.places.Line(), turn: make(chan struct{}, 1), changed: make(chan struct{}, 1),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates[g] = struct{}{}
	s.limit()
	return g
}

// Close makes the gate's limits no longer count for others. Calls that wait or come still pass it.
func (g *Gate) Close() {
	g.service.mu.Lock()
	defer g.service.mu.Unlock()
	delete(g.service.gates, g)
	g.service.limit()
}

// limit finds the highest limits. Without gates, nothing changes: the next may be that of a process that starts over. The caller holds mu.
func (s *Service) limit() {
	first := true
	for g := range s.gates {
		if l := g.limits; first {
			s.limits, first = l, false
		} else {
			s.limits = Limits{higher(s.limits.Calls, l.Calls), higher(s.limits.RequestsPerMinute, l.RequestsPerMinute), higher(s.limits.TokensPerMinute, l.TokensPerMinute)}
		}
	}
	s.places.Limit(s.limits.Calls)
	s.wake()
}

// higher returns the higher of two limits.
func higher(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// wake makes calls that wait for room in the minute look again. The caller holds mu.
func (s *Service) wake() {
	for g := range s.gates {
		select {
		case g.changed <- struct{}{}:
		default: // it will look anyway
		}
	}
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
	place := g.places.Ask()
	defer place.Leave()
	if err := await(ctx, place.Ready()); err != nil {
		return nil, err
	}
	p, leave, err := g.pass(ctx, request)
	if err != nil {
		return nil, err
	}
	defer leave()
	whole, end := drain.Outlasting(ctx)
	defer end()
	response, err := g.provider.Generate(whole, request, progress)
	if failure, ok := AsError(err); ok {
		g.service.correct(p, failure.Usage)
	} else if response != nil {
		g.service.correct(p, response.Usage)
	}
	return response, err
}

// await waits for something, or returns why nothing is sent.
func await(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return unsent(ctx.Err())
	case <-drain.Begun(ctx):
		return unsent(drain.Err)
	}
}

func unsent(why error) error {
	return &Error{Class: ClassOther, Unsent: true, Message: fmt.Sprintf("wait for a free place: %v", why), Err: why}
}

// pass waits until the minute has room for a request and the service has a place, and counts it. A call that waits for the minute holds
// no place of the service: other gates may have room.
func (g *Gate) pass(ctx context.Context, request Request) (p *passed, leave func(), err error) {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, unsent(ctx.Err())
	case <-drain.Begun(ctx):
		return nil, nil, unsent(drain.Err)
	}
	defer func() { <-g.turn }()
	next := &passed{by: g, tokens: Meter{}.Measure(request).Tokens + request.MaxOutputTokens}
	for {
		if err := g.room(ctx, next); err != nil {
			return nil, nil, err
		}
		place := g.shared.Ask()
		if err := await(ctx, place.Ready()); err != nil {
			place.Leave()
			return nil, nil, err
		}
		if g.service.enter(next, true) <= 0 {
			return next, place.Leave, nil
		}
		place.Leave() // another gate was faster
	}
}

// room waits until the minute has room for a request.
func (g *Gate) room(ctx context.Context, next *passed) (err error) {
	for {
		wait := g.service.enter(next, false)
		if wait <= 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-g.changed:
		case <-ctx.Done():
			err = unsent(ctx.Err())
		case <-drain.Begun(ctx):
			err = unsent(drain.Err)
		}
		timer.Stop()
		if err != nil {
			return err
		}
	}
}

// enter returns how long to wait at most until there is room for a request, and counts it if there is now and it is to go. One that is larger
// than a limit has room when it is the only one.
func (s *Service) enter(next *passed, goes bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for len(s.last) > 0 && now.Sub(s.last[0].at) >= time.Minute {
		s.last = s.last[1:]
	}
	own := func(p *passed) bool { return p.by == next.by }
	wait := max(s.wait(next, s.limits, now, func(*passed) bool { return true }), s.wait(next, next.by.limits, now, own))
	if wait == 0 && goes { // limits may come, so it counts without any
		next.at = now
		s.last = append(s.last, next)
	}
	return wait
}

// wait returns how long limits make a request wait, if those count that counts names. The caller holds mu.
func (s *Service) wait(next *passed, l Limits, now time.Time, counts func(*passed) bool) time.Duration {
	requests, tokens := 1, next.tokens
	for _, p := range s.last {
		if counts(p) {
			requests, tokens = requests+1, tokens+p.tokens
		}
	}
	var wait time.Duration
	for _, p := range s.last { // the oldest leave first
		if !above(requests, l.RequestsPerMinute) && !above(tokens, l.TokensPerMinute) {
			break
		}
		if counts(p) {
			requests, tokens, wait = requests-1, tokens-p.tokens, p.at.Add(time.Minute).Sub(now)
		}
	}
	return wait
}

func above(n, limit int) bool { return limit > 0 && n > limit }

// correct replaces an estimate by the service's count.
func (s *Service) correct(p *passed, u cost.Usage) {
	if !u.Counted() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.tokens = u.InputTokens + u.OutputTokens
	s.wake()
}
