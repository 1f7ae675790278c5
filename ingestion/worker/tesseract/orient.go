//go:build worker

package tesseract

// The C interface of the library that the binding links; the binding itself has no detection of orientation and script.

// #cgo LDFLAGS: -ltesseract
// #include <stdlib.h>
// #include <tesseract/capi.h>
import "C"

import (
	"image"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/vaultflow/vaultflow/ingestion/worker/ocr"
)

// orientation is a second client for directions and scripts alone.
type orientation struct {
	osd   *C.TessBaseAPI // nil until it is needed
	noOSD bool           // it was tried
}

// Orient reports how a page lies and in which script it is written. It is false without the data osd, or with too few letters.
func (t *Engine) Orient(img *image.Gray) (ocr.Orientation, bool) {
	if len(img.Pix) == 0 || !t.canOrient() {
		return ocr.Orientation{}, false
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	C.TessBaseAPISetImage(t.osd, (*C.uchar)(unsafe.Pointer(&img.Pix[0])), C.int(w), C.int(h), 1, C.int(img.Stride))
	C.TessBaseAPISetSourceResolution(t.osd, orientDPI)
	defer C.TessBaseAPIClear(t.osd)
	var degrees C.int
	var sure, scriptSure C.float
	var script *C.char // the library's own
	if C.TessBaseAPIDetectOrientationScript(t.osd, &degrees, &sure, &script, &scriptSure) == 0 {
		return ocr.Orientation{}, false
	}
	o := ocr.Orientation{Turn: (360 - int(degrees)) % 360, Sure: float64(sure)}
	if scriptSure > 0 {
		o.Script = C.GoString(script)
	}
	return o, true
}

// orientDPI is the resolution that is assumed of pictures; it affects hardly more than a warning of the library.
const orientDPI = 200

// canOrient starts the detection with the first page that needs it. The library ends the process when the data is missing.
func (t *Engine) canOrient() bool {
	if t.osd != nil || t.noOSD {
		return t.osd != nil
	}
	t.noOSD = true
	f, err := os.Open(filepath.Join(t.tessdata, "osd.traineddata"))
	if err != nil {
		return false
	}
	f.Close()
	folder, language := C.CString(t.tessdata), C.CString("osd")
	defer C.free(unsafe.Pointer(folder))
	defer C.free(unsafe.Pointer(language))
	osd := C.TessBaseAPICreate()
	if C.TessBaseAPIInit3(osd, folder, language) != 0 {
		C.TessBaseAPIDelete(osd)
		return false
	}
	C.TessBaseAPISetPageSegMode(osd, C.PSM_OSD_ONLY)
	t.osd = osd
	return true
}

// closeOrient frees the detection.
func (t *Engine) closeOrient() {
	if t.osd != nil {
		C.TessBaseAPIDelete(t.osd)
	}
}
