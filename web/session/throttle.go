package session

import (
	"net/netip"
	"sync"
	"time"
)

// The delay after wrong secrets: none for the first few of an address, then twice as long each time.
const (
	freeGuesses    = 3 // of one address
	maxDelay       = time.Minute
	freeGuessesAll = 30 // of all addresses but this machine's
	maxDelayAll    = 10 * time.Second
	forgetAfter    = time.Hour
	maxAddresses   = 4096
)

// throttle slows down guessing. An attempt during a delay is refused without being looked at, and does not prolong it.
type throttle struct {
	now func() time.Time

	mu  sync.Mutex
	by  map[netip.Prefix]strikes // guarded by mu
	all strikes                  // guarded by mu
}

type strikes struct {
	count int
	last  time.Time
	until time.Time
}

func (s *strikes) add(now time.Time, free int, longest time.Duration) {
	if now.Sub(s.last) > forgetAfter {
		s.count = 0
	}
	s.count, s.last = s.count+1, now
	if over := s.count - free; over > 0 {
		s.until = now.Add(min(longest, time.Second<<min(over-1, 20)))
	}
}

// wait returns how long an address has to wait before its next attempt.
func (t *throttle) wait(from netip.Addr) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiting(from)
}

func (t *throttle) waiting(from netip.Addr) time.Duration {
	now := t.now()
	left := t.by[network(from)].until.Sub(now)
	if !local(from) { // other machines must not be able to lock out this one
		left = max(left, t.all.until.Sub(now))
	}
	return max(left, 0)
}

// try makes an attempt: right decides, unless the address has to wait. Attempts are made one at a time, so that many at
// once are as slow as one after the other.
func (t *throttle) try(from netip.Addr, right func() bool) (ok bool, wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait = t.waiting(from); wait > 0 {
		return false, wait
	}
	if right() {
		return true, 0
	}
	t.strike(from)
	return false, t.waiting(from)
}

// strike counts a wrong secret.
func (t *throttle) strike(from netip.Addr) {
	now, key := t.now(), network(from)
	if t.by == nil {
		t.by = map[netip.Prefix]strikes{}
	}
	if _, known := t.by[key]; !known && len(t.by) >= maxAddresses {
		t.forget(now)
	}
	s := t.by[key]
	s.add(now, freeGuesses, maxDelay)
	t.by[key] = s
	if !local(from) {
		t.all.add(now, freeGuessesAll, maxDelayAll)
	}
}

// forget makes room: what is old goes, and at least the oldest.
func (t *throttle) forget(now time.Time) {
	var oldest netip.Prefix
	for key, s := range t.by {
		if now.Sub(s.last) > forgetAfter {
			delete(t.by, key)
			continue
		}
		if o, ok := t.by[oldest]; !ok || s.last.Before(o.last) {
			oldest = key
		}
	}
	if len(t.by) >= maxAddresses {
		delete(t.by, oldest)
	}
}

// network is what counts as one client: an IPv4 address, or the 64 bits of IPv6 that one customer gets. Clients without an
// address, as on a Unix socket, are one.
func network(from netip.Addr) netip.Prefix {
	from = from.Unmap()
	bits := from.BitLen()
	if from.Is6() {
		bits = 64
	}
	p, _ := from.WithZone("").Prefix(bits) // the zero address has the zero prefix
	return p
}

func local(from netip.Addr) bool { return !from.IsValid() || from.Unmap().IsLoopback() }
