package step

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/workflow"
)

// bound is an imported book whose pages have these words; every third page is a JPEG.
func bound(t *testing.T, files map[string]string, words []string, outline ...extract.OutlineItem) map[string]string {
	t.Helper()
	m := manifest.Manifest{Version: manifest.Version, Source: manifest.Source{Name: "Book.pdf"}, Document: manifest.Document{Pages: len(words), Outline: outline}}
	for i, word := range words {
		name := fmt.Sprintf("page_%04d", i+1)
		picture := name + ".png"
		if strings.ContainsAny(word[len(word)-1:], "369") {
			picture = name + ".jpg"
		}
		m.Pages = append(m.Pages, manifest.Page{
			N: i + 1, Image: &manifest.PageImage{Path: "pages/" + picture, SHA256: sha([]byte(word))}, Text: &manifest.PageText{Path: "text/" + name + ".md"}, Status: manifest.PageDone,
		})
		files["Imported/Book/text/"+name+".md"] = "The word is " + word + ".\n"
		files["Imported/Book/pages/"+picture] = drawn(t, word, picture)
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	files["Imported/Book/manifest.json"], files["Imported/Book/index.md"] = string(data), "# Book\n"
	return files
}

// drawn is a small picture.
func drawn(t *testing.T, word, name string) string {
	t.Helper()
	page := image.NewGray(image.Rect(0, 0, 32, 32))
	for i := range page.Pix {
		page.Pix[i] = word[i%len(word)] * 2
	}
	var b bytes.Buffer
	err := png.Encode(&b, page)
	if strings.HasSuffix(name, ".jpg") {
		b.Reset()
		err = jpeg.Encode(&b, page, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// wordsOf are code words of pages.
func wordsOf(n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", i+1)
	}
	return words
}

func each(parts string, target directives.Target, size, overlap int) directives.Set {
	return directives.Set{
		ForEach: &directives.ForEach{Parts: parts, Window: size, Overlap: overlap, Target: target, Selection: directives.Selection{Pending: true}},
		Inputs:  []directives.Input{{Target: fileTarget("{item}")}},
	}
}

func expanded(t *testing.T, w *world) engine.ExpandOut {
	t.Helper()
	got, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: w.ref()})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func shownItems(batches [][]engine.Item) string {
	var list []string
	for _, batch := range batches {
		for _, it := range batch {
			list = append(list, it.Shown())
		}
	}
	return strings.Join(list, "; ")
}

// done marks all items as a commit does.
func done(t *testing.T, w *world, batches [][]engine.Item) {
	t.Helper()
	for _, batch := range batches {
		for _, it := range batch {
			state := engine.PartState{Document: it.Name, ItemPart: *it.Part}
			mark := engine.Mark{Directive: directives.ForEachIndex, Name: state.Key(), SHA256: it.Part.Digest(), Part: &state}
			if err := w.Committed(t.Context(), w.ref(), []engine.Mark{mark}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestExpand_pages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, bound(t, map[string]string{}, wordsOf(45)), workflow.Step{Name: "Read", Prompt: "{item-name}: {item-label}", Set: each("pages", fileTarget("Imported/Book/index.md"), 20, 1)})
	got := expanded(t, w)
	const all = "Imported/Book/index.md, part 01 (pages 1–20); Imported/Book/index.md, part 02 (pages 20–39); Imported/Book/index.md, part 03 (pages 39–45)"
	if shownItems(got.Batches) != all || len(got.Batches) != 3 {
		t.Fatalf("got %s", shownItems(got.Batches))
	}

	ref := w.ref()
	ref.Batch, ref.Items = 3, got.Batches[2]
	text := w.promptText(w.assembled(ref))
	var seen []string
	for _, m := range regexp.MustCompile(`The word is (w\d+)\.|(pages/page_\d+\.(?:png|jpg))`).FindAllStringSubmatch(strings.Split(text, "IMAGE_REFS")[0], -1) {
		if one := m[1] + m[2]; len(seen) == 0 || seen[len(seen)-1] != one {
			seen = append(seen, one)
		}
	}
	var want []string
	for n := 39; n <= 45; n++ {
		ext := "png"
		if n == 39 || n == 43 {
			ext = "jpg"
		}
		want = append(want, fmt.Sprintf("w%d", n), fmt.Sprintf("pages/page_%04d.%s", n, ext))
	}
	if !slices.Equal(seen, want) || !strings.Contains(text, "part 03") || !strings.Contains(text, "pages 39–45") {
		t.Errorf("the model sees %q\nwant %q\n%s", seen, want, text)
	}

	done(t, w, got.Batches)
	if got := expanded(t, w); len(got.Batches) > 0 {
		t.Errorf("asked again: %s", shownItems(got.Batches))
	}
	files := map[string]string{}
	bound(t, files, slices.Insert(wordsOf(45), 25, "new"))
	for name, text := range files {
		w.vault.Put(name, text)
	}
	if _, err := w.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: ref}); code(err) != failure.Conflict {
		t.Errorf("a run that goes on with the page numbers of before: %v", err)
	}
	got = expanded(t, w)
	if shownItems(got.Batches) != "Imported/Book/index.md, part 02 (pages 20–40)" {
		t.Errorf("after a page was inserted: %s", shownItems(got.Batches))
	}
	if p := got.Parts; p == nil || len(p.Moved) != 1 || p.Moved[0].Name != "part 03" || p.Moved[0].Now.Label() != "pages 40–46" || len(p.Gone) > 0 {
		t.Errorf("moved: %+v", p)
	}
	w.plan.Fresh = true
	if got := expanded(t, w); len(got.Batches) != 3 {
		t.Errorf("with --fresh: %s", shownItems(got.Batches))
	}
	w.plan.Fresh, w.plan.Steps[0].Prompt = false, "another"
	if got := expanded(t, w); got.Parts.Other != 2 || len(got.Batches) != 1 {
		t.Errorf("with another prompt: %+v", got.Parts)
	}
}

// An import of an older version knew its pages by their files. When it is imported again, nothing is asked again.
func TestExpand_pagesOfAnOlderImport(t *testing.T) {
	t.Parallel()
	files := bound(t, map[string]string{}, wordsOf(9))
	w := newWorld(t, files, workflow.Step{Name: "Read", Prompt: "x", Set: each("pages", fileTarget("Imported/Book/index.md"), 5, 0)})
	done(t, w, expanded(t, w).Batches)
	m, err := manifest.Parse([]byte(files["Imported/Book/manifest.json"]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Pages {
		image := m.Pages[i].Image
		image.SHA256, image.Identity = sha([]byte(files["Imported/Book/"+image.Path])), sha([]byte("what page "+image.Path+" looks like"))
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	w.vault.Put("Imported/Book/manifest.json", string(data))
	if got := expanded(t, w); len(got.Batches) > 0 {
		t.Errorf("asked again: %s", shownItems(got.Batches))
	}
}

func TestExpand_chapters(t *testing.T) {
	t.Parallel()
	outline := []extract.OutlineItem{{Level: 1, Title: "Vectors", Page: 2}, {Level: 2, Title: "Length", Page: 3}, {Level: 1, Title: "Matrices", Page: 5}}
	for _, c := range []struct{ parts, want string }{
		{"chapters", "00 Front matter (page 1); 01 Vectors (pages 2–4); 02 Matrices (pages 5–7)"},
		{"sections", "00 Front matter (page 1); 01 Vectors (page 2); 02 Length (pages 3–4); 03 Matrices (pages 5–7)"},
	} {
		w := newWorld(t, bound(t, map[string]string{}, wordsOf(7), outline...), workflow.Step{Prompt: "x", Set: each(c.parts, fileTarget("Imported/Book/index.md"), 0, 0)})
		if got := strings.ReplaceAll(shownItems(expanded(t, w).Batches), "Imported/Book/index.md, ", ""); got != c.want {
			t.Errorf("%s: got %s\nwant %s", c.parts, got, c.want)
		}
	}
	w := newWorld(t, bound(t, map[string]string{}, wordsOf(7)), workflow.Step{Prompt: "x", Set: each("chapters", fileTarget("Imported/*/index.md"), 5, 0)})
	got := expanded(t, w)
	if shownItems(got.Batches) != "Imported/Book/index.md, part 01 (pages 1–5); Imported/Book/index.md, part 02 (pages 6–7)" || !strings.Contains(strings.Join(got.Warnings, ""), directives.CodePartOutline) {
		t.Errorf("without an outline: %s, %q", shownItems(got.Batches), got.Warnings)
	}
	if name := got.Batches[1][0].Part.Called; name != "Book part 02" {
		t.Errorf("where there may be several documents {item-name} is %q", name)
	}
}

func TestExpand_sectionsOfANote(t *testing.T) {
	t.Parallel()
	const text = "---\ntags: [a]\n---\nBefore.\n\n# One\n\n## Two\ntext\n![[p.png]]\n\n### Deep\nmore\n\n## Two\nagain\n"
	w := newWorld(t, map[string]string{"Note.md": text, "p.png": "x"}, workflow.Step{Prompt: "x", Set: each("sections", fileTarget("Note"), 0, 0)})
	got := expanded(t, w)
	if shownItems(got.Batches) != "Note.md, 00 Front matter (line 4); Note.md, 01 One (line 6); Note.md, 02 Two (lines 8–13); Note.md, 03 Two (lines 15–16)" {
		t.Fatal(shownItems(got.Batches))
	}
	ref := w.ref()
	ref.Batch, ref.Items = 3, got.Batches[2]
	if text := w.promptText(w.assembled(ref)); !strings.Contains(text, "more") || strings.Contains(text, "again") || strings.Contains(text, "Before.") {
		t.Errorf("the model sees %s", text)
	}
	w.plan.Steps[0].Model = &directives.Model{None: true}
	ref = w.ref()
	ref.Batch, ref.Items = 3, got.Batches[2]
	if out := w.assembled(ref); w.text(out.Text) != "x\n\n## Two\ntext\n![[p.png]]\n\n### Deep\nmore" {
		t.Errorf("without a model: %q", w.text(out.Text))
	}
	w.plan.Steps[0].ForEach.Parts = "pages"
	if _, err := w.steps().Expander.Expand(t.Context(), engine.StepIn{StepRef: w.ref()}); code(err) != failure.Input || !strings.Contains(err.Error(), "has no pages") {
		t.Errorf("pages of a note: %v", err)
	}
}

func TestExpand_sevenHundredFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for n := range 700 {
		files[fmt.Sprintf("in/%d.md", n)] = "x"
	}
	w := newWorld(t, files, workflow.Step{Prompt: "x", Set: directives.Set{ForEach: &directives.ForEach{Target: fileTarget("in/*.md"), Batch: 20}}})
	if got := expanded(t, w); len(got.Batches) != 35 {
		t.Errorf("got %d batches", len(got.Batches))
	}
}

// A list that a model made says which pages to show.
func TestAssemble_pagesOfAPattern(t *testing.T) {
	t.Parallel()
	set := directives.Set{
		ForEach: &directives.ForEach{Target: variableTarget("ranges")},
		Inputs:  []directives.Input{{Target: fileTarget("Imported/Book/index.md"), PagesText: "{item}"}},
	}
	w := newWorld(t, bound(t, map[string]string{}, wordsOf(9)), workflow.Step{Prompt: "x", Set: set})
	ref := w.ref()
	ref.Batch, ref.Items = 1, []engine.Item{{Name: "pages 4–5", SHA256: w.put("pages 4–5"), Value: true}}
	if text := w.promptText(w.assembled(ref)); !strings.Contains(text, "w4.") || !strings.Contains(text, "w5.") || strings.Contains(text, "w6.") || strings.Contains(text, "w3.") {
		t.Errorf("the model sees %s", text)
	}
}
