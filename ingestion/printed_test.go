package ingestion

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// fakeOffice gives the same for every conversion to a format, or its fault.
type fakeOffice struct {
	made   map[string]string // by format
	fault  error
	asked  []string
	most   int
	cancel context.CancelFunc
}

func (f *fakeOffice) Convert(_ context.Context, name, from, to string) ([]byte, error) {
	f.asked = append(f.asked, path.Base(name)+" "+from+" "+to)
	if f.cancel != nil {
		f.cancel()
	}
	if data, ok := f.made[to]; ok {
		return []byte(data), nil
	}
	return nil, f.fault
}
func (f *fakeOffice) Version(context.Context) string { return "7.4" }
func (f *fakeOffice) MaxPages() int                  { return max(f.most, 1) }

func benchWithOffice(t *testing.T, pages int, office *fakeOffice) *bench {
	t.Helper()
	b := newBench(t, extract.Document{Pages: pages, Renderer: "mupdf", Version: "1"})
	b.im.Office = office
	return b
}

func (b *bench) manifest(made Published) manifest.Manifest {
	b.Helper()
	m, err := manifest.Parse([]byte(b.read(path.Join(made.Bundle, manifest.File))))
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func TestImport_officeFileIsPrinted(t *testing.T) {
	t.Parallel()
	office := &fakeOffice{made: map[string]string{"pdf": "%PDF-1.7"}, most: 10}
	b := benchWithOffice(t, 3, office)
	made, _ := b.mustRun(b.drop("imp-1", "Import/report.docx", docxOf(t)))
	m := b.manifest(made)
	if diff := cmp.Diff([]string{"report.docx docx pdf"}, office.asked); diff != "" || b.worker.printed != "%PDF-1.7" {
		t.Errorf("asked %s, printed %q", diff, b.worker.printed)
	}
	page := m.Pages[0]
	if len(m.Pages) != 1 || page.Image == nil || page.Image.Path != "pages/page_0001.png" || len(page.Others) != 2 || page.Others[1].Path != "pages/page_0003.png" || page.Status != manifest.PageDone {
		t.Errorf("pages %+v", m.Pages)
	}
	if m.Render == nil || !strings.HasPrefix(m.Render.Reason, "libreoffice: ") || m.Import.Tools["libreoffice"] != "7.4" || m.Import.Tools["mupdf"] != "1" {
		t.Errorf("render %+v, tools %v", m.Render, m.Import.Tools)
	}
	note := b.read(made.Note)
	hasAll(t, note, "# Report", "## Pages", "![[./pages/page_0001.png]]\n![[./pages/page_0002.png]]\n", "![[./pages/page_0003.png]]")
	for _, image := range append(page.Others, *page.Image) {
		if got := b.read(path.Join(made.Bundle, image.Path)); digest([]byte(got)) != image.SHA256 {
			t.Errorf("%s is not what the manifest says", image.Path)
		}
	}
	schema, _ := manifestSchema(t)
	conforms(t, schema, "manifest.json", b.read(path.Join(made.Bundle, manifest.File)))
}

// Whatever LibreOffice does, the text is there; a warning says what is missing.
func TestImport_officeFileWithoutItsPages(t *testing.T) {
	t.Parallel()
	late := &extract.Error{Code: failure.Timeout, Message: "LibreOffice took more than 2m0s"}
	for name, test := range map[string]struct {
		office  *fakeOffice
		pages   int
		break_  func(*bench)
		warning string
		images  int
	}{
		"late": {office: &fakeOffice{fault: late}, warning: "pictures of the pages were not made: LibreOffice took more than 2m0s"},
		"unreadable": {office: &fakeOffice{made: map[string]string{"pdf": "%PDF-"}}, break_: func(b *bench) {
			b.worker.open = func(int) error { return &extract.Error{Code: failure.Corrupt, Message: "no pages"} }
		}, warning: "pictures of the pages were not made:"},
		"too many":    {office: &fakeOffice{made: map[string]string{"pdf": "%PDF-"}, most: 2}, pages: 9, warning: "only the first 2 pages have pictures; ingestion.office.max_pages", images: 2},
		"not drawn":   {office: &fakeOffice{made: map[string]string{"pdf": "%PDF-"}, most: 9}, pages: 3, break_: failPage(2), warning: "page 2 could not be drawn: no", images: 2},
		"worker gone": {office: &fakeOffice{made: map[string]string{"pdf": "%PDF-"}, most: 9}, pages: 3, break_: func(b *bench) { b.worker.open = func(int) error { return errors.New("no such program") } }, warning: "pictures of the pages were not made:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := benchWithOffice(t, test.pages, test.office)
			if test.break_ != nil {
				test.break_(b)
			}
			made, _ := b.mustRun(b.drop("imp-1", "Import/report.docx", docxOf(t)))
			m := b.manifest(made)
			images := len(m.Pages[0].Others)
			if m.Pages[0].Image != nil {
				images++
			}
			if images != test.images || m.Pages[0].Status != manifest.PageDone || m.Pages[0].Text.Chars == 0 {
				t.Errorf("%d images, page %+v", images, m.Pages[0])
			}
			if !strings.Contains(strings.Join(m.Import.Warnings, "\n"), test.warning) || !strings.Contains(b.read(made.Note), "# Report") {
				t.Errorf("warnings %q", m.Import.Warnings)
			}
			schema, _ := manifestSchema(t)
			conforms(t, schema, "manifest.json", b.read(path.Join(made.Bundle, manifest.File)))
		})
	}
}

func failPage(n int) func(*bench) {
	return func(b *bench) {
		b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
			if r.N == n {
				return extract.Page{}, &extract.Error{Code: failure.PageFailed, Message: "no", Page: n}
			}
			return goodPage(r), nil
		}
	}
}

func TestImport_officeFileCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := benchWithOffice(t, 1, &fakeOffice{fault: context.Canceled, cancel: cancel})
	j := b.drop("imp-1", "Import/report.docx", docxOf(t))
	found, err := b.im.Classify(ctx, j)
	if err != nil {
		t.Fatal(err)
	}
	j.Route = found.Route
	if _, err := b.im.Extract(ctx, j); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestImport_officeFileWithoutPictures(t *testing.T) {
	t.Parallel()
	office := &fakeOffice{made: map[string]string{"pdf": "%PDF-"}}
	b := benchWithOffice(t, 1, office)
	j := b.drop("imp-1", "Import/report.docx", docxOf(t))
	j.Mode = config.ModeMarkdown
	made, _ := b.mustRun(j)
	if len(office.asked) != 0 || b.manifest(made).Pages[0].Image != nil {
		t.Errorf("asked %v", office.asked)
	}
}

// oldWord begins like files of Word before 2007.
const oldWord = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and the rest"

func TestImport_oldOfficeFile(t *testing.T) {
	t.Parallel()
	office := &fakeOffice{made: map[string]string{"pdf": "%PDF-", "docx": string(docxOf(t))}, most: 9}
	b := benchWithOffice(t, 1, office)
	made, filed := b.mustRun(b.drop("imp-1", "Import/old.doc", []byte(oldWord)))
	m := b.manifest(made)
	if diff := cmp.Diff([]string{"old.doc doc docx", "old.doc doc pdf"}, office.asked); diff != "" {
		t.Error(diff)
	}
	if m.Document.Title != "The report" || m.Pages[0].Image == nil || len(m.Assets) != 1 || m.Source.MediaType != "application/msword" {
		t.Errorf("manifest %+v", m)
	}
	hasAll(t, b.read(made.Note), "# Report")
	if b.read(filed.Name) != oldWord {
		t.Error("the original changed")
	}
	schema, _ := manifestSchema(t)
	conforms(t, schema, "manifest.json", b.read(path.Join(made.Bundle, manifest.File)))
}

func TestImport_oldOfficeFileIsKept(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		office *fakeOffice
		says   string
	}{
		"without LibreOffice": {nil, "LibreOffice is not there: install it, then drop the file again. You can also save it as docx, xlsx or pptx"},
		"refused":             {&fakeOffice{fault: &extract.Error{Code: failure.Corrupt, Message: "LibreOffice could not convert it: Error: source file could not be loaded"}}, "source file could not be loaded. Open it in the program that made it"},
	} {
		for file, data := range map[string]string{"old.doc": oldWord, "old.rtf": `{\rtf1\ansi A letter}`, "old.xls": oldWord} {
			t.Run(name+" "+file, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, extract.Document{})
				if test.office != nil {
					b.im.Office = &fakeOffice{fault: test.office.fault}
				}
				made, filed := b.mustRun(b.drop("imp-1", "Import/"+file, []byte(data)))
				note := b.read(made.Note)
				hasAll(t, note, test.says, "The original is kept unchanged.")
				if len(b.manifest(made).Import.Warnings) != 0 || b.read(filed.Name) != data {
					t.Errorf("note:\n%s", note)
				}
			})
		}
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	mark := func(title string, page int) extract.OutlineItem {
		return extract.OutlineItem{Level: 1, Title: title, Page: page}
	}
	for name, test := range map[string]struct {
		labels []string
		doc    extract.Document
		want   map[int][]int
	}{
		"one text": {[]string{""}, extract.Document{Pages: 3}, map[int][]int{1: {1, 2, 3}}},
		"slides":   {[]string{"Slide 1", "Slide 2"}, extract.Document{Pages: 2}, map[int][]int{1: {1}, 2: {2}}},
		"sheets, one of them empty": {
			[]string{"One", "Empty", "Two"}, extract.Document{Pages: 2, Outline: []extract.OutlineItem{mark("One", 1), mark("Two", 2)}}, map[int][]int{1: {1}, 3: {2}},
		},
		"sheets over pages": {
			[]string{"One", "Two"}, extract.Document{Pages: 5, Outline: []extract.OutlineItem{mark("One", 1), mark("Two", 4)}}, map[int][]int{1: {1, 2, 3}, 2: {4, 5}},
		},
		"unknown": {[]string{"One", "Two"}, extract.Document{Pages: 5}, nil},
	} {
		got, fits := spread(test.labels, test.doc)
		if diff := cmp.Diff(test.want, got); fits != (test.want != nil) || fits && diff != "" {
			t.Errorf("%s: %v %s", name, fits, diff)
		}
	}
}

// A killed import asks LibreOffice for nothing twice.
func TestImport_officeFileGoesOn(t *testing.T) {
	t.Parallel()
	office := &fakeOffice{made: map[string]string{"pdf": "%PDF-1.7"}, most: 10}
	b := benchWithOffice(t, 2, office)
	j := b.drop("imp-1", "Import/report.docx", docxOf(t))
	for dieAt := 1; ; dieAt++ {
		b.revive(dieAt)
		b.im.Office = office
		if _, _, err := b.run(j); err == nil {
			break
		}
		if dieAt > 100 {
			t.Fatal("it never ends")
		}
	}
	if len(office.asked) != 1 {
		t.Errorf("asked %v", office.asked)
	}
	if left, err := fs.Glob(b.vault.FS(), "Imported/.vaultflow-*"); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if _, err := fs.Stat(b.vault.FS(), "Imported/report/pages/page_0002.png"); err != nil {
		t.Error(err)
	}
}
