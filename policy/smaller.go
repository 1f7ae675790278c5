package policy

import "slices"

// pageInches is the longer side of the page that a picture is taken for: A4.
const pageInches = 11.7

// LegibleSide is the longest side, in pixels, of a page of A4 at that resolution.
func LegibleSide(dpi int) int { return int(pageInches * float64(dpi)) }

// Smaller returns the bounds with the longest side at which the most pictures fit into bytes and tokens, as large as
// possible and not below MinPageDPI. It changes nothing without when_exceeded=ladder, and where only their number is too
// high.
func (b Bounds) Smaller(cands []Candidate, caps Capabilities) Bounds {
	if b.WhenExceeded != Ladder || !caps.Has(Vision) {
		return b
	}
	most, short := b.attached(cands, caps)
	if len(short) == 0 {
		return b
	}
	own := func(key string) bool { return b.From[key] != "" && b.service(key) == "" }
	b.FitService = !slices.ContainsFunc(short, own)
	side := 0
	for _, c := range cands {
		side = max(side, c.Width, c.Height)
	}
	if b.MaxSide > 0 {
		side = min(side, b.MaxSide)
	}
	best := b
	for least := max(LegibleSide(b.MinPageDPI), smallestSide); len(short) > 0 && side > least; {
		side = max(side*9/10, least)
		smaller := b
		smaller.FitSide = side
		var n int
		if n, short = smaller.attached(cands, caps); n > most {
			most, best = n, smaller
		}
	}
	return best
}

// smallestSide is the longest side of the smallest picture that is made to fit, in pixels.
const smallestSide = 64

// attached counts the pictures that fit, and lists which budgets of bytes and tokens hold others back.
func (b Bounds) attached(cands []Candidate, caps Capabilities) (n int, short []string) {
	b.WhenExceeded = Defer
	decisions, err := Decide(cands, caps, Auto, b)
	if err != nil {
		return 0, nil
	}
	for i, d := range decisions {
		switch {
		case cands[i].Kind != Picture || cands[i].Cut != "":
		case d.Fate.Attached():
			n++
		case d.Bound == "max_total_mb", d.Bound == "max_prompt_tokens":
			short = append(short, d.Bound)
		}
	}
	return n, short
}
