package ingestion

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// A web page and the files that were saved with it are one bundle, with its pictures in their places.
func TestImport_savedPageWithItsFiles(t *testing.T) {
	t.Parallel()
	pixel, err := base64.StdEncoding.DecodeString(onePixel)
	if err != nil {
		t.Fatal(err)
	}
	page := `<!DOCTYPE html><!-- saved from url=(0027)https://example.org/a-trip --><html><head><title>A trip</title></head><body><article><h1>A trip</h1><p>` + strings.Repeat("We walked for days, and it rained. ", 30) +
		`</p><img src="./Trip_files/the%20lake.png" alt="The lake"><img src="https://example.org/x.png" alt="elsewhere"><img src="../../secret.png" alt="out"><p>` + strings.Repeat("Then the sun came. ", 30) + `</p></article></body></html>`
	for name, files := range map[string][]packedFile{
		"Import/Trip.zip":  {{name: "Trip.html", data: page}, {name: "Trip_files/the lake.png", data: string(pixel)}, {name: "Trip_files/style.css", data: "p {}"}},
		"Import/Trip.maff": {{name: "1/Trip.html", data: page}, {name: "1/Trip_files/the lake.png", data: string(pixel)}, {name: "1/index.rdf", data: "<RDF/>"}},
	} {
		b := newBench(t, extract.Document{})
		made, _ := b.mustRun(b.drop("imp-1", name, zipFiles(t, files...)))
		note := b.read(made.Note)
		m, _ := b.im.manifest(made.Bundle)
		if len(m.Assets) != 1 || len(m.Children) != 0 || len(m.Pages) != 1 || !strings.Contains(note, "![The lake](./assets/image_0001.png)") || !strings.Contains(note, "\n# A trip\n") ||
			!strings.Contains(note, "Saved from [https://example.org/a-trip]") || !strings.Contains(note, "[elsewhere](https://example.org/x.png)") {
			t.Errorf("%s: %d pictures, children %v:\n%s", name, len(m.Assets), m.Children, note)
		}
	}
}
