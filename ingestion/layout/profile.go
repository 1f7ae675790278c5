package layout

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Profile holds what the pages of a document have in common. It is made once from some of them, so that the same type means the
// same on every page.
type Profile struct {
	body    float64   // size in which most characters are set
	sizes   []float64 // of headings, the largest first
	heads   map[head]bool
	outline map[int][]Title
	single  bool // made from one page
}

// Title is an entry of a document's outline.
type Title struct {
	Text  string
	Level int // from 1
	Page  int // from 1
}

// head is a line that repeats at the same place of several pages: its text with # for digits, and its height on the page.
type head struct {
	text string
	y    int
}

// maxSizes is how many sizes above the body's are headings of their own; smaller ones join the last.
const maxSizes = 4

// NewProfile makes a profile from some pages of a document. Consecutive pages show running heads that differ between left
// and right pages.
func NewProfile(pages []Page, outline []Title) Profile {
	p := Profile{heads: map[head]bool{}, outline: map[int][]Title{}, single: len(pages) == 1}
	counts, seen, largest := map[float64]int{}, map[head]int{}, map[head]float64{}
	first, title := map[head]string{}, map[head]bool{}
	var byPage [][]Line
	for _, page := range pages {
		cleaned := clean(page.Lines)
		byPage = append(byPage, cleaned)
		once, bases := map[head]bool{}, make([]float64, len(cleaned))
		for i, line := range cleaned {
			bases[i] = line.base()
		}
		slices.Sort(bases)
		for _, line := range cleaned {
			counts[math.Round(line.Size*2)/2] += line.runes()
			if h, ok := headOf(line, page.Height); ok && !once[h] {
				once[h] = true
				seen[h]++
				largest[h] = max(largest[h], line.Size)
				if seen[h] == 1 {
					first[h] = line.Text
				}
				other := line.Text != first[h] && !pageNumber.MatchString(line.Text)
				title[h] = title[h] || other || page.Width > page.Height || !setApart(line, bases)
			}
		}
	}
	for size, n := range counts {
		if most := counts[p.body]; n > most || n == most && size < p.body {
			p.body = size
		}
	}
	for _, lines := range byPage {
		lines, _ = p.withoutStamps(lines)
		for _, line := range lines {
			if line.Size > p.body*1.15 && !slices.ContainsFunc(p.sizes, func(s float64) bool { return same(s, line.Size) }) {
				p.sizes = append(p.sizes, line.Size)
			}
		}
	}
	slices.SortFunc(p.sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	p.sizes = p.sizes[:min(maxSizes, len(p.sizes))]
	for h, n := range seen {
		// A chapter's head is on some of the pages only. "Chapter 1" and "Chapter 2" in large type are headings.
		// Titles of slides repeat, too.
		size := largest[h] / p.body
		if n >= 2 && (size <= 1.15 && n*5 >= len(pages) || size <= largestHead && n*5 >= 2*len(pages) && !title[h]) {
			p.heads[h] = true
		}
	}
	for _, t := range outline {
		p.outline[t.Page] = append(p.outline[t.Page], t)
	}
	return p
}

// largestHead is how large a running head or a page number may be, in sizes of the body.
const largestHead = 1.5

// setApart reports whether a line has space above and below it, as a running head has and a heading within the text has not. bases are those
// of all lines, in order.
func setApart(head Line, bases []float64) bool {
	const space = 2.2 // sizes
	base, row := head.base(), 0.3*head.Size
	above, _ := slices.BinarySearch(bases, base-row)
	below, _ := slices.BinarySearch(bases, base+row)
	return (above == 0 || base-bases[above-1] >= space*head.Size) && (below == len(bases) || bases[below]-base >= space*head.Size)
}

// headBand is the share of the page's height at its top and bottom where running heads stand.
const headBand = 0.08

var digits = regexp.MustCompile(`\d+`)

// headOf returns the form in which a line can be recognised on another page.
func headOf(l Line, height float64) (head, bool) {
	if y := (l.Box.Y0 + l.Box.Y1) / 2; y > height*headBand && y < height*(1-headBand) || l.runes() > 120 {
		return head{}, false
	}
	return head{digits.ReplaceAllString(l.Text, "#"), int(math.Round(l.base() / 2))}, true
}

// withoutHeads drops running heads and feet, but no rows of tables that begin or end at the same place of several pages. A page that has
// nothing else keeps them.
func (p Profile) withoutHeads(lines []Line, height float64) []Line {
	if len(p.heads) == 0 {
		return lines
	}
	kept, inTable := make([]Line, 0, len(lines)), closeRows(lines, height)
	for _, line := range lines {
		h, ok := headOf(line, height)
		if ok && !inTable[line.at] && (p.heads[h] || p.heads[head{h.text, h.y - 1}] || p.heads[head{h.text, h.y + 1}]) {
			continue
		}
		kept = append(kept, line)
	}
	if len(kept) == 0 {
		return lines
	}
	return kept
}

// closeRows returns the lines in the bands of running heads that are in a row with others, close to a row outside of them.
func closeRows(lines []Line, height float64) map[int]bool {
	const near = 1.8 // sizes
	found := map[int]bool{}
	all := rowsOf(lines)
	for i, row := range all {
		for _, j := range []int{i - 1, i + 1} {
			if len(row) < 2 || j < 0 || j >= len(all) || math.Abs(all[j][0].base()-row[0].base()) > near*row[0].Size {
				continue
			}
			if _, inBand := headOf(all[j][0], height); inBand {
				continue
			}
			for _, l := range row {
				found[l.at] = true
			}
		}
	}
	return found
}

var (
	sectionNumber = regexp.MustCompile(`^(?:(?:Chapter|Section|Part|Appendix|Kapitel|Abschnitt|Teil|Anhang)\s+)?(?:\d{1,2}|[A-Z])((?:\.\d{1,2})*)\.?\s+\pL`)
	numberBefore  = regexp.MustCompile(`^[\d.]+\s+`)
)

// level returns the level of a heading, or 0 for other paragraphs.
func (p Profile) level(text string, b block, page int) int {
	n := len([]rune(text))
	size := b.lines[0].Size
	if b.tag.Role == RoleHeading && n <= 200 {
		return min(max(b.tag.Level, 1), 6)
	}
	if n > 200 || entry.MatchString(text) || b.bulleted || b.item && size <= p.body*1.15 {
		return 0
	}
	for _, t := range p.outline[page] {
		if key := titleKey(t.Text); key != "" && (key == titleKey(text) || key == titleKey(numberBefore.ReplaceAllString(text, ""))) {
			return min(max(t.Level, 1), 6)
		}
	}
	if size > p.body*1.15 {
		for i, s := range p.sizes {
			if same(s, size) {
				return i + 1
			}
		}
		if len(p.sizes) == 0 || size > p.sizes[0] {
			return 1
		}
		return min(len(p.sizes)+1, 6)
	}
	if n > 100 || !hasLetter(text) || strings.ContainsRune(".,;:!?", rune(text[len(text)-1])) || size < p.body*0.9 {
		return 0
	}
	m := sectionNumber.FindStringSubmatch(text)
	below := len(p.sizes)
	switch {
	case m != nil && (b.bold || m[1] != "" && b.alone): // 2.1 Methods
		return min(max(below, strings.Count(m[1], "."))+1, 6)
	case b.bold && b.alone, b.leads && capitals(text):
		return min(below+1, 6)
	}
	return 0
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// capitals reports whether a text is words in capitals: not the name of a thing, code or an amount.
func capitals(s string) bool {
	upper, others := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsLower(r):
			return false
		case unicode.IsUpper(r):
			upper++
		case !unicode.IsSpace(r):
			others++
		}
	}
	return upper >= 5 && upper <= 60 && others*4 < upper
}

func titleKey(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(Normal(s)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}
