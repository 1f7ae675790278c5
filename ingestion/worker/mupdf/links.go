//go:build worker

package mupdf

// #include "read.h"
import "C"

import (
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/worker/metadata"
)

// links returns the places and targets of the links of a page, or none where MuPDF fails.
func (d *Document) links(n int) []layout.Link {
	printed := C.page_links(d.context, d.opened, C.int(n-1))
	if printed == nil {
		return nil
	}
	var all []layout.Link
	known := map[string]bool{}
	for line := range strings.Lines(d.take(printed)) {
		if known[line] { // some programs write a link several times
			continue
		}
		known[line] = true
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 6)
		var at [4]float64
		for i := range at {
			at[i], _ = strconv.ParseFloat(fields[i], 64) // printed as a number, or as one that is none
		}
		page, _ := strconv.Atoi(fields[4]) //nolint:errcheck // printed as a number
		all = append(all, layout.Link{
			Box:  layout.Box{X0: at[0], Y0: at[1], X1: at[2], Y1: at[3]},
			Page: page, URI: metadata.Text(fields[5]),
		})
	}
	return all
}
