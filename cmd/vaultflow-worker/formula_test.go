package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// A formula that cannot be written in LaTeX is marked above its text, and can be drawn by itself.
func TestWorker_drawsFormulas(t *testing.T) {
	t.Parallel()
	data := pdftest.New().PlacedPage([]pdftest.Placed{
		{Text: "The two sides of a river are equal in the following sense, which everybody knows:", X: 72, Y: 100},
		{Text: "a ~ b = c + d(x)", X: 200, Y: 130, Mono: true},
		{Text: "where the letters are what they were in the chapter before this one.", X: 72, Y: 160},
	}, nil).Bytes()
	data = bytes.ReplaceAll(data, []byte("/BaseFont /Courier "), []byte("/BaseFont  /CMMI10 ")) // of the same length, since the file's table counts bytes
	s, _ := opened(t, data, extract.KindPDF)
	text := ask(t, s, extract.PageRequest{N: 1, Text: true, Formulas: true}).Text
	inTurn(t, text.Markdown, "$", "everybody knows:\n\n\uFFFC\n\na ~ b = c + d(x)\n\nwhere the letters")
	if strings.Contains(text.Plain, "\uFFFC") || len(text.Formulas) != 1 {
		t.Fatalf("formulas at %v in\n%s", text.Formulas, text.Plain)
	}
	if plain := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text; strings.Contains(plain.Markdown, "\uFFFC") || plain.Formulas != nil || !strings.Contains(plain.Markdown, "knows:\n\na ~ b") {
		t.Errorf("nobody asked for formulas at %v in\n%s", plain.Formulas, plain.Markdown)
	}
	got := ask(t, s, extract.PageRequest{N: 1, Image: true, DPI: 72, Rect: &text.Formulas[0], Displayed: true, Format: "png"}).Image
	img, err := png.Decode(bytes.NewReader(got.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	ink := darkBox(greyPicture(img))
	if got.Width < 80 || got.Width > 160 || got.Height < 12 || got.Height > 40 || ink.Dx() < 50 || ink.Dy() < 6 || !ink.Inset(-1).In(img.Bounds()) {
		t.Errorf("a picture of %d × %d pixels with ink at %v", got.Width, got.Height, ink)
	}
}

// darkBox returns the box around the dark pixels.
func darkBox(img *image.Gray) (r image.Rectangle) {
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			if img.GrayAt(x, y).Y < 128 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// The large signs of TeX's fonts are known by the names of their glyphs alone.
func TestWorker_readsLargeSigns(t *testing.T) {
	t.Parallel()
	program := type1("summationdisplay")
	content := "BT /T 11 Tf 72 700 Td (The sum of all of the numbers that are in the following row is large) Tj ET BT /X 10 Tf 200 660 Td (X) Tj ET"
	var b strings.Builder
	b.WriteString("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj\n" +
		"3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /T 5 0 R /X 6 0 R >> >> >> endobj\n" +
		"5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj\n" +
		"6 0 obj << /Type /Font /Subtype /Type1 /BaseFont /ABCDEF+CMEX10 /FirstChar 88 /LastChar 88 /Widths [1444] /FontDescriptor 7 0 R >> endobj\n" +
		"7 0 obj << /Type /FontDescriptor /FontName /ABCDEF+CMEX10 /Flags 4 /FontBBox [0 -1400 1444 0] /Ascent 0 /Descent -1400 /CapHeight 0 /StemV 50 /ItalicAngle 0 /FontFile 8 0 R >> endobj\n")
	fmt.Fprintf(&b, "4 0 obj << /Length %d >> stream\n%s\nendstream endobj\n8 0 obj << /Length %d >> stream\n%s\nendstream endobj\ntrailer << /Root 1 0 R >>\n%%%%EOF\n", len(content), content, len(program), program)
	s, _ := opened(t, []byte(b.String()), extract.KindPDF)
	if got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text; !strings.Contains(got.Plain, "∑") {
		t.Errorf("got\n%s", got.Plain)
	}
}

// type1 returns a font program with a square as the glyph of this name, for the code 88.
func type1(name string) string {
	square := coded(4330, "\x8b\xfa\x7c\x0d\xef\xef\x15\xf8\x88\x06\xf8\x88\x07\xfc\x88\x06\x09\x0e") // hsbw, rmoveto, three sides, closepath, endchar
	empty := coded(4330, "\x8b\xfa\x7c\x0d\x0e")
	private := "dup /Private 8 dict dup begin /RD {string currentfile exch readstring pop} executeonly def /ND {noaccess def} executeonly def /NP {noaccess put} executeonly def " +
		"/BlueValues [] def /password 5839 def /MinFeature {16 16} def /lenIV 4 def 2 index /CharStrings 2 dict dup begin\n" +
		fmt.Sprintf("/.notdef %d RD %s ND\n/%s %d RD %s ND\nend end readonly put noaccess put dup /FontName get exch definefont pop mark currentfile closefile\n", len(empty), empty, name, len(square), square)
	return "%!PS-AdobeFont-1.0: CMEX10 1.0\n11 dict begin /FontName /CMEX10 def /PaintType 0 def /FontType 1 def /FontMatrix [0.001 0 0 0.001 0 0] readonly def\n" +
		"/FontBBox {0 0 1000 1000} readonly def /Encoding 256 array 0 1 255 {1 index exch /.notdef put} for dup 88 /" + name + " put readonly def currentdict end\ncurrentfile eexec\n" +
		coded(55665, private) + strings.Repeat("0", 512) + "\ncleartomark\n"
}

// coded encrypts a part of a Type 1 font (Adobe Type 1 Font Format, chapter 7).
func coded(key uint16, text string) string {
	out := []byte("\x00\x00\x00\x00" + text)
	for i, c := range out {
		out[i] = c ^ byte(key>>8)
		key = (uint16(out[i])+key)*52845 + 22719
	}
	return string(out)
}
