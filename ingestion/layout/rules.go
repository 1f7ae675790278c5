package layout

import (
	"cmp"
	"math"
	"slices"
)

const (
	thick    = 3.5 // points; thicker bars are areas
	shortest = 6.0 // points; shorter ones are marks
	touching = 2.5 // points between the ends of rules that meet
	maxRules = 20_000
	maxCells = 4_000   // of a table; more are a raster
	maxWork  = 200_000 // rules times places of them
)

// grid is a set of rules that meet: the places of its columns and rows, and the rules between them.
type grid struct {
	box                  Box
	horizontal, vertical []Box
	xs, ys               []float64
}

// grids returns rules that meet one another and enclose more than one row and column.
func grids(rules []Box) (out []grid) {
	for _, g := range meeting(withoutGrounds(rules)) {
		g.close()
		g.xs, g.ys = clustered(g.xs), clustered(g.ys)
		if len(g.xs) >= 3 && len(g.ys) >= 3 && (len(g.xs)+len(g.ys))*(len(g.horizontal)+len(g.vertical)) <= maxWork && len(g.xs)*len(g.ys) <= maxCells {
			out = append(out, *g)
		}
	}
	return out
}

// framesOf returns the boxes of rules that meet one another and enclose one column: frames, and lines on a ground of their own.
func framesOf(rules []Box) (out []Box) {
	for _, g := range meeting(rules) {
		if len(g.horizontal) >= 2 && len(clustered(g.xs)) == 2 {
			out = append(out, g.box)
		}
	}
	return out
}

// withoutGrounds drops level rules within a cell that are edges between the grounds of its lines: at both ends, the side of one ground ends and
// that of the next begins, and beyond them the sides of the cell continue.
func withoutGrounds(rules []Box) []Box {
	rules = slices.Clone(rules[:min(len(rules), maxRules)])
	var down []Box
	for _, r := range rules {
		if r.width() <= thick && r.height() >= shortest {
			down = append(down, r)
		}
	}
	slices.SortFunc(down, func(a, b Box) int { return cmp.Compare(a.X0, b.X0) })
	const off = 0.3 // points
	inner := func(x, y, outward float64) bool {
		above, below, cell := false, false, false
		from, _ := slices.BinarySearchFunc(down, x-touching-thick, func(r Box, x float64) int { return cmp.Compare(r.X0, x) })
		for _, r := range down[from:min(len(down), from+2000)] {
			if r.X0 > x+touching {
				break
			}
			switch away := ((r.X0+r.X1)/2 - x) * outward; {
			case math.Abs(away) <= off:
				above, below = above || math.Abs(r.Y1-y) <= off, below || math.Abs(r.Y0-y) <= off
			case away > 0 && away <= touching:
				cell = cell || r.Y0 < y-touching && r.Y1 > y+touching
			}
		}
		return above && below && cell
	}
	return slices.DeleteFunc(rules, func(r Box) bool {
		y := (r.Y0 + r.Y1) / 2
		return r.height() <= thick && r.width() >= shortest && inner(r.X0, y, -1) && inner(r.X1, y, 1)
	})
}

// meeting puts rules together that meet one another.
func meeting(rules []Box) (out []*grid) {
	rules = rules[:min(len(rules), maxRules)]
	var across, down []Box
	for _, r := range rules {
		switch {
		case r.height() <= thick && r.width() >= shortest:
			across = append(across, r)
		case r.width() <= thick && r.height() >= shortest:
			down = append(down, r)
		}
	}
	across, down = merged(across, false), merged(down, true)
	group := newSets(len(across) + len(down))
	// Only pairs whose places on the page are near are compared: rules are sorted by their upper edge.
	slices.SortFunc(down, func(a, b Box) int { return cmp.Compare(a.Y0, b.Y0) })
	for i, h := range across {
		tested := 0
		for j, v := range down {
			if v.Y0 > h.Y1+touching || tested > 2000 {
				break
			}
			tested++
			if v.Y1 >= h.Y0-touching && v.X0 <= h.X1+touching && v.X1 >= h.X0-touching {
				group.join(i, len(across)+j)
			}
		}
	}
	found := map[int]*grid{}
	var order []int
	for i, r := range append(slices.Clone(across), down...) {
		root := group.root(i)
		g := found[root]
		if g == nil {
			g = &grid{box: r}
			found[root] = g
			order = append(order, root)
		}
		g.box = g.box.join(r)
		if i < len(across) {
			g.horizontal = append(g.horizontal, r)
			g.ys = append(g.ys, (r.Y0+r.Y1)/2)
		} else {
			g.vertical = append(g.vertical, r)
			g.xs = append(g.xs, (r.X0+r.X1)/2)
		}
	}
	for _, root := range order {
		out = append(out, found[root])
	}
	return out
}

// close adds the outer sides of tables that are drawn without them.
func (g *grid) close() {
	if len(g.horizontal) < 2 || len(g.vertical) == 0 {
		return
	}
	g.xs = append(g.xs, g.box.X0, g.box.X1)
	g.ys = append(g.ys, g.box.Y0, g.box.Y1)
}

// merged joins rules that continue one another.
func merged(rules []Box, down bool) []Box {
	place := func(b Box) (at, from, to float64) {
		if down {
			return math.Round((b.X0 + b.X1) / 2), b.Y0, b.Y1
		}
		return math.Round((b.Y0 + b.Y1) / 2), b.X0, b.X1
	}
	slices.SortFunc(rules, func(a, b Box) int {
		aAt, aFrom, _ := place(a)
		bAt, bFrom, _ := place(b)
		return cmp.Or(cmp.Compare(aAt, bAt), cmp.Compare(aFrom, bFrom))
	})
	var out []Box
	for _, r := range rules {
		if n := len(out); n > 0 {
			at, from, _ := place(r)
			if before, _, to := place(out[n-1]); before == at && from <= to+touching {
				out[n-1] = out[n-1].join(r)
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// clustered sorts values and joins those that are close together.
func clustered(values []float64) []float64 {
	slices.Sort(values)
	var out []float64
	for _, v := range values {
		if n := len(out); n > 0 && v-out[n-1] < 2*touching {
			continue
		}
		out = append(out, v)
	}
	return out
}

// walled reports whether one of the rules is at x (or y) and divides what is there from … to. The sides of shaded paragraphs within cells
// do not reach that far.
func walled(rules []Box, at, from, to float64, down bool) bool {
	const inset = 1.5 * touching
	for _, r := range rules {
		if !down {
			r = Box{r.Y0, r.X0, r.Y1, r.X1}
		}
		if math.Abs((r.X0+r.X1)/2-at) < 2*touching && from+inset >= r.Y0 && to-inset <= r.Y1 {
			return true
		}
	}
	return false
}

// sets are disjoint sets of numbers.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) root(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int) { s[s.root(a)] = s.root(b) }
