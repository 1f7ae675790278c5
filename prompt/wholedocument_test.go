package prompt_test

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/prompt"
)

// longBook is a bundle of four pages in notes of two chapters, and a note that embeds it.
func longBook() vaultFiles {
	v := vaultFiles{
		"Imported/Book/Book.md": "---\nrating: 5\n---\nRead until Friday.\n%% vaultflow:begin %%\n# Book\n\n- [[./chapters/01 A|A]]\n- [[./chapters/02 B|B]]\n%% vaultflow:end %%\nMy verdict.\n",
		"Notes/Plan.md":         "Before.\n\n![[Book]]\n\nAfter.\n",
		"Notes/Page.md":         "![[Book#^p3]]\n",
	}
	var pages []string
	for n := 1; n <= 4; n++ {
		pages = append(pages, fmt.Sprintf(`{"n":%d,"image":{"path":"pages/page_%04d.png"},"text":{"path":"text/page_%04d.txt","source":"layer"},"status":"done"}`, n, n, n))
		v[fmt.Sprintf("Imported/Book/pages/page_%04d.png", n)] = fmt.Sprintf("image 800x1000 png 9000%d", n)
		v[fmt.Sprintf("Imported/Book/text/page_%04d.txt", n)] = fmt.Sprintf("Words of page %d.", n)
	}
	v["Imported/Book/manifest.json"] = `{"version":1,"note":"Book.md","source":{"name":"Book.pdf"},"pages":[` + strings.Join(pages, ",") +
		`],"chapters":[{"note":"chapters/01 A.md","first":1,"last":2},{"note":"chapters/02 B.md","first":3,"last":4}]}`
	v["Imported/Book/chapters/01 A.md"] = "# A\n\n![[../pages/page_0001.png]]\nWords of page 1.\n\n![[../pages/page_0002.png]]\nWords of page 2.\n"
	v["Imported/Book/chapters/02 B.md"] = "# B\n"
	return v
}

// seen are words of pages, pictures and remarks in the order of the prompt.
func seen(p *prompt.Prompt) string {
	var b strings.Builder
	for _, block := range p.Blocks {
		switch block := block.(type) {
		case content.Text:
			for _, word := range strings.FieldsFunc(block.Value, func(r rune) bool { return r == '\n' }) {
				for _, mark := range []string{"rating", "Read until", "My verdict", "chapters/", "Words of page ", "Before", "After"} {
					if i := strings.Index(word, mark); i >= 0 && !strings.HasPrefix(word, "<") && !strings.HasPrefix(word, "[image") {
						b.WriteString(strings.TrimSpace(strings.TrimRight(word[i:], ".")) + "; ")
						break
					}
				}
			}
		case content.Image:
			b.WriteString("picture " + strings.TrimSuffix(strings.TrimPrefix(block.Name, "Imported/Book/pages/page_000"), ".png") + "; ")
		}
	}
	return b.String()
}

func TestBuild_noteRepresentsTheWholeDocument(t *testing.T) {
	t.Parallel()
	const all = "Words of page 1; picture 1; Words of page 2; picture 2; Words of page 3; picture 3; Words of page 4; picture 4; "
	for name, c := range map[string]struct {
		value string
		blind bool
		want  string
	}{
		"input":         {"file: Imported/Book/Book.md", false, "rating: 5; Read until Friday; " + all + "My verdict; "},
		"blind":         {"file: Imported/Book/Book.md", true, "rating: 5; Read until Friday; Words of page 1; Words of page 2; Words of page 3; Words of page 4; My verdict; "},
		"pages":         {`file: Imported/Book/Book.md (pages="2-3")`, false, "Words of page 2; picture 2; Words of page 3; picture 3; "},
		"embed":         {"file: Notes/Plan.md", false, "Before; rating: 5; Read until Friday; " + all + "My verdict; After; "},
		"embedded page": {"file: Notes/Page.md", false, "Words of page 3; picture 3; "},
		"head":          {"file: Imported/Book/Book.md (head=20)", false, "rating: 5; "},
		"properties":    {"file: Imported/Book/Book.md (properties)", false, "rating: 5; "},
		"a chapter":     {"file: Imported/Book/chapters/01 A.md", false, "picture 1; Words of page 1; picture 2; Words of page 2; "},
	} {
		s := spec(input(t, c.value))
		if c.blind {
			s.Caps = blind
		}
		if got := seen(build(t, longBook(), s)); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// manifestReads counts how often a manifest is opened.
type manifestReads struct {
	fs.FS
	n int
}

func (f *manifestReads) Open(name string) (fs.File, error) {
	if path.Base(name) == "manifest.json" {
		f.n++
	}
	return f.FS.Open(name)
}

// A Build reads the manifest of an import once, however many of its notes and pictures it shows.
func TestBuild_readsAManifestOnce(t *testing.T) {
	t.Parallel()
	v := longBook()
	b := v.builder()
	count := &manifestReads{FS: b.FS}
	b.FS = count
	s := spec(input(t, `file: Imported/Book/Book.md (pages="2-3")`), input(t, "file: Imported/Book/Book.md"), input(t, "file: Imported/Book/Book.md (head=20)"))
	s.Bounds.MaxImages = 1
	if _, err := b.Build(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if count.n != 1 {
		t.Errorf("the manifest was read %d times", count.n)
	}
}
