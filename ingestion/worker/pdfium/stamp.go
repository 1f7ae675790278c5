package pdfium

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// drawn returns the text that is drawn within one annotation of the page. PDFium reads only the text of pages, so in a copy
// of the document everything else is removed from the page and the annotation becomes part of its contents.
func (r *annotationReader) drawn(annotation int) (string, error) {
	opened, err := r.in.OpenDocument(&requests.OpenDocument{FileReader: bytes.NewReader(r.doc.data), FileReaderSize: int64(len(r.doc.data)), Password: &r.doc.password})
	if err != nil {
		return "", fmt.Errorf("open a copy: %w", err)
	}
	defer tidy(func() error {
		_, err := r.in.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: opened.Document})
		return err
	})
	if err := r.leaveOnly(opened.Document, annotation); err != nil {
		return "", err
	}
	// Load the page again, now with the annotation in its contents.
	loaded, err := r.in.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: opened.Document, Index: r.page - 1})
	if err != nil {
		return "", fmt.Errorf("load the page of the copy: %w", err)
	}
	page := requests.Page{ByReference: &loaded.Page}
	defer tidy(func() error {
		_, err := r.in.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
		return err
	})
	got, err := r.in.GetPageText(&requests.GetPageText{Page: page})
	if err != nil {
		return "", fmt.Errorf("read the text of the copy: %w", err)
	}
	return bounded(strings.Join(strings.Fields(got.Text), " ")), nil
}

// leaveOnly removes everything from a page but one annotation, and makes that part of the page's contents.
func (r *annotationReader) leaveOnly(doc references.FPDF_DOCUMENT, annotation int) error {
	loaded, err := r.in.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: doc, Index: r.page - 1})
	if err != nil {
		return fmt.Errorf("load the page: %w", err)
	}
	page := requests.Page{ByReference: &loaded.Page}
	defer tidy(func() error {
		_, err := r.in.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
		return err
	})
	count, err := r.in.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil {
		return fmt.Errorf("count annotations: %w", err)
	}
	for i := count.Count - 1; i >= 0; i-- {
		if i == annotation {
			continue
		}
		if _, err := r.in.FPDFPage_RemoveAnnot(&requests.FPDFPage_RemoveAnnot{Page: page, Index: i}); err != nil {
			return fmt.Errorf("remove annotation %d: %w", i+1, err)
		}
	}
	objects, err := r.in.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return fmt.Errorf("count objects: %w", err)
	}
	if objects.Count > maxObjects {
		return fmt.Errorf("the page has %d objects", objects.Count)
	}
	for i := objects.Count - 1; i >= 0; i-- {
		object, err := r.in.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			return fmt.Errorf("object %d: %w", i+1, err)
		}
		if _, err := r.in.FPDFPage_RemoveObject(&requests.FPDFPage_RemoveObject{Page: page, PageObject: object.PageObject}); err != nil {
			return fmt.Errorf("remove object %d: %w", i+1, err)
		}
	}
	if _, err := r.in.FPDFPage_GenerateContent(&requests.FPDFPage_GenerateContent{Page: page}); err != nil {
		return fmt.Errorf("empty the page: %w", err)
	}
	if _, err := r.in.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: page, Usage: requests.FPDFPage_FlattenUsageNormalDisplay}); err != nil {
		return fmt.Errorf("draw the annotation: %w", err)
	}
	return nil
}
