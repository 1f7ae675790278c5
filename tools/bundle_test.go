package tools

import (
	"strings"
	"testing"
)

// Models know the paths of older bundles too: from their instructions, and from what they read.
func TestTools_pathsOfOlderBundles(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{
		"Imported/Book/manifest.json": `{"version": 1, "note": "Book.md"}`, "Imported/Book/Book.md": "the eigenvalue\nan aside", "Imported/Book/text/page_0001.txt": "the eigenvalue",
		"Imported/Old/manifest.json": `{"version": 1}`, "Imported/Old/index.md": "old words",
	})
	for name, c := range map[string]struct{ tool, in, want, not string }{
		"read":        {ReadFile, `{"path":"Imported/Book/index.md"}`, "the eigenvalue", ""},
		"read page":   {ReadFile, `{"path":"Imported/Book/text/page_0001.md"}`, "the eigenvalue", ""},
		"read old":    {ReadFile, `{"path":"Imported/Old/index"}`, "old words", ""},
		"list":        {ListFiles, `{"folder":"Imported","glob":"*/index.md"}`, "Imported/Book/Book.md", "page_0001"},
		"search":      {SearchFiles, `{"query":"eigenvalue"}`, "Imported/Book/Book.md:1", "page_0001"},
		"search glob": {SearchFiles, `{"query":"eigenvalue","glob":"**/text/*.md"}`, "Imported/Book/text/page_0001.txt:1", "Book.md"},
		"search text": {SearchFiles, `{"query":"eigenvalue","folder":"Imported/Book/text"}`, "page_0001.txt:1", "Book.md"},
		"edit":        {EditFile, `{"path":"Imported/Book/index.md","old_text":"an aside","new_text":""}`, "Imported/Book/Book.md", "index.md"},
	} {
		t.Run(name, func(t *testing.T) {
			got := d.use(c.tool, c.in).Text()
			if !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("%s %s:\n%s", c.tool, c.in, got)
			}
		})
	}
}
