package main

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

type session interface {
	Page(ctx context.Context, r extract.PageRequest) (extract.Page, error)
}

// entangled is a PDF of three pages that hang together in every way in which a page can lead to others: resources that all
// inherit, links, a destination with a name, a field over two pages, an outline, threads, and data of the program.
func entangled() []byte {
	objects := []string{
		`<</Type/Catalog/Pages 2 0 R/Names<</Dests<</Names[(end)[8 0 R/Fit]]>>>>/AcroForm<</Fields[14 0 R]>>/Outlines 15 0 R>>`,
		`<</Type/Pages/Kids[6 0 R 7 0 R 8 0 R]/Count 3/MediaBox[0 0 300 200]/CropBox[10 10 290 190]/Resources<</Font<</F 3 0 R>>/XObject<</P1 4 0 R/P3 5 0 R>>>>>>`,
		`<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`,
		stream(`/Type/XObject/Subtype/Form/BBox[0 0 300 200]/Resources<</Font<</F 3 0 R>>>>`, `BT /F 12 Tf 20 60 Td (shared by page one) Tj ET`),
		stream(`/Type/XObject/Subtype/Form/BBox[0 0 300 200]/Resources<</Font<</F 3 0 R>>>>`, `BT /F 12 Tf 20 60 Td (secret of page three) Tj ET`),
		`<</Type/Page/Parent 2 0 R/Contents 9 0 R/Annots[12 0 R 13 0 R 17 0 R]/B[8 0 R]/PieceInfo<</X<</Private(secret of the program)>>>>>>`,
		`<</Type/Page/Parent 2 0 R/Contents 10 0 R/Rotate 90>>`,
		`<</Type/Page/Parent 2 0 R/Contents 11 0 R>>`,
		stream(``, `BT /F 12 Tf 20 100 Td (first page) Tj ET /P1 Do`),
		stream(``, `BT /F 12 Tf 20 100 Td (second page) Tj ET`),
		stream(``, `BT /F 12 Tf 20 100 Td (third secret page) Tj ET /P3 Do`),
		`<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/Dest[8 0 R/Fit]/P 6 0 R>>`,
		`<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A<</S/GoTo/D[7 0 R/Fit]>>/P 6 0 R>>`,
		`<</T(field)/FT/Tx/V(secret value)/Kids[17 0 R 18 0 R]>>`,
		`<</Type/Outlines/First 16 0 R/Last 16 0 R/Count 1>>`,
		`<</Title(secret chapter)/Parent 15 0 R/Dest[8 0 R/Fit]>>`,
		`<</Type/Annot/Subtype/Widget/Rect[0 0 9 9]/Parent 14 0 R/P 6 0 R>>`,
		`<</Type/Annot/Subtype/Widget/Rect[0 0 9 9]/Parent 14 0 R/P 8 0 R>>`,
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

func stream(entries, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", entries, len(data), data)
}

// plainText is the text of all pages of a document.
func plainText(t *testing.T, data []byte) (pages []string) {
	t.Helper()
	s, doc := opened(t, data, extract.KindPDF)
	for n := range doc.Pages {
		pages = append(pages, strings.TrimSpace(ask(t, s, extract.PageRequest{N: n + 1, Text: true}).Text.Plain))
	}
	return pages
}

func TestWorker_cutsPagesAndNothingElse(t *testing.T) {
	t.Parallel()
	s, _ := opened(t, entangled(), extract.KindPDF)
	cut, err := s.Cut(t.Context(), []int{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	pages := plainText(t, cut.Bytes)
	if len(pages) != 2 || !strings.Contains(pages[0], "first page") || !strings.Contains(pages[0], "shared by page one") || !strings.Contains(pages[1], "second page") {
		t.Errorf("pages of the cut: %q", pages)
	}
	for n, all := range inflated(t, cut.Bytes) {
		if strings.Contains(all, "secret") {
			t.Errorf("part %d of the cut holds %q", n, all)
		}
	}
	if !strings.Contains(strings.Join(inflated(t, entangled()), ""), "secret of page three") {
		t.Error("the search would not find anything")
	}
	// The page keeps its look: the crop that it inherited and its turn.
	again, _ := opened(t, cut.Bytes, extract.KindPDF)
	if p := ask(t, again, extract.PageRequest{N: 1}); p.WidthPt != 280 || p.HeightPt != 180 {
		t.Errorf("page 1 is %g × %g pt, want 280 × 180", p.WidthPt, p.HeightPt)
	}
	if p := ask(t, again, extract.PageRequest{N: 2}); p.WidthPt != 180 || p.HeightPt != 280 {
		t.Errorf("page 2 is %g × %g pt, want 180 × 280", p.WidthPt, p.HeightPt)
	}
}

func TestWorker_cutsWhatPDFsComeAs(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		"text and scans": pdftest.New().TextPage(pdftest.Text("one")...).ScanPage("two").TextPage(pdftest.Text("three")...).Outline("x", 3).Bytes(),
		"owner password": indirect(t, pdftest.New().TextPage(pdftest.Text("one")...).TextPage(pdftest.Text("two")...).TextPage(pdftest.Text("three")...).OwnerPasswordOnly().Bytes()),
		"preamble":       pdftest.WithPreamble(pdftest.New().TextPage(pdftest.Text("one")...).TextPage(pdftest.Text("two")...).TextPage(pdftest.Text("three")...).Bytes()),
	}
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := opened(t, data, extract.KindPDF)
			cut, err := s.Cut(t.Context(), []int{3})
			if err != nil {
				t.Fatal(err)
			}
			if pages := plainText(t, cut.Bytes); len(pages) != 1 || pages[0] != "three" {
				t.Errorf("pages of the cut: %q", pages)
			}
			if _, err := s.Cut(t.Context(), []int{4}); err == nil || !strings.Contains(err.Error(), "only 3 pages") {
				t.Errorf("a page that is not there: %v", err)
			}
		})
	}
	direct, _ := opened(t, pdftest.New().TextPage(pdftest.Text("one")...).OwnerPasswordOnly().Bytes(), extract.KindPDF)
	if _, err := direct.Cut(t.Context(), []int{1}); err == nil || !strings.Contains(err.Error(), "encrypted in a way") {
		t.Errorf("encryption that pdfcpu does not see: %v", err)
	}
	photo, _ := opened(t, pdftest.Photo(90, 60, "x"), extract.KindImage)
	if _, err := photo.Cut(t.Context(), []int{1}); err == nil || !strings.Contains(err.Error(), "cannot be cut") {
		t.Errorf("a picture: %v", err)
	}
}

// indirect gives the encryption of a PDF an object of its own, as most programs write it, in an update behind its end.
func indirect(t *testing.T, data []byte) []byte {
	t.Helper()
	trailer := string(data[bytes.Index(data, []byte("trailer")):])
	begin := strings.Index(trailer, "/Encrypt ") + len("/Encrypt ")
	previous := trailer[strings.Index(trailer, "startxref")+len("startxref"):]
	end := strings.Index(trailer, "startxref")
	dictionary := trailer[begin : begin+strings.Index(trailer[begin:], ">>")+2]
	trailer = strings.Replace(trailer[:end], dictionary, "99 0 R/Prev "+strings.Fields(previous)[0], 1)
	trailer = regexp.MustCompile(`/Size \d+`).ReplaceAllString(trailer, "/Size 100")
	out := fmt.Appendf(bytes.Clone(data), "99 0 obj\n%s\nendobj\n", dictionary)
	return fmt.Appendf(out, "xref\n99 1\n%010d 00000 n \n%sstartxref\n%d\n%%%%EOF\n", len(data), trailer, len(out))
}

// crossed is a page of 300 × 200 points whose visible box begins at 100, 50; its quarters have colours.
func crossed(rotate int) []byte {
	content := "0.86 0.08 0.08 rg 100 150 100 50 re f 0.08 0.78 0.08 rg 200 150 100 50 re f " +
		"0.08 0.08 0.86 rg 100 100 100 50 re f 0.9 0.9 0.9 rg 200 100 100 50 re f"
	objects := []string{
		`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R]/Count 1>>`,
		fmt.Sprintf(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/CropBox[100 50 300 200]/Rotate %d/Contents 4 0 R/Resources<<>>>>`, rotate),
		stream("", content),
	}
	return written(objects)
}

// tiled is a document of two pages of different heights, on which the same pattern fills a field.
func tiled() []byte {
	page := `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 %g]/Contents 5 0 R/Resources<</Pattern<</P1 6 0 R>>>>>>`
	return written([]string{
		`<</Type/Catalog/Pages 2 0 R>>`, `<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>`, fmt.Sprintf(page, 150.37), fmt.Sprintf(page, 150.0),
		stream("", "/Pattern cs /P1 scn 20 20 100 100 re f"),
		stream("/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9/Resources<<>>", "0.1 0.2 0.7 rg 1.3 1.3 m 7 2 l 4 7.7 l f"),
	})
}

// written is a document of these objects, of which the first is the catalog.
func written(objects []string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\n%%%%EOF\n", len(objects)+1)
	return b.Bytes()
}

func TestWorker_cropsAPage(t *testing.T) {
	t.Parallel()
	for rotate, want := range map[int]string{0: "red green blue grey", 90: "blue red grey green", 180: "grey blue green red", 270: "green grey red blue"} {
		s, _ := opened(t, crossed(rotate), extract.KindPDF)
		r := extract.PageRequest{N: 1, Image: true, DPI: 144, Rect: &content.Rect{X1: 300, Y1: 200, X2: 100, Y2: 100}} // corners in any order
		got := ask(t, s, r).Image
		width, height := 400, 200
		if rotate%180 != 0 {
			width, height = height, width
		}
		if got.Width != width || got.Height != height || colours(t, got) != want {
			t.Errorf("turned by %d: %d × %d, %s; want %d × %d, %s", rotate, got.Width, got.Height, colours(t, got), width, height, want)
		}
		r.Rect = &content.Rect{X1: 100, Y1: 150, X2: 200, Y2: 200} // the red quarter alone
		if got := ask(t, s, r).Image; colours(t, got) != "red red red red" || max(got.Width, got.Height) != 200 {
			t.Errorf("turned by %d: the quarter is %s, %d × %d", rotate, colours(t, got), got.Width, got.Height)
		}
		r.MaxSide = 60
		if got := ask(t, s, r).Image; max(got.Width, got.Height) > 60 || max(got.Width, got.Height) < 57 {
			t.Errorf("turned by %d: within 60 pixels: %d × %d", rotate, got.Width, got.Height)
		}
		r.Rect = &content.Rect{X1: 500, Y1: 500, X2: 600, Y2: 600}
		if _, err := s.Page(t.Context(), r); err == nil || !strings.Contains(err.Error(), "not on the page") {
			t.Errorf("turned by %d: a rectangle elsewhere: %v", rotate, err)
		}
	}
}
