//go:build worker

package main

import (
	"fmt"
	"strings"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// maxAnnotations is the most that are read of a page, and the most options of a choice. Files made to do harm declare
// millions.
const maxAnnotations = 2000

// notShown are annotations that nobody sees on the page as it is displayed.
const notShown = enums.FPDF_ANNOT_FLAG_HIDDEN | enums.FPDF_ANNOT_FLAG_NOVIEW

// passwordField marks a text field whose value viewers do not show; PDF 32000-1, table 228, bit 14.
const passwordField = 1 << 13

// kinds are the annotations that people make, in words.
var kinds = map[enums.FPDF_ANNOTATION_SUBTYPE]string{
	enums.FPDF_ANNOT_SUBTYPE_TEXT: "Note", enums.FPDF_ANNOT_SUBTYPE_FREETEXT: "Text", enums.FPDF_ANNOT_SUBTYPE_LINE: "Line",
	enums.FPDF_ANNOT_SUBTYPE_SQUARE: "Box", enums.FPDF_ANNOT_SUBTYPE_CIRCLE: "Circle", enums.FPDF_ANNOT_SUBTYPE_POLYGON: "Polygon",
	enums.FPDF_ANNOT_SUBTYPE_POLYLINE: "Line", enums.FPDF_ANNOT_SUBTYPE_HIGHLIGHT: "Highlight",
	enums.FPDF_ANNOT_SUBTYPE_UNDERLINE: "Underline", enums.FPDF_ANNOT_SUBTYPE_SQUIGGLY: "Underline",
	enums.FPDF_ANNOT_SUBTYPE_STRIKEOUT: "Struck out", enums.FPDF_ANNOT_SUBTYPE_STAMP: "Stamp", enums.FPDF_ANNOT_SUBTYPE_CARET: "Insertion",
	enums.FPDF_ANNOT_SUBTYPE_INK: "Drawing", enums.FPDF_ANNOT_SUBTYPE_FILEATTACHMENT: "Attached file", enums.FPDF_ANNOT_SUBTYPE_REDACT: "Redaction",
	enums.FPDF_ANNOT_SUBTYPE_WATERMARK: "Watermark",
}

// besides reads the values of form fields and the annotations of a page.
func (p *pdfium) besides(n int) (besides, error) {
	var out besides
	count, err := p.in.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: p.page(n)})
	if err != nil {
		return out, fmt.Errorf("count annotations: %w", err)
	}
	if count.Count == 0 {
		return out, nil
	}
	loaded, err := p.in.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: p.page(n)})
	if err != nil {
		return out, fmt.Errorf("load the text: %w", err)
	}
	defer tidy(func() error {
		_, err := p.in.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
		return err
	})
	err = p.withForm(n, func(form references.FPDF_FORMHANDLE) error {
		for i := range min(count.Count, maxAnnotations) {
			if err := p.annotation(n, i, form, loaded.TextPage, &out); err != nil {
				return fmt.Errorf("annotation %d: %w", i+1, err)
			}
		}
		return nil
	})
	return out, err
}

// annotation adds one to what stands beside the page's contents. One that cannot be read is left out.
func (p *pdfium) annotation(n, i int, form references.FPDF_FORMHANDLE, text references.FPDF_TEXTPAGE, out *besides) error {
	got, err := p.in.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: p.page(n), Index: i})
	if err != nil {
		return nil //nolint:nilerr // a broken entry of the list; the others are read
	}
	a := got.Annotation
	defer tidy(func() error {
		_, err := p.in.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: a})
		return err
	})
	subtype, err := p.in.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: a})
	if err != nil {
		return err
	}
	if flags, err := p.in.FPDFAnnot_GetFlags(&requests.FPDFAnnot_GetFlags{Annotation: a}); err != nil || flags.Flags&notShown != 0 {
		return err
	}
	if subtype.Subtype == enums.FPDF_ANNOT_SUBTYPE_WIDGET {
		if form != "" {
			p.widget(form, a, out)
		}
		return nil
	}
	kind, seen := kinds[subtype.Subtype]
	if !seen {
		return nil // links, and the windows of other annotations
	}
	out.marks++
	c := comment{kind: kind, author: p.entry(a, "T"), text: p.entry(a, "Contents")}
	switch subtype.Subtype {
	case enums.FPDF_ANNOT_SUBTYPE_HIGHLIGHT, enums.FPDF_ANNOT_SUBTYPE_UNDERLINE, enums.FPDF_ANNOT_SUBTYPE_SQUIGGLY, enums.FPDF_ANNOT_SUBTYPE_STRIKEOUT:
		c.covered = p.covered(a, text)
	case enums.FPDF_ANNOT_SUBTYPE_STAMP:
		if c.text == "" {
			c.text = p.entry(a, "Subj")
		}
		if c.text == "" {
			c.text = p.entry(a, "Name")
		}
		if drawn, err := p.drawnText(n, i); err == nil && !strings.Contains(strings.Join(strings.Fields(c.text), " "), drawn) {
			c.drawn = drawn // one that cannot be read has its look in the picture alone
		}
	}
	if c.text != "" || c.covered != "" || c.drawn != "" {
		out.comments = append(out.comments, c)
	}
	return nil
}

// entry is a text of an annotation; empty when it has none.
func (p *pdfium) entry(a references.FPDF_ANNOTATION, key string) string {
	got, err := p.in.FPDFAnnot_GetStringValue(&requests.FPDFAnnot_GetStringValue{Annotation: a, Key: key})
	if err != nil {
		return ""
	}
	return bounded(got.Value)
}

// covered is the text that a highlight lies on: what stands in the four corners of each of its parts.
func (p *pdfium) covered(a references.FPDF_ANNOTATION, text references.FPDF_TEXTPAGE) string {
	count, err := p.in.FPDFAnnot_CountAttachmentPoints(&requests.FPDFAnnot_CountAttachmentPoints{Annotation: a})
	if err != nil {
		return ""
	}
	var parts []string
	for i := range min(count.Count, 200) {
		got, err := p.in.FPDFAnnot_GetAttachmentPoints(&requests.FPDFAnnot_GetAttachmentPoints{Annotation: a, Index: i})
		if err != nil {
			continue
		}
		q := got.QuadPoints
		found, err := p.in.FPDFText_GetBoundedText(&requests.FPDFText_GetBoundedText{
			TextPage: text, Left: float64(min(q.X1, q.X2, q.X3, q.X4)), Right: float64(max(q.X1, q.X2, q.X3, q.X4)),
			Bottom: float64(min(q.Y1, q.Y2, q.Y3, q.Y4)), Top: float64(max(q.Y1, q.Y2, q.Y3, q.Y4)),
		})
		if err == nil && strings.TrimSpace(found.Text) != "" {
			parts = append(parts, found.Text)
		}
	}
	return bounded(strings.Join(parts, " "))
}

// widget adds what somebody filled into a field. Buttons and fields for passwords say nothing.
func (p *pdfium) widget(form references.FPDF_FORMHANDLE, a references.FPDF_ANNOTATION, out *besides) {
	kind, err := p.in.FPDFAnnot_GetFormFieldType(&requests.FPDFAnnot_GetFormFieldType{FormHandle: form, Annotation: a})
	if err != nil || kind.FormFieldType == enums.FPDF_FORMFIELD_TYPE_PUSHBUTTON {
		out.blank++
		return
	}
	flags, err := p.in.FPDFAnnot_GetFormFieldFlags(&requests.FPDFAnnot_GetFormFieldFlags{FormHandle: form, Annotation: a})
	if err != nil || kind.FormFieldType == enums.FPDF_FORMFIELD_TYPE_TEXTFIELD && flags.Flags&passwordField != 0 {
		out.blank++
		return
	}
	f := field{name: p.fieldName(form, a)}
	switch kind.FormFieldType {
	case enums.FPDF_FORMFIELD_TYPE_CHECKBOX:
		if f.value = unticked; p.checked(form, a) {
			f.value = ticked
		}
	case enums.FPDF_FORMFIELD_TYPE_RADIOBUTTON:
		if !p.checked(form, a) {
			out.blank++
			return // another of the group is, or none
		}
		if got, err := p.in.FPDFAnnot_GetFormFieldExportValue(&requests.FPDFAnnot_GetFormFieldExportValue{FormHandle: form, Annotation: a}); err == nil {
			f.value = bounded(got.Value)
		}
	case enums.FPDF_FORMFIELD_TYPE_COMBOBOX, enums.FPDF_FORMFIELD_TYPE_LISTBOX:
		if f.value = p.selected(form, a); f.value == "" {
			f.value = p.fieldValue(form, a)
		}
	default:
		f.value = p.fieldValue(form, a)
	}
	out.fields = append(out.fields, f)
}

// fieldName is what viewers show of a field, else its name in the file.
func (p *pdfium) fieldName(form references.FPDF_FORMHANDLE, a references.FPDF_ANNOTATION) string {
	if got, err := p.in.FPDFAnnot_GetFormFieldAlternateName(&requests.FPDFAnnot_GetFormFieldAlternateName{FormHandle: form, Annotation: a}); err == nil {
		if name := bounded(got.FormFieldAlternateName); name != "" {
			return name
		}
	}
	got, err := p.in.FPDFAnnot_GetFormFieldName(&requests.FPDFAnnot_GetFormFieldName{FormHandle: form, Annotation: a})
	if err != nil {
		return ""
	}
	return bounded(got.FormFieldName)
}

func (p *pdfium) fieldValue(form references.FPDF_FORMHANDLE, a references.FPDF_ANNOTATION) string {
	got, err := p.in.FPDFAnnot_GetFormFieldValue(&requests.FPDFAnnot_GetFormFieldValue{FormHandle: form, Annotation: a})
	if err != nil {
		return ""
	}
	return bounded(got.FormFieldValue)
}

func (p *pdfium) checked(form references.FPDF_FORMHANDLE, a references.FPDF_ANNOTATION) bool {
	got, err := p.in.FPDFAnnot_IsChecked(&requests.FPDFAnnot_IsChecked{FormHandle: form, Annotation: a})
	return err == nil && got.IsChecked
}

// selected lists the options of a choice that are chosen.
func (p *pdfium) selected(form references.FPDF_FORMHANDLE, a references.FPDF_ANNOTATION) string {
	count, err := p.in.FPDFAnnot_GetOptionCount(&requests.FPDFAnnot_GetOptionCount{FormHandle: form, Annotation: a})
	if err != nil {
		return ""
	}
	var chosen []string
	for i := range min(count.OptionCount, maxAnnotations) {
		is, err := p.in.FPDFAnnot_IsOptionSelected(&requests.FPDFAnnot_IsOptionSelected{FormHandle: form, Annotation: a, Index: i})
		if err != nil || !is.IsOptionSelected {
			continue
		}
		if label, err := p.in.FPDFAnnot_GetOptionLabel(&requests.FPDFAnnot_GetOptionLabel{FormHandle: form, Annotation: a, Index: i}); err == nil {
			chosen = append(chosen, bounded(label.OptionLabel))
		}
	}
	return strings.Join(chosen, ", ")
}
