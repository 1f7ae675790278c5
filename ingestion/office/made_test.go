package office

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what was made into testdata/made")

// TestRead_made reads the files that other programs wrote, so that the readers know more than the dialect of our own
// tests. testdata/made/README.md says how each was made; NAME.md beside a file is the Markdown that it must become.
func TestRead_made(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/made/*.*")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("testdata/made/README.md"); err != nil {
		t.Error(err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if filepath.Ext(name) == ".md" || filepath.Ext(name) == ".xml" {
			continue
		}
		seen[filepath.Ext(name)] = true
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := read(data, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimPrefix(filepath.Ext(name), "."); doc.Kind != want {
				t.Errorf("kind %q, want %q", doc.Kind, want)
			}
			got := "title: " + doc.Title + "\nauthor: " + doc.Author + "\nwarnings: " + strings.Join(doc.Warnings, "; ") + "\n\n" + doc.Markdown(byName(doc))
			if *update {
				if err := os.WriteFile(name+".md", []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".md")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("Markdown (-want +got):\n%s", diff)
			}
			for i, p := range doc.Pictures {
				if data, err := doc.Data(i, 1<<20); err != nil || len(data) == 0 {
					t.Errorf("picture %s: %d bytes, %v", p.Name, len(data), err)
				}
			}
		})
	}
	for _, ext := range []string{".docx", ".pptx", ".xlsx", ".epub", ".odt", ".odp", ".ods"} {
		if !seen[ext] {
			t.Errorf("no file *%s was read", ext)
		}
	}
}
