//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// manifest reads a bundle's manifest.
func (s *site) manifest(bundle string) manifest.Manifest {
	s.T.Helper()
	var m manifest.Manifest
	if err := json.Unmarshal([]byte(s.Read(bundle+"/manifest.json")), &m); err != nil {
		s.T.Fatalf("manifest of %s: %v", bundle, err)
	}
	return m
}

// pageFile is what tells one making of a page's picture from another.
type pageFile struct {
	inode uint64
	mtime time.Time
}

func (s *site) pageFiles(dir string) map[string]pageFile {
	s.T.Helper()
	entries, err := os.ReadDir(s.Path(dir))
	if err != nil {
		return nil
	}
	found := map[string]pageFile{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		found[e.Name()] = pageFile{info.Sys().(*syscall.Stat_t).Ino, info.ModTime()} //nolint:forcetypeassert // on Unix it is one
	}
	return found
}

// slowPages are settings with which a page takes about 50 ms, so that something can happen in the middle of an import.
const slowPages = "ingestion: {parallel: 1, pdf: {dpi: 400, max_side: 5000}}\n"

// longText is a born-digital document.
func longText(pages int) []byte {
	b := pdftest.New().Info("A long report", "Nobody")
	for i := range pages {
		b.TextPage(append([]pdftest.Line{pdftest.Heading(fmt.Sprintf("Chapter %d", i+1))},
			pdftest.Text(fmt.Sprintf("This is the text of page number %d of the report.", i+1), "It goes on for a second line.")...)...)
	}
	return b.Bytes()
}

func TestServe_killedInTheMiddleOfAnImport(t *testing.T) {
	t.Parallel()
	pages, seen := 120, 20
	if long() {
		pages, seen = 600, 300
	}
	s := newSite(t, worker(t), slowPages)
	original := longText(pages)
	d := s.serve()
	s.Write("Import/Report.pdf", original)
	id := ""
	s.Wait(time.Duration(pages/60)*patience, "some pages to be finished", func() (bool, string) {
		all := s.Imports()
		if len(all) == 1 && all[0].Page >= seen {
			id = all[0].ID
		}
		return id != "", describe(all)
	})
	d.Kill()
	before := s.Imports()[0]
	if before.State.Finished() {
		t.Fatalf("the import had ended before the kill: %+v", before)
	}
	staged := ""
	for _, name := range s.hidden("Imported") {
		if !strings.HasSuffix(name, "-work") {
			staged = "Imported/" + name
		}
	}
	finished := s.pageFiles(staged + "/pages")
	if len(finished) < before.Page || len(finished) >= pages {
		t.Fatalf("%d pictures of pages in %s (there are %q) after %d finished pages", len(finished), staged, s.hidden("Imported"), before.Page)
	}
	// The pages after the last finished one may have been under way, on as many workers as there are processors.
	recorded := map[string]bool{}
	for _, name := range s.Files("Imported", ".json") {
		if strings.Contains(name, "-work/") {
			recorded[path.Base(name)] = true
		}
	}

	d = s.serve()
	r := s.ended(1)["Import/Report.pdf"]
	if r.State != engine.ImportDone || r.Pages != pages || r.ID != id || r.Bundle != "Imported/Report" {
		t.Errorf("after the restart: %+v", r)
	}
	if left := s.hidden("Imported"); len(left) != 0 {
		t.Errorf("left hidden in the bundles' folder: %q", left)
	}
	if entries, err := os.ReadDir(s.Path("Imported")); err != nil || len(entries) != 1 {
		t.Errorf("bundles %v, %v; want one", entries, err)
	}
	after := s.pageFiles(r.Bundle + "/pages")
	texts := s.Files(r.Bundle+"/text", ".txt")
	if len(after) != pages || len(texts) != pages {
		t.Errorf("%d pictures and %d texts of %d pages", len(after), len(texts), pages)
	}
	m := s.manifest(r.Bundle)
	for i, p := range m.Pages {
		if p.N != i+1 || p.Status != manifest.PageDone {
			t.Errorf("page %d of the manifest: %+v", i+1, p)
		}
		text := s.Read(fmt.Sprintf("%s/text/page_%04d.txt", r.Bundle, i+1))
		if want := fmt.Sprintf("text of page number %d of", i+1); strings.Count(text, want) != 1 {
			t.Errorf("text of page %d: %q", i+1, text)
		}
	}
	if len(m.Pages) != pages {
		t.Errorf("%d pages in the manifest", len(m.Pages))
	}
	again := 0
	for name, file := range finished {
		if after[name] != file {
			again++
			if recorded[strings.TrimSuffix(name, path.Ext(name))+".json"] {
				t.Errorf("%s was finished before the kill and made again", name)
			}
		}
	}
	t.Logf("%d pages finished before the kill, %d records, %d made again", len(finished), len(recorded), again)
	if again > 4 || before.Page-again < 10 {
		t.Errorf("%d of %d pictures were made again", again, len(finished))
	}
	if got := s.Read(r.Bundle + "/Report.pdf"); got != string(original) {
		t.Errorf("the original in the bundle has %d bytes, want %d", len(got), len(original))
	}
	if left := s.Files("Import", ""); len(left) != 0 {
		t.Errorf("left in the import folder: %q", left)
	}
	d.alive()
}

// pngPicture is a picture with lines of text.
func pngPicture(t *testing.T, lines ...string) []byte {
	t.Helper()
	drawn := pdftest.Drawing(1200, 500, 200, lines...)
	canvas := image.NewRGBA(drawn.Bounds())
	for i, v := range drawn.Pix {
		canvas.Set(i%drawn.Stride, i/drawn.Stride, color.Gray{v})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, canvas); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var scanLines = []string{"The harbour office opens", "at seven in the morning", "and closes at noon"}

func TestServe_tenFilesAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "")
	d := s.serve()
	files := map[string][]byte{
		"Digital.pdf": longText(3),
		"Scan.pdf":    pdftest.New().ScanPage(scanLines...).Bytes(),
		"Rotated.pdf": pdftest.New().TextPage(pdftest.Text("A page that lies on its side")...).Rotated(90).Bytes(),
		"Mixed.pdf":   pdftest.New().TextPage(pdftest.Text("First a page of real text that a program wrote")...).ScanPage(scanLines...).Bytes(),
		"Photo.jpg":   pdftest.Photo(1600, 900, scanLines...),
		"Picture.png": pngPicture(t, scanLines...),
		"Plain.txt":   []byte("Just a text.\n"),
		"Broken.pdf":  pdftest.Rubbish(),
		"Secret.pdf":  pdftest.New().TextPage(pdftest.Text("Hidden words")...).UserPassword("open sesame").Bytes(),
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		s.Write("Import/"+name, files[name])
	}
	growing := longText(40)
	grown := make(chan error, 1)
	go func() { grown <- growFile(s.Path("Import/Growing.pdf"), growing, 10*time.Second) }()
	files["Growing.pdf"] = growing

	found := s.ended(10)
	if err := <-grown; err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		want := engine.ImportDone
		switch name {
		case "Broken.pdf":
			want = engine.ImportFailed
		case "Secret.pdf":
			want = engine.ImportNeedsPassword
		}
		r := found["Import/"+name]
		if r.State != want {
			t.Errorf("%s: state %q, want %q: %+v", name, r.State, want, r)
			continue
		}
		kept := r.Bundle + "/" + name
		if want != engine.ImportDone {
			kept = r.Filed
			if r.Error == "" || r.Hint == "" {
				t.Errorf("%s: error %q, hint %q", name, r.Error, r.Hint)
			}
			if r.Bundle != "" {
				t.Errorf("%s has a bundle: %s", name, r.Bundle)
			}
		}
		if s.Read(kept) != string(data) {
			t.Errorf("%s is not at %q as it was dropped (%d bytes, want %d)", name, kept, len(s.Read(kept)), len(data))
		}
		if want == engine.ImportDone {
			s.whole(r)
		}
	}
	if note := s.Read("Import/Failed/Broken.pdf.failed.md"); !strings.Contains(note, found["Import/Broken.pdf"].Error) {
		t.Errorf("the broken file's note says %q, want why: %s", note, found["Import/Broken.pdf"].Error)
	}
	if r := found["Import/Growing.pdf"]; r.Pages != 40 {
		t.Errorf("the growing file has %d pages, want 40: it was taken too early", r.Pages)
	}
	if left := s.hidden("Imported"); len(left) != 0 {
		t.Errorf("left hidden in the bundles' folder: %q", left)
	}
	d.alive()
	if took := d.stop(); took > 5*time.Second {
		t.Errorf("serve took %s to stop", took)
	}
}

// growFile writes a file bit by bit, as a slow download does.
func growFile(path string, data []byte, over time.Duration) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const every = 250 * time.Millisecond
	steps := int(over / every)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for i := range steps {
		if _, err := f.Write(data[len(data)*i/steps : len(data)*(i+1)/steps]); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		<-ticker.C
	}
	return nil
}

// whole checks that everything a manifest speaks of is in the bundle.
func (s *site) whole(r engine.ImportRecord) {
	s.T.Helper()
	m := s.manifest(r.Bundle)
	if s.Read(r.Note) == "" || r.Note != r.Bundle+"/"+filepath.Base(r.Bundle)+".md" {
		s.T.Errorf("%s: note %q", r.Source, r.Note)
	}
	if m.Version != manifest.Version || m.Source.SHA256 != r.SHA256 || len(m.Pages) != r.Pages {
		s.T.Errorf("%s: manifest version %d, source %s, %d pages; the record says %+v", r.Source, m.Version, m.Source.SHA256, len(m.Pages), r)
	}
	for _, p := range m.Pages {
		if p.Status != manifest.PageDone {
			s.T.Errorf("%s: page %d is %s: %+v", r.Source, p.N, p.Status, p)
		}
		if p.Image != nil {
			if info, err := os.Stat(s.Path(r.Bundle + "/" + p.Image.Path)); err != nil || info.Size() == 0 {
				s.T.Errorf("%s: picture of page %d: %v", r.Source, p.N, err)
			}
		}
		if p.Text != nil && p.Text.Path != "" && p.Text.Chars > 0 && s.Read(r.Bundle+"/"+p.Text.Path) == "" {
			s.T.Errorf("%s: no text of page %d at %s", r.Source, p.N, p.Text.Path)
		}
	}
}

// fullPage is a page of text that nobody takes for the stamp on a scan.
func fullPage() []pdftest.Line {
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("Line %d of a page of real text that a program wrote.", i+1))
	}
	return pdftest.Text(lines...)
}

func TestServe_recognisesScansAndPictures(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "")
	s.Write("Import/Mixed.pdf", pdftest.New().TextPage(fullPage()...).ScanPage(scanLines...).Bytes())
	s.Write("Import/Photo.jpg", pdftest.Photo(1600, 900, scanLines...))
	s.Write("Import/Picture.png", pngPicture(t, scanLines...))
	s.serve()
	found := s.ended(3)

	mixed := found["Import/Mixed.pdf"]
	s.whole(mixed)
	for _, name := range []string{mixed.Note, mixed.Bundle + "/text/page_0002.txt"} {
		if text := strings.ToLower(s.Read(name)); !strings.Contains(text, "harbour office") || !strings.Contains(text, "noon") {
			t.Errorf("%s does not hold what the scan says: %q", name, text)
		}
	}
	pages := s.manifest(mixed.Bundle).Pages
	if len(pages) != 2 {
		t.Fatalf("%d pages in the manifest", len(pages))
	}
	if p := pages[0]; p.OCR == nil || p.OCR.Decided || p.Text == nil || p.Text.Source != manifest.TextLayer {
		t.Errorf("page of text: ocr %+v, text %+v", p.OCR, p.Text)
	}
	if p := pages[1]; p.OCR == nil || !p.OCR.Decided || p.OCR.Reason == "" || p.OCR.Engine == "" || p.Text == nil || p.Text.Source != manifest.TextOCR {
		t.Errorf("scanned page: ocr %+v, text %+v", p.OCR, p.Text)
	}
	for _, name := range []string{"Photo.jpg", "Picture.png"} {
		r := found["Import/"+name]
		if r.State != engine.ImportDone || !strings.Contains(strings.ToLower(s.Read(r.Note)), "harbour office") {
			t.Errorf("%s: %+v, note %q", name, r, s.Read(r.Note))
			continue
		}
		s.whole(r)
	}
}

func TestServe_survivesFilesThatAbortTheLibrary(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "")
	d := s.serve()
	s.Write("Import/Huge.pdf", pdftest.HugePageCount())
	s.Write("Import/Giant.pdf", pdftest.GiantPage())
	s.Write("Import/Short.pdf", pdftest.Truncated())
	s.Write("Import/After.pdf", longText(2))
	found := s.ended(4)

	huge := found["Import/Huge.pdf"] // MuPDF ends its process; PDFium counts the page that is there
	if huge.State != engine.ImportDone || huge.Pages != 1 || s.Read(huge.Bundle+"/Huge.pdf") != string(pdftest.HugePageCount()) {
		t.Errorf("huge page count: %+v", huge)
	} else {
		s.whole(huge)
	}
	short := found["Import/Short.pdf"]
	if short.State != engine.ImportFailed || short.Error == "" || short.Hint == "" || s.Read("Import/Failed/Short.pdf") != string(pdftest.Truncated()) {
		t.Errorf("truncated file: %+v", short)
	}
	if s.Read("Import/Failed/Short.pdf.failed.md") == "" {
		t.Error("no note says why the truncated file failed")
	}
	giant := found["Import/Giant.pdf"]
	if giant.State != engine.ImportDone {
		t.Fatalf("giant page: %+v", giant)
	}
	s.whole(giant)
	page := s.manifest(giant.Bundle).Pages[0]
	if page.Image == nil || max(page.Image.Width, page.Image.Height) > 2000 || page.Image.Width*page.Image.Height > 40_000_000 || page.Image.Width*page.Image.Height == 0 {
		t.Errorf("picture of the giant page: %+v", page.Image)
	} else {
		f, err := os.Open(s.Path(giant.Bundle + "/" + page.Image.Path))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		drawn, _, err := image.DecodeConfig(f)
		if err != nil || drawn.Width != page.Image.Width || drawn.Height != page.Image.Height {
			t.Errorf("the picture is %d × %d (%v), the manifest says %+v", drawn.Width, drawn.Height, err, page.Image)
		}
	}
	if r := found["Import/After.pdf"]; r.State != engine.ImportDone {
		t.Errorf("the file after the bad ones: %+v", r)
	}
	if left := s.hidden("Imported"); len(left) != 0 {
		t.Errorf("left hidden in the bundles' folder: %q", left)
	}
	d.alive()
}

func TestImport_withAndWithoutServe(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	outside := filepath.Join(filepath.Dir(s.Vault), "outside")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	lay := func(name, text string) string {
		path := filepath.Join(outside, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	alone, served := lay("Alone.txt", "Imported alone.\n"), lay("Served.txt", "Imported beside serve.\n")
	s.Must("import", alone)
	d := s.serve()
	s.Must("import", served)
	s.ended(2)
	s.Must("import", lay("Copy.txt", "Imported beside serve.\n"))
	s.write("Import/Dropped.txt", "Imported alone.\n")
	found := s.ended(4)
	for source, text := range map[string]string{"Import/Alone.txt": "Imported alone.", "Import/Served.txt": "Imported beside serve."} {
		if r := found[source]; r.State != engine.ImportDone || strings.Count(s.Read(r.Note), text) != 1 {
			t.Errorf("%s: %+v, note %q", source, r, s.Read(r.Note))
		}
	}
	for again, first := range map[string]string{"Import/Copy.txt": "Import/Served.txt", "Import/Dropped.txt": "Import/Alone.txt"} {
		r := found[again]
		if r.State != engine.ImportDuplicate || r.DuplicateOf != found[first].ID || r.Bundle != found[first].Bundle {
			t.Errorf("%s: %+v, want a duplicate of %s (%s)", again, r, first, found[first].ID)
		}
	}
	if bundles, err := os.ReadDir(s.Path("Imported")); err != nil || len(bundles) != 2 {
		t.Errorf("bundles %v, %v; want two", bundles, err)
	}
	if left := s.Files("Import", ".txt"); len(left) != 0 {
		t.Errorf("left in the import folder: %q", left)
	}
	for _, path := range []string{alone, served} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("the original outside of the vault is gone: %v", err)
		}
	}
	if out := s.Must("import", "--status"); strings.Count(out, "duplicate") != 2 || !strings.Contains(out, "Import/Alone.txt") {
		t.Errorf("import --status says:\n%s", out)
	}
	if _, errs, code := s.CLI("import", filepath.Join(outside, "nothing.txt")); code != exitUsage || errs == "" {
		t.Errorf("a file that is not there: exit code %d, %q", code, errs)
	}
	d.alive()
}
