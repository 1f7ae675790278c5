package picture

import (
	"bytes"
	"fmt"
	"strings"
)

// plainPicture is the type of the Netpbm formats, which only MuPDF reads here.
const plainPicture = "image/x-portable-anymap"

// plainSize reads the head of a Netpbm picture (PBM, PGM, PPM: netpbm.sourceforge.net/doc/ppm.html): a magic number, width and
// height in decimals, between them white space and comments.
func plainSize(data []byte) (storedSize, bool) {
	head := data[:min(len(data), 4096)]
	if len(head) < 3 || head[0] != 'P' || head[1] < '1' || head[1] > '6' {
		return storedSize{}, false
	}
	var words strings.Builder
	for line := range bytes.Lines(head[2:]) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		words.WriteString(string(line) + " ")
	}
	var size storedSize
	n, err := fmt.Sscan(words.String(), &size.width, &size.height)
	return size, n == 2 && err == nil && size.width > 0 && size.height > 0
}
