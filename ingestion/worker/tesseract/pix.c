//go:build worker

#include <leptonica/allheaders.h>

// Tesseract keeps the picture of each line as PNG and reads it again before it recognises it: deflating takes a tenth of the time of recognition.
// The distribution's build offers no other way. A program's own function takes the place of the library's, and this one writes the pixels as
// they are, which pixReadMem recognises as well as PNG. Nothing else in this program calls it.
l_ok pixWriteMem(l_uint8 **data, size_t *size, PIX *pix, l_int32 format) {
	(void)format;
	return pixWriteMemSpix(data, size, pix);
}
