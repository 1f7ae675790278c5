package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/vault"
)

// workbook is a made book: each page has a code word; every fifth is a scan without text, every third a JPEG.
type workbook struct {
	*bench
	words []string
}

// bind puts the book into the vault as an import does. The identity of a page is that of its word.
func (w *workbook) bind() {
	w.t.Helper()
	const dir = "Imported/Workbook/"
	m := manifest.Manifest{
		Version: manifest.Version, Note: "Workbook.md", Source: manifest.Source{Name: "Workbook.pdf", Kind: filetype.KindPDF}, Document: manifest.Document{Pages: len(w.words)},
	}
	for i, word := range w.words {
		n, _ := strconv.Atoi(word[1:])
		if n%20 == 1 {
			m.Document.Outline = append(m.Document.Outline, extract.OutlineItem{Level: 1, Title: "Chapter of " + word, Page: i + 1})
		}
		name := fmt.Sprintf("page_%04d", i+1)
		page := manifest.Page{N: i + 1, Status: manifest.PageDone, Image: &manifest.PageImage{Path: "pages/" + name + ".png", Identity: vault.Digest([]byte(word))}}
		if n%3 == 0 {
			page.Image.Path = "pages/" + name + ".jpg"
		}
		data := stamped(w.t, n, page.Image.Path)
		page.Image.SHA256 = vault.Digest(data)
		w.write(dir+page.Image.Path, string(data))
		if n%5 != 0 {
			page.Text = &manifest.PageText{Path: "text/" + name + ".txt", Source: manifest.TextLayer}
			w.write(dir+page.Text.Path, "The code word is "+word+".\n")
		}
		m.Pages = append(m.Pages, page)
	}
	data, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(dir+"manifest.json", string(data))
	w.write(dir+"Workbook.md", "# Workbook\n")
	w.write(dir+"Workbook.pdf", "%PDF-1.4\n")
}

// stamped is a picture that contains a number as black and white squares.
func stamped(t *testing.T, n int, name string) []byte {
	t.Helper()
	page := image.NewGray(image.Rect(0, 0, 80, 40))
	for x := range 80 {
		for y := range 40 {
			if n>>(x/8)&1 == 0 || y < 4 {
				page.SetGray(x, y, color.Gray{Y: 255})
			}
		}
	}
	var b bytes.Buffer
	err := png.Encode(&b, page)
	if strings.HasSuffix(name, ".jpg") {
		b.Reset()
		err = jpeg.Encode(&b, page, &jpeg.Options{Quality: 95})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// stampOf reads the number of a picture.
func stampOf(data []byte) int {
	page, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return -1
	}
	n := 0
	for bit := range 10 {
		if r, _, _, _ := page.At(bit*8+4, 20).RGBA(); r < 0x8000 {
			n |= 1 << bit
		}
	}
	return n
}

// reader is a model that answers with what it was shown: each page's word, in order, and a citation of each page.
type reader struct {
	mu   sync.Mutex
	seen [][]string // of each request; guarded by mu
	n    int
}

var (
	pageLine = regexp.MustCompile(`(?m)^\[(?:image \d+: [^\n]*?)?page (\d+) of \d+`)
	wordLine = regexp.MustCompile(`The code word is (w\d+)\.`)
)

func (r *reader) answer(c llmtest.Captured) llmtest.Reply {
	var words, cited []string
	see := func(word string) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	pages := map[string]bool{}
	for _, p := range c.Parts {
		for _, m := range pageLine.FindAllStringSubmatch(p.Text, -1) {
			if !pages[m[1]] {
				pages[m[1]] = true
				cited = append(cited, "[Workbook, p. "+m[1]+"]")
			}
		}
		for _, m := range wordLine.FindAllStringSubmatch(p.Text, -1) {
			see(m[1])
		}
		if p.Kind() == "image" {
			see(fmt.Sprintf("w%d", stampOf(p.Data)))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, words)
	lines := make([]string, len(words))
	for i, word := range words {
		lines[i] = word
		if i < len(cited) {
			lines[i] += " " + cited[i]
		}
	}
	return says(strings.Join(lines, "\n"))
}

// since returns what requests since the last call were shown.
func (r *reader) since() [][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.seen[r.n:]
	r.n = len(r.seen)
	return list
}

const windows = `---
---
## Read
@for_each pages of [[Workbook]] (pending, window=20, overlap=1, parallel=2)
@input file: {item}
@output file: Notes/{item-name}
@write_mode replace
@cite pages

List the code words of {item-label}.
`

// linked checks that each note has the words of its pages with links to where they are now. It returns the notes.
func (w *workbook) linked() {
	w.t.Helper()
	link := regexp.MustCompile(`(?m)^(w\d+) \[\[Workbook\.pdf#page=(\d+)\|(?:Workbook, )?p\. (\d+)\]\]$`)
	seen := map[string]int{}
	for name, text := range w.files() {
		if !strings.HasPrefix(name, "Notes/part") {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			m := link.FindStringSubmatch(line)
			if m == nil {
				w.t.Fatalf("%s: no link in %q", name, line)
			}
			at, _ := strconv.Atoi(m[2])
			if m[2] != m[3] || at < 1 || at > len(w.words) || w.words[at-1] != m[1] {
				w.t.Errorf("%s: %q leads to the wrong page", name, line)
			}
			seen[m[1]]++
		}
	}
	for i, word := range w.words {
		if seen[word] < 1 || seen[word] > 2 {
			w.t.Errorf("page %d, %s, is in %d notes", i+1, word, seen[word])
		}
	}
}

// asked checks how many windows were asked for, and that each was shown its pages in order.
func (w *workbook) asked(r *reader, what string, least, most int) {
	w.t.Helper()
	got := r.since()
	if len(got) < least || len(got) > most {
		w.t.Errorf("%s: %d windows were asked for, want %d to %d: %q", what, len(got), least, most, got)
	}
	for _, words := range got {
		at := slices.Index(w.words, words[0])
		if at < 0 || !slices.Equal(words, w.words[at:min(at+len(words), len(w.words))]) {
			w.t.Errorf("%s: a window shows %q", what, words)
		}
	}
}

// A long document is read in windows, each once. Only windows with other pages are read again; the links of the others follow.
func TestParts_workbook(t *testing.T) {
	t.Parallel()
	const pages = 45
	r := &reader{}
	w := &workbook{bench: newBench(t, adapters()[0], seeing).withWorker()}
	server := llmtest.NewComposing(t, llmtest.Anthropic{}, llmtest.Limits{}, r.answer)
	w.write("settings.yaml", strings.ReplaceAll(w.files()["settings.yaml"], w.server.URL, server.URL))
	for n := range pages {
		w.words = append(w.words, fmt.Sprintf("w%d", n+1))
	}
	w.bind()
	w.write("Workflows/Read.md", windows)
	all := 1 + (pages-20+18)/19

	preview, _ := w.run(exitDone, "preview", "Read")
	if !strings.Contains(preview, "part: Imported/Workbook/Workbook.md, part 02 (pages 20–39)") {
		t.Errorf("preview does not list the parts:\n%.2000s", preview)
	}
	w.run(exitDone, "run", "Read")
	w.asked(r, "first run", all, all)
	w.linked()
	w.run(exitDone, "run", "Read")
	w.asked(r, "second run", 0, 0)
	const other = "VF310]: %d of %d parts of file: [[Workbook]] were done with another prompt"
	if out, errs := w.run(exitDone, "check", "Read"); strings.Contains(out+errs, "VF310") {
		t.Errorf("check, before the prompt changed:\n%s%s", out, errs)
	}
	w.write("Workflows/Read.md", windows+"\nBe brief.\n")
	if out, errs := w.run(exitDone, "check"); !strings.Contains(out+errs, fmt.Sprintf(other, all, all)) {
		t.Errorf("check, after the prompt changed:\n%s%s", out, errs)
	}
	w.write("Workflows/Read.md", windows)

	w.words[24] = "w901"
	w.bind()
	w.run(exitDone, "run", "Read")
	w.asked(r, "one page changed", 1, 2)
	w.linked()

	w.words = slices.Insert(w.words, 9, "w902")
	w.bind()
	out, _ := w.run(exitDone, "run", "Read")
	w.asked(r, "one page inserted", 1, 3)
	if !strings.Contains(out, "changed Notes/part 02.md\n") {
		t.Errorf("the moved links are not listed:\n%s", out)
	}
	w.linked()
	w.run(exitDone, "undo", w.runsOf("Read")[0].ID, "--yes")
	undone := w.runsOf("Read")[0].ID
	w.run(exitDone, "run", "Read")
	w.asked(r, "after undo", 1, 3)
	w.linked()
	w.run(exitDone, "undo", w.runsOf("Read")[0].ID, "--yes")
	w.run(exitDone, "undo", undone, "--yes")
	w.run(exitDone, "run", "Read")
	w.asked(r, "after the undo of the undo", 0, 0)
	w.linked()

	// The inserted page and enough others go, so that the second window has nothing left.
	run := w.runsOf("Read")[0].ID
	w.words = slices.Delete(w.words, 20, 40)
	w.bind()
	w.run(exitDone, "run", "Read")
	w.asked(r, "a window removed", 0, 2)
	w.linked()
	if w.has("Notes/part 02.md") {
		t.Errorf("the output of a window without pages is still there: %s, %s", run, out)
	}
	w.run(exitDone, "undo", w.runsOf("Read")[0].ID, "--yes")
	if !w.has("Notes/part 02.md") {
		t.Error("undo does not bring the output back")
	}
	w.run(exitDone, "run", "Read")
	w.linked()
}
