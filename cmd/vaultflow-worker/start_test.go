package main

import (
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// BenchmarkStart measures the time from nothing to an opened document of one page, confinement included.
func BenchmarkStart(b *testing.B) {
	c := program(b)
	for b.Loop() {
		s, _, err := start(b, c, pdftest.New().BlankPage().Bytes(), extract.KindPDF)
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
