// Package turns shares a limited number of places among several users, so that one that asks for five hundred does not keep out one
// that asks for a single one.
package turns

import (
	"slices"
	"sync"
)

// Places are what is shared. Make them with [New]. They are safe for concurrent use.
type Places struct {
	mu      sync.Mutex // guards the lines and tickets too
	limit   int
	taken   int
	served  int64   // how many places were ever given
	waiting []*Line // those with tickets that wait
}

// New returns places, all of them free. With a limit of 0 there are always more.
func New(limit int) *Places { return &Places{limit: limit} }

// Limit changes how many places there are. Those taken beyond a lower limit stay taken.
func (p *Places) Limit(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = n
	p.assign()
}

// Free returns how many places nobody has, or asked for if there is no limit.
func (p *Places) Free(asked int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit == 0 {
		return asked
	}
	return max(0, min(asked, p.limit-p.taken))
}

// Line returns the line of one more user. It needs no end.
func (p *Places) Line() *Line { return &Line{places: p} }

// Line is where one user waits. A place that becomes free goes to the line that has the fewest, or else to the one that was served
// longest ago; within a line, in order.
type Line struct {
	places  *Places
	taken   int
	last    int64 // when it was served last, as a count
	waiting []*Ticket
}

// Ticket is one wait for a place, and then the place.
type Ticket struct {
	line  *Line
	ready chan struct{}
	state state
}

type state int

const (
	waits state = iota
	has
	left
)

// Ask asks for a place. The caller leaves in any case, see [Ticket.Leave].
func (l *Line) Ask() *Ticket {
	p := l.places
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &Ticket{line: l, ready: make(chan struct{})}
	if len(l.waiting) == 0 {
		p.waiting = append(p.waiting, l)
	}
	l.waiting = append(l.waiting, t)
	p.assign()
	return t
}

// Ready is closed when the place is there.
func (t *Ticket) Ready() <-chan struct{} { return t.ready }

// Leave returns the place, or ends the wait for one. Only the first call counts.
func (t *Ticket) Leave() {
	l, p := t.line, t.line.places
	p.mu.Lock()
	defer p.mu.Unlock()
	switch t.state {
	case waits:
		l.remove(slices.Index(l.waiting, t))
	case has:
		l.taken--
		p.taken--
	case left:
	}
	t.state = left
	p.assign()
}

// assign hands free places to those that wait. The caller holds mu.
func (p *Places) assign() {
	for len(p.waiting) > 0 && (p.limit == 0 || p.taken < p.limit) {
		l := slices.MinFunc(p.waiting, func(a, b *Line) int {
			if a.taken != b.taken {
				return a.taken - b.taken
			}
			return int(a.last - b.last)
		})
		t := l.waiting[0]
		l.remove(0)
		p.served++
		l.taken, l.last, p.taken = l.taken+1, p.served, p.taken+1
		t.state = has
		close(t.ready)
	}
}

// remove takes a ticket out of the line. The caller holds mu.
func (l *Line) remove(i int) {
	l.waiting = slices.Delete(l.waiting, i, i+1)
	if len(l.waiting) == 0 {
		l.places.waiting = slices.DeleteFunc(l.places.waiting, func(o *Line) bool { return o == l })
	}
}
