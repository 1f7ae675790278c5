package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// A note of a document with chapters represents all its pages, also under the name that notes had before, and what an answer cites
// is linked where it is.
func TestChapters_wholeDocumentIsReadAndCited(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], seeing, says("Early [Reader, p. 1], late [Reader, p. 4]."))
	m := manifest.Manifest{
		Version: manifest.Version, Note: "Reader.md", Source: manifest.Source{Name: "Reader.pdf", Kind: filetype.KindPDF}, Document: manifest.Document{Pages: 4},
		Chapters: []manifest.Chapter{{Note: "chapters/01 Early.md", Title: "Early", First: 1, Last: 2}, {Note: "chapters/02 Late.md", Title: "Late", First: 3, Last: 4}},
	}
	const dir = "Imported/Reader/"
	notes := make([]string, len(m.Chapters))
	for n := 1; n <= 4; n++ {
		text := &manifest.PageText{Path: fmt.Sprintf("text/page_%04d.txt", n), Source: manifest.TextLayer}
		b.write(dir+text.Path, fmt.Sprintf("Words of page %d.\n", n))
		m.Pages = append(m.Pages, manifest.Page{N: n, Status: manifest.PageDone, Text: text})
		notes[(n-1)/2] += fmt.Sprintf("## Page %d\n\nReader, page %d ^p%d\n\nWords of page %d.\n", n, n, n, n)
	}
	for i, c := range m.Chapters {
		b.write(dir+c.Note, notes[i])
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	b.write(dir+manifest.File, string(data))
	b.write(dir+m.Note, "---\naliases: [The Reader]\n---\nMy remark.\n%% vaultflow:begin %%\n# Reader\n%% vaultflow:end %%\n")
	for _, path := range []string{"Imported/Reader/index.md", "Imported/*/index.md", "[[Imported/Reader/index]]", "[[Reader]]", "[[The Reader]]", "by hand"} {
		source, run := "file: "+path, []string{"run", "Look"}
		if path == "by hand" {
			source, run = "trigger", append(run, "Imported/Reader/index")
		}
		b.write("Workflows/Look.md", "## Notes\n@cite pages\n@input "+source+"\n@output file: Out\n@write_mode replace\n\nTake notes.\n")
		before := len(b.server.Requests())
		b.run(exitDone, run...)
		body := string(b.server.Requests()[before].Body)
		at := 0
		for _, want := range []string{`path=\"Imported/Reader/Reader.md\"`, "My remark.", "Words of page 1.", "Words of page 2.", "Words of page 3.", "Words of page 4."} {
			if next := strings.Index(body[at:], want); next < 0 || strings.Count(body, want) != 1 {
				t.Errorf("%s: %q is not once in its place", path, want)
			} else {
				at += next
			}
		}
		b.holds("Out.md", "Early [[01 Early#^p1|p. 1]], late [[02 Late#^p4|p. 4]].\n")
	}
}
