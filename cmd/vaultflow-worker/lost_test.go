package main

import (
	"bytes"
	"context"
	"fmt"
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
