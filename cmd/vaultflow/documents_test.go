package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // pictures on the wire
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/sandbox"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// mixedPDF has a page of text, a scan, and another page of text.
func mixedPDF() []byte {
	return pdftest.New().TextPage(pdftest.Heading("Annual report"), pdftest.Line{Text: "Revenue grew in all regions."}).
		ScanPage("The quick brown fox jumps over the lazy dog.", "Invoice number 4711").
		TextPage(pdftest.Text("Closing words of the board.")...).Bytes()
}

// libraryBench is a bench whose commands have the worker. capabilities are those of the model.
func libraryBench(t *testing.T, capabilities, settings string, replies ...llmtest.Reply) *bench {
	t.Helper()
	path := worker(t)
	b := newBench(t, adapters()[0], "      capabilities: "+capabilities+"\n", replies...)
	file := filepath.Join(b.dir, "vault", "settings.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b.write("settings.yaml", string(data)+fmt.Sprintf("ingestion: {worker: %q}\n", path)+settings)
	return b
}

const look = "## Look\n@input %s\n@output file: Out\n@write_mode replace\n\nWhat is there?\n"

// pictures are the sizes of the pictures in a request, which all must decode.
func pictures(t *testing.T, parts []llmtest.Part) (sizes []image.Point) {
	t.Helper()
	for _, p := range parts {
		if p.Kind() != "image" {
			continue
		}
		img, _, err := image.Decode(bytes.NewReader(p.Data))
		if err != nil {
			t.Errorf("a picture of %d bytes: %v", len(p.Data), err)
			continue
		}
		sizes = append(sizes, img.Bounds().Size())
	}
	return sizes
}

func TestDocuments_pagesForAModelThatSees(t *testing.T) {
	t.Parallel()
	b := libraryBench(t, "[text, vision]", "", says("Seen."))
	b.write("Report.pdf", string(mixedPDF()))
	b.write("Workflows/Look.md", fmt.Sprintf(look, "file: Report.pdf (pages=2-3)"))
	shown, _ := b.run(exitDone, "preview", "Look")
	for _, want := range []string{"Report.pdf, page 2 of 3, 1240x1754", "page 3 of 3"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the preview does not say %q:\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "page 1 of 3") || len(b.server.Requests()) != 0 {
		t.Errorf("the preview shows page 1, or asked the service:\n%s", shown)
	}
	b.run(exitDone, "run", "Look")
	parts := b.onlyRequest()
	if got := pictures(t, parts); len(got) != 2 || near(got[0].X, 1240) > 2 || near(got[0].Y, 1754) > 2 {
		t.Errorf("pictures of %v, want two of 1240 × 1754", got)
	}
	if all := texts(parts); !strings.Contains(all, "page 2 of 3") || strings.Contains(all, "Revenue") {
		t.Errorf("texts on the wire:\n%s", all)
	}
}

func near(a, b int) int { return max(a-b, b-a) }

func TestDocuments_partOfAPage(t *testing.T) {
	t.Parallel()
	b := libraryBench(t, "[text, vision]", "", says("Seen."))
	b.write("Report.pdf", string(mixedPDF()))
	b.write("Note.md", "The head:\n\n![[Report.pdf#page=1&rect=60,700,360,800]]\n")
	b.write("Workflows/Look.md", fmt.Sprintf(look, "file: Note"))
	b.run(exitDone, "run", "Look")
	parts := b.onlyRequest()
	got := pictures(t, parts)
	if len(got) != 1 || near(got[0].X, 300*got[0].Y/100) > 3 || got[0].X > 1245 || got[0].X < 1100 {
		t.Errorf("pictures of %v, want one three times as wide as high, no wider than the page", got)
	}
	for _, p := range parts {
		if dir := os.Getenv("VAULTFLOW_KEEP"); dir != "" && p.Kind() == "image" { // for a look at it
			_ = os.WriteFile(filepath.Join(dir, "crop.png"), p.Data, 0o600)
		}
	}
}

func TestDocuments_textForAModelThatDoesNotSee(t *testing.T) {
	t.Parallel()
	b := libraryBench(t, "[text]", "", says("Read."))
	b.write("Report.pdf", string(mixedPDF()))
	b.write("Workflows/Look.md", fmt.Sprintf(look, "file: Report.pdf"))
	b.run(exitOmissions, "run", "Look") // the second page is a picture
	parts := b.onlyRequest()
	all := texts(parts)
	if images(parts) != 0 || !strings.Contains(all, "Revenue grew in all regions.") || !strings.Contains(all, "Closing words") ||
		!regexp.MustCompile(`(?i)page 2 of 3.*no text`).MatchString(all) {
		t.Errorf("%d pictures and texts on the wire:\n%s", images(parts), all)
	}
}

func TestDocuments_asAFile(t *testing.T) {
	t.Parallel()
	for pages, want := range map[string][]string{"": {"Revenue", "", "Closing words"}, " (pages=1,3)": {"Revenue", "Closing words"}} {
		b := libraryBench(t, "[text, vision, pdf]", "", says("Read."))
		b.write("Report.pdf", string(mixedPDF()))
		b.write("Workflows/Look.md", fmt.Sprintf(look, "file: Report.pdf"+pages))
		b.run(exitDone, "run", "Look")
		var sent []byte
		for _, p := range b.onlyRequest() {
			if p.Kind() == "document" {
				sent = p.Data
			}
		}
		if got := textsOf(t, sent); len(got) != len(want) {
			t.Errorf("pages%q: sent %d bytes with the pages %q", pages, len(sent), got)
		} else {
			for i, text := range got {
				if want[i] == "" != (text == "") || !strings.Contains(text, want[i]) {
					t.Errorf("pages%q: page %d of what was sent says %q, want %q", pages, i+1, text, want[i])
				}
			}
		}
	}
}

// textsOf are the texts of a PDF's pages.
func textsOf(t *testing.T, data []byte) (pages []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sent.pdf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, doc, err := sandbox.Config{Worker: worker(t)}.Start(context.Background(), f, extract.Open{Kind: extract.KindPDF})
	if err != nil {
		t.Errorf("what was sent is no PDF: %v", err)
		return nil
	}
	defer s.Close()
	for n := range doc.Pages {
		page, err := s.Page(context.Background(), extract.PageRequest{N: n + 1, Text: true})
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, strings.TrimSpace(page.Text.Plain))
	}
	return pages
}

func TestDocuments_thatCannotBeShown(t *testing.T) {
	t.Parallel()
	b := libraryBench(t, "[text, vision]", "", says("Seen."))
	b.write("Locked.pdf", string(pdftest.New().TextPage(pdftest.Text("secret")...).UserPassword("x").Bytes()))
	b.write("Broken.pdf", string(pdftest.Rubbish()))
	b.write("Whole.pdf", string(pdftest.New().TextPage(pdftest.Text("open")...).Bytes()))
	b.write("Note.md", "![[Locked.pdf]]\n\n![[Broken.pdf]]\n\n![[Whole.pdf#page=9]]\n")
	b.write("Workflows/Look.md", fmt.Sprintf(look, "file: Note\n@input file: Locked.pdf"))
	told, _ := b.run(exitOmissions, "run", "Look")
	for place, cause := range map[string]omission.Cause{
		"Note.md:1: Locked.pdf": omission.Encrypted, "Note.md:3: Broken.pdf": omission.Damaged, "Note.md:5: Whole.pdf": omission.Page, "Workflows/Look.md:3: Locked.pdf": omission.Encrypted,
	} {
		_, line, _ := strings.Cut(told, "left out "+place+": ")
		if line, _, _ = strings.Cut(line, "\n"); !strings.HasSuffix(line, "; "+omission.Of(cause).Remedy()) {
			t.Errorf("of %s it is told %q, want %s", place, line, cause)
		}
	}
	if t.Failed() {
		t.Log(told)
	}
	if all := texts(b.onlyRequest()); !strings.Contains(all, "encrypted: it needs a password") || !strings.Contains(all, "Broken.pdf") {
		t.Errorf("texts on the wire:\n%s", all)
	}
	refused := 0
	for _, line := range b.receipt().Chunks {
		if line.Fate == "refused" {
			refused++
		}
	}
	if refused != 3 {
		t.Errorf("%d refused in the receipt, want 3", refused)
	}
}

func TestPictures_ofEveryKind(t *testing.T) {
	t.Parallel()
	b := libraryBench(t, "[text, vision]", "", says("Seen."))
	for _, name := range []string{"quarters.heic", "turned.avif"} {
		data, err := os.ReadFile(filepath.Join("..", "vaultflow-worker", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		b.write(name, string(data))
	}
	b.write("plan.svg", `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"><rect width="60" height="80" fill="red"/></svg>`)
	b.write("scan.tif", string(pdftest.JPEGInTIFF(200, 100, "x")))
	b.write("map.bmp", string(pdftest.Bitmap(pdftest.Drawing(200, 100, 72, "x"))))
	b.write("bomb.gif", "GIF89a\xff\xff\xff\xff\x80\x00\x00\x00\x00\x00\xff\xff\xff\x2c\x00\x00\x00\x00\xff\xff\xff\xff\x00\x02\x02\x44\x01\x00\x3b")
	avif, err := os.ReadFile(filepath.Join("..", "vaultflow-worker", "testdata", "quarters.avif"))
	if err != nil {
		t.Fatal(err)
	}
	size := bytes.Index(avif, []byte("ispe")) + 8
	copy(avif[size:], "\x00\x00\x42\x68\x00\x00\x42\x68") // 17,000 × 17,000
	b.write("bomb.avif", string(avif)+strings.Repeat("\x00", 1340-len(avif)))
	b.write("bomb.bmp", "BM\x3e\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\xc0\xc6\x2d\x00\x80\x84\x1e\x00\x01\x00\x18\x00"+strings.Repeat("\x00", 32))
	b.write("Note.md", "![[bomb.avif]] ![[bomb.bmp]] ![[quarters.heic]] ![[turned.avif]] ![[plan.svg]] ![[scan.tif]] ![[map.bmp]] ![[bomb.gif]]\n")
	b.write("Workflows/Look.md", fmt.Sprintf(look, "file: Note"))
	b.run(exitOmissions, "run", "Look")
	parts := b.onlyRequest()
	want := []image.Point{{333, 201}, {201, 333}, {120, 80}, {200, 100}, {200, 100}}
	if got := pictures(t, parts); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("pictures of %v, want %v", got, want)
	}
	for _, p := range parts {
		if p.Kind() == "image" && p.MediaType != "image/png" && p.MediaType != "image/jpeg" {
			t.Errorf("a picture went as %s", p.MediaType)
		}
	}
	if all := texts(parts); strings.Count(all, "too many pixels") != 2 || !strings.Contains(all, "bomb.bmp, not shown: a broken picture") || !strings.Contains(all, "turned.avif, 201x333") {
		t.Errorf("texts on the wire:\n%s", all)
	}
}

func TestPictures_withoutAWorker(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[0], seeing, says("Seen."))
	b.write("plan.svg", `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80"/>`)
	b.write("Report.pdf", string(mixedPDF()))
	b.write("Note.md", "![[plan.svg]] ![[Report.pdf]]\n")
	b.write("Workflows/Look.md", fmt.Sprintf(look, "file: Note"))
	file := filepath.Join(b.dir, "vault", "settings.yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b.write("settings.yaml", string(data)+"ingestion: {worker: /nonexistent/vaultflow-worker}\n")
	b.run(exitOmissions, "run", "Look")
	parts := b.onlyRequest()
	if all := texts(parts); images(parts) != 0 || strings.Count(all, "the worker that reads such files is missing") != 2 {
		t.Errorf("%d pictures and texts on the wire:\n%s", images(parts), all)
	}
}

func TestPictures_fromOutsideAreEncodedAnew(t *testing.T) {
	t.Parallel()
	b := libraryBench(t, "[text, vision]", "", says("Seen."))
	photo := pdftest.Photo(200, 100, "x")
	b.write("Imported/Trip/pages/page_0001.jpg", string(photo)+"hidden behind the end")
	b.write("mine.jpg", string(photo)+"not part of it")
	b.write("Note.md", "![[Imported/Trip/pages/page_0001.jpg]] ![[mine.jpg]]\n")
	b.write("Workflows/Look.md", fmt.Sprintf(look, "file: Note"))
	b.run(exitDone, "run", "Look")
	var sent [][]byte
	for _, p := range b.onlyRequest() {
		if p.Kind() == "image" {
			sent = append(sent, p.Data)
		}
	}
	if len(sent) != 2 || bytes.Contains(sent[0], []byte("hidden")) || !bytes.Equal(sent[1], photo) {
		t.Errorf("%d pictures were sent; or the first holds what was hidden, or the second was encoded again", len(sent))
	}
}

// Pictures of the web are fetched from nowhere private, which is an omission; a host that the settings deny is none. A preview asks nobody.
func TestPictures_ofTheWeb(t *testing.T) {
	t.Parallel()
	b := libraryBench(t, "[text, vision]", "policy: {remote_images: {enabled: true, deny: [bad.example]}}\n", says("Seen."))
	b.write("Note.md", "![a](http://127.0.0.1:1/a.png) ![b](https://bad.example/b.png)\n")
	b.write("Workflows/Look.md", fmt.Sprintf(look, "file: Note"))
	shown, _ := b.run(exitDone, "preview", "Look")
	if !strings.Contains(shown, "would be fetched") || !strings.Contains(shown, "bad.example is denied") {
		t.Errorf("the preview says\n%s", shown)
	}
	if said, _ := b.run(exitOmissions, "run", "Look"); strings.Count(said, "left out") != 1 || !strings.Contains(said, "left out Note.md:1: http://127.0.0.1:1/a.png") {
		t.Errorf("the run says\n%s", said)
	}
	parts := b.onlyRequest()
	if all := texts(parts); images(parts) != 0 || !strings.Contains(all, "private or special address") || !strings.Contains(all, "bad.example is denied") {
		t.Errorf("%d pictures and texts on the wire:\n%s", images(parts), all)
	}
}

func TestImport_picturesOfEveryKind(t *testing.T) {
	t.Parallel()
	b := libraryBench(t, "[text]", "")
	var files []string
	for _, name := range []string{"quarters.heic", "turned.avif"} {
		data, err := os.ReadFile(filepath.Join("..", "vaultflow-worker", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(b.dir, name))
		if err := os.WriteFile(files[len(files)-1], data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files = append(files, filepath.Join(b.dir, "plan.svg"))
	const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="100"><script>alert(1)</script><text x="10" y="60" font-size="40">Pump station 42</text></svg>`
	if err := os.WriteFile(files[2], []byte(drawing), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitDone, append([]string{"import"}, files...)...)
	for bundle, size := range map[string][2]int{"quarters": {333, 201}, "turned": {201, 333}, "plan": {600, 100}} {
		data, err := os.ReadFile(filepath.Join(b.dir, "vault", "Imported", bundle, "manifest.json"))
		if err != nil {
			t.Error(err)
			continue
		}
		m, err := manifest.Parse(data)
		if err != nil || len(m.Pages) != 1 || m.Pages[0].Image == nil || m.Pages[0].Status != manifest.PageDone {
			t.Errorf("%s: %+v, %v", bundle, m.Pages, err)
			continue
		}
		if made := m.Pages[0].Image; near(made.Width, size[0]) > 1 || near(made.Height, size[1]) > 1 || !b.has("Imported/"+bundle+"/"+made.Path) {
			t.Errorf("%s: page of %d × %d at %s, want %v", bundle, made.Width, made.Height, made.Path, size)
		}
	}
	note, err := os.ReadFile(filepath.Join(b.dir, "vault", "Imported", "plan", "plan.md"))
	if err != nil || !strings.Contains(string(note), "Pump station 42") {
		t.Errorf("the text in the drawing is not in its note: %v\n%s", err, note)
	}
}
