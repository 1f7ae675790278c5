package chunking_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/chunking"
)

// checkSplit holds the chunks of a note to all that Split promises.
func checkSplit(t *testing.T, src []byte) {
	t.Helper()
	checkTiling(t, src)
	chunks := chunking.Split(src)
	if diff := cmp.Diff(chunks, chunking.Split(slices.Clone(src))); diff != "" {
		t.Errorf("%q is split in two ways:\n%s", src, diff)
	}
	valid := utf8.Valid(src)
	for _, c := range chunks {
		if valid && !utf8.ValidString(c.Text) {
			t.Errorf("chunk %s %q cuts a character", c.ID, c.Text)
		}
		checkChunk(t, c)
	}
}

// checkChunk holds one chunk to what its kind promises.
func checkChunk(t *testing.T, c chunking.Chunk) {
	t.Helper()
	switch {
	case c.Kind == chunking.Text:
		if len(c.Text) > chunking.MaxText || c.Target+c.Written+c.Fragment+c.Alt+c.Syntax != "" {
			t.Errorf("text chunk of %d bytes: %+v", len(c.Text), c)
		}
		return
	case c.Kind == chunking.Comment:
		if !strings.HasPrefix(c.Text, "%%") {
			t.Errorf("comment %q", c.Text)
		}
		return
	case c.Written == "" || c.Target == "" && c.Fragment == "" && !strings.Contains(c.Written, "#") && c.Syntax == chunking.SyntaxWikilink:
		t.Errorf("reference to nothing: %+v", c)
	}
	first, last := c.Text[0], c.Text[len(c.Text)-1]
	if c.Syntax == chunking.SyntaxHTML && (first != '<' || last != '>') ||
		c.Syntax == chunking.SyntaxMarkdown && (first != '!' || last != ')') ||
		c.Syntax == chunking.SyntaxReference && (first != '!' || last != ']') {
		t.Errorf("%s reference %q", c.Syntax, c.Text)
	}
	if c.Syntax != chunking.SyntaxWikilink {
		return
	}
	if !strings.HasPrefix(c.Text, "![[") || !strings.HasSuffix(c.Text, "]]") {
		t.Errorf("wikilink %q", c.Text)
	}
	// An embed means the same wherever it stands.
	alone := chunking.Split([]byte(c.Text))
	if len(alone) != 1 || brief(alone[0]) != brief(c) {
		t.Errorf("%q means %q, and alone %d chunks", c.Text, brief(c), len(alone))
	}
}

// checkSection: a section is made of whole lines of the note, and is not empty.
func checkSection(t *testing.T, src []byte, fragment string) {
	t.Helper()
	start, end, ok := chunking.Section(src, fragment)
	switch {
	case !ok && start == 0 && end == 0:
	case !ok, start < 0, end <= start, end > len(src):
		t.Errorf("section %q is %d-%d, %v, of %q", fragment, start, end, ok, src)
	case start > 0 && src[start-1] != '\n' && start != len("\ufeff"), end < len(src) && src[end-1] != '\n':
		t.Errorf("section %q, %d-%d of %q, cuts a line", fragment, start, end, src)
	}
}

// randomNotes are notes of pieces of Markdown, the same ones in each run.
func randomNotes(n, size int) [][]byte {
	random := rand.New(rand.NewPCG(7, 11))
	var notes [][]byte
	for range n {
		recipe := make([]byte, 1+random.IntN(size))
		for i := range recipe {
			recipe[i] = byte(random.IntN(256))
		}
		notes = append(notes, chunking.Compose(recipe))
	}
	return notes
}

func TestSplit_randomNotes(t *testing.T) {
	t.Parallel()
	references := 0
	for _, src := range randomNotes(4000, 80) {
		checkSplit(t, src)
		for _, fragment := range []string{"a", "word", "^a", "a#b", "b.png"} {
			checkSection(t, src, fragment)
		}
		references += len(briefs(string(src)))
	}
	if references < 4000 {
		t.Errorf("only %d references in all notes", references)
	}
}

// A note of many megabytes: no chunk of text is larger than MaxText, and each that does not end at a reference ends
// behind a blank line where it can.
func TestSplit_manyMegabytes(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for b.Len() < 12<<20 {
		for _, note := range randomNotes(50, 400) {
			b.Write(note)
			b.WriteString("\n\n" + strings.Repeat("A line of prose that goes on for a while, and then ends.\n", 40) + "\n")
			b.WriteString("![[page.png|300]]\n\n" + strings.Repeat("word ", 3000) + "\n\n")
		}
	}
	src := []byte(b.String())
	chunks := chunking.Split(src)
	at, cuts := 0, 0
	for i, c := range chunks {
		if c.Start != at || c.Text != string(src[c.Start:c.End]) {
			t.Fatalf("chunk %s spans %d-%d behind %d", c.ID, c.Start, c.End, at)
		}
		at = c.End
		if c.Kind != chunking.Text || i+1 == len(chunks) || chunks[i+1].Kind != chunking.Text {
			continue
		}
		cuts++
		if len(c.Text) > chunking.MaxText || len(c.Text) < chunking.MaxText/4 {
			t.Errorf("chunk %s is cut at %d bytes", c.ID, len(c.Text))
		}
		if upper := c.Text[chunking.MaxText/4:]; strings.Contains(upper, "\n\n") && !strings.HasSuffix(c.Text, "\n\n") {
			t.Errorf("chunk %s is not cut at the blank line in it", c.ID)
		}
	}
	if at != len(src) || cuts == 0 {
		t.Errorf("chunks end at %d of %d, %d cuts", at, len(src), cuts)
	}
}

// fragments of a note: its headings, its words behind a caret, and some that it may not have.
func fragments(src []byte) []string {
	list := []string{"a", "^first", "a#b", "#", "^"}
	for line := range strings.Lines(string(src)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "#"); ok {
			list = append(list, strings.Trim(name, "# "))
		}
		if i := strings.LastIndexByte(line, '^'); i >= 0 {
			list = append(list, line[i:])
		}
	}
	return list[:min(len(list), 12)]
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "---\na: \"[[c.png]]\"\n---\nx ![[a.png|b|10x20]] %%c%%\n", "> ![a\n> b](c)\n\n| a |\n|---|\n| ![[E.jpg\\|100]] |",
		"<div>\n<img src=a.png>\n<!-- x -->", "%%\n\n![](a.png)\n%% x\n\t- ![[a#b#c]]\n", "$$\n[[1,2]]\n$$ $x$ ![r][]\n\n[r]: <a b>",
		"- a\n\t- ![[a.png]]\r\n  > %%\n  > b\n", "[^1]: ![[a.png]]\n\n    ![](x)\n", "[[Nested [[Inner]] x]]\x00\xff![\xc3](\xa9)", outline,
	} {
		f.Add([]byte(s), true)
	}
	f.Add([]byte("a recipe of pieces"), false)
	f.Fuzz(func(t *testing.T, src []byte, whole bool) {
		if !whole {
			src = chunking.Compose(src)
		}
		checkSplit(t, src)
		for _, fragment := range fragments(src) {
			checkSection(t, src, fragment)
		}
	})
}
