package reading

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

func TestHalved(t *testing.T) {
	t.Parallel()
	cases := map[string][2]extract.PageRequest{
		"picture": {
			{N: 3, Image: true, DPI: 150, MaxSide: 2000, MaxPixels: 40_000_000, Format: "png"},
			{N: 3, Image: true, DPI: 75, MaxSide: 1000, MaxPixels: 10_000_000, Format: "png", Other: true},
		},
		"recognition": {{N: 1, OCR: true, OCRDPI: 300, MaxPixels: 40_000_000}, {N: 1, OCR: true, OCRDPI: 150, MaxPixels: 10_000_000, Other: true}},
		"text":        {{N: 1, Text: true}, {N: 1, Text: true, Other: true}},
	}
	for name, c := range cases {
		if diff := cmp.Diff(c[1], halved(c[0])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
