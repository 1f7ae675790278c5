package vault_test

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/vault"
)

func bundles() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range map[string]string{
		"Imported/Workbook/manifest.json": `{"version": 1, "note": "Workbook.md", "source": {"name": "Workbook.pdf"}}`,
		"Imported/Workbook/Workbook.md":   "note", "Imported/Workbook/text/page_0001.txt": "one", "Imported/Workbook/chapters/01 A.md": "a",
		"Imported/Old/manifest.json": `{"version": 1, "source": {"name": "Old.pdf"}}`, "Imported/Old/index.md": "old", "Imported/Old/text/page_0001.md": "one",
		"Imported/Both/manifest.json": `{"version": 1, "note": "Both.md"}`, "Imported/Both/Both.md": "note", "Imported/Both/index.md": "own",
		"Imported/Novel/manifest.json": `{"version": 1, "note": "Novel.md", "source": {"name": "Novel.zip", "kind": "archive"}}`, "Imported/Novel/Novel.md": "notes", "Imported/Novel/chapters/One.md": "own",
		"Imported/Out/manifest.json": `{"version": 1, "note": "../Old/index.md"}`, "Imported/Lost/manifest.json": `{"version": 1, "note": "Lost.md"}`,
		"Site/manifest.json": `{"version": 2, "note": "x.md"}`, "Site/x.md": "x", "Notes/text/page_1.txt": "mine",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestActual(t *testing.T) {
	for name, want := range map[string]string{
		"Imported/Workbook/index.md":          "Imported/Workbook/Workbook.md",
		"Imported/Workbook/Index.MD":          "Imported/Workbook/Workbook.md",
		"Imported/Workbook/text/page_0001.md": "Imported/Workbook/text/page_0001.txt",
		"Imported/Workbook/text/page_0002.md": "", "Imported/Workbook/other.md": "", "Imported/Workbook/Workbook.md": "",
		"Imported/Old/index.md": "", "Imported/Old/text/page_0001.md": "", "Imported/Both/index.md": "", "Imported/Out/index.md": "", "Imported/Lost/index.md": "",
		"Site/index.md": "", "Notes/text/page_1.md": "", "../index.md": "", "index.md": "", "Nowhere/index.md": "",
	} {
		if want == "" {
			want = name
		}
		if got := vault.Actual(bundles(), name); got != want {
			t.Errorf("Actual(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		glob, name string
		want       bool
	}{
		{"Imported/*/index.md", "Imported/Workbook/Workbook.md", true},
		{"Imported/*/index.md", "Imported/Old/index.md", true},
		{"Imported/*/index.md", "Imported/Both/Both.md", false}, // a real file wins
		{"Imported/*/index.md", "Imported/Both/index.md", true},
		{"Imported/*/index.md", "Site/x.md", false},
		{"Imported/*/*.md", "Imported/Workbook/Workbook.md", true},
		{"Imported/*/text/*.md", "Imported/Workbook/text/page_0001.txt", true},
		{"Imported/*/text/page_0001.md", "Imported/Workbook/text/page_0001.txt", true},
		{"Imported/*/*/*.txt", "Imported/Workbook/text/page_0001.txt", true},
		{"Notes/*/*.md", "Notes/text/page_1.txt", false},
	} {
		match := func(name string) bool { ok, _ := path.Match(c.glob, name); return ok }
		if got := vault.NewBundles(bundles()).Fits(match, c.name); got != c.want {
			t.Errorf("%s fits %s: %v, want %v", c.name, c.glob, got, c.want)
		}
	}
	any := func(name string) bool { return path.Ext(name) == ".md" }
	if vault.NewBundles(bundles()).Fits(any, "Imported/Workbook/text/page_0001.txt") {
		t.Error("a glob for all notes finds the text of a page")
	}
}

func TestChapterOf(t *testing.T) {
	for name, want := range map[string]string{
		"Imported/Workbook/chapters/01 A.md": "Imported/Workbook/Workbook.md", "Imported/Workbook/chapters/01 A.txt": "", "Imported/Workbook/other/01 A.md": "",
		"Imported/Old/chapters/01 A.md": "", "Imported/Novel/chapters/One.md": "", // a folder of an export of notes
	} {
		if got := vault.NewBundles(bundles()).ChapterOf(name); got != want {
			t.Errorf("ChapterOf(%q) = %q, want %q", name, got, want)
		}
	}
}

// opened counts how often files are opened.
type opened struct {
	fs.FS
	times map[string]int
}

func (o opened) Open(name string) (fs.File, error) {
	o.times[name]++
	return o.FS.Open(name)
}

// Walks ask about each file of a folder.
func TestBundles_readManifestsOnce(t *testing.T) {
	files := opened{bundles(), map[string]int{}}
	b := vault.NewBundles(files)
	for range 3 {
		for _, name := range []string{"Imported/Workbook/Workbook.md", "Imported/Workbook/other.md", "Imported/Workbook/chapters/01 A.md", "Notes/one.md", "Notes/two.md"} {
			b.Fits(func(name string) bool { return path.Base(name) == "index.md" }, name)
			b.ChapterOf(name)
		}
	}
	for name, want := range map[string]int{"Imported/Workbook/manifest.json": 1, "Notes/manifest.json": 1} {
		if got := files.times[name]; got != want {
			t.Errorf("%s was opened %d times, want %d", name, got, want)
		}
	}
	clear(files.times)
	for _, name := range []string{"Imported/Workbook/Workbook.md", "Notes/one.md"} {
		vault.IsFormerVersion(files, name)
		vault.NewBundles(files).Fits(func(name string) bool { return strings.HasSuffix(name, ".md") }, name)
	}
	if len(files.times) > 0 {
		t.Errorf("names that say enough made it open %v", files.times)
	}
}
