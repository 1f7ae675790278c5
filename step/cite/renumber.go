package cite

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Renumber replaces the links to pages in a text with what move returns for them. Links in code, and embedded pages, stay.
func Renumber(src string, move func(target string, page int, words string) (link string, moved bool)) string {
	code := codeOf(src)
	var b strings.Builder
	at := 0
	for _, m := range writtenLinks(src) {
		inCode := slices.ContainsFunc(code, func(s span) bool { return s.from < m.to && m.from < s.to })
		if m.from < at || inCode || m.from > 0 && src[m.from-1] == '!' {
			continue
		}
		if link, moved := move(m.target, m.page, m.words); moved {
			b.WriteString(src[at:m.from] + link)
			at = m.to
		}
	}
	b.WriteString(src[at:])
	return b.String()
}

// plainTarget is the target of an inline link without its escapes.
func plainTarget(target string) string {
	if plain, err := url.PathUnescape(target); err == nil {
		return plain
	}
	return target
}

// writtenLink is a link to a page, where it is written.
type writtenLink struct {
	span
	target string
	page   int
	words  string
}

// writtenLinks finds the links to pages in a text, in order.
func writtenLinks(src string) []writtenLink {
	var list []writtenLink
	group := func(m []int, n int) string {
		if m[2*n] < 0 {
			return ""
		}
		return src[m[2*n]:m[2*n+1]]
	}
	add := func(m []int, target, page, words string) {
		if n, err := strconv.Atoi(page); err == nil {
			list = append(list, writtenLink{span{m[0], m[1]}, target, n, words})
		}
	}
	for _, m := range wikilink.FindAllStringSubmatchIndex(src, -1) {
		_, words, _ := strings.Cut(strings.TrimSuffix(src[m[0]:m[1]], "]]"), "|")
		add(m, strings.TrimSuffix(group(m, 1), `\`), group(m, 2)+group(m, 3), words)
	}
	for _, m := range inlineLink.FindAllStringSubmatchIndex(src, -1) {
		words, _, _ := strings.Cut(src[m[0]+1:m[1]], "](")
		add(m, plainTarget(group(m, 1)+group(m, 3)), group(m, 2)+group(m, 4), words)
	}
	slices.SortFunc(list, func(a, b writtenLink) int { return a.from - b.from })
	return list
}
