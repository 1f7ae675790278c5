package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure"
)

var pngMagic = []byte("\x89PNG\r\n\x1a\nrest")

func fullPage() Page {
	return Page{
		N: 3, WidthPt: 595, HeightPt: 842, Label: "iii",
		Text:  &PageText{Markdown: "# A", Plain: "A", Evidence: Evidence{Chars: 1, PictureCover: 0.5}},
		Image: &PageImage{MediaType: "image/png", Width: 2, Height: 3, DPI: 150, Size: len(pngMagic), Bytes: pngMagic},
		OCR:   &PageOCR{Text: "A", Words: []Word{{Text: "A", X1: 4, Y1: 5, Confidence: 90}}, Confidence: 90, Engine: "tesseract 5"},
	}
}

func messages() []any {
	return []any{
		Hello{Protocol: Protocol, Languages: []string{"eng"}, Confinement: ConfinedLimits},
		Open{Kind: KindPDF, MediaType: "application/pdf", Renderer: RenderAuto, Passwords: []string{"open sesame"}},
		Document{Pages: 4, Title: "T", Outline: []OutlineItem{{Level: 1, Title: "x", Page: 4}}, Renderer: "mupdf"},
		PageRequest{N: 3, Text: true, Languages: []string{"eng", "deu_frak"}},
		fullPage(),
		&Error{Code: failure.Corrupt, Message: "no", Page: 2},
		PageRequest{N: 1, Image: true, MaxBytes: 5000, Rect: &content.Rect{X1: -3, Y1: 20, X2: 100.5, Y2: 7}},
		CutRequest{Pages: []int{1, 2, 9}},
		Cut{MediaType: "application/pdf", Size: 8, Bytes: []byte("%PDF-1.7")},
	}
}

func TestDecode_givesWhatWasEncoded(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	for _, m := range messages() {
		if err := Encode(&b, m); err != nil {
			t.Fatalf("encode %T: %v", m, err)
		}
	}
	for _, want := range messages() {
		got, err := Decode(&b)
		if err != nil {
			t.Fatalf("decode %T: %v", want, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", want, diff)
		}
	}
	if _, err := Decode(&b); !errors.Is(err, io.EOF) {
		t.Errorf("after the last message: %v, want io.EOF", err)
	}
}

func TestDecode_refusesLies(t *testing.T) {
	t.Parallel()
	frame := func(kind byte, payload string) []byte {
		var b bytes.Buffer
		_ = writeFrame(&b, kind, []byte(payload))
		return b.Bytes()
	}
	page := func(change func(*Page)) []byte {
		p := fullPage()
		change(&p)
		var b bytes.Buffer
		if err := Encode(&b, p); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	cut := func(c Cut) []byte {
		var b bytes.Buffer
		if err := Encode(&b, c); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	cases := map[string][]byte{
		"cut of no pages":           frame('C', `{"pages":[]}`),
		"cut backwards":             frame('C', `{"pages":[2,1]}`),
		"cut that is a script":      cut(Cut{MediaType: "application/pdf", Bytes: []byte("<script>")}),
		"cut that is a page":        cut(Cut{MediaType: "text/html", Bytes: []byte("%PDF-")}),
		"cut of 4 GB":               frame('F', `{"media_type":"application/pdf","size":4000000000}`),
		"flat rectangle":            frame('R', `{"n":1,"rect":{"X1":4,"X2":4,"Y1":0,"Y2":9}}`),
		"rectangle of the world":    frame('R', `{"n":1,"rect":{"X1":0,"X2":1e300,"Y1":0,"Y2":9}}`),
		"unknown type":              {0, 0, 0, 0, 'Z'},
		"announces 4 GB":            {255, 255, 255, 255, 'P'},
		"not JSON":                  frame('D', "{"),
		"negative pages":            frame('D', `{"pages":-1}`),
		"too many pages":            frame('D', `{"pages":9999999999}`),
		"outline beyond the end":    frame('D', `{"pages":1,"outline":[{"level":1,"page":2}]}`),
		"unknown renderer":          frame('O', `{"kind":"pdf","renderer":"acrobat"}`),
		"unknown confinement":       frame('H', `{"confinement":"very"}`),
		"language with a path":      frame('R', `{"n":1,"languages":["../x"]}`),
		"error without a code":      frame('E', `{}`),
		"long title":                frame('D', `{"title":"`+strings.Repeat("x", maxString+1)+`"}`),
		"picture without its page":  frame('I', "x"),
		"page zero":                 page(func(p *Page) { p.N = 0 }),
		"more bad than characters":  page(func(p *Page) { p.Text.Evidence.Unmapped = 2 }),
		"picture of another type":   page(func(p *Page) { p.Image.MediaType = "image/jpeg" }),
		"picture that is a script":  page(func(p *Page) { p.Image.Bytes = []byte("<script>") }),
		"picture without width":     page(func(p *Page) { p.Image.Width = 0 }),
		"word outside of all pages": page(func(p *Page) { p.OCR.Words[0].X1 = 1 << 30 }),
		"confidence of 200":         page(func(p *Page) { p.OCR.Confidence = 200 }),
		"page without its picture": append(frame('P', `{"n":1,"image":{"media_type":"image/png","width":1,"height":1,"size":9}}`),
			frame('E', `{"code":"x"}`)...),
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := Decode(bytes.NewReader(in)); !errors.Is(err, ErrFrame) {
				t.Errorf("got %v, %v; want ErrFrame", got, err)
			}
		})
	}
}

func TestDecode_tellsBrokenOffFromEnded(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Encode(&b, fullPage()); err != nil {
		t.Fatal(err)
	}
	for n := 1; n < b.Len(); n++ {
		if _, err := Decode(bytes.NewReader(b.Bytes()[:n])); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut after %d of %d bytes: %v, want io.ErrUnexpectedEOF", n, b.Len(), err)
		}
	}
}

func TestError_saysItsPage(t *testing.T) {
	t.Parallel()
	e := &Error{Code: failure.Timeout, Message: "took too long", Page: 7}
	if e.Error() != "page 7: took too long" || e.Code != "timeout" || !e.Ends() {
		t.Errorf("got %q, %q, %v", e.Error(), e.Code, e.Ends())
	}
}

func TestOpen_neverPrintsPasswords(t *testing.T) {
	t.Parallel()
	o := Open{Kind: KindPDF, Passwords: []string{"open sesame"}}
	var b bytes.Buffer
	for _, log := range []*slog.Logger{slog.New(slog.NewTextHandler(&b, nil)), slog.New(slog.NewJSONHandler(&b, nil))} {
		log.Info("opened", "open", o)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		fmt.Fprintf(&b, verb, o)
		fmt.Fprintf(&b, verb, &o)
		fmt.Fprintf(&b, verb, []Open{o})
	}
	if strings.Contains(b.String(), "sesame") {
		t.Errorf("the password was printed:\n%s", b.String())
	}
}

// FuzzDecode: whatever comes, Decode ends, and what it accepts can be encoded and decoded to the same.
func FuzzDecode(f *testing.F) {
	for _, m := range messages() {
		var b bytes.Buffer
		if err := Encode(&b, m); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := Decode(bytes.NewReader(in))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Encode(&b, m); err != nil {
			t.Fatalf("encode what was decoded: %v", err)
		}
		again, err := Decode(&b)
		if err != nil {
			t.Fatalf("decode again: %v", err)
		}
		if e, ok := again.(*Error); ok {
			again, m = *e, *m.(*Error)
		}
		if diff := cmp.Diff(m, again, cmp.FilterValues(func(a, b []string) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
			cmp.FilterValues(func(a, b []Word) bool { return len(a)+len(b) == 0 }, cmp.Ignore()),
			cmp.FilterValues(func(a, b []OutlineItem) bool { return len(a)+len(b) == 0 }, cmp.Ignore())); diff != "" {
			t.Errorf("decoded twice (-first +second):\n%s", diff)
		}
	})
}
