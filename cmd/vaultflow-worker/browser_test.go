package main

import (
	"os"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

func TestWorker_readsWhatABrowserPrinted(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/browser.pdf")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := opened(t, data, extract.KindPDF)
	got := ask(t, s, extract.PageRequest{N: 1, Text: true}).Text.Markdown
	t.Log(got)
	tables := gfm(got)
	if len(tables) != 1 {
		t.Fatalf("%d tables", len(tables))
	}
	want := [][]string{
		{"Name", "Amount", "Note"},
		{"Alpha beta", "1,234.50", "a note that is long and goes over several lines because it does"},
		{"Gamma", "3.00", "x"},
	}
	if right, all := cellsRight(tables[0], want); right < all {
		t.Errorf("%d of %d cells are right", right, all)
	}
}
