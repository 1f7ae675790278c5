package media

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// fakeWorker answers for a document of three pages whose text is its number, and for pictures with a small PNG.
type fakeWorker struct {
	missing bool
	fail    error // of Open

	mu     sync.Mutex
	opened []string
	live   int
	asked  []extract.PageRequest
	cuts   [][]int
}

func (w *fakeWorker) Ready() error {
	if w.missing {
		return errors.New("no program")
	}
	return nil
}

func (w *fakeWorker) Open(_ context.Context, name, _ string, o extract.Open) (Session, extract.Document, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return nil, extract.Document{}, w.fail
	}
	w.opened = append(w.opened, name+" "+o.Kind)
	w.live++
	return &fakeSession{w: w}, extract.Document{Pages: 3}, nil
}

func (w *fakeWorker) OpenData(ctx context.Context, data []byte, o extract.Open) (Session, extract.Document, error) {
	return w.Open(ctx, fmt.Sprintf("%d bytes", len(data)), "", o)
}

func (w *fakeWorker) state() (opened []string, live int, asked []extract.PageRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.opened...), w.live, append([]extract.PageRequest{}, w.asked...)
}

type fakeSession struct {
	w      *fakeWorker
	closed bool
}

var tinyPNG = func() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 10, 10))); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

func (s *fakeSession) Page(_ context.Context, r extract.PageRequest) (extract.Page, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.asked = append(s.w.asked, r)
	page := extract.Page{N: r.N, WidthPt: 595, HeightPt: 842}
	switch {
	case r.N == 9:
		return page, &extract.Error{Code: failure.Crashed, Message: "it died"}
	case r.Text:
		page.Text = &extract.PageText{Markdown: fmt.Sprintf("text of page %d", r.N)}
	case r.Image:
		page.Image = &extract.PageImage{MediaType: "image/png", Width: 10, Height: 10, Size: len(tinyPNG), Bytes: tinyPNG}
	}
	return page, nil
}

func (s *fakeSession) Cut(_ context.Context, pages []int) (extract.Cut, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.cuts = append(s.w.cuts, pages)
	return extract.Cut{MediaType: "application/pdf", Bytes: []byte("%PDF-cut")}, nil
}

func (s *fakeSession) Close() error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.w.live--
	}
	return nil
}

func TestDocuments_describesAPDFOnce(t *testing.T) {
	t.Parallel()
	w := &fakeWorker{}
	files := fstest.MapFS{"a.pdf": {Data: []byte("%PDF-1.7 first")}}
	d := NewDocuments(files, w, "Imported")
	t.Cleanup(d.Close)
	for range 3 {
		doc, err := d.Describe(t.Context(), "a.pdf")
		if err != nil || len(doc.Pages) != 3 || doc.MediaType != "application/pdf" || doc.Size != 14 || len(doc.SHA256) != 64 || doc.Imported != "" {
			t.Fatalf("%+v, %v", doc, err)
		}
		if p := doc.Pages[0]; p.Width != 1240 || p.Height != 1754 || p.Picture != "" {
			t.Errorf("page %+v", p)
		}
		for range 2 {
			if text, err := d.PageText(t.Context(), "a.pdf", 2); err != nil || text != "text of page 2" {
				t.Errorf("text %q, %v", text, err)
			}
		}
	}
	if opened, _, asked := w.state(); len(opened) != 1 || opened[0] != "a.pdf pdf" || len(asked) != 4 {
		t.Errorf("opened %q, %d questions; want it opened once and four questions", opened, len(asked))
	}
	files["a.pdf"] = &fstest.MapFile{Data: []byte("%PDF-1.7 other"), ModTime: time.Unix(9, 0)}
	if _, err := d.Describe(t.Context(), "a.pdf"); err != nil {
		t.Fatal(err)
	}
	if opened, _, _ := w.state(); len(opened) != 2 {
		t.Errorf("another content: opened %q", opened)
	}
}

func TestDocuments_saysWhyThereIsNothing(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"a.pdf": {Data: []byte("%PDF-1.7")}, "old.doc": {Data: []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1rest")}, "b.docx": {Data: []byte("PK\x03\x04 torn")},
		"c.zip": {Data: zipped(t, map[string]string{"x.txt": "x"})},
	}
	for name, c := range map[string]struct {
		fail error
		want string
	}{
		"a.pdf":    {&extract.Error{Code: failure.NeedsPassword, Message: "x"}, "encrypted: it needs a password"},
		"A.pdf":    {nil, fs.ErrNotExist.Error()},
		"old.doc":  {nil, "before 2007"},
		"b.docx":   {nil, "cannot be read as an office file"},
		"c.zip":    {nil, "neither a PDF nor an office file"},
		"a.pdf#2":  {&extract.Error{Code: failure.Corrupt, Message: "the document cannot be opened: no objects"}, "no objects"},
		"a.pdf#3":  {&extract.Error{Code: failure.WorkerMissing, Message: "exec: not found in /usr/bin"}, "the worker that reads such files is missing"},
		"a.pdf#4":  {&extract.Error{Code: failure.Timeout, Message: "opening the document took more than 20s"}, "too long"},
		"a.pdf#5":  {ErrChanged, "changed since"},
		"a.pdf#6-": {context.Canceled, "canceled"},
	} {
		d := NewDocuments(files, &fakeWorker{fail: c.fail}, "Imported")
		file, _, _ := strings.Cut(name, "#")
		if _, err := d.Describe(t.Context(), file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := NewDocuments(files, &fakeWorker{}, "").Describe(t.Context(), "A.pdf"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := NewDocuments(files, nil, "Imported").Describe(t.Context(), "a.pdf"); !errors.Is(err, ErrNoWorker) {
		t.Errorf("without a worker: %v", err)
	}
}

func TestDocuments_readsTheImportOfAnOriginal(t *testing.T) {
	t.Parallel()
	data := []byte("%PDF-1.7 original")
	files := fstest.MapFS{"Imported/Book/Book.pdf": {Data: data}, "Elsewhere/Book.pdf": {Data: data}, "Other/Book.pdf": {Data: []byte("%PDF-1.7 other")}}
	w := &fakeWorker{}
	d := NewDocuments(files, w, "Imported")
	digest, _, err := d.digest("Elsewhere/Book.pdf")
	if err != nil {
		t.Fatal(err)
	}
	m := manifest.Manifest{Version: manifest.Version, Source: manifest.Source{Name: "Book.pdf", SHA256: digest}}
	for n := 1; n <= 2; n++ {
		m.Pages = append(m.Pages, manifest.Page{N: n, Image: &manifest.PageImage{Path: fmt.Sprintf("pages/page_%04d.png", n), Width: 1240, Height: 1754}})
	}
	encoded, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	files["Imported/Book/manifest.json"] = &fstest.MapFile{Data: encoded}
	for _, name := range []string{"Imported/Book/Book.pdf", "Elsewhere/Book.pdf"} {
		doc, err := d.Describe(t.Context(), name)
		if err != nil || doc.Imported != "Imported/Book" || len(doc.Pages) != 2 || doc.Pages[1].Picture != "Imported/Book/pages/page_0002.png" {
			t.Errorf("%s: %+v, %v", name, doc, err)
		}
	}
	if opened, _, _ := w.state(); len(opened) != 0 {
		t.Errorf("opened %q, though all is in the vault", opened)
	}
	if doc, err := d.Describe(t.Context(), "Other/Book.pdf"); err != nil || doc.Imported != "" || len(doc.Pages) != 3 {
		t.Errorf("another file of the same name: %+v, %v", doc, err)
	}
	d.Close()
}

func zipped(t *testing.T, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDocuments_readsOfficeFiles(t *testing.T) {
	t.Parallel()
	const body = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` +
		`<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Minutes</w:t></w:r></w:p><w:p><w:r><w:t>All agreed.</w:t></w:r></w:p></w:body></w:document>`
	files := fstest.MapFS{"m.docx": {Data: zipped(t, map[string]string{"word/document.xml": body, "[Content_Types].xml": "<Types/>"})}}
	doc, err := NewDocuments(files, nil, "Imported").Describe(t.Context(), "m.docx")
	if err != nil || !strings.Contains(doc.Markdown, "Minutes") || !strings.Contains(doc.Markdown, "All agreed.") || !strings.Contains(doc.MediaType, "wordprocessingml") || doc.Pages != nil {
		t.Errorf("%+v, %v", doc, err)
	}
}

func TestSessions_endWhenNobodyAsks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWorker{}
		p := newSessions(w)
		for _, name := range []string{"a", "a", "b", "c", "a"} { // c pushes a out
			if err := p.with(t.Context(), name, "", func(Session, extract.Document) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if opened, live, _ := w.state(); fmt.Sprint(opened) != "[a pdf b pdf c pdf a pdf]" || live != maxSessions {
			t.Errorf("opened %q, %d live", opened, live)
		}
		time.Sleep(idleSession + time.Second)
		synctest.Wait()
		if _, live, _ := w.state(); live != 0 {
			t.Errorf("%d live after a while", live)
		}
		dead := errors.New("not one of the worker's")
		if err := p.with(t.Context(), "a", "", func(Session, extract.Document) error { return dead }); !errors.Is(err, dead) {
			t.Errorf("got %v", err)
		}
		err := p.with(t.Context(), "a", "", func(s Session, _ extract.Document) error {
			_, err := s.Page(t.Context(), extract.PageRequest{N: 9})
			return err
		})
		if _, live, _ := w.state(); err == nil || live != 0 {
			t.Errorf("after a crash: %v, %d live", err, live)
		}
	})
}

func TestMedia_rendersPages(t *testing.T) {
	t.Parallel()
	w := &fakeWorker{}
	files := fstest.MapFS{"a.pdf": {Data: []byte("%PDF-1.7")}}
	d := NewDocuments(files, w, "Imported")
	t.Cleanup(d.Close)
	load := Source{FS: files, Worker: w, Documents: d}.Loader(imaging.Limits{MaxSide: 1568, MaxBytes: 5 << 20, Accept: []string{"image/jpeg"}})
	image := content.Image{Name: "a.pdf", Source: content.SourcePage, Page: 2}
	if data, mediaType, err := load.Load(t.Context(), image); err != nil || !bytes.Equal(data, tinyPNG) || mediaType != "image/png" {
		t.Errorf("%q %s %v", data, mediaType, err)
	}
	image.Rect = &content.Rect{X1: 100, Y1: 300, X2: 200, Y2: 200}
	if _, _, err := load.Load(t.Context(), image); err != nil {
		t.Fatal(err)
	}
	_, _, asked := w.state()
	whole, part := asked[0], asked[len(asked)-1]
	if whole.N != 2 || !whole.Image || whole.MaxSide != 1568 || whole.MaxBytes != 5<<20 || whole.DPI != 150 || whole.Format != "jpeg" || whole.Rect != nil {
		t.Errorf("asked for %+v", whole)
	}
	if part.Rect == nil || *part.Rect != (content.Rect{X1: 100, Y1: 300, X2: 200, Y2: 200}) || part.DPI != 300 {
		t.Errorf("asked for %+v", part)
	}
	image.Page = 9
	if _, _, err := load.Load(t.Context(), image); err == nil || !strings.Contains(err.Error(), "it died") {
		t.Errorf("a page that fails: %v", err)
	}
	if _, _, err := (Source{FS: files}).Loader(imaging.Limits{}).Load(t.Context(), image); !errors.Is(err, ErrNoWorker) {
		t.Errorf("without a worker: %v", err)
	}
}

func TestMedia_sendsOnlyThePagesAskedFor(t *testing.T) {
	t.Parallel()
	w := &fakeWorker{}
	files := fstest.MapFS{"a.pdf": {Data: []byte("%PDF-1.7 whole")}}
	d := NewDocuments(files, w, "Imported")
	t.Cleanup(d.Close)
	load := Source{FS: files, Worker: w, Documents: d}.Loader(imaging.Limits{})
	document := content.Document{Name: "a.pdf", MediaType: "application/pdf", Pages: 12}
	if data, mediaType, err := load.Load(t.Context(), document); err != nil || string(data) != "%PDF-1.7 whole" || mediaType != "application/pdf" {
		t.Errorf("the whole: %q %s %v", data, mediaType, err)
	}
	document.PageRange = "2-4, 7,3"
	if data, mediaType, err := load.Load(t.Context(), document); err != nil || string(data) != "%PDF-cut" || mediaType != "application/pdf" {
		t.Errorf("some pages: %q %s %v", data, mediaType, err)
	}
	if fmt.Sprint(w.cuts) != "[[2 3 4 7]]" {
		t.Errorf("cuts %v", w.cuts)
	}
	for _, bad := range []string{"0", "5-2", "13", "x", "1-", "-3", ","} {
		document.PageRange = bad
		if data, _, err := load.Load(t.Context(), document); err == nil {
			t.Errorf("pages %q gave %q", bad, data)
		}
	}
	document.PageRange, document.SHA256 = "", strings.Repeat("0", 64)
	if _, _, err := load.Load(t.Context(), document); !errors.Is(err, ErrChanged) {
		t.Errorf("another content: %v", err)
	}
	blind := Source{FS: files}.Loader(imaging.Limits{})
	document.PageRange, document.SHA256 = "2", ""
	if data, _, err := blind.Load(t.Context(), document); !errors.Is(err, ErrNoWorker) || data != nil {
		t.Errorf("without a worker a part of it gave %d bytes, %v", len(data), err)
	}
}
