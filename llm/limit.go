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
	minute *turns.Places // one: the next request of the minute

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
func NewService() *Service {
	return &Service{places: turns.New(0), minute: turns.New(1), gates: map[*Gate]struct{}{}}
}

// Gate enforces limits for all providers that it wraps, and those of the service. Calls wait their turn, in order, or until their
// context ends; the gates of a service take turns. It is safe for concurrent use.
type Gate struct {
	service *Service
	limits  Limits
	places  *turns.Line   // of this gate
	shared  *turns.Line   // of the service
	minute  *turns.Line   // of the service
	turn    chan struct{} // held by the one call that waits for the minute or the service
	changed chan struct{} // wakes it when a request took less than estimated, or the limits changed
}

// NewGate returns the only gate of a service.
func NewGate(l Limits) *Gate { return NewService().Gate(l) }

// Gate opens a gate.
func (s *Service) Gate(l Limits) *Gate {
	g := &Gate{
		service: s, limits: l, places: turns.New(l.Calls).Line(), shared: s.places.Line(), minute: s.minute.Line(), turn: make(chan struct{}, 1), changed: make(chan struct{}, 1),
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

// pass waits until a request may go, and counts it. It waits for the gate's own minute first, and holds no place of the service meanwhile:
// other gates may have room. Then the gates take turns for the service's minute. The one whose turn it is has it until there is room for its request, or
// small requests would always be faster than a large one.
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
	if err = g.room(ctx, func() time.Duration { return g.service.room(next, g.limits, g) }); err != nil {
		return nil, nil, err
	}
	place, minute := g.shared.Ask(), (*turns.Ticket)(nil)
	if err = await(ctx, place.Ready()); err == nil {
		minute = g.minute.Ask()
		defer minute.Leave()
		err = await(ctx, minute.Ready())
	}
	if err == nil {
		err = g.room(ctx, func() time.Duration { return g.service.enter(next) })
	}
	if err != nil {
		place.Leave()
		return nil, nil, err
	}
	return next, place.Leave, nil
}

// room waits until a function returns no time to wait.
func (g *Gate) room(ctx context.Context, wait func() time.Duration) error {
	for {
		left := wait()
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(left)
		var ended error
		select {
		case <-timer.C:
		case <-g.changed:
		case <-ctx.Done():
			ended = ctx.Err()
		case <-drain.Begun(ctx):
			ended = drain.Err
		}
		timer.Stop()
		if ended != nil {
			return unsent(ended)
		}
	}
}

// room returns how long to wait at most until limits have room for a request beside those of a gate, or of all. One that is larger than a limit
// has room when it is the only one.
func (s *Service) room(next *passed, l Limits, by *Gate) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wait(next, l, time.Now(), by)
}

// enter counts a request if the service has room for it, or returns how long to wait at most.
func (s *Service) enter(next *passed) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	wait := s.wait(next, s.limits, now, nil)
	if wait == 0 { // limits may come, so it counts without any
		next.at = now
		s.last = append(s.last, next)
	}
	return wait
}

// wait returns how long limits make a request wait. Those of a gate count, or all if it is nil. The caller holds mu.
func (s *Service) wait(next *passed, l Limits, now time.Time, by *Gate) time.Duration {
	for len(s.last) > 0 && now.Sub(s.last[0].at) >= time.Minute {
		s.last = s.last[1:]
	}
	counts := func(p *passed) bool { return by == nil || p.by == by }
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
