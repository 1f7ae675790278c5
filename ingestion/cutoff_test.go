package ingestion

import (
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/doubt"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// The renderers put a PDF together again that was cut off on its way, so that nothing but its end tells.
func TestImport_saysThatAPDFMayBeCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ cut bool }{"whole": {false}, "cut off": {true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := report
			doc.CutOff = c.cut
			b := newBench(t, doc)
			made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", []byte("%PDF-1.7\nfake\n")))
			if warnings := strings.Join(b.manifest(made).Import.Warnings, "\n"); strings.Contains(warnings, "mark of its end") != c.cut {
				t.Errorf("warnings %q, want one of a missing end: %v", warnings, c.cut)
			}
			if note := b.read(made.Note); strings.Contains(note, "cut off") != c.cut {
				t.Errorf("the note says that the file is cut off: %v, want %v\n%s", !c.cut, c.cut, note)
			}
		})
	}
}

// Pages whose content the file lacks make the import partial, with their numbers. A model that reads what is left of a page does not
// make it whole.
func TestImport_namesThePagesWhoseContentIsMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 4, CutOff: true})
	s := &seer{answer: func(int) (Reading, error) { return Reading{Markdown: pageWords}, nil }}
	b.im.Recogniser = s.offers
	j := doubtfulPages(b, 10, config.VisionDoubtful)
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		p := goodPage(r)
		if r.Text {
			p.Text = layer(pageWords)
			p.Text.Doubts = []doubt.Doubt{{Code: doubt.Table, Words: "its rows could not be told apart"}}
		}
		if r.N > 1 {
			p.Lost = "the file is cut off"
		}
		if r.Text && r.N > 2 {
			p.Text = layer("")
			p.Text.Evidence = extract.Evidence{Ink: &extract.Ink{}}
		}
		return p, nil
	}
	made, _ := b.mustRun(j)
	var states []string
	pages := b.manifestOf(made).Pages
	for _, p := range pages {
		states = append(states, p.Status)
	}
	if want := []string{manifest.PageDone, manifest.PagePartial, manifest.PageFailed, manifest.PageFailed}; !slices.Equal(states, want) || !slices.Equal(s.asked, []int{1, 2}) {
		t.Errorf("pages are %v, want %v; asked the model about %v", states, want, s.asked)
	}
	if !doubt.Has(pages[1].Doubts, doubt.Lost) || doubt.Has(pages[1].Doubts, doubt.Table) {
		t.Errorf("doubts about page 2: %+v", pages[1].Doubts)
	}
	if warnings := b.manifestOf(made).Import.Warnings; !slices.Equal(warnings[:1], []string{"the file is cut off: pages 3–4 and part of page 2 are missing; ask for the file again"}) || strings.Contains(strings.Join(warnings[1:], "\n"), "missing") {
		t.Errorf("warnings: %q", warnings)
	}
	hasAll(t, b.read(made.Note), "\ndoubtful_pages: [2]\n",
		"The text of this page is doubtful: part of the content is missing: the file is cut off.")
}

func TestImport_warnsOfXFAForms(t *testing.T) {
	t.Parallel()
	doc := report
	doc.XFA = true
	b := newBench(t, doc)
	made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", []byte("%PDF-1.7\nfake\n")))
	if note := b.read(made.Note); !strings.Contains(note, "XFA form") {
		t.Errorf("no warning:\n%s", note)
	}
}
