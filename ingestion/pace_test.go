package ingestion

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	t.Parallel()
	var p pace
	p.took(time.Second)
	if got := p.left(10); got != 0 {
		t.Errorf("%d s before it began", got)
	}
	p.begin(2)
	if got := p.left(10); got != 0 {
		t.Errorf("%d s before any page", got)
	}
	for _, d := range []time.Duration{4 * time.Second, 90 * time.Second, 4 * time.Second} {
		p.took(d)
	}
	if got := p.left(10); got != 20 {
		t.Errorf("%d s for 10 pages of 4 s, two at a time; want 20", got)
	}
	if got := p.left(0); got != 0 {
		t.Errorf("%d s for no page", got)
	}
	for range paceWindow {
		p.took(10 * time.Millisecond)
	}
	if got := p.left(3); got != 1 {
		t.Errorf("%d s for what takes less than one; want 1", got)
	}
}
