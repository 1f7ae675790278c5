package ingestion

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/vault"
)

// book is a document of 60 pages with an outline.
var book = extract.Document{Pages: 60, Title: "Linear Algebra", Outline: []extract.OutlineItem{
	{Level: 1, Title: "1 Vectors", Page: 3},
	{Level: 2, Title: "Length", Page: 5},
	{Level: 1, Title: "Matrices: A/B", Page: 21},
	{Level: 1, Title: "Eigenvalues", Page: 41},
	{Level: 1, Title: "Nowhere", Page: 0},
}}

func TestImport_chapters(t *testing.T) {
	t.Parallel()
	b := newBench(t, book)
	made, _ := b.mustRun(b.drop("imp-1", "Import/book.pdf", pdfBytes))
	want := []manifest.Chapter{
		{Note: "chapters/00 Front matter.md", Title: "Front matter", First: 1, Last: 2},
		{Note: "chapters/01 Vectors.md", Title: "1 Vectors", First: 3, Last: 20},
		{Note: "chapters/02 Matrices- A-B.md", Title: "Matrices: A/B", First: 21, Last: 40},
		{Note: "chapters/03 Eigenvalues.md", Title: "Eigenvalues", First: 41, Last: 60},
	}
	m := b.manifest(made)
	if diff := cmp.Diff(want, m.Chapters); diff != "" {
		t.Fatalf("chapters (-want +got):\n%s", diff)
	}
	note := b.read(made.Note)
	hasAll(t, note, "# Linear Algebra\n", "- [[./chapters/01 Vectors|1 Vectors]] · pages 3–20\n", "  - [[./chapters/01 Vectors#Page 5|Length]]\n", "- Nowhere\n")
	hasAll(t, b.read("Imported/book/chapters/02 Matrices- A-B.md"), "# Matrices: A/B\n\n[[../book|Linear Algebra]] · Pages 21–40 · [[../chapters/01 Vectors|← 1 Vectors]] · [[../chapters/03 Eigenvalues|Eigenvalues →]]\n",
		"## Page 21\n\n![[../pages/page_0021.png]]\n[[../book.pdf#page=21|book.pdf, page 21]] ^p21\n", "Text of page 22.")
	for n := 1; n <= 60; n++ {
		found := 0
		for name, text := range b.tree() {
			if strings.HasSuffix(name, ".md") && strings.Contains(text, fmt.Sprintf(" ^p%d\n", n)) {
				found++
			}
		}
		if found != 1 {
			t.Errorf("page %d is in %d notes, want 1", n, found)
		}
	}
}

// What the user wrote in the notes of chapters comes along with a new version; of chapters that are gone to the one in their place.
func TestImport_chaptersOfANewVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t, book)
	made, _ := b.mustRun(b.drop("imp-1", "Import/book.pdf", pdfBytes))
	for rel, digests := range b.manifest(made).Generated {
		if diff := cmp.Diff(vault.PageDigests(b.read("Imported/book/"+rel)), digests); diff != "" {
			t.Errorf("digests of %s (-note +manifest):\n%s", rel, diff)
		}
	}
	vectors, eigen := "Imported/book/chapters/01 Vectors.md", "Imported/book/chapters/03 Eigenvalues.md"
	b.vault.Put(vectors, "---\nread: true\n---\nAbove.\n"+b.read(vectors)+"Below.\n")
	b.vault.Put(eigen, strings.NewReplacer("book.pdf, page 42]] ^p42\n", "book.pdf, page 42]] ^p42\n\nText that I corrected.\n", "\n## Page 45", "\nMine.\n\n## Page 45").Replace(b.read(eigen))+"My remark on eigenvalues.\n")
	b.worker.doc.Outline = book.Outline[:3]
	b.mustRun(b.drop("imp-2", "Import/book.pdf", append([]byte("2"), pdfBytes...)))
	hasAll(t, b.read(made.Note), "what you changed between the marks (pages 42, 44) is in Imported/book (version 1)\n")
	m := b.manifest(made)
	if digests := vault.PageDigests(b.read(vectors)); len(m.Generated) != 4 || digests[4] != m.Generated["chapters/01 Vectors.md"][4] {
		t.Errorf("digests of the version: %v", m.Generated)
	}
	text := b.read(vectors)
	if !strings.HasPrefix(text, "---\nread: true\n---\nAbove.\n"+indexnote.Begin) || !strings.HasSuffix(text, indexnote.End+"\nBelow.\n") {
		t.Errorf("what the user wrote around a chapter:\n%s", text)
	}
	hasAll(t, b.read("Imported/book/chapters/02 Matrices- A-B.md"), indexnote.End+"\nMy remark on eigenvalues.\n", "## Page 60\n")
	if b.im.exists(eigen) {
		t.Error("a chapter that is gone has a note")
	}
	b.worker.doc.Pages = 30
	b.mustRun(b.drop("imp-3", "Import/book.pdf", append([]byte("3"), pdfBytes...)))
	hasAll(t, b.read(made.Note), "My remark on eigenvalues.\n", "Below.\n", "## Page 30\n")
}

func TestImport_chaptersWithATemplate(t *testing.T) {
	t.Parallel()
	b := newBench(t, book)
	b.vault.Put("T.md", "Mine: {{title}} of {{document}}\n{{facts}}\n{{#pages}}\np. {{page}} {{link}}\n{{text}}\n{{/pages}}\n")
	j := b.drop("imp-1", "Import/book.pdf", pdfBytes)
	j.Settings.Template = "T.md"
	made, _ := b.mustRun(j)
	hasAll(t, b.read(made.Note), "Mine: Linear Algebra of Linear Algebra\n", "[[./chapters/03 Eigenvalues|Eigenvalues]]")
	hasAll(t, b.read("Imported/book/chapters/03 Eigenvalues.md"), "Mine: Eigenvalues of Linear Algebra\n[[../book|Linear Algebra]] · Pages 41–60", "p. 41 [[../book.pdf#page=41|book.pdf, page 41]] ^p41\n")
	if note := b.read(made.Note); strings.Contains(note, "p. 1 ") {
		t.Errorf("pages are in the overview:\n%s", note)
	}
}

func TestChapters(t *testing.T) {
	t.Parallel()
	deep := []extract.OutlineItem{{Level: 1, Title: "All", Page: 1}}
	for n := range 20 {
		deep = append(deep, extract.OutlineItem{Level: 2, Title: fmt.Sprintf("Part %d", n+1), Page: 1 + n*20})
	}
	var each []extract.OutlineItem
	for n := range 400 {
		each = append(each, extract.OutlineItem{Level: 1, Title: "x", Page: n + 1})
	}
	for name, c := range map[string]struct {
		outline     []extract.OutlineItem
		pages, want int
		first       string
	}{
		"short":                 {nil, 40, 0, ""},
		"without an outline":    {nil, 41, 2, "chapters/pages 01-20.md"},
		"one root":              {deep, 400, 20, "chapters/01 All.md"},
		"an entry for any page": {each, 400, 20, "chapters/pages 001-020.md"},
	} {
		m := manifest.Manifest{Source: manifest.Source{Kind: "pdf"}}
		for n := range c.pages {
			m.Pages = append(m.Pages, manifest.Page{N: n + 1})
		}
		got := indexnote.Chapters(m, c.outline, 40)
		if len(got) != c.want || c.want > 0 && got[0].Note != c.first {
			t.Errorf("%s: %d chapters, want %d: %+v", name, len(got), c.want, got)
		}
		next := 1
		for _, chapter := range got {
			if chapter.First != next {
				t.Errorf("%s: %+v does not begin at page %d", name, chapter, next)
			}
			next = chapter.Last + 1
		}
	}
}
