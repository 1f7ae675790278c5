package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"golang.org/x/text/unicode/norm"
)

// The limits of the measure of order.
const (
	orderPages    = 500 // in all halves
	orderPerFile  = 4
	orderWords    = 60  // least words of a page
	orderAgree    = .95 // share of a page's words that two readers have in the same order
	orderComplete = .80 // share of a reader's words that we have too; what is missing is no matter of order
)

// readers are the two programs of which both must agree: their code has nothing in common.
var readers = []peer{peers[0], peers[2]}

// orderPage is a page on which the two readers agree.
type orderPage struct {
	document
	page int
	read [2][]string // the words of the readers
}

// order counts the suspect pages: pages on which the other two readers agree with each other and ours with neither.
func (r *run) order(ctx context.Context, dir string, h half) error {
	if missing := missingPeers(); missing != nil {
		return fmt.Errorf("install poppler-utils and mupdf-tools to compare with %v", missing)
	}
	files, err := list(filepath.Join(dir, "order"), []half{h})
	if err != nil {
		return err
	}
	pages := choosePages(ctx, files, orderPages/len([]half{seen, unseen}))
	var chosen []document
	for _, p := range pages {
		if !slices.Contains(chosen, p.document) {
			chosen = append(chosen, p.document)
		}
	}
	got, err := r.reader.read(ctx, "order", chosen)
	if err != nil {
		return err
	}
	suspects := suspectPages(pages, got)
	incomplete, silent := 0, 0
	for _, s := range suspects {
		if s.inOrder >= orderAgree {
			incomplete++
		}
		if !s.doubtful {
			silent++
		}
		if h == seen {
			fmt.Printf("suspect: %s page %d: %.2f of the common words in the same order, %.2f of the words; doubtful: %v\n", s.name, s.page, s.inOrder, s.complete, s.doubtful)
		}
	}
	r.report.add(h, "order: suspect pages", ours, share(len(suspects), len(pages)), len(pages))
	r.report.add(h, "order: of these for missing words", ours, share(incomplete, len(pages)), len(pages))
	r.report.add(h, "order: suspect pages, not doubtful", ours, share(silent, len(pages)), len(pages))
	return nil
}

// suspect is a page on which our reader agrees with neither of the others.
type suspect struct {
	orderPage
	inOrder, complete float64 // see sameOrder: of the reader that is nearer
	doubtful          bool    // the note says that the page may be wrong
}

// suspectPages are the pages on which what the vault got is in another order than the readers' words, or lacks many of them.
func suspectPages(pages []orderPage, got map[string]imported) (found []suspect) {
	for _, p := range pages {
		doc := got[p.sha256]
		have := words(plainText(doc.page(p.page)))
		s := suspect{orderPage: p, doubtful: slices.Contains(doc.m.Doubtful(), p.page)}
		for _, other := range p.read {
			if inOrder, complete := sameOrder(have, other); inOrder >= s.inOrder {
				s.inOrder, s.complete = inOrder, complete
			}
		}
		if s.inOrder < orderAgree || s.complete < orderComplete {
			found = append(found, s)
		}
	}
	return found
}

// choosePages takes pages in a fixed order, files by digest and pages by the digest of file and number.
func choosePages(ctx context.Context, files []document, most int) []orderPage {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b document) int { return cmp.Compare(a.sha256, b.sha256) })
	var found []orderPage
	known := map[string]bool{} // texts: several files have the same pages
	for _, f := range files {
		if len(found) >= most || ctx.Err() != nil {
			break
		}
		all := strings.Split(output(ctx, []string{"pdftotext", f.path, "-"}), "\f")
		numbers := make([]int, len(all))
		for i := range numbers {
			numbers[i] = i + 1
		}
		slices.SortFunc(numbers, func(a, b int) int { return cmp.Compare(pageKey(f, a), pageKey(f, b)) })
		taken := 0
		for _, n := range numbers {
			if taken == orderPerFile {
				break
			}
			if len(words(all[n-1])) < orderWords {
				continue
			}
			p := orderPage{document: f, page: n}
			heads := runningHeads(all, n)
			for i, reader := range readers {
				p.read[i] = without(words(reader.read(ctx, f.path, n)), heads)
			}
			if key := strings.Join(p.read[0], " "); agree(p.read[0], p.read[1]) && !known[key] {
				known[key] = true
				found = append(found, p)
				taken++
			}
		}
	}
	return found[:min(len(found), most)]
}

func pageKey(f document, page int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", f.sha256, page))
	return string(sum[:])
}

// agree says whether two readers have a page's words in one order: the longest common subsequence has nearly all of them.
func agree(a, b []string) bool {
	n := max(len(a), len(b))
	return min(len(a), len(b)) >= orderWords && float64(common(a, b)) >= orderAgree*float64(n)
}

// sameOrder compares our words with those of another reader: the share of the words in common that are in the same order, and
// the share of the other's words that are in common. Letters apart are a word if the other text has it.
func sameOrder(ours, other []string) (inOrder, complete float64) {
	ours, other = spelled(ours, other), spelled(other, ours)
	shared := match(other, ours).right
	return share(common(ours, other), shared), share(shared, len(other))
}

// spelled joins single letters that follow one another where they are a word of another text: a form has a box for each letter.
func spelled(all, other []string) (joined []string) {
	const least, most = 3, 40 // letters
	for i := 0; i < len(all); {
		text, end := "", i
		for j := i; j < min(len(all), i+most) && utf8.RuneCountInString(all[j]) == 1; j++ {
			if text += all[j]; j-i+1 >= least && slices.Contains(other, text) {
				end = j + 1
			}
		}
		if end == i {
			joined = append(joined, all[i])
			i++
			continue
		}
		joined = append(joined, strings.Join(all[i:end], ""))
		i = end
	}
	return joined
}

var (
	lineHyphen = regexp.MustCompile(`(\p{L})[-\x{2010}\x{2011}\x{ad}]\s*(\p{L})`)
	digits     = regexp.MustCompile(`\d+`)
)

// words are the words of a text in lower case: letters and digits. Hyphens between letters are left out, so that it does not
// matter whether a word was divided; a character of Chinese or Japanese is a word.
func words(s string) []string {
	s = lineHyphen.ReplaceAllString(norm.NFKC.String(s), "$1$2")
	var found []string
	word := []rune{}
	end := func() {
		if len(word) > 0 {
			found = append(found, string(word))
			word = word[:0]
		}
	}
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			found = append(found, string(r))
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			word = append(word, unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return found
}

// runningHeads are the words of the first and last lines of a page that another page near it has too, whatever their numbers.
func runningHeads(pages []string, n int) [][]string {
	edges := func(n int) map[string]string {
		lines := slices.DeleteFunc(strings.Split(pages[n-1], "\n"), func(s string) bool { return strings.TrimSpace(s) == "" })
		found := map[string]string{}
		for i, line := range lines {
			if i < 3 || i >= len(lines)-3 {
				found[strings.Join(strings.Fields(digits.ReplaceAllString(line, "#")), " ")] = line
			}
		}
		return found
	}
	var found [][]string
	for key, line := range edges(n) {
		for other := max(1, n-2); other <= min(len(pages), n+2); other++ {
			if _, same := edges(other)[key]; same && other != n {
				found = append(found, words(line))
				break
			}
		}
	}
	return found
}

// without leaves out the first place of each phrase.
func without(all []string, phrases [][]string) []string {
	all = slices.Clone(all)
	for _, p := range phrases {
		for i := 0; len(p) > 0 && i+len(p) <= len(all); i++ {
			if slices.Equal(all[i:i+len(p)], p) {
				all = slices.Delete(all, i, i+len(p))
				break
			}
		}
	}
	return all
}

var (
	embed   = regexp.MustCompile(`!\[\[[^\]]*\]\]`)
	written = regexp.MustCompile(`\$[^$]+\$`)
	latex   = regexp.MustCompile(`\\[A-Za-z]+|[_^{}\\]`)
)

// plainText is a Markdown text without its markup. Formulas lose theirs too: the other readers write only their letters.
func plainText(markdown string) string {
	source := []byte(embed.ReplaceAllString(markdown, ""))
	var b strings.Builder
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			switch {
			case c.Type() == ast.TypeInline:
				continue
			case c.FirstChild() == nil && c.Lines() != nil: // code
				for i := range c.Lines().Len() {
					line := c.Lines().At(i)
					b.Write(line.Value(source))
				}
			case c.FirstChild() != nil && c.FirstChild().Type() == ast.TypeInline:
				b.WriteString(written.ReplaceAllStringFunc(plain(c, source), func(f string) string { return latex.ReplaceAllString(f, "") }))
			default:
				walk(c)
			}
			b.WriteByte('\n')
		}
	}
	walk(gfm.Parser().Parse(text.NewReader(source)))
	return b.String()
}
