package main

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// Each page of a mixed document is decided about by itself, from what the real program tells of it.
func TestWorker_givesEvidenceOfEachPage(t *testing.T) {
	t.Parallel()
	data := pdftest.New().PageSize(595, 400).
		TextPage(pdftest.Text("A page of real text, as a word processor prints it.", "It has more than one line.")...).
		ScanPage(scanLines...).
		OutlinePage("Letters that are shapes").
		BlankPage().
		StampedScanPage("received 3 March", scanLines...).
		InvisibleTextScan([]string{"an old layer"}, scanLines...).
		ScanPage(). // an empty sheet
		NumberedPage("17").
		BlankPage().Field(pdftest.TextField("Account", "86011117947")). // whose value is no noise of recognition
		Bytes()
	s, _ := opened(t, data, extract.KindPDF)
	for i, want := range []struct {
		ocr  bool
		code string
	}{
		{false, "text_layer"},
		{true, "no_text"},
		{true, "outlines"},
		{false, "blank"},
		{true, "stamp_on_scan"},
		{false, "old_ocr_layer"},
		{false, "blank"},
		{false, "margin_only"},
		{false, "blank"},
	} {
		e := ask(t, s, extract.PageRequest{N: i + 1, Text: true}).Text.Evidence
		got := choose.OCR(e, false)
		t.Logf("page %d: %s", i+1, got)
		if got.OCR != want.ocr || got.Code != want.code {
			t.Errorf("page %d: %v %s, want %v %s; %+v", i+1, got.OCR, got, want.ocr, want.code, e)
		}
	}
	if o := ask(t, s, extract.PageRequest{N: 3, OCR: true}).OCR; !strings.Contains(o.Text, "Letters that are shapes") {
		t.Errorf("outlines were read as %q", o.Text)
	}
}

// What was typed over a scan does not hide the scan: the page has both, in the order of its lines. A picture without letters adds nothing.
func TestWorker_mergesPicturesIntoTheLayer(t *testing.T) {
	t.Parallel()
	const typed = "BT /F1 11 Tf 300 275 Td (Anna Katharina Schmidt of 12 Harbour Street) Tj 0 -45 Td (14 February 1987, in the town of Bremen) Tj ET"
	form := []string{"Application for a card", "", "Surname and name", "", "", "Date of your birth", "", "", "Signed by the applicant"}
	data := pdftest.New().PageSize(595, 400).ScanPage(form...).Operators(typed).
		PicturePage(pdftest.Noise(1200, 900, 3), 150).Operators(typed).Bytes()
	s, _ := opened(t, data, extract.KindPDF)
	for i, want := range []string{"text_in_picture", "text_layer"} {
		e := ask(t, s, extract.PageRequest{N: i + 1, Text: true}).Text.Evidence
		if got := choose.OCR(e, false); got.Code != want {
			t.Errorf("page %d: %s, want %s; %+v", i+1, got, want, e)
		}
	}
	got := ask(t, s, extract.PageRequest{N: 1, Text: true, OCR: true, Merge: true}).Text.Markdown
	at := 0
	for _, words := range []string{"Application for a card", "Surname and name", "Anna Katharina Schmidt", "Date of your birth", "14 February 1987"} {
		i := strings.Index(got[at:], words)
		if i < 0 {
			t.Fatalf("%q is not at its place:\n%s", words, got)
		}
		at += i
	}
	if strings.Count(got, "Katharina") != 1 {
		t.Errorf("words of the layer come twice:\n%s", got)
	}
}

// Pages in fonts that draw their letters and name none, as in files of old TeX, are compared with recognition if their codes are no text.
func TestWorker_doubtsDrawnLetters(t *testing.T) {
	t.Parallel()
	codes := []func(r rune, nth int) byte{
		func(r rune, _ int) byte { return byte(r) },
		func(_ rune, n int) byte { return 'A' + byte(n) },
		func(_ rune, n int) byte { return 160 + byte(n) },
	}
	for i, code := range codes {
		s, _ := opened(t, pdftest.New().DrawnPage(code, prose...).Bytes(), extract.KindPDF)
		got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text
		if d := choose.OCR(got.Evidence, false).Checked(got.Markdown, got.Evidence); choose.Garbled(d.Code) != (i > 0) || got.Evidence.Drawn != got.Evidence.Chars {
			t.Errorf("%d: %s, %+v: %.80q", i, d, got.Evidence, got.Markdown)
		}
	}
}

// What Tesseract makes of pictures without text is no text.
func TestWorker_readsNothingInPicturesWithoutText(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		s, _ := opened(t, encoded(t, pdftest.Noise(900, 700, seed+1)), extract.KindImage)
		if o := ask(t, s, extract.PageRequest{N: 1, OCR: true}).OCR; o.Text != "" || len(o.Words) > 0 {
			t.Errorf("seed %d: %d words of confidence %.0f: %q", seed, len(o.Words), o.Confidence, o.Text)
		}
	}
}
