package main

import (
	"bytes"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// The pages of an XFA form are a notice until a viewer makes them.
func TestOpen_reportsXFAForms(t *testing.T) {
	t.Parallel()
	notice := pdftest.New().TextPage(pdftest.Text("Please wait until your viewer shows the form.")...).Bytes()
	for want, data := range map[bool][]byte{
		false: notice, true: bytes.Replace(notice, []byte("/Type /Catalog"), []byte("/Type /Catalog /NeedsRendering true"), 1),
	} {
		if _, doc := opened(t, data, extract.KindPDF); doc.XFA != want {
			t.Errorf("XFA: %v, want %v", doc.XFA, want)
		}
	}
}
