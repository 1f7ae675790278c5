package choose_test

import (
	"fmt"

	"github.com/vaultflow/vaultflow/ingestion/choose"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

func ExampleOCR() {
	scan := extract.Evidence{Chars: 12, MarginChars: 3, Pictures: 1, PictureCover: 0.97}
	fmt.Println(choose.OCR(scan, false))
	// Output: stamp_on_scan: 9 characters outside the margin, pictures cover 97 % of the page
}
