package chunking

import (
	"bytes"
	"unicode/utf8"
)

// cut is how many bytes of the text the next chunk takes: all of it, or as much as ends well below MaxText.
func cut(text []byte) int {
	if len(text) <= MaxText {
		return len(text)
	}
	window := text[:MaxText]
	for _, mark := range []string{"\n\n", "\n\r\n", "\n"} {
		// A boundary in the first quarter would make small crumbs out of one long line.
		if i := bytes.LastIndex(window, []byte(mark)); i >= MaxText/4 {
			return i + len(mark)
		}
	}
	n := MaxText
	for back := 1; back < utf8.UTFMax; back++ {
		if utf8.RuneStart(text[n]) {
			break
		}
		n--
	}
	return n
}
