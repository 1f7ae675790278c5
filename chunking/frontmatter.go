package chunking

import "bytes"

var bom = []byte("\xef\xbb\xbf")

// Frontmatter is the length of the properties at the top of a note, with both `---` lines and the line end behind
// them; 0 when there are none. The first `---` must be the first line, spaces after the marks are allowed. yaml is what
// stands between the marks.
func Frontmatter(src []byte) (size int, yaml []byte) {
	at := 0
	if bytes.HasPrefix(src, bom) {
		at = len(bom)
	}
	line, next := nextLine(src, at)
	if !isMark(line) {
		return 0, nil
	}
	first := next
	for next < len(src) {
		start := next
		line, next = nextLine(src, start)
		if isMark(line) {
			return next, src[first:start]
		}
	}
	return 0, nil
}

// nextLine is the line that starts at the offset, without its end, and where the next one starts.
func nextLine(src []byte, at int) (line []byte, next int) {
	i := bytes.IndexByte(src[at:], '\n')
	if i < 0 {
		return src[at:], len(src)
	}
	return src[at : at+i], at + i + 1
}

func isMark(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	return ok && len(bytes.TrimRight(rest, " \t\r")) == 0
}
