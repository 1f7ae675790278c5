package pdfium

import (
	"fmt"
	"strings"

	pdfiumapi "github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// maxAnnotations limits the annotations that are read of a page, and the options of a choice. Hostile files declare millions.
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

// Annotations reads the values of form fields and the annotations of a page.
func (d *Document) Annotations(n int) (Annotations, error) {
	count, err := d.in.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: d.page(n)})
	if err != nil {
		return Annotations{}, fmt.Errorf("count annotations: %w", err)
	}
	if count.Count == 0 {
		return Annotations{}, nil
	}
	loaded, err := d.in.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: d.page(n)})
	if err != nil {
		return Annotations{}, fmt.Errorf("load the text: %w", err)
	}
	defer tidy(func() error {
		_, err := d.in.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
		return err
	})
	r := annotationReader{in: d.in, doc: d, page: n, text: loaded.TextPage}
	err = d.withForm(n, func(form references.FPDF_FORMHANDLE) error {
		r.form = form
		for i := range min(count.Count, maxAnnotations) {
			if err := r.read(i); err != nil {
				return fmt.Errorf("annotation %d: %w", i+1, err)
			}
		}
		return nil
	})
	return r.out, err
}

// annotationReader reads the annotations of one page.
type annotationReader struct {
	in   pdfiumapi.Pdfium
	doc  *Document
	page int
	text references.FPDF_TEXTPAGE
	form references.FPDF_FORMHANDLE // empty if PDFium cannot use the form

	out Annotations
}

// read adds the annotation with this index. One that cannot be read is left out.
func (r *annotationReader) read(i int) error {
	got, err := r.in.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: r.doc.page(r.page), Index: i})
	if err != nil {
		return nil //nolint:nilerr // a broken entry of the list; the others are read
	}
	a := got.Annotation
	defer tidy(func() error {
		_, err := r.in.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: a})
		return err
	})
	subtype, err := r.in.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: a})
	if err != nil {
		return err
	}
	if flags, err := r.in.FPDFAnnot_GetFlags(&requests.FPDFAnnot_GetFlags{Annotation: a}); err != nil || flags.Flags&notShown != 0 {
		return err
	}
	if subtype.Subtype == enums.FPDF_ANNOT_SUBTYPE_WIDGET {
		if r.form != "" {
			r.widget(a)
		}
		return nil
	}
	kind, seen := kinds[subtype.Subtype]
	if !seen {
		return nil // links, and the windows of other annotations
	}
	r.out.Marks++
	c := comment{kind: kind, author: r.entry(a, "T"), text: r.entry(a, "Contents")}
	switch subtype.Subtype {
	case enums.FPDF_ANNOT_SUBTYPE_HIGHLIGHT, enums.FPDF_ANNOT_SUBTYPE_UNDERLINE, enums.FPDF_ANNOT_SUBTYPE_SQUIGGLY, enums.FPDF_ANNOT_SUBTYPE_STRIKEOUT:
		c.covered = r.covered(a)
	case enums.FPDF_ANNOT_SUBTYPE_STAMP:
		if c.text == "" {
			c.text = r.entry(a, "Subj")
		}
		if c.text == "" {
			c.text = r.entry(a, "Name")
		}
		if drawn, err := r.drawn(i); err == nil && !strings.Contains(strings.Join(strings.Fields(c.text), " "), drawn) {
			c.drawn = drawn // one that cannot be read has its look in the picture alone
		}
	}
	if c.text != "" || c.covered != "" || c.drawn != "" {
		r.out.comments = append(r.out.comments, c)
	}
	return nil
}

// entry returns a text of an annotation, or "".
func (r *annotationReader) entry(a references.FPDF_ANNOTATION, key string) string {
	got, err := r.in.FPDFAnnot_GetStringValue(&requests.FPDFAnnot_GetStringValue{Annotation: a, Key: key})
	if err != nil {
		return ""
	}
	return bounded(got.Value)
}

// covered returns the text under a highlight, within the four corners of each of its parts.
func (r *annotationReader) covered(a references.FPDF_ANNOTATION) string {
	count, err := r.in.FPDFAnnot_CountAttachmentPoints(&requests.FPDFAnnot_CountAttachmentPoints{Annotation: a})
	if err != nil {
		return ""
	}
	var parts []string
	for i := range min(count.Count, 200) {
		got, err := r.in.FPDFAnnot_GetAttachmentPoints(&requests.FPDFAnnot_GetAttachmentPoints{Annotation: a, Index: i})
		if err != nil {
			continue
		}
		q := got.QuadPoints
		found, err := r.in.FPDFText_GetBoundedText(&requests.FPDFText_GetBoundedText{
			TextPage: r.text, Left: float64(min(q.X1, q.X2, q.X3, q.X4)), Right: float64(max(q.X1, q.X2, q.X3, q.X4)),
			Bottom: float64(min(q.Y1, q.Y2, q.Y3, q.Y4)), Top: float64(max(q.Y1, q.Y2, q.Y3, q.Y4)),
		})
		if err == nil && strings.TrimSpace(found.Text) != "" {
			parts = append(parts, found.Text)
		}
	}
	return bounded(strings.Join(parts, " "))
}

// widget adds the value of a form field. Buttons and password fields have none.
func (r *annotationReader) widget(a references.FPDF_ANNOTATION) {
	kind, err := r.in.FPDFAnnot_GetFormFieldType(&requests.FPDFAnnot_GetFormFieldType{FormHandle: r.form, Annotation: a})
	if err != nil || kind.FormFieldType == enums.FPDF_FORMFIELD_TYPE_PUSHBUTTON {
		r.out.blank++
		return
	}
	flags, err := r.in.FPDFAnnot_GetFormFieldFlags(&requests.FPDFAnnot_GetFormFieldFlags{FormHandle: r.form, Annotation: a})
	if err != nil || kind.FormFieldType == enums.FPDF_FORMFIELD_TYPE_TEXTFIELD && flags.Flags&passwordField != 0 {
		r.out.blank++
		return
	}
	f := field{name: r.fieldName(a)}
	switch kind.FormFieldType {
	case enums.FPDF_FORMFIELD_TYPE_CHECKBOX:
		if f.value = unticked; r.checked(a) {
			f.value = ticked
		}
	case enums.FPDF_FORMFIELD_TYPE_RADIOBUTTON:
		if !r.checked(a) {
			r.out.blank++
			return // another of the group is, or none
		}
		if got, err := r.in.FPDFAnnot_GetFormFieldExportValue(&requests.FPDFAnnot_GetFormFieldExportValue{FormHandle: r.form, Annotation: a}); err == nil {
			f.value = bounded(got.Value)
		}
	case enums.FPDF_FORMFIELD_TYPE_COMBOBOX, enums.FPDF_FORMFIELD_TYPE_LISTBOX:
		if f.value = r.selected(a); f.value == "" {
			f.value = r.fieldValue(a)
		}
	default:
		f.value = r.fieldValue(a)
	}
	r.out.fields = append(r.out.fields, f)
}

// fieldName returns the name that viewers show of a field, else its name in the file.
func (r *annotationReader) fieldName(a references.FPDF_ANNOTATION) string {
	if got, err := r.in.FPDFAnnot_GetFormFieldAlternateName(&requests.FPDFAnnot_GetFormFieldAlternateName{FormHandle: r.form, Annotation: a}); err == nil {
		if name := bounded(got.FormFieldAlternateName); name != "" {
			return name
		}
	}
	got, err := r.in.FPDFAnnot_GetFormFieldName(&requests.FPDFAnnot_GetFormFieldName{FormHandle: r.form, Annotation: a})
	if err != nil {
		return ""
	}
	return bounded(got.FormFieldName)
}

func (r *annotationReader) fieldValue(a references.FPDF_ANNOTATION) string {
	got, err := r.in.FPDFAnnot_GetFormFieldValue(&requests.FPDFAnnot_GetFormFieldValue{FormHandle: r.form, Annotation: a})
	if err != nil {
		return ""
	}
	return bounded(got.FormFieldValue)
}

func (r *annotationReader) checked(a references.FPDF_ANNOTATION) bool {
	got, err := r.in.FPDFAnnot_IsChecked(&requests.FPDFAnnot_IsChecked{FormHandle: r.form, Annotation: a})
	return err == nil && got.IsChecked
}

// selected lists the chosen options of a choice.
func (r *annotationReader) selected(a references.FPDF_ANNOTATION) string {
	count, err := r.in.FPDFAnnot_GetOptionCount(&requests.FPDFAnnot_GetOptionCount{FormHandle: r.form, Annotation: a})
	if err != nil {
		return ""
	}
	var chosen []string
	for i := range min(count.OptionCount, maxAnnotations) {
		is, err := r.in.FPDFAnnot_IsOptionSelected(&requests.FPDFAnnot_IsOptionSelected{FormHandle: r.form, Annotation: a, Index: i})
		if err != nil || !is.IsOptionSelected {
			continue
		}
		if label, err := r.in.FPDFAnnot_GetOptionLabel(&requests.FPDFAnnot_GetOptionLabel{FormHandle: r.form, Annotation: a, Index: i}); err == nil {
			chosen = append(chosen, bounded(label.OptionLabel))
		}
	}
	return strings.Join(chosen, ", ")
}
