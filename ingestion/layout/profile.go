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
	body       float64   // size in which most characters are set
	sizes      []float64 // of headings, the largest first
	heads      map[head]bool
	firsts     map[string]int // of what is near the edges of pages, the first page that has it; as headTexts has it
	unnumbered bool           // at most one page has a number near its edges
	offsets    map[int]int    // on how many pages a number near the edge is so much more than the page's own
	outline    map[int][]Title
}

// Title is an entry of a document's outline.
type Title struct {
	Text  string
	Level int // from 1
	Page  int // from 1
}

// maxSizes is how many sizes above the body's are headings of their own; smaller ones join the last.
const maxSizes = 4

// NewProfile makes a profile from some pages of a document. Consecutive pages show running heads that differ between left
// and right pages.
func NewProfile(pages []Page, outline []Title) Profile {
	p := Profile{outline: map[int][]Title{}}
	counts, edges := map[float64]int{}, newRunning()
	var byPage [][]Line
	for i, page := range pages {
		cleaned := clean(page.Lines)
		byPage = append(byPage, cleaned)
		for _, line := range cleaned {
			counts[math.Round(line.Size*2)/2] += line.runes()
		}
		edges.add(cleaned, page, cmp.Or(page.Number, i+1))
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
	p.heads, p.firsts, p.offsets = edges.heads(len(pages), p.body), edges.firsts, edges.offsets
	p.unnumbered = edges.numbers() < 2
	for _, t := range outline {
		p.outline[t.Page] = append(p.outline[t.Page], t)
	}
	return p
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
