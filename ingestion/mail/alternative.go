package mail

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// choose marks the alternatives of a message that are covered by its richest one. starts are the first parts of each. One that has words
// which the richest lacks is another text, and is shown too. So are invitations and files.
func choose(parts []Part, starts []int) {
	best, most, rich := -1, 0, make([]int, len(parts))
	until := func(i int) int {
		if i+1 < len(starts) {
			return starts[i+1]
		}
		return len(parts)
	}
	for i, at := range starts {
		for k := at; k < until(i); k++ {
			if rich[k] = parts[k].richness(); rich[k] > 0 && rich[k] >= most {
				best, most = i, rich[k]
			}
		}
	}
	if best < 0 {
		return
	}
	shown := map[string]bool{}
	for _, p := range parts[starts[best]:until(best)] {
		if p.InBody() {
			for w := range words(p.Plain()) {
				shown[w] = true
			}
		}
	}
	for i, at := range starts {
		for k := at; k < until(i) && i != best; k++ {
			if rich[k] > 0 && renders(shown, parts[k].Plain()) {
				parts[k].Covered = true
			}
		}
	}
}

// richness ranks a body, or is 0 if it says nothing.
func (p Part) richness() int {
	says := func() bool {
		return strings.ContainsFunc(p.Plain(), isOfWord) || p.IsPage() && bytes.Contains(bytes.ToLower(p.Data), []byte("<img"))
	}
	switch {
	case !p.InBody() || !p.readable() || p.IsCalendar() || !says():
		return 0
	case p.MediaType == "text/html" || p.MediaType == "application/xhtml+xml":
		return 3
	case p.MediaType == "text/plain":
		return 2
	}
	return 1
}

// renders reports whether the words of a text are among those shown: nine of ten, most of each line that is a sentence, and each long
// number.
func renders(shown map[string]bool, text string) bool {
	all, missing := 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		here, not := 0, 0
		for w := range words(line) {
			if here++; shown[w] {
				continue
			}
			if not++; longNumber.MatchString(w) {
				return false
			}
		}
		if here >= 4 && 2*not > here {
			return false
		}
		all, missing = all+here, missing+not
	}
	return 10*missing <= all
}

var longNumber = regexp.MustCompile(`\pN{3}`)

// unsaid is what a plain text has in the place of links and pictures.
var unsaid = regexp.MustCompile(`(?i)\b(?:https?|mailto|cid):[^\s>)\]]+|\bwww\.[^\s>)\]]+|\[(?:image|cid)\b[^\]]*\]`)

// words yields the words of a text in lower case. Of writings without blanks, each character is one.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var word []rune
		for _, c := range unsaid.ReplaceAllString(text, " ") + " " {
			single := unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
			if unicode.Is(unicode.Cf, c) { // a hyphen or joiner that is not seen
				continue
			}
			if isOfWord(c) && !single {
				word = append(word, unicode.ToLower(c))
				continue
			}
			if len(word) > 0 && !yield(string(word)) || single && !yield(string(c)) {
				return
			}
			word = word[:0]
		}
	}
}

func isOfWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) }

// withinWords are elements that do not end a word.
var withinWords = []string{"a", "abbr", "b", "big", "em", "font", "i", "mark", "s", "small", "span", "strong", "sub", "sup", "tt", "u", "wbr"}

// Plain returns the text of a part without the marks of HTML.
func (p Part) Plain() string {
	if !p.IsPage() {
		return p.Text()
	}
	var b strings.Builder
	silent := ""
	for z := html.NewTokenizer(strings.NewReader(p.Text())); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String()
		}
		t := z.Token()
		switch {
		case kind == html.TextToken && silent == "":
			b.WriteString(t.Data)
		case kind == html.StartTagToken && silent == "" && slices.Contains([]string{"script", "style", "title"}, t.Data):
			silent = t.Data
		case kind == html.EndTagToken && t.Data == silent:
			silent = ""
		case t.Data == "img":
			for _, a := range t.Attr {
				if a.Key == "alt" {
					b.WriteString(" " + a.Val + " ")
				}
			}
		case kind != html.TextToken && !slices.Contains(withinWords, t.Data):
			b.WriteString("\n")
		}
	}
}
