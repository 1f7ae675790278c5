//go:build worker

package main

import (
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/worker"
	"github.com/vaultflow/vaultflow/ingestion/worker/heif"
	"github.com/vaultflow/vaultflow/ingestion/worker/mupdf"
	"github.com/vaultflow/vaultflow/ingestion/worker/ocr"
	"github.com/vaultflow/vaultflow/ingestion/worker/pdf"
	"github.com/vaultflow/vaultflow/ingestion/worker/pdfium"
	"github.com/vaultflow/vaultflow/ingestion/worker/picture"
	"github.com/vaultflow/vaultflow/ingestion/worker/tesseract"
)

// linked are the libraries of this build.
var linked libraries = all{}

// all is MuPDF, PDFium, Tesseract and the decoders of pictures.
type all struct{}

func (all) mupdf() string            { return mupdf.Version() }
func (all) tesseract() string        { return tesseract.Version() }
func (all) warm(folder string) error { return pdfium.Warm(folder) }

func (all) prepare(o options) (openFunc, func()) {
	reader := ocr.NewReader(o.tessdata, func(tessdata string) ocr.Engine { return tesseract.New(tessdata) })
	pdfs := pdf.Libraries{
		MuPDF: func(data []byte) (pdf.MuPDF, error) { return asInterface[pdf.MuPDF](mupdf.Open(data)) },
		Code:  pdfium.OpenCode(o.cache), OCR: reader,
	}
	pictures := picture.Libraries{
		MuPDF:  func(data []byte) (picture.Drawings, error) { return asInterface[picture.Drawings](mupdf.Open(data)) },
		Decode: heif.Decode, OCR: reader,
	}
	return func(data []byte, o extract.Open) (worker.Document, error) {
		if o.Kind == extract.KindPDF {
			return pdf.Open(data, o, pdfs)
		}
		return picture.Open(data, pictures)
	}, reader.Close
}

// asInterface returns a document as an interface, which is nil if there is an error.
func asInterface[T any](doc T, err error) (none T, _ error) {
	if err != nil {
		return none, err
	}
	return doc, nil
}
