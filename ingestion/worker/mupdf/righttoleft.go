package mupdf

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// compatible returns letters for the forms that they have within words, and for ligatures.
func compatible(s string) string { return norm.NFKC.String(s) }

// correctLigatures puts the letters of right-to-left ligatures in order. MuPDF reads such a line from left to right and then
// turns it round, the letters within a ligature too.
func correctLigatures(lines []layout.Line, glyphs []glyph) {
	if !slices.ContainsFunc(lines, func(l layout.Line) bool { return strings.ContainsFunc(l.Text, layout.RightToLeft) }) {
		return
	}
	words := wordsOf(glyphs)
	for i := range lines {
		if !strings.ContainsFunc(lines[i].Text, layout.RightToLeft) {
			continue
		}
		fields := strings.Split(lines[i].Text, " ")
		for j, word := range fields {
			fields[j] = corrected(word, words)
		}
		lines[i].Text = strings.Join(fields, " ")
	}
}

// wordsOf returns the words that stand from left to right in the file, as MuPDF turns them round, with the right order.
func wordsOf(glyphs []glyph) map[string]string {
	words := map[string]string{}
	var turned, right string
	end := func() {
		if turned != "" {
			words[turned] = right
		}
		turned, right = "", ""
	}
	for i, g := range glyphs {
		if i > 0 && (g.turns != 0 || g.y != glyphs[i-1].y || g.x < glyphs[i-1].x) {
			end()
		}
		if g.text == "" {
			end()
			continue
		}
		text := compatible(g.text)
		turned, right = reversed(text)+turned, text+right
	}
	end()
	return words
}

// corrected returns a word with its letters in order. Of a ligature that the file spells as two letters, only lam has a glyph; its
// alef then comes first.
func corrected(word string, words map[string]string) string {
	if right, ok := words[word]; ok {
		return right
	}
	letters := []rune(word)
	for i := range len(letters) - 1 {
		if !strings.ContainsRune("اأإآٱ", letters[i]) || letters[i+1] != 'ل' {
			continue
		}
		if _, ok := words[string(slices.Delete(slices.Clone(letters), i, i+1))]; ok {
			letters[i], letters[i+1] = letters[i+1], letters[i]
			return string(letters)
		}
	}
	return word
}

func reversed(s string) string {
	letters := []rune(s)
	slices.Reverse(letters)
	return string(letters)
}
