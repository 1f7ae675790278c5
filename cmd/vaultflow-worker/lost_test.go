package main

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// The renderers draw a page without what the file lacks, and say nothing. Such a page tells, and no other one does.
func TestPage_tellsThatContentIsMissing(t *testing.T) {
	t.Parallel()
	b := pdftest.New()
	for n := range 8 {
		if n == 2 {
			b.BlankPage()
			continue
		}
		b.TextPage(pdftest.Text(fmt.Sprintf("page %d of the contract", n+1), "The supplier delivers within nine days.", "All else is agreed in writing.")...)
	}
	text := b.Bytes()
	b = pdftest.New()
	for range 3 {
		b.ScanPage("A scanned letter", "of the harbour office")
	}
	scans := b.Bytes()
	whole := []byte("%%EOF")
	content := func(data []byte, n int) int { // where the n-th stream begins
		at := 0
		for range n {
			at += bytes.Index(data[at:], []byte("\nstream\n")) + 1
		}
		return at
	}
	hole := bytes.Clone(text)
	begin, end := content(hole, 4), content(hole, 6)
	begin, end = bytes.LastIndex(hole[:begin], []byte(" obj"))-4, end-200
	copy(hole[begin:end], make([]byte, end-begin))
	deflated := packedPages(4)
	torn := bytes.Clone(deflated)
	copy(torn[content(torn, 2)+len("\nstream\n")+10:], bytes.Repeat([]byte{'A'}, 30))
	late := bytes.Clone(deflated)
	copy(late[content(late, 3)+len("\nstream\n")+200:], bytes.Repeat([]byte{'A'}, 30))
	for name, c := range map[string]struct {
		data  []byte
		lost  []int
		pages int
	}{
		"whole":              {text, nil, 8},
		"cut between pages":  {text[:bytes.LastIndex(text[:content(text, 6)], []byte("endobj"))+6], []int{6, 7, 8}, 8},
		"cut within a page":  {text[:content(text, 5)+60], []int{5, 6, 7, 8}, 8},
		"more behind":        {append(bytes.Clone(text), make([]byte, 2000)...), nil, 8},
		"without its end":    {bytes.ReplaceAll(text, whole, nil), nil, 8},
		"a hole":             {hole, []int{4, 5}, 8},
		"packed":             {deflated, nil, 4},
		"a torn content":     {torn, []int{2}, 4},
		"half a content":     {late, []int{3}, 4},
		"early ends":         {packedPages(4, 2, 4), []int{2, 4}, 4},
		"scans":              {scans, nil, 3},
		"scans that are cut": {scans[:len(scans)*6/10], []int{2, 3}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, doc := mustOpen(t, c.data, extract.Open{})
			var lost []int
			for n := 1; n <= doc.Pages; n++ {
				got, err := s.Page(context.Background(), extract.PageRequest{N: n, Text: true})
				if err != nil {
					t.Fatal(err)
				}
				if got.Lost != "" {
					lost = append(lost, n)
				}
				for _, r := range []extract.PageRequest{{Text: true}, {Image: true}, {Text: true, Image: true}} {
					r.N, r.DPI, r.MaxSide, r.MaxPixels = n, 40, 4000, 1<<24
					again, err := s.Page(context.Background(), r)
					if err != nil || again.Lost != got.Lost {
						t.Errorf("page %d, text %v, image %v: lost %q, %v, not %q", n, r.Text, r.Image, again.Lost, err, got.Lost)
					}
				}
			}
			if ends := bytes.Contains(c.data[max(0, len(c.data)-4096):], whole); doc.CutOff == ends {
				t.Errorf("cut off: %v, with a mark of its end: %v", doc.CutOff, ends)
			}
			if doc.Pages != c.pages || fmt.Sprint(lost) != fmt.Sprint(c.lost) {
				t.Errorf("%d pages, lost %v, want %v", doc.Pages, lost, c.lost)
			}
		})
	}
}

// packedPages returns a PDF of pages whose contents are compressed. Those of some pages end early.
func packedPages(pages int, early ...int) []byte {
	var out bytes.Buffer
	var at []int
	object := func(format string, values ...any) {
		at = append(at, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(at)}, values...)...)
	}
	out.WriteString("%PDF-1.7\n")
	object("<</Type/Catalog/Pages 2 0 R>>")
	var kids string
	for n := range pages {
		kids += fmt.Sprintf("%d 0 R ", 4+2*n)
	}
	object("<</Type/Pages/Kids[%s]/Count %d/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>>>", kids, pages)
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	for n := range pages {
		var text, packed bytes.Buffer
		for line := range 40 {
			fmt.Fprintf(&text, "BT /F 11 Tf 72 %d Td (Page %d: in row %d the harbour office notes %d boats.) Tj ET\n", 780-18*line, n+1, line, line*line*7919%1009)
		}
		w := zlib.NewWriter(&packed)
		_, _ = w.Write(text.Bytes())
		_ = w.Close()
		object("<</Type/Page/Parent 2 0 R/Contents %d 0 R>>", 5+2*n)
		if slices.Contains(early, n+1) {
			packed.Truncate(packed.Len() * 6 / 10)
		}
		object("<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream", packed.Len(), packed.Bytes())
	}
	table := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, place := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", place)
	}
	fmt.Fprintf(&out, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return out.Bytes()
}
