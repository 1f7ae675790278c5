package filetype_test

import (
	"fmt"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

func ExampleClassify() {
	route := filetype.Classify("text/plain", "report.txt", []byte("%PDF-1.7\n"), nil, 0)
	fmt.Println(route.Kind, "because", route.Evidence.Reason)
	// Output: pdf because the bytes begin with %PDF
}
