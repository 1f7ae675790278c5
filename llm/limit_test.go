package llm

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/cost"
)

func TestGate_waitsForAPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		p := NewGate(Limits{Calls: 2}).Wrap(providerFunc(func() cost.Usage {
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Second) // of the bubble's clock
			running.Add(-1)
			return cost.Usage{}
		}))
		together(t, 5, p)
		if n := most.Load(); n != 2 {
			t.Errorf("%d ran at once, want 2", n)
		}
	})
}

// together makes calls at the same time and waits for them.
func together(t *testing.T, n int, p Provider) {
	t.Helper()
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() {
			if _, err := p.Generate(t.Context(), Request{MaxOutputTokens: 100}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}

// TestGate_minute: whatever 60 seconds are looked at, no more was begun in them than the limits say, over all providers of a
// gate; and nothing waits longer than it must.
func TestGate_minute(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limits   Limits
		used     int           // tokens that the service reports; 0: none
		took     time.Duration // of a call
		calls    int
		most     int           // in a minute
		longest  time.Duration // for all of them
		shortest time.Duration
	}{
		"requests":                 {limits: Limits{RequestsPerMinute: 10}, took: time.Second, calls: 35, most: 10, shortest: 3 * time.Minute, longest: 3*time.Minute + time.Second},
		"tokens, as estimated":     {limits: Limits{TokensPerMinute: 250}, took: time.Second, calls: 5, most: 2, shortest: 2 * time.Minute, longest: 2*time.Minute + time.Second},
		"tokens, fewer than that":  {limits: Limits{TokensPerMinute: 250}, used: 10, took: time.Second, calls: 10, most: 16, shortest: time.Second, longest: 10 * time.Second},
		"tokens, more than that":   {limits: Limits{TokensPerMinute: 250}, used: 200, took: time.Second, calls: 6, most: 2, shortest: 2 * time.Minute, longest: 2*time.Minute + time.Second},
		"each larger than allowed": {limits: Limits{TokensPerMinute: 50}, took: time.Second, calls: 3, most: 1, shortest: 2 * time.Minute, longest: 2*time.Minute + time.Second},
		"no limit":                 {took: time.Second, calls: 50, most: 50, shortest: time.Second, longest: time.Second},
		"both":                     {limits: Limits{RequestsPerMinute: 3, TokensPerMinute: 1000}, took: time.Second, calls: 9, most: 3, shortest: 2 * time.Minute, longest: 2*time.Minute + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var begun []time.Time
				gate, start := NewGate(tt.limits), time.Now()
				provider := func() Provider {
					return gate.Wrap(providerFunc(func() cost.Usage {
						mu.Lock()
						begun = append(begun, time.Now())
						mu.Unlock()
						time.Sleep(tt.took)
						return cost.Usage{InputTokens: tt.used}
					}))
				}
				var both sync.WaitGroup
				both.Go(func() { together(t, tt.calls/2, provider()) })
				both.Go(func() { together(t, tt.calls-tt.calls/2, provider()) })
				both.Wait()
				for i, from := range begun {
					n := 0
					for _, at := range begun[i:] {
						if at.Sub(from) < time.Minute {
							n++
						}
					}
					if n > tt.most {
						t.Fatalf("%d calls began within a minute, want %d at most", n, tt.most)
					}
				}
				if all := time.Since(start); len(begun) != tt.calls || all < tt.shortest || all > tt.longest {
					t.Errorf("%d calls took %v, want %v to %v", len(begun), all, tt.shortest, tt.longest)
				}
			})
		})
	}
}

// TestGate_contextEnds: a call that waits ends with its context, and says that nothing was sent.
func TestGate_contextEnds(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{"place": {Calls: 1}, "minute": {RequestsPerMinute: 1}, "tokens": {TokensPerMinute: 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				gate := NewGate(limits)
				hold := make(chan struct{})
				go gate.Wrap(providerFunc(func() cost.Usage { <-hold; return cost.Usage{} })).Generate(t.Context(), Request{MaxOutputTokens: 5}, nil)
				synctest.Wait()
				for range 2 { // one holds the turn, one waits for it
					go func() {
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						defer cancel()
						_, err := gate.Wrap(providerFunc(func() cost.Usage { t.Error("it was sent"); return cost.Usage{} })).Generate(ctx, Request{MaxOutputTokens: 5}, nil)
						if e, ok := AsError(err); !ok || !e.Unsent || !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("got %v, want the end of the context, unsent", err)
						}
					}()
				}
				time.Sleep(2 * time.Second)
				close(hold)
			})
		})
	}
}

// counted makes calls that take a second and are counted.
func counted(g *Gate, n *atomic.Int64) Provider {
	return g.Wrap(providerFunc(func() cost.Usage {
		n.Add(1)
		time.Sleep(time.Second)
		return cost.Usage{}
	}))
}

// TestService_fair: two gates with many calls leave room for one with a single call. Its own limit keeps each of them from taking more, so one gate alone would
// prove nothing.
func TestService_fair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := NewService()
		var many, one atomic.Int64
		var all sync.WaitGroup
		for range 2 {
			busy := counted(service.Gate(Limits{Calls: 1}), &many)
			all.Go(func() { together(t, 50, busy) })
		}
		synctest.Wait()
		quiet := counted(service.Gate(Limits{Calls: 1}), &one)
		start := time.Now()
		together(t, 1, quiet)
		if waited := time.Since(start); waited != 3*time.Second || many.Load() > 3 {
			t.Errorf("one call took %s beside %d others, want the third turn", waited, many.Load())
		}
		all.Wait()
	})
}

// TestService_rate: gates with the same limits have one rate together, and low limits slow only the gate that has them.
func TestService_rate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := NewService()
		var a, b, low atomic.Int64
		var all sync.WaitGroup
		all.Go(func() { together(t, 40, counted(service.Gate(Limits{Calls: 4, RequestsPerMinute: 20}), &a)) })
		all.Go(func() { together(t, 40, counted(service.Gate(Limits{Calls: 4, RequestsPerMinute: 20}), &b)) })
		slow := service.Gate(Limits{Calls: 4, RequestsPerMinute: 1})
		all.Go(func() { together(t, 3, counted(slow, &low)) })
		time.Sleep(50 * time.Second)
		if n := a.Load() + b.Load() + low.Load(); n != 20 || a.Load() < 5 || b.Load() < 5 || low.Load() > 1 {
			t.Errorf("%d calls in a minute (%d, %d, %d), want 20, shared", n, a.Load(), b.Load(), low.Load())
		}
		all.Wait()
	})
}

// TestGate_close: high limits of a gate that is closed no longer let others through.
func TestGate_close(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := NewService()
		former := service.Gate(Limits{Calls: 4, RequestsPerMinute: 100})
		former.Close() // that process starts over
		var n atomic.Int64
		var all sync.WaitGroup
		all.Go(func() { together(t, 30, counted(service.Gate(Limits{Calls: 4, RequestsPerMinute: 10}), &n)) })
		time.Sleep(30 * time.Second)
		if n.Load() != 10 {
			t.Errorf("%d calls in a minute, want 10", n.Load())
		}
		all.Wait()
	})
}

type providerFunc func() cost.Usage

func (f providerFunc) Generate(context.Context, Request, func(string)) (*Response, error) {
	return &Response{Usage: f()}, nil
}

// TestService_rateFair: within a limit per minute, gates take turns, however many calls one of them wants. A call that needs much of the minute gets its turn beside
// small ones that never end.
func TestService_rateFair(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{"requests": {Calls: 4, RequestsPerMinute: 12}, "tokens": {Calls: 4, TokensPerMinute: 12000}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := NewService()
				var all sync.WaitGroup
				var flood atomic.Int64
				want := func(gate *Gate, n, tokens int, count *atomic.Int64) {
					all.Go(func() {
						var calls sync.WaitGroup
						for range n {
							calls.Go(func() {
								if _, err := gate.Wrap(providerFunc(func() cost.Usage {
									count.Add(1)
									time.Sleep(4 * time.Second)
									return cost.Usage{}
								})).Generate(t.Context(), Request{MaxOutputTokens: tokens}, nil); err != nil {
									t.Error(err)
								}
							})
						}
						calls.Wait()
					})
				}
				slow := limits
				slow.Calls = 1 // one after the other, so that the minute never becomes free at one stroke
				want(service.Gate(slow), 100, 1000, &flood)
				time.Sleep(61 * time.Second)
				small := make([]atomic.Int64, 5)
				for i := range small {
					want(service.Gate(limits), 2, 1000, &small[i])
				}
				var large atomic.Int64
				want(service.Gate(limits), 1, 9000, &large)
				time.Sleep(2*time.Minute + time.Second)
				for i := range small {
					if n := small[i].Load(); n != 2 {
						t.Errorf("gate %d made %d of 2 calls within two minutes, the flood %d", i, n, flood.Load())
					}
				}
				if large.Load() != 1 {
					t.Errorf("the large call was not made within two minutes; the flood made %d calls", flood.Load())
				}
				all.Wait()
			})
		})
	}
}
