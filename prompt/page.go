package prompt

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
)

// fragment is what stands behind the `#` of a link to a document: `page=3`, `page=8&rect=10,20,300,400`.
type fragment struct {
	page int           // from 1; 0 when none is named
	rect *content.Rect // only this part of the page
}

// readFragment reads it. Parameters that it does not know (height, selection, …) are left aside.
func readFragment(s string) (fragment, error) {
	var f fragment
	for _, param := range strings.FieldsFunc(s, func(r rune) bool { return r == '&' || r == '#' }) {
		key, value, _ := strings.Cut(param, "=")
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "page":
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n < 1 || n > 1e6 {
				return f, fmt.Errorf("%q is no page", quoted(value))
			}
			f.page = n
		case "rect":
			r, err := readRect(value)
			if err != nil {
				return f, err
			}
			f.rect = &r
		}
	}
	if f.rect != nil && f.page == 0 {
		f.page = 1
	}
	return f, nil
}

// readRect reads four numbers, two corners in any order.
func readRect(s string) (content.Rect, error) {
	var n [4]float64
	parts := strings.Split(s, ",")
	if len(parts) != 4 {
		return content.Rect{}, errors.New("rect takes four numbers")
	}
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e6 {
			return content.Rect{}, errors.New("rect takes four numbers")
		}
		n[i] = v
	}
	r := content.Rect{X1: min(n[0], n[2]), Y1: min(n[1], n[3]), X2: max(n[0], n[2]), Y2: max(n[1], n[3])}
	if r.X2-r.X1 < 1 || r.Y2-r.Y1 < 1 {
		return content.Rect{}, errors.New("the part of the page is empty")
	}
	return r, nil
}

// words says a part of a page.
func rectWords(r content.Rect) string {
	return fmt.Sprintf("part %g,%g,%g,%g", r.X1, r.Y1, r.X2, r.Y2)
}

// selectPages are the pages of the ranges that a document of n pages has, in the order of the ranges, each once. Without
// ranges they are all.
func selectPages(ranges []directives.Range, n int) []int {
	if len(ranges) == 0 {
		ranges = []directives.Range{{First: 1}}
	}
	seen := make([]bool, n+1)
	var list []int
	for _, r := range ranges {
		last := r.Last
		if last == 0 || last > n {
			last = n
		}
		for p := max(r.First, 1); p <= last; p++ {
			if !seen[p] {
				seen[p] = true
				list = append(list, p)
			}
		}
	}
	return list
}

// rangeWords writes pages as `1-4,7`.
func rangeWords(pages []int) string {
	var parts []string
	for i := 0; i < len(pages); {
		j := i
		for j+1 < len(pages) && pages[j+1] == pages[j]+1 {
			j++
		}
		part := strconv.Itoa(pages[i])
		if j > i {
			part += "-" + strconv.Itoa(pages[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// pageWords names a page: `page 3 of 12`, with the number that is printed on it when that is another one.
func pageWords(page, of int, label string) string {
	words := fmt.Sprintf("page %d of %d", page, of)
	if label = quoted(label); label != "" && label != strconv.Itoa(page) {
		words += ", printed as " + label
	}
	return words
}
