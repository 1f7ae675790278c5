package ingestion

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

func TestImport_sameNameOtherFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.mustRun(b.drop("imp-1", "Import/notes.pdf", pdfBytes))
	made, _ := b.mustRun(b.drop("imp-2", "Import/notes.txt", []byte("hello")))
	if made.Bundle != "Imported/notes (2)" {
		t.Errorf("the other file of the same name is at %q", made.Bundle)
	}
	b.vault.Put("Imported/mine/own.md", "a person's folder")
	made, _ = b.mustRun(b.drop("imp-3", "Import/mine.txt", []byte("hello again")))
	if made.Bundle != "Imported/mine (2)" {
		t.Errorf("a person's folder was taken: %q", made.Bundle)
	}
}

func TestImport_duplicate(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	asked := len(b.worker.requests)
	j := b.drop("imp-2", "Import/q3.pdf", pdfBytes)
	made, filed := b.mustRun(j)
	if made.Bundle != "Imported/q3" || filed.Name != "Imported/q3/q3.pdf" {
		t.Errorf("duplicate of %q, filed %+v", made.Bundle, filed)
	}
	if len(b.worker.requests) != asked || b.im.exists(j.Source) || b.im.exists("Imported/q3 (2)") {
		t.Error("the duplicate was read, left or bundled")
	}
	m, _ := b.im.manifest("Imported/q3")
	want := []manifest.History{{Event: "duplicate", Import: "imp-2", Source: "Import/q3.pdf", At: noon.Add(60e9)}}
	if diff := cmp.Diff(want, m.Import.History); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}

	again := b.drop("imp-3", "Import/q3.pdf", pdfBytes)
	again.Mode = config.ModeMarkdown // other settings are another job
	if made, _ := b.mustRun(again); made.Previous != "Imported/q3 (version 1)" {
		t.Errorf("other settings: %+v", made)
	}
}

// A file that the user has put into a bundle, in the place of a damaged original, stays there when its bytes are known from elsewhere.
func TestImport_duplicateInBundle(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.mustRun(b.drop("imp-1", "Import/whole.pdf", pdfBytes))
	b.mustRun(b.drop("imp-2", "Import/cut.pdf", pdfBytes[:len(pdfBytes)-2]))
	j := b.drop("imp-3", "Imported/cut/cut.pdf", pdfBytes)
	j.Source, j.Where = "Import/cut.pdf", j.Source
	b.im.Imported = func(context.Context, string, string) (string, string, error) { return "imp-1", "Imported/whole", nil }
	if made, filed := b.mustRun(j); made.Bundle != "Imported/whole" || filed.Name != j.Where || b.read(j.Where) != string(pdfBytes) {
		t.Errorf("%+v, filed %+v", made, filed)
	}
}

// Each empty file is reported for what it is, whatever other files were empty before.
func TestImport_emptyFilesAreNoDuplicates(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.mustRun(b.drop("imp-1", "Import/notes.txt", nil))
	if made, _ := b.mustRun(b.drop("imp-2", "Import/notes.log", nil)); made.Bundle != "Imported/notes (2)" {
		t.Errorf("%+v", made)
	}
	if _, _, err := b.run(b.drop("imp-3", "Import/notes.docx", nil)); err == nil || !strings.Contains(err.Error(), "0 bytes") {
		t.Error(err)
	}
	if made, _ := b.mustRun(b.drop("imp-4", "Import/notes.txt", nil)); made.Bundle != "Imported/notes" {
		t.Errorf("the same file again: %+v", made)
	}
}

func TestClassify_ofImporterFindsWhatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	b.drop("", "Import/q3.pdf", []byte("%PDF-2.0 others"))
	if got, err := b.im.Classify(t.Context(), j); err != nil || !got.Gone {
		t.Errorf("other bytes: %+v, %v", got, err)
	}
	j.Source = "Import/none.pdf"
	if got, err := b.im.Classify(t.Context(), j); err != nil || !got.Gone {
		t.Errorf("no file: %+v, %v", got, err)
	}
}

func TestPublish_refusesAFileThatChanged(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Route = filetype.Classify("", j.Source, pdfBytes, nil, 0)
	x, err := b.im.Extract(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	b.drop("", "Import/q3.pdf", []byte("%PDF-2.0 others"))
	_, err = b.im.Publish(t.Context(), j, x)
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != failure.Cancelled {
		t.Errorf("got %v", err)
	}
	if b.hidden() != nil || b.im.exists("Imported/q3") || !b.im.exists("Import/q3.pdf") {
		t.Error("something was left, made, or lost")
	}
}

// The name is taken between the choice and the rename.
func TestPublish_nameTakenMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	b.before("publish Imported/q3", func() { b.vault.Put("Imported/q3/own.md", "x") })
	made, filed := b.mustRun(j)
	if made.Bundle != "Imported/q3 (2)" || filed.Name != "Imported/q3 (2)/q3.pdf" {
		t.Errorf("published %+v, filed %+v", made, filed)
	}
}

func TestImport_keepOriginal(t *testing.T) {
	t.Parallel()
	for keep, want := range map[string]string{config.KeepInBundle: "Imported/q3/q3.pdf", config.KeepInDone: "Imported/Originals/q3.pdf", config.KeepNot: ""} {
		t.Run(keep, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 1})
			j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
			j.Settings.KeepOriginal = keep
			_, filed := b.mustRun(j)
			if filed.Name != want || b.im.exists("Import/q3.pdf") || want != "" && !b.im.exists(want) {
				t.Errorf("filed %+v, want %q", filed, want)
			}
			link := map[string]string{config.KeepInBundle: "[[./q3.pdf#page=1|", config.KeepInDone: "[[Imported/Originals/q3.pdf#page=1|", config.KeepNot: "\nq3.pdf, page 1 ^p1"}[keep]
			if note := b.read("Imported/q3/q3.md"); !strings.Contains(note, link) {
				t.Errorf("no %q in\n%s", link, note)
			}
		})
	}
}

func TestImport_setsVersionsAside(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1})
	for _, data := range []string{"%PDF-1", "%PDF-1.2", "%PDF-1.3"} {
		if made, _ := b.mustRun(b.drop("imp-"+data, "Import/q3.pdf", []byte(data))); made.Bundle != "Imported/q3" {
			t.Errorf("the version %s is at %q", data, made.Bundle)
		}
	}
	for name, want := range map[string]int{"Imported/q3": 3, "Imported/q3 (version 2)": 2, "Imported/q3 (version 1)": 1} {
		if m, _ := b.im.manifest(name); m.Import.Version != want || len(m.Import.History) != want-1 {
			t.Errorf("%s: %+v", name, m.Import)
		}
	}
}

func TestImport_textFiles(t *testing.T) {
	t.Parallel()
	cases := []struct{ file, data, want string }{
		{"a.txt", "Hello\n# not a heading\n---\n", "Hello\n\\# not a heading\n\\---\n\n%% vaultflow:end"},
		{"a.md", "---\nx: 1\n---\n# Head\n![[b]]\n", "```yaml\nx: 1\n```\n\n## Head\n[[b]]\n"},
		{"a.json", `{"a": "%% vaultflow:end %%"}`, "```json\n{\"a\": \"% % vaultflow:end %%\"}\n```\n"},
		{"a.csv", "\xff\xfea\x00,\x00b\x00", "```csv\na,b\n```\n"},
		{"old.txt", "bl\xe5", "> - the file does not say its encoding; it was read as windows-1252"},
		{"bad.txt", "blåbær og \xff", "> - the file does not say its encoding; it was read as UTF-8; 1 bytes are not valid UTF-8 and were replaced by �"},
		{"wide.csv", "a\x00,\x00b\x00\n\x00c\x00o\x00d\x00,\x00e\x00e\x00l\x00\n\x00", "```csv\na,b\ncod,eel\n```\n"},
		{"empty.txt", "", "The file is empty."},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{})
			made, filed := b.mustRun(b.drop("imp-1", "Import/"+c.file, []byte(c.data)))
			if note := b.read(made.Note); !strings.Contains(note, c.want) {
				t.Errorf("no %q in\n%s", c.want, note)
			}
			if b.read(filed.Name) != c.data || b.worker.starts != 0 {
				t.Error("the original changed, or a worker was started")
			}
		})
	}
}

func TestImport_keepsWhatItDoesNotRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	data := []byte("Rar!\x1a\x07\x01\x00 and more")
	made, filed := b.mustRun(b.drop("imp-1", "Import/index.rar", data))
	golden(t, "rar/note.md", b.read(made.Note))
	if b.read(filed.Name) != string(data) || filed.Name != "Imported/index/index.rar" {
		t.Errorf("filed %+v", filed)
	}
	made, filed = b.mustRun(b.drop("imp-2", "Import/index.md", []byte("# a note called index")))
	if path.Base(filed.Name) != "index.md.original" || must(b.im.manifest(made.Bundle)).Import.ID != "imp-2" {
		t.Errorf("an original took the note's name: %+v", filed)
	}
}

// withGPS is a JPEG whose Exif block holds the given orientation and a secret.
func withGPS(t *testing.T, orientation byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 40, 20)), nil); err != nil {
		t.Fatal(err)
	}
	exif := append([]byte("Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), orientation, 0, 0, 0, 0, 0, 0)
	exif = append(exif, "GPS 59.91 N 10.75 E"...)
	head := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(exif) + 2)}, exif...)
	return append(append(head, b.Bytes()[2:]...), "trailer with GPS"...)
}

func TestImport_picture(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 1, Renderer: "image"})
	data := withGPS(t, 1)
	made, filed := b.mustRun(b.drop("imp-1", "Import/photo.jpg", data))
	golden(t, "photo/note.md", b.read(made.Note))
	if b.read(filed.Name) != string(data) {
		t.Error("the original was changed")
	}
	for _, r := range b.worker.requests {
		if r.Image {
			t.Error("the worker drew a picture that fits as it is")
		}
	}
	// The worker decodes what does not fit: the daemon has no memory for 36 megapixels.
	for i, data := range [][]byte{withGPS(t, 6), flatPNG(t, 5000, 2)} {
		b := newBench(t, extract.Document{Pages: 1, Renderer: "image"})
		made, _ := b.mustRun(b.drop("imp-1", []string{"Import/turned.jpg", "Import/wide.png"}[i], data))
		if m, _ := b.im.manifest(made.Bundle); m.Pages[0].Image == nil || m.Pages[0].Image.SHA256 != sum(dot(1)) {
			t.Errorf("picture %d is not the worker's: %+v", i, m.Pages[0].Image)
		}
	}
}

func flatPNG(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A picture inside a document is decoded in the worker too, if it does not fit as it is.
func TestImport_largePictureInADocument(t *testing.T) {
	t.Parallel()
	page := `<html><body><p>A map of the coast with all of its lighthouses.</p><img alt="Map" src="data:image/png;base64,` +
		base64.StdEncoding.EncodeToString(flatPNG(t, 5000, 40)) + `"></body></html>`
	b := newBench(t, extract.Document{Pages: 1})
	made, _ := b.mustRun(b.drop("imp-1", "Import/coast.html", []byte(page)))
	hasAll(t, b.read(made.Note), "![Map](./assets/image_0001.png)")
	if got := b.read(made.Bundle + "/assets/image_0001.png"); got != string(dot(1)) {
		t.Error("the picture is not the worker's")
	}
	b = newBench(t, extract.Document{Pages: 1})
	b.worker.open = func(int) error { return &extract.Error{Code: failure.WorkerMissing, Message: "not there"} }
	made, _ = b.mustRun(b.drop("imp-1", "Import/coast.html", []byte(page)))
	hasAll(t, b.read(made.Note), "1 of 1 embedded pictures cannot be shown here")
}

func TestImport_pictureLosesLocation(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		b := newBench(t, extract.Document{Pages: 1})
		j := b.drop("imp-1", "Import/photo.jpg", withGPS(t, 1))
		j.Settings.Image.KeepLocation = keep
		made, _ := b.mustRun(j)
		page := b.read(made.Bundle + "/pages/page_0001.jpg")
		if strings.Contains(page, "GPS") != keep {
			t.Errorf("keep %v: GPS in the page picture: %v", keep, strings.Contains(page, "GPS"))
		}
		if _, err := jpeg.Decode(strings.NewReader(page)); err != nil {
			t.Error(err)
		}
	}
}

func TestImport_pictureWithoutWorker(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	b.worker.open = func(int) error { return &extract.Error{Code: failure.WorkerMissing, Message: "not there"} }
	made, _ := b.mustRun(b.drop("imp-1", "Import/photo.jpg", withGPS(t, 1)))
	if note := b.read(made.Note); !strings.Contains(note, "![[./pages/page_0001.jpg]]") || !strings.Contains(note, "the text of page 1 could not be recognised") {
		t.Errorf("note:\n%s", note)
	}
	made, _ = b.mustRun(b.drop("imp-2", "Import/drawing.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)))
	if note := b.read(made.Note); !strings.Contains(note, "![[./drawing.svg]]") {
		t.Errorf("note:\n%s", note)
	}
	made, _ = b.mustRun(b.drop("imp-4", "Import/wide.png", flatPNG(t, 5000, 2)))
	hasAll(t, b.read(made.Note), "![[./wide.png]]", "the picture was not converted: ")
	j := b.drop("imp-3", "Import/other.jpg", withGPS(t, 3))
	j.Settings.Image.Strategies = []string{config.StrategyImageOCR}
	if _, _, err := b.run(j); err == nil {
		t.Error("image_ocr alone succeeded without a worker")
	}
}

func TestImport_pagesOfTIFF(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 3})
	made, _ := b.mustRun(b.drop("imp-1", "Import/fax.tif", []byte("II*\x00\x08\x00\x00\x00broken for imaging")))
	if note := b.read(made.Note); strings.Count(note, "![[./pages/page_") != 3 || !strings.Contains(note, "## Page 3") {
		t.Errorf("note:\n%s", note)
	}
}

// Two sessions work at the same time: each waits for the other.
func TestExtract_twoSessions(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 2})
	var inside atomic.Int32
	both := make(chan struct{})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		if r.Text {
			if inside.Add(1) == 2 {
				close(both)
			}
			select {
			case <-both:
			case <-t.Context().Done():
				return extract.Page{}, t.Context().Err()
			}
		}
		return goodPage(r), nil
	}
	b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	if b.worker.starts != 2 || b.worker.closed != 2 {
		t.Errorf("%d sessions started, %d closed", b.worker.starts, b.worker.closed)
	}
}

func TestExtract_distrustsTheWorker(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 3})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		p := goodPage(r)
		switch {
		case r.N == 1 && r.Image:
			p.Image.Bytes = []byte("#!/bin/sh")
		case r.N == 2 && r.Image:
			p.N = 3
		case r.N == 3 && r.Text:
			p.Text = layer("%% vaultflow:end %%\n![[secret]]\n---\nx: y\n---")
		}
		return p, nil
	}
	made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	note := b.read(made.Note)
	if strings.Count(note, indexnote.End) != 1 || !strings.HasSuffix(note, indexnote.End+"\n") || strings.Contains(note, "![[secret") {
		t.Errorf("the text left its place:\n%s", note)
	}
	m, _ := b.im.manifest(made.Bundle)
	if m.Pages[0].Status != manifest.PageFailed || m.Pages[1].Status != manifest.PageFailed || m.Pages[2].Status != manifest.PageDone {
		t.Errorf("pages: %+v", m.Pages)
	}
}

func TestJob_hashHasItsMode(t *testing.T) {
	t.Parallel()
	if (Job{Mode: config.ModeMarkdown}).Hash() != (config.Settings{PDF: config.PDF{Mode: config.ModeMarkdown}}).Hash() {
		t.Error("the job's mode is not part of its hash")
	}
}

func TestFile_retryFromTheFailedFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	j := b.drop("imp-1", "Import/sub/q3.pdf", pdfBytes)
	filed, err := b.im.File(t.Context(), j, Ending{State: StateFailed, Message: "broken"})
	if err != nil || filed.Name != "Import/Failed/sub/q3.pdf" || filed.Note != "Import/Failed/sub/q3.pdf.failed.md" {
		t.Fatalf("filed %+v, %v", filed, err)
	}
	golden(t, "failed/q3.pdf.failed.md", b.read(filed.Note))
	j.Where = filed.Name
	made, moved := b.mustRun(j)
	if made.Bundle != "Imported/sub/q3" || moved.Name != "Imported/sub/q3/q3.pdf" || b.im.exists(filed.Name) || b.im.exists(filed.Note) {
		t.Errorf("published %+v, filed %+v", made, moved)
	}
	j.Where, j.ID, j.Again = moved.Name, "imp-2", true // once more, from within the bundle that will be replaced
	made, moved = b.mustRun(j)
	if made.Previous != "Imported/sub/q3 (version 1)" || b.read(moved.Name) != string(pdfBytes) || b.hidden() != nil {
		t.Errorf("published %+v, filed %+v, left %v", made, moved, b.hidden())
	}
}

func TestExtract_fileGoneBeforeItIsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, report)
	b.worker.open = func(int) error { return errors.New("open Import/gone.pdf: no such file") }
	_, err := b.im.Extract(t.Context(), Job{ID: "imp-1", Source: "Import/gone.pdf", Size: 9, Route: filetype.Route{Kind: filetype.KindPDF}})
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != failure.Cancelled {
		t.Errorf("got %v", err)
	}
}

// A note that the user renamed is the note of the next version too, with what the user wrote, under the name that links lead to.
func TestImport_versionOfRenamedNote(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]string{"alone": "", "beside notes of the user": "my own\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, extract.Document{Pages: 1})
			made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
			b.vault.Put("Imported/q3/Beans.md", strings.Replace(b.read(made.Note), "Text of page 1", "My text of page 1", 1)+"\nMy words.\n")
			b.vault.Delete(made.Note)
			if other != "" {
				b.vault.Put("Imported/q3/Mine.md", other)
			}
			next, _ := b.mustRun(b.drop("imp-2", "Import/q3.pdf", append(slices.Clone(pdfBytes), '\n')))
			if next.Note != "Imported/q3/Beans.md" || b.manifest(next).Note != "Beans.md" {
				t.Errorf("%+v", next)
			}
			hasAll(t, b.read("Imported/q3/Beans.md"), "My words.", "what you changed between the marks (page 1) is in Imported/q3 (version 1)")
		})
	}
}
