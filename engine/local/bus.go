package local

import (
	"sync"

	"github.com/vaultflow/vaultflow/engine"
)

// bus sends events to all subscribers. It never waits: a slow subscriber loses events and gets an EventLost.
type bus struct {
	mu        sync.Mutex
	listeners map[*listener]struct{}
}

type listener struct {
	events chan engine.Event
	lost   int
}

func (b *bus) subscribe(buffer int) (<-chan engine.Event, func()) {
	l := &listener{events: make(chan engine.Event, max(buffer, 2))}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[*listener]struct{}{}
	}
	b.listeners[l] = struct{}{}
	return l.events, sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, l)
		close(l.events)
	})
}

func (b *bus) publish(e engine.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for l := range b.listeners {
		l.offer(e)
	}
}

// offer delivers an event if there is room. Once events were lost, the next thing that is delivered is the word that they
// were, so that a listener learns of the gap where it is.
func (l *listener) offer(e engine.Event) {
	room := cap(l.events) - len(l.events)
	if l.lost > 0 && room >= 2 {
		l.events <- engine.Event{Kind: engine.EventLost, Time: e.Time, Lost: l.lost}
		l.lost = 0
		room--
	}
	if l.lost > 0 || room < 1 {
		l.lost++
		return
	}
	l.events <- e
}
