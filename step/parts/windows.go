package parts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Windows divides pages into windows of a size, each with the last pages of the window before it as its overlap, which the size
// includes. Windows that are on record keep their pages and their names: an inserted page joins the window where it stands, and a
// window that has one and a half times its size is divided. See [Known].
func Windows(pages []Page, old []Part, size, overlap int) []Part {
	shape := fmt.Sprintf("%d/%d", size, overlap)
	old = slices.DeleteFunc(slices.Clone(old), func(p Part) bool { return p.Kind != Pages || p.Shape != shape })
	w := windowing{size: size, overlap: overlap}
	w.keep(pages, old)
	return w.parts(shape)
}

// Longest returns how many pages a window of a size has at most.
func Longest(size int) int { return 3 * size / 2 }

// windowing is the pages of windows without overlap.
type windowing struct {
	size, overlap int
	windows       []window
}

type window struct {
	name  string // empty: not named yet
	pages []Page
}

// room is how many pages of its own the window at a place has in a new division.
func (w *windowing) room(place int) int {
	if place == 0 {
		return w.size
	}
	return w.size - w.overlap
}

func (w *windowing) keep(pages []Page, old []Part) {
	var before []string
	var owner []int // the window by the place of a page
	for i, p := range old {
		for _, page := range p.Own() {
			before, owner = append(before, page.ID), append(owner, i)
		}
	}
	added := len(pages) // where pages behind the end begin
	last := -1
	for i, at := range owners(before, ids(pages)) {
		if at == len(before) {
			added = i
			break
		}
		if owner[at] != last {
			last = owner[at]
			w.windows = append(w.windows, window{name: old[last].Name})
		}
		end := &w.windows[len(w.windows)-1]
		end.pages = append(end.pages, pages[i])
	}
	w.divide()
	w.add(pages[added:])
	w.name(old)
}

// add adds pages behind the last window: it is filled, then there are new ones.
func (w *windowing) add(pages []Page) {
	for len(pages) > 0 {
		last := len(w.windows) - 1
		if last < 0 || len(w.windows[last].pages) >= w.room(last) {
			w.windows = append(w.windows, window{})
			last++
		}
		n := min(len(pages), w.room(last)-len(w.windows[last].pages))
		w.windows[last].pages = append(w.windows[last].pages, pages[:n]...)
		pages = pages[n:]
	}
}

// divide divides windows that have become too long, in equal pieces.
func (w *windowing) divide() {
	var list []window
	for _, one := range w.windows {
		pieces := w.pieces(len(one.pages), w.room(len(list)))
		for i := range pieces {
			from, to := i*len(one.pages)/pieces, (i+1)*len(one.pages)/pieces
			piece := window{pages: one.pages[from:to:to]}
			if i == 0 {
				piece.name = one.name
			}
			list = append(list, piece)
		}
	}
	w.windows = list
}

// pieces returns into how many pieces to divide a window with so many pages of its own; room is how many it should have.
func (w *windowing) pieces(own, room int) int {
	fit := func(pages int) bool { return w.overlap+pages <= Longest(w.size) }
	if fit(own) {
		return 1
	}
	pieces := max(2, (2*own+room)/(2*room))
	for !fit((own + pieces - 1) / pieces) {
		pieces++
	}
	return pieces
}

// name names new windows: behind the last one that has a name they are counted on, between others they get a letter.
func (w *windowing) name(old []Part) {
	names := make([]string, len(w.windows))
	for i, one := range w.windows {
		names[i] = one.name
	}
	digits := max(2, len(strconv.Itoa(len(names))))
	for i, number := range numbered(names, old, 1, digits) {
		if w.windows[i].name == "" {
			w.windows[i].name = "part " + number
		}
	}
}

func (w *windowing) parts(shape string) []Part {
	var list []Part
	var before []Page
	for _, one := range w.windows {
		lead := before[max(0, len(before)-w.overlap):]
		list = append(list, Part{
			Kind: Pages, Name: one.name, Shape: shape, Lead: len(lead), Pages: slices.Concat(lead, one.pages),
		})
		before = append(before, one.pages...)
	}
	return list
}

// numbered returns the number of each part: that of its name, or for a part without a name a new one. first is the number of the
// first part when nothing is on record.
func numbered(names []string, old []Part, first, digits int) []string {
	taken := map[string]bool{}
	highest := first - 1
	for _, p := range old {
		taken[numberOf(p.Name)] = true
		highest = max(highest, whole(numberOf(p.Name)))
	}
	lastNamed := -1
	for i, name := range names {
		if name != "" {
			lastNamed = i
			taken[numberOf(name)] = true
			highest = max(highest, whole(numberOf(name)))
		}
	}
	list := make([]string, len(names))
	before := fmt.Sprintf("%0*d", digits, max(first-1, 0))
	for i, name := range names {
		switch {
		case name != "":
			list[i] = numberOf(name)
		case i > lastNamed:
			highest++
			list[i] = fmt.Sprintf("%0*d", digits, highest)
		default:
			list[i] = lettered(before, taken)
		}
		taken[list[i]] = true
		before = list[i]
	}
	return list
}

// lettered returns the first free number between one and the next: 02b, 02c, ….
func lettered(number string, taken map[string]bool) string {
	stem := strings.TrimRight(number, "abcdefghijklmnopqrstuvwxyz")
	for n := 1; ; n++ {
		letters := ""
		for rest := n; rest >= 0; rest = rest/26 - 1 {
			letters = string(rune('a'+rest%26)) + letters
		}
		if try := stem + letters; !taken[try] {
			return try
		}
	}
}

// numberOf returns the number in a part's name: of "part 02b" 02b, of "03 Eigenvalues" 03.
func numberOf(name string) string {
	name = strings.TrimPrefix(name, "part ")
	number, _, _ := strings.Cut(name, " ")
	return number
}

// whole returns the number without its letters.
func whole(number string) int {
	n, _ := strconv.Atoi(strings.TrimRight(number, "abcdefghijklmnopqrstuvwxyz"))
	return n
}
