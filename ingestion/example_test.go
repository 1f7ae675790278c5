package ingestion_test

import (
	"fmt"

	"github.com/vaultflow/vaultflow/ingestion"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

func ExampleClassify() {
	route := ingestion.Classify("text/plain", "report.txt", []byte("%PDF-1.7\n"), nil, 0)
	fmt.Println(route.Kind, "because", route.Evidence.Reason)
	// Output: pdf because the bytes begin with %PDF
}

func ExampleDecideOCR() {
	scan := extract.Evidence{Chars: 12, MarginChars: 3, Pictures: 1, PictureCover: 0.97}
	fmt.Println(ingestion.DecideOCR(scan, false))
	// Output: stamp_on_scan: 9 characters outside the margin, pictures cover 97 % of the page
}
