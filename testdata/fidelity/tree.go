package main

// tree is an ordered tree with labels.
type tree[L any] struct {
	label    L
	children []*tree[L]
}

func (t *tree[L]) size() int {
	n := 1
	for _, c := range t.children {
		n += c.size()
	}
	return n
}

// flat is a tree in postorder: labels, and for each node the first leaf below it.
type flat[L any] struct {
	labels []L
	first  []int
}

func flatten[L any](t *tree[L]) flat[L] {
	var f flat[L]
	var walk func(t *tree[L]) int
	walk = func(t *tree[L]) int {
		leaf := -1
		for _, c := range t.children {
			if l := walk(c); leaf < 0 {
				leaf = l
			}
		}
		if leaf < 0 {
			leaf = len(f.labels)
		}
		f.labels, f.first = append(f.labels, t.label), append(f.first, leaf)
		return leaf
	}
	walk(t)
	return f
}

// roots are the nodes with a sibling before them, and the root: the distances between the trees below these are enough.
func (f flat[L]) roots() []int {
	last := map[int]int{}
	for i, l := range f.first {
		last[l] = i
	}
	var found []int
	for i, l := range f.first {
		if last[l] == i {
			found = append(found, i)
		}
	}
	return found
}

// treeEdits is the least cost of turning one tree into the other by adding and removing nodes, at 1 each, and by changing
// labels (Zhang and Shasha 1989). APTED, which the benchmark uses, returns the same number.
func treeEdits[L any](a, b *tree[L], change func(a, b L) float64) float64 {
	x, y := flatten(a), flatten(b)
	distance := make([][]float64, len(x.labels))
	for i := range distance {
		distance[i] = make([]float64, len(y.labels))
	}
	changes := make([][]float64, len(x.labels)) // each is asked once
	for i := range changes {
		changes[i] = make([]float64, len(y.labels))
		for j := range changes[i] {
			changes[i][j] = change(x.labels[i], y.labels[j])
		}
	}
	for _, i := range x.roots() {
		for _, j := range y.roots() {
			forests(x, y, i, j, changes, distance)
		}
	}
	return distance[len(x.labels)-1][len(y.labels)-1]
}

// forests fills in the distances of the trees below two roots.
func forests[L any](x, y flat[L], i, j int, changes, distance [][]float64) {
	fromX, fromY := x.first[i], y.first[j]
	rows, cols := i-fromX+2, j-fromY+2
	d := make([][]float64, rows)
	for r := range d {
		d[r] = make([]float64, cols)
		d[r][0] = float64(r)
	}
	for c := range cols {
		d[0][c] = float64(c)
	}
	for r := 1; r < rows; r++ {
		for c := 1; c < cols; c++ {
			nx, ny := fromX+r-1, fromY+c-1
			best := min(d[r-1][c], d[r][c-1]) + 1
			if x.first[nx] == fromX && y.first[ny] == fromY {
				d[r][c] = min(best, d[r-1][c-1]+changes[nx][ny])
				distance[nx][ny] = d[r][c]
			} else {
				d[r][c] = min(best, d[x.first[nx]-fromX][y.first[ny]-fromY]+distance[nx][ny])
			}
		}
	}
}
