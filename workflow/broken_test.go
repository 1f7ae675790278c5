package workflow

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

// brokenVault is the vault of testdata/broken/vault.txtar.
func brokenVault() fstest.MapFS {
	fsys := fstest.MapFS{"Schemas/person.json": {Data: []byte(`{"type": "object"}`)}, "Schemas/broken.json": {Data: []byte(`{"type": }`)}}
	for _, name := range []string{"Notes/plan.md", "Notes/today.md", "Tasks/a.md", "Old/plan.md", "Pictures/cat.png"} {
		fsys[name] = &fstest.MapFile{Data: []byte("x")}
	}
	return fsys
}

// brokenWorld is the world of the notes in testdata/broken.
func brokenWorld() World {
	return World{
		Now: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Zone: time.UTC, Models: []string{"local", "sonnet"}, Default: "local",
		Tools: []string{"read_chunks"}, ImportDir: "Import", Imported: "Imported",
		Can: func(alias, capability string) (can, known bool) {
			return alias == "sonnet" || capability != "vision", true
		},
		Schema: func(_ string, text []byte) error {
			var value any
			return json.Unmarshal(text, &value)
		},
	}
}

// brokenLinks finds notes by the end of their names.
func brokenLinks(fsys fstest.MapFS) vault.Links {
	return vault.LinksFunc(func(link, _ string) vault.Location {
		var found []string
		for name := range fsys {
			if name == link+".md" || strings.HasSuffix(name, "/"+link+".md") {
				found = append(found, name)
			}
		}
		if len(found) == 0 {
			return vault.Location{}
		}
		l := vault.Location{Name: found[0], Found: true}
		if len(found) > 1 {
			l.Ambiguous = found
		}
		return l
	})
}

// Every mistake gets the line, column, severity, code and suggestion that the page of the language asks for, and nothing
// else is said.
func TestCheck_brokenNotes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/broken/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	notes := 0
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head, parts := archive(string(src))
		world := brokenWorld()
		if strings.Contains(head, "inspect") {
			fsys := brokenVault()
			world.FS, world.Links = fsys, brokenLinks(fsys)
		}
		for i := 0; i+1 < len(parts); i += 2 {
			notes++
			file, want := parts[i].name, parts[i+1]
			if want.name != "want" || want.text == "" {
				t.Fatalf("%s: %s has no expectation", name, file)
			}
			plan, list := Parse(strings.TrimSuffix(file, ".md"), file, []byte(parts[i].text))
			list = append(list, Check(plan, world)...)
			list = diag.Sort(append(list, Inspect(t.Context(), plan, world)...))
			got := ""
			for _, d := range list {
				got += fmt.Sprintf("%d:%d %s %s %s\n", d.Line, d.Column, d.Severity, d.Code, d.Suggestion)
			}
			if diff := cmp.Diff(want.text, got); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s\n%v", filepath.Base(name), file, diff, list)
			}
		}
	}
	if notes < 120 {
		t.Errorf("only %d broken notes", notes)
	}
}
