package cite

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// span is a part of a text, in bytes.
type span struct{ from, to int }

// bracket is what looks like a reference.
type bracket struct {
	span
	parts []part
	link  *pageLink
}

// part is the pages of one document.
type part struct {
	name  string // "" if the reference names none
	pages []string
}

// pageLink is a link to a page: [[Workbook.pdf#page=3]], [[Workbook#^p3]] or [p. 3](Workbook.pdf#page=3).
type pageLink struct {
	target string
	page   int
	block  bool // of the form ^p3, which other notes may have
}

var (
	bracketed  = regexp.MustCompile(`\[([^\[\]\n]{2,300})\]`)
	wikilink   = regexp.MustCompile(`\[\[([^\[\]|#\n]+)#(?:page=(\d{1,7})|\^p(\d{1,7}))(?:[&#][^\[\]|\n]*)?(?:\\?\|[^\[\]\n]*)?\]\]`)
	inlineLink = regexp.MustCompile(`\[[^\[\]\n]*\]\((?:<([^<>\n#]+)#page=(\d{1,7})>|([^\s()<>#]+)#page=(\d{1,7}))\)`)
	otherLink  = regexp.MustCompile(`\[\[[^\[\]\n]*\]\]`)

	joiner = regexp.MustCompile(`\s*(?:,|&|\band\b|\bund\b)\s*(?:(?:pp?|S)\.\s*)?`)
	dash   = regexp.MustCompile(`\s*[-–—‐‑]\s*`)
	roman  = regexp.MustCompile(`(?i)^[ivxlcdm]+$`)
	digit  = regexp.MustCompile(`\p{Nd}`)
)

// These know all letters and digits of Unicode, which takes a millisecond to compile; most starts cite nothing.
var (
	partForm = atFirstUse(`^(?:(.*?)(?:\s*[,:]\s*|\s+|^))?` + pageWord)
	lastPart = atFirstUse(`^(.*)(?:\s*[,:]\s*|\s+)` + pageWord) // of a name such as S. Smith
	pageForm = atFirstUse(`^#?[\p{L}\p{N}][\p{L}\p{N}./]*(?:\s*[-–—‐‑]\s*#?[\p{L}\p{N}][\p{L}\p{N}./]*)*$`)
	harmless = atFirstUse(`^[\p{L}\p{N}](?:[\p{L}\p{N}.\-–/]*[\p{L}\p{N}])?$`)
)

func atFirstUse(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// pageWord is what comes before page numbers, and the numbers.
const pageWord = `(?i:(?:pp?\.|pgs?\.|s\.)[  \t]*|(?:pp?|pages?|pgs?|seiten?)(?:[  \t]+))(#?[\p{L}\p{N}].*)$`

// codeOf returns the parts of an answer that stay as they are: frontmatter, code and HTML.
func codeOf(src string) []span {
	var list []span
	if strings.HasPrefix(src, "---\n") {
		if end := strings.Index(src[3:], "\n---"); end >= 0 {
			list = append(list, span{0, 3 + end + 4})
		}
	}
	lines := func(n ast.Node) {
		for i := range n.Lines().Len() {
			at := n.Lines().At(i)
			list = append(list, span{at.Start, at.Stop})
		}
	}
	root := goldmark.DefaultParser().Parse(text.NewReader([]byte(src)))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
			lines(n)
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, is := c.(*ast.Text); is {
					list = append(list, span{t.Segment.Start, t.Segment.Stop})
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return list
}

func touches(list []span, from, to int) bool {
	return slices.ContainsFunc(list, func(s span) bool { return from < s.to && s.from < to })
}

// find returns what looks like references, in order.
func find(src string, skip []span) []bracket {
	var list []bracket
	taken := slices.Clone(skip)
	take := func(m []int) bool {
		if touches(taken, m[0], m[1]) || escaped(src, m[0]) {
			return false
		}
		taken = append(taken, span{m[0], m[1]})
		return true
	}
	embed := func(at int) bool { return at > 0 && src[at-1] == '!' }
	sub := func(m []int, i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return src[m[2*i]:m[2*i+1]]
	}
	for _, m := range wikilink.FindAllStringSubmatchIndex(src, -1) {
		if !take(m) || embed(m[0]) {
			continue
		}
		page, block := sub(m, 2), false
		if page == "" {
			page, block = sub(m, 3), true
		}
		list = append(list, linkAt(m, sub(m, 1), page, block))
	}
	for _, m := range otherLink.FindAllStringSubmatchIndex(src, -1) {
		take(m)
	}
	for _, m := range inlineLink.FindAllStringSubmatchIndex(src, -1) {
		target, page := sub(m, 1)+sub(m, 3), sub(m, 2)+sub(m, 4)
		if plain, err := url.PathUnescape(target); err == nil {
			target = plain
		}
		if !take(m) || embed(m[0]) || strings.Contains(target, "://") {
			continue
		}
		list = append(list, linkAt(m, target, page, false))
	}
	for _, m := range bracketed.FindAllStringSubmatchIndex(src, -1) {
		if m[1] < len(src) && src[m[1]] == '(' || definition(src, m) {
			continue
		}
		parts := partsOf(sub(m, 1))
		if parts == nil || !take(m) {
			continue
		}
		list = append(list, bracket{span: span{m[0], m[1]}, parts: parts})
	}
	slices.SortFunc(list, func(a, b bracket) int { return a.from - b.from })
	return list
}

func linkAt(m []int, target, page string, block bool) bracket {
	n, err := strconv.Atoi(page)
	if err != nil {
		n = 0 // no document has it
	}
	return bracket{span: span{m[0], m[1]}, link: &pageLink{target: strings.TrimSpace(target), page: n, block: block}}
}

// escaped reports whether a backslash takes the meaning from the character at a place.
func escaped(src string, at int) bool {
	n := 0
	for at-n > 0 && src[at-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// definition reports whether a bracket begins the definition of a link: [x]: address.
func definition(src string, m []int) bool {
	start := strings.LastIndexByte(src[:m[0]], '\n') + 1
	return m[1] < len(src) && src[m[1]] == ':' && strings.TrimLeft(src[start:m[0]], " >") == ""
}

// partsOf reads the inside of brackets; nil if it is no reference.
func partsOf(inside string) []part {
	var parts []part
	name := ""
	for said := range strings.SplitSeq(inside, ";") {
		p, ok := partOf(partForm(), said)
		if !ok {
			if p, ok = partOf(lastPart(), said); !ok {
				return nil
			}
		}
		if p.name == "" {
			p.name = name
		}
		name = p.name
		parts = append(parts, p)
	}
	return parts
}

func partOf(form *regexp.Regexp, said string) (p part, ok bool) {
	m := form.FindStringSubmatch(strings.TrimSpace(said))
	if m == nil {
		return p, false
	}
	p.name = strings.TrimRight(strings.TrimSpace(m[1]), ",: ")
	for _, page := range joiner.Split(strings.TrimSpace(m[2]), -1) {
		if page = strings.Trim(page, " ."); !pageForm().MatchString(page) {
			return p, false
		}
		p.pages = append(p.pages, page)
	}
	return p, true
}

// numbered reports whether an expression is a page number for sure: it has digits, or is Roman.
func numbered(said string) bool {
	return digit.MatchString(said) || !slices.ContainsFunc(dash.Split(said, -1), func(s string) bool { return !roman.MatchString(s) })
}

func plural(said string) bool { _, _, ranged := cutRange(said); return ranged }

// cutRange divides 12–14. Of 131–4 the end is 134.
func cutRange(said string) (from, to string, ranged bool) {
	ends := dash.Split(said, -1)
	if len(ends) != 2 {
		return said, "", false
	}
	from, to = ends[0], ends[1]
	if strings.HasPrefix(from, "#") && !strings.HasPrefix(to, "#") {
		to = "#" + to
	}
	if a, errA := strconv.Atoi(from); errA == nil && len(to) < len(from) {
		if b, errB := strconv.Atoi(to); errB == nil && b < a {
			to = from[:len(from)-len(to)] + to
		}
	}
	return from, to, true
}

// harmlessName returns a document's name for a link's text, without what ends a link.
func harmlessName(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]|#^`<>\\*_$%{}", r) || r < ' ' {
			return -1
		}
		return r
	}, name))
	if name == "" {
		return ""
	}
	return name + ", "
}

var tableRule = regexp.MustCompile(`^[ >\t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$`)

// inTable reports whether a place is in a row of a table, where a bar must be escaped.
func inTable(src string, at int) bool {
	start := strings.LastIndexByte(src[:at], '\n') + 1
	line, _, _ := strings.Cut(src[start:], "\n")
	if !strings.Contains(line, "|") && !strings.HasPrefix(strings.TrimLeft(line, " >"), "|") {
		return false
	}
	block := src[:start]
	if i := strings.LastIndex(block, "\n\n"); i >= 0 {
		block = block[i+2:]
	}
	for l := range strings.SplitSeq(block, "\n") {
		if strings.Contains(l, "|") && tableRule.MatchString(l) {
			return true
		}
	}
	_, below, _ := strings.Cut(src[start:], "\n")
	next, _, _ := strings.Cut(below, "\n")
	return strings.Contains(next, "|") && tableRule.MatchString(next)
}

// Link is a link to a page.
type Link struct {
	Target string
	Page   int
}

// Links returns the links to pages in a text.
func Links(text string) []Link {
	var list []Link
	for _, b := range find(text, nil) {
		if b.link != nil {
			list = append(list, Link{b.link.target, b.link.page})
		}
	}
	return list
}
