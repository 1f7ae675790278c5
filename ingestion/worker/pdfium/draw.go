package pdfium

import (
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"
)

// inked is how PDFium draws: with annotations, in the order of bytes that package image has.
const inked = enums.FPDF_RENDER_FLAG_ANNOT | enums.FPDF_RENDER_FLAG_REVERSE_BYTE_ORDER

// bytesPerPixel is the size of a pixel in PDFium's pictures.
const bytesPerPixel = 4

// Draw draws a page on white, with its annotations and the values of its form fields. The number of pixels follows from the
// size in points and dpi.
func (d *Document) Draw(n int, width, height, dpi float64) (*image.RGBA, error) {
	w, h := max(1, int(math.Round(width*dpi/72))), max(1, int(math.Round(height*dpi/72)))
	made, err := d.in.FPDFBitmap_CreateEx(&requests.FPDFBitmap_CreateEx{Width: w, Height: h, Format: enums.FPDF_BITMAP_FORMAT_BGRX, Pointer: uint64(0)})
	if err != nil {
		return nil, fmt.Errorf("make a picture of %d × %d pixels: %w", w, h, err)
	}
	sheet := made.Bitmap
	defer tidy(func() error {
		_, err := d.in.FPDFBitmap_Destroy(&requests.FPDFBitmap_Destroy{Bitmap: sheet})
		return err
	})
	if _, err := d.in.FPDFBitmap_FillRect(&requests.FPDFBitmap_FillRect{Bitmap: sheet, Width: w, Height: h, Color: 0xFFFFFFFF}); err != nil {
		return nil, fmt.Errorf("draw: %w", err)
	}
	err = d.withForm(n, func(form references.FPDF_FORMHANDLE) error {
		if _, err := d.in.FPDF_RenderPageBitmap(&requests.FPDF_RenderPageBitmap{Bitmap: sheet, Page: d.page(n), SizeX: w, SizeY: h, Flags: inked}); err != nil {
			return err
		}
		if form == "" {
			return nil
		}
		_, err := d.in.FPDF_FFLDraw(&requests.FPDF_FFLDraw{FormHandle: form, Bitmap: sheet, Page: d.page(n), SizeX: w, SizeY: h, Flags: inked})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("draw at %.0f dpi: %w", dpi, err)
	}
	return d.pixels(sheet, w, h)
}

// pixels copies a picture out of PDFium's memory.
func (d *Document) pixels(sheet references.FPDF_BITMAP, w, h int) (*image.RGBA, error) {
	stride, err := d.in.FPDFBitmap_GetStride(&requests.FPDFBitmap_GetStride{Bitmap: sheet})
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	buffer, err := d.in.FPDFBitmap_GetBuffer(&requests.FPDFBitmap_GetBuffer{Bitmap: sheet})
	if err != nil {
		return nil, fmt.Errorf("read the picture: %w", err)
	}
	if stride.Stride < w*bytesPerPixel || len(buffer.Buffer) < stride.Stride*(h-1)+w*bytesPerPixel {
		return nil, errors.New("read the picture: it is smaller than was asked for")
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		copy(img.Pix[y*img.Stride:(y+1)*img.Stride], buffer.Buffer[y*stride.Stride:])
	}
	for i := bytesPerPixel - 1; i < len(img.Pix); i += bytesPerPixel {
		img.Pix[i] = 0xff // PDFium leaves the fourth byte as it likes
	}
	return img, nil
}

// withForm calls do while the form of the document is loaded, so that fields without an appearance get one. The handle is
// empty if PDFium cannot use the form. No script runs: PDFium is built without.
func (d *Document) withForm(n int, do func(references.FPDF_FORMHANDLE) error) error {
	env, err := d.in.FPDFDOC_InitFormFillEnvironment(&requests.FPDFDOC_InitFormFillEnvironment{Document: d.doc, FormFillInfo: deafForm()})
	if err != nil {
		return do("")
	}
	form := env.FormHandle
	defer tidy(func() error {
		_, err := d.in.FPDFDOC_ExitFormFillEnvironment(&requests.FPDFDOC_ExitFormFillEnvironment{FormHandle: form})
		return err
	})
	if _, err := d.in.FORM_OnAfterLoadPage(&requests.FORM_OnAfterLoadPage{Page: d.page(n), FormHandle: form}); err != nil {
		return do("")
	}
	defer tidy(func() error {
		_, err := d.in.FORM_OnBeforeClosePage(&requests.FORM_OnBeforeClosePage{Page: d.page(n), FormHandle: form})
		return err
	})
	return do(form)
}

// deafForm returns form callbacks that do nothing: nobody clicks.
func deafForm() structs.FPDF_FORMFILLINFO {
	return structs.FPDF_FORMFILLINFO{
		FFI_Invalidate:         func(references.FPDF_PAGE, float64, float64, float64, float64) {},
		FFI_SetCursor:          func(enums.FXCT) {},
		FFI_SetTimer:           func(int, func(int)) int { return 0 },
		FFI_KillTimer:          func(int) {},
		FFI_GetLocalTime:       func() structs.FPDF_SYSTEMTIME { return structs.FPDF_SYSTEMTIME{} },
		FFI_GetPage:            func(references.FPDF_DOCUMENT, int) *references.FPDF_PAGE { return nil },
		FFI_GetRotation:        func(references.FPDF_PAGE) enums.FPDF_PAGE_ROTATION { return enums.FPDF_PAGE_ROTATION_NONE },
		FFI_ExecuteNamedAction: func(string) {},
	}
}
