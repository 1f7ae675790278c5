package ingestion

import (
	"slices"
	"sync"
	"time"
)

// paceWindow is how many of the last pages an estimate looks at: pages of one document are alike where they are near.
const paceWindow = 31

// pace estimates how long the rest of a document takes. The zero value knows nothing. It is safe for concurrent use.
type pace struct {
	mu    sync.Mutex // guards what follows
	seats int        // pages that are made at the same time
	last  []time.Duration
}

func (p *pace) begin(seats int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seats, p.last = seats, nil
}

// took takes how long a page took.
func (p *pace) took(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last = append(p.last, d); len(p.last) > paceWindow {
		p.last = p.last[1:]
	}
}

// left is about how many seconds so many pages take: the median of the last pages for each, which one slow scan does not
// move. It is 0 when nothing is known, or nothing is left, and else at least 1.
func (p *pace) left(pages int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pages <= 0 || len(p.last) == 0 || p.seats <= 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(p.last))
	rest := sorted[len(sorted)/2] * time.Duration(pages) / time.Duration(p.seats)
	return max(1, int(rest.Round(time.Second)/time.Second))
}
