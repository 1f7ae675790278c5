package ingestion

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var report = extract.Document{
	Pages: 4, Title: "Quarterly: 100% \"growth\"", Author: "Ingrid\nNordli", Created: "D:20260304050607+01'00'", Tagged: true, Renderer: "mupdf", Version: "1.24",
	Outline: []extract.OutlineItem{{Level: 1, Title: "Start | [here]", Page: 1}, {Level: 2, Title: "Detail", Page: 2}, {Level: 4, Title: "Deep", Page: 3}, {Level: 1, Title: "End"}},
}

var pdfBytes = []byte("%PDF-1.7\nfake\n%%EOF\n")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestImport_ofPDF(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		p := goodPage(r)
		if r.N == 3 && r.OCR {
			p.OCR.Confidence = 41
		}
		if r.N == 4 {
			p.Label = "iv"
		}
		return p, nil
	}
	made, filed := b.mustRun(b.drop("imp-1", "Import/2026/q3.pdf", pdfBytes))
	if want := (Published{Bundle: "Imported/2026/q3", Note: "Imported/2026/q3/q3.md"}); !cmp.Equal(made, want) {
		t.Errorf("published %+v, want %+v", made, want)
	}
	if filed.Name != "Imported/2026/q3/q3.pdf" || b.read(filed.Name) != string(pdfBytes) {
		t.Errorf("filed %+v", filed)
	}
	golden(t, "pdf/note.md", b.read("Imported/2026/q3/q3.md"))
	golden(t, "pdf/manifest.json", b.read("Imported/2026/q3/manifest.json"))
	files := b.tree()
	for _, want := range []string{
		"pages/page_0001.png", "pages/page_0004.png", "text/page_0001.txt", "text/page_0003.txt", "ocr/page_0003.json", "q3.md", "manifest.json", "q3.pdf",
	} {
		if _, ok := files["Imported/2026/q3/"+want]; !ok {
			t.Errorf("%s is missing", want)
		}
	}
	if len(files) != 4+4+1+3 {
		t.Errorf("%d files: %v", len(files), names(files))
	}
	if b.worker.starts != b.worker.closed {
		t.Errorf("%d sessions were started, %d closed", b.worker.starts, b.worker.closed)
	}
	if left := b.hidden(); left != nil {
		t.Errorf("left over: %v", left)
	}
}

func names(files map[string]string) []string {
	var list []string
	for name := range files {
		list = append(list, name)
	}
	return list
}

func TestImport_modes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string][3]bool{ // text, ocr, image
		config.ModeMarkdown: {true, true, false}, config.ModePageImages: {false, false, true}, config.ModeHybrid: {true, true, true},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 3})
			j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
			j.Mode = mode
			b.mustRun(j)
			var got [3]bool
			for _, r := range b.worker.requests {
				got[0], got[1], got[2] = got[0] || r.Text, got[1] || r.OCR, got[2] || r.Image
			}
			if got != want {
				t.Errorf("asked for text, ocr, image: %v, want %v", got, want)
			}
			if m, ok := b.im.manifest("Imported/q3"); !ok || m.Import.Mode != mode || (m.Render == nil) == want[2] {
				t.Errorf("manifest: %v %q %v", ok, m.Import.Mode, m.Render)
			}
		})
	}
}

func TestImport_keepsPagesBesideFailedOnes(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 5})
	b.worker.page = func(r extract.PageRequest, n int) (extract.Page, error) {
		switch {
		case r.N == 2 && r.Image:
			return extract.Page{}, &extract.Error{Code: failure.Timeout, Message: "took longer than 20s", Page: 2}
		case r.N == 4 && r.Image && n == 1:
			return extract.Page{}, &extract.Error{Code: failure.Crashed, Message: "died", Page: 4}
		case r.N == 3 && r.OCR:
			return extract.Page{}, &extract.Error{Code: failure.Unsupported, Message: "no language data"}
		}
		return goodPage(r), nil
	}
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Route = filetype.Classify("", j.Source, pdfBytes, nil, 0)
	x, err := b.im.Extract(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	x.Digest = ""
	want := Extracted{Pages: 5, Done: 4, Failed: []int{2}, Partial: []int{3, 4}, Lacking: []int{4}, Warnings: []string{
		"page 2 could not be read: took longer than 20s; again at half the resolution: took longer than 20s",
		"the text of page 3 could not be recognised: no language data",
		"page 4: made at half the resolution (died); vaultflow tries again by itself",
	}}
	if diff := cmp.Diff(want, x); diff != "" {
		t.Errorf("extracted (-want +got):\n%s", diff)
	}
	half := 0
	for _, r := range b.worker.requests {
		if r.Image && r.DPI == 75 {
			half++
		}
	}
	if half != 2 {
		t.Errorf("%d requests at half dpi, want one for page 2 and one for page 4", half)
	}
	if b.worker.starts < 4 {
		t.Errorf("%d sessions: the dead ones were not replaced", b.worker.starts)
	}
}

func TestExtract_refusesDocuments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		doc  extract.Document
		err  error
		code failure.Code
		wait bool
	}{
		"password":           {doc: extract.Document{NeedsPassword: true}, code: failure.NeedsPassword},
		"password, as error": {err: &extract.Error{Code: failure.NeedsPassword}, code: failure.NeedsPassword},
		"broken":             {err: &extract.Error{Code: failure.Corrupt, Message: "no objects"}, code: failure.Corrupt},
		"no pages":           {code: failure.Corrupt},
		"too many pages":     {doc: extract.Document{Pages: 5001}, code: failure.TooLarge},
		"dies at opening":    {err: &extract.Error{Code: failure.Crashed, Message: "exit 1"}, code: failure.Worker},
		"no worker":          {err: errors.New("exec: not found"), code: failure.Worker, wait: true},
		"worker missing":     {err: &extract.Error{Code: failure.WorkerMissing}, code: failure.Worker, wait: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.doc)
			b.worker.open = func(int) error { return c.err }
			_, _, err := b.run(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
			e, ok := errors.AsType[*fault.Error](err)
			if !ok || e.Code != c.code || e.Transient != c.wait || e.Remedy == "" {
				t.Fatalf("got %#v, want code %s", err, c.code)
			}
			if b.worker.starts > 2 {
				t.Errorf("%d starts", b.worker.starts)
			}
			filed, err := b.im.File(t.Context(), b.drop("imp-1", "Import/q3.pdf", pdfBytes), Ending{
				State: StateFailed, Code: e.Code, Message: e.Error(), Hint: e.Remedy, Transient: e.Transient,
			})
			want := "Import/Failed/q3.pdf"
			if c.wait {
				want = "Import/q3.pdf"
			}
			if err != nil || filed.Name != want || b.read(want) != string(pdfBytes) {
				t.Errorf("filed %+v, %v; want %s", filed, err, want)
			}
			if !c.wait && !strings.Contains(b.read("Import/Failed/q3.pdf.failed.md"), "what to do") {
				t.Error("the note does not say what to do")
			}
		})
	}
}

func TestExtract_givesUpHopelessDocuments(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 500})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		return extract.Page{}, &extract.Error{Code: failure.PageFailed, Message: "bad stream"}
	}
	_, _, err := b.run(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != failure.Corrupt {
		t.Errorf("got %v", err)
	}
	if n := len(b.worker.requests); n > 6*(giveUpAfter+2) {
		t.Errorf("%d requests for a document without a readable page", n)
	}
}

func TestExtract_diskFullIsTransient(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.fuse.full = true
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	_, _, err := b.run(j)
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || !e.Transient || e.Code != failure.Vault {
		t.Fatalf("got %v", err)
	}
	b.fuse.full = false
	b.mustRun(j)
}

func TestImport_longDocument(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 121})
	made, _ := b.mustRun(b.drop("imp-1", "Import/book.pdf", pdfBytes))
	hasAll(t, b.read(made.Note), "the document has 121 pages", "- [[./chapters/pages 001-020|Pages 1–20]]\n", "- [[./chapters/pages 101-121|Pages 101–121]]\n")
	last := b.events[len(b.events)-1]
	for _, e := range b.events {
		if e.Kind == EventPage {
			last = e
		}
	}
	if last.Done != 121 || last.Pages != 121 {
		t.Errorf("last event: %+v", last)
	}
}
