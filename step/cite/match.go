package cite

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Pieces of a quotation with omissions.
const (
	minPiece = 8   // letters of each piece
	maxGap   = 600 // letters between two pieces
)

// letters are those of a text, without case, ligatures, blanks, hyphens and other punctuation. Signs between digits stay, so that 1.5
// is not 15.
type letters struct {
	runes []rune
	edges []bool // of len(runes)+1: whether a word may begin or end there
}

var superscripts = regexp.MustCompile(`[¹²³⁰-⁹]+`)

func fold(s string) string { return strings.ToLower(norm.NFKC.String(s)) }

func lettersOf(text string) letters {
	runes := []rune(fold(superscripts.ReplaceAllString(text, "")))
	var l letters
	edge := true
	for i, r := range runes {
		between := (r == '.' || r == ',') && i > 0 && i+1 < len(runes) && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1])
		switch {
		case r == '\u00ad' || unicode.Is(unicode.Cf, r):
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || between:
			spaceless := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
			l.edges = append(l.edges, edge || spaceless)
			l.runes = append(l.runes, r)
			edge = spaceless
		default:
			edge = true
		}
	}
	l.edges = append(l.edges, true)
	return l
}

func ideographs(s string) (n int) {
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			n++
		}
	}
	return n
}

var (
	pagePictures = regexp.MustCompile(`!\[[^\]\n]*\]\([^)\n]*\)|!\[\[[^\]\n]*\]\]|\[\^[^\]\n]{1,40}\]`)
	pageLinks    = regexp.MustCompile(`\]\((?:<[^>\n]*>|[^)\s]*)(?:\s+"[^"\n]*")?\)`)
	pageTags     = regexp.MustCompile(`</?[A-Za-z][^<>\n]{0,200}>|<!--.*?-->`)
	omission     = regexp.MustCompile(`[\[(]\s*(?:…|\.\s?\.\s?\.)\s*[\])]|…|\.{3,}|\.\s\.\s\.`)
)

// plainPage returns the words of a page without Markdown's addresses and tags.
func plainPage(text string) string {
	text = pagePictures.ReplaceAllString(text, " ")
	text = pageLinks.ReplaceAllString(text, "]")
	return html.UnescapeString(pageTags.ReplaceAllString(text, " "))
}

// onPages reports whether a quotation is on one of the pages, or runs from the end of one to the beginning of the next.
func onPages(quote string, pages []letters) bool {
	var pieces [][]rune
	for _, piece := range omission.Split(quote, -1) {
		if l := lettersOf(piece); len(l.runes) > 0 {
			pieces = append(pieces, l.runes)
		}
	}
	if len(pieces) == 0 {
		return false
	}
	if len(pieces) > 1 && slices.ContainsFunc(pieces, func(p []rune) bool { return len(p) < minPiece && ideographs(string(p)) < minPiece/2 }) {
		return false
	}
	for i, page := range pages {
		if page.holds(pieces) {
			return true
		}
		if i > 0 && len(pieces) == 1 && runsOver(pieces[0], pages[i-1], page) {
			return true
		}
	}
	return false
}

// holds reports whether a page has the pieces in order, each as whole words and not far from the one before.
func (l letters) holds(pieces [][]rune) bool {
	for at := l.index(pieces[0], 0); at >= 0; at = l.index(pieces[0], at+1) {
		end, all := at+len(pieces[0]), true
		for _, piece := range pieces[1:] {
			next := l.index(piece, end)
			if next < 0 || next-end > maxGap {
				all = false
				break
			}
			end = next + len(piece)
		}
		if all {
			return true
		}
	}
	return false
}

// index returns the first place of whole words at or after from, or -1.
func (l letters) index(piece []rune, from int) int {
	for at := from; at+len(piece) <= len(l.runes); at++ {
		if l.runes[at] == piece[0] && l.edges[at] && l.edges[at+len(piece)] && slices.Equal(l.runes[at:at+len(piece)], piece) {
			return at
		}
	}
	return -1
}

// runsOver reports whether the beginning of a quotation is in the second half of a page, and its rest in the first half of the next.
func runsOver(quote []rune, page, next letters) bool {
	for cut := minPiece; cut+minPiece <= len(quote); cut++ {
		if at := page.index(quote[:cut], len(page.runes)/2); at >= 0 {
			if rest := next.index(quote[cut:], 0); rest >= 0 && rest <= len(next.runes)/2 {
				return true
			}
		}
	}
	return false
}
