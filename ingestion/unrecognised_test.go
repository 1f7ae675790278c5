package ingestion

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/attempts"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// Whatever text a page has besides, one whose text should have been read from its picture and was not leaves its import partial, and is
// made again when a person asks for it.
func TestImport_textThatWasNotRecognised(t *testing.T) {
	t.Parallel()
	stamp := &extract.PageText{Markdown: "RECEIVED 2026", Plain: "RECEIVED 2026", Evidence: extract.Evidence{Chars: 13, Pictures: 1, PictureCover: 1}}
	form := &extract.PageText{Besides: "- Name: Ada", Evidence: extract.Evidence{Pictures: 1, PictureCover: 1}}
	ended := func(extract.PageRequest) error { return errEnded }
	none := func(extract.PageRequest) error {
		return &extract.Error{Code: failure.Unsupported, Message: "no language data is installed"}
	}
	for name, c := range map[string]struct {
		file string
		text *extract.PageText
		fail func(r extract.PageRequest) error // of recognition
		open error
		want string
	}{
		"a stamp on a scan, two workers ended":     {"scan.pdf", stamp, ended, nil, "put aside"},
		"form values, two workers ended":           {"form.pdf", form, ended, nil, "put aside"},
		"a stamp on a scan, no language":           {"scan.pdf", stamp, none, nil, "no language data"},
		"a picture, two workers ended":             {"photo.jpg", nil, ended, nil, "put aside"},
		"a picture, workers ended at its opening":  {"photo.jpg", nil, nil, errEnded, "put aside"},
		"a large picture, ended at its opening":    {"wide.png", nil, nil, errEnded, "put aside"},
		"a picture that Obsidian shows, no worker": {"drawing.svg", nil, nil, &extract.Error{Code: failure.WorkerMissing, Message: "not there"}, "run vaultflow doctor"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 1})
			b.im.Attempts = attempts.New(nil)
			broken := true
			b.worker.open = func(int) error {
				if broken {
					return c.open
				}
				return nil
			}
			b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
				if broken && r.OCR && c.fail != nil {
					return extract.Page{}, c.fail(r)
				}
				p := goodPage(r)
				if r.Text {
					p.Text = c.text
				}
				return p, nil
			}
			data := map[string][]byte{"photo.jpg": withGPS(t, 1), "wide.png": flatPNG(t, 5000, 2), "drawing.svg": []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)}[c.file]
			if data == nil {
				data = pdfBytes
			}
			j := b.drop("imp-1", "Import/"+c.file, data)
			made, filed := b.mustRun(j)
			m, _ := b.im.manifest(made.Bundle)
			if p := m.Pages[0]; p.Status != manifest.PagePartial || !strings.Contains(p.Error, c.want) {
				t.Fatalf("page %s: %q, OCR %+v", p.Status, p.Error, p.OCR)
			}
			if note := b.read(made.Note); strings.Count(note, c.want) != 2 || !strings.Contains(note, "![[./") {
				t.Errorf("the note, which should say so above and at the page, and show the picture:\n%s", note)
			}
			broken = false
			if err := b.im.Attempts.Again(t.Context(), j.ID, j.SHA256); err != nil {
				t.Fatal(err)
			}
			j.Where, j.Mend, j.Again = filed.Name, made.Bundle, true
			if err := b.resume(j, &journal{}); err != nil {
				t.Fatal(err)
			}
			m, _ = b.im.manifest(made.Bundle)
			if p := m.Pages[0]; p.Status != manifest.PageDone || p.OCR.Error != "" || p.OCR.Engine == "" || !strings.Contains(b.read(made.Note), "Read from page 1") {
				t.Errorf("made again, the page is %+v with %+v:\n%s", p, p.OCR, b.read(made.Note))
			}
		})
	}
}

// A page whose text layer was put aside, and whose text was recognised instead, is listed too.
func TestImport_textLayerPutAside(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 2})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		if r.Text && r.N == 2 {
			return extract.Page{}, errEnded
		}
		return goodPage(r), nil
	}
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	kind, err := b.im.Classify(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	j.Route = kind.Route
	if x, err := b.im.Extract(t.Context(), j); err != nil || !slices.Equal(x.Unread(), []int{2}) {
		t.Errorf("%+v, %v", x, err)
	}
}

// An earlier version called a page done although its text was not recognised. It is made again with the rest.
func TestMend_pagesOfEarlierVersions(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 3})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		if r.OCR {
			return extract.Page{}, &extract.Error{Code: failure.Unsupported, Message: "no language data"}
		}
		return goodPage(r), nil
	}
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	made, filed := b.mustRun(j)
	old := b.read(made.Bundle + "/manifest.json")
	b.vault.Put(made.Bundle+"/manifest.json", strings.Replace(old, `"status": "partial"`, `"status": "done"`, 1))
	if b.read(made.Bundle+"/manifest.json") == old {
		t.Fatal(errors.New("no page was partial"))
	}
	b.worker.page = nil
	j.Where, j.Mend, j.Again = filed.Name, made.Bundle, true
	if err := b.resume(j, &journal{}); err != nil {
		t.Fatal(err)
	}
	if m, _ := b.im.manifest(made.Bundle); m.Pages[2].OCR.Engine == "" {
		t.Errorf("page 3: %+v", m.Pages[2].OCR)
	}
}
