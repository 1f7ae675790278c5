package ingestion

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// thirty is a fresh vault with a document of 30 pages, ten of them scans, and one order of changes.
func thirty(t *testing.T) (*bench, Job) {
	b := newBench(t, extract.Document{Pages: 30, Title: "Log"})
	j := b.drop("imp-1", "Import/log.pdf", pdfBytes)
	j.Settings.Sessions = 1
	return b, j
}

// commitPoints are the kinds of changes that an import of many pages must survive.
var commitPoints = map[string]string{
	"a page's text":       "put text/page_0030.txt",
	"a page's words":      "put ocr/page_0030.json",
	"a page's picture":    "put pages/page_0030.png",
	"a page's record":     "put page_0030.json",
	"the document":        "put document.json",
	"the plan":            "put plan.json",
	"the manifest":        "put manifest.json",
	"the note":            "put log.md",
	"the bundle":          "publish Imported/log",
	"the original":        "move Import/log.pdf Imported/log/log.pdf",
	"the end of the work": "discard ",
}

// A process that is killed after any of the changes of a 30-page import leaves one whole bundle in the end, and only
// the pages that were not written yet are asked for again.
func TestImport_ofThirtyPagesSurvivesEveryCrash(t *testing.T) {
	t.Parallel()
	b, j := thirty(t)
	if err := b.resume(j, &journal{}); err != nil {
		t.Fatal(err)
	}
	want, changes := b.tree(), b.fuse.ops
	for point, begin := range commitPoints {
		found := false
		for _, change := range changes {
			found = found || strings.HasPrefix(change, begin)
		}
		if !found {
			t.Errorf("no change %q: the test does not kill at the commit of %s; changes: %q", begin, point, changes)
		}
	}
	for at := 1; at <= len(changes); at++ {
		t.Run(fmt.Sprintf("%d %s", at, changes[at-1]), func(t *testing.T) {
			t.Parallel()
			b, j := thirty(t)
			b.revive(at)
			var done journal
			if err := b.resume(j, &done); !errors.Is(err, errKilled) {
				t.Fatalf("the process was not killed: %v", err)
			}
			recorded := b.recorded()
			b.revive(0)
			if err := b.resume(j, &done); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, b.tree()); diff != "" {
				t.Errorf("another vault than without the crash (-want +got):\n%s", diff)
			}
			again := map[int]bool{}
			drawn := map[int]int{}
			for _, r := range b.worker.requests {
				if r.Image {
					if drawn[r.N]++; drawn[r.N] > 1 {
						again[r.N] = true
					}
				}
			}
			if len(drawn) != 30 || len(again) > heldPages+1 {
				t.Errorf("%d pages were drawn, these twice: %v", len(drawn), again)
			}
			for n := range again {
				if recorded[n] {
					t.Errorf("page %d had a record and was drawn again", n)
				}
			}
			if left := b.hidden(); left != nil {
				t.Errorf("left over: %v", left)
			}
		})
	}
}
