package turns_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/policy/turns"
)

func ready(t *turns.Ticket) bool {
	select {
	case <-t.Ready():
		return true
	default:
		return false
	}
}

// TestPlaces_fair: one user asks for 500 places, and then others for one each. They get the next ones.
func TestPlaces_fair(t *testing.T) {
	t.Parallel()
	p := turns.New(4)
	many, one, other := p.Line(), p.Line(), p.Line()
	type asked struct {
		by string
		*turns.Ticket
	}
	var all []asked
	for range 500 {
		all = append(all, asked{"m", many.Ask()})
	}
	all = append(all, asked{"1", one.Ask()}, asked{"2", other.Ask()})
	var order strings.Builder
	for len(all) > 0 {
		var has, rest []asked
		for _, a := range all {
			if ready(a.Ticket) {
				has = append(has, a)
			} else {
				rest = append(rest, a)
			}
		}
		if len(has) == 0 || len(has) > 4 {
			t.Fatalf("%d have a place, want 1 to 4; order so far %s", len(has), order.String())
		}
		order.WriteString(has[0].by)
		has[0].Leave()
		all = append(has[1:], rest...)
	}
	if got := order.String(); len(got) != 502 || strings.Index(got, "1") > 4 || strings.Index(got, "2") > 5 {
		t.Errorf("order %.20s…", got)
	}
}

// TestPlaces_alternate: of two users that always want a place, each gets half of them.
func TestPlaces_alternate(t *testing.T) {
	t.Parallel()
	p := turns.New(1)
	a, b := p.Line(), p.Line()
	held := a.Ask()
	var as, bs []*turns.Ticket
	for range 3 {
		as = append(as, a.Ask())
	}
	for range 3 {
		bs = append(bs, b.Ask())
	}
	var order strings.Builder
	for range 6 {
		held.Leave()
		switch {
		case len(as) > 0 && ready(as[0]):
			order.WriteByte('a')
			held, as = as[0], as[1:]
		case len(bs) > 0 && ready(bs[0]):
			order.WriteByte('b')
			held, bs = bs[0], bs[1:]
		default:
			t.Fatalf("nobody got the place after %s", order.String())
		}
	}
	if order.String() != "bababa" {
		t.Errorf("order %s", order.String())
	}
}

func TestTicket_leave(t *testing.T) {
	t.Parallel()
	p := turns.New(1)
	l := p.Line()
	first, second, third := l.Ask(), l.Ask(), l.Ask()
	second.Leave() // which had none
	first.Leave()
	first.Leave() // counts once
	if !ready(third) || ready(second) || p.Free(5) != 0 {
		t.Errorf("third %v, second %v, free %d", ready(third), ready(second), p.Free(5))
	}
	fourth := l.Ask()
	if p.Limit(2); !ready(fourth) {
		t.Error("a higher limit did nothing")
	}
	if p.Limit(1); p.Free(5) != 0 {
		t.Error("places beyond the limit count as free")
	}
	third.Leave()
	if fifth := l.Ask(); ready(fifth) {
		t.Error("more than the limit")
	}
	if p.Limit(0); p.Free(5) != 5 {
		t.Error("without a limit, there is not always room")
	}
}

func TestPlaces_concurrent(t *testing.T) {
	t.Parallel()
	p := turns.New(3)
	var wg sync.WaitGroup
	for range 5 {
		l := p.Line()
		for range 20 {
			wg.Go(func() {
				ticket := l.Ask()
				defer ticket.Leave()
				<-ticket.Ready()
			})
		}
	}
	wg.Wait()
	if p.Free(9) != 3 {
		t.Errorf("%d free, want 3", p.Free(9))
	}
}
