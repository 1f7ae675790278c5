package chunking

import "bytes"

// maxNesting is how many quotes and list items one line may open. goldmark's time grows with the square of it, so a
// hostile line could stop a run; nothing that a person wrote comes near.
const maxNesting = 100

// tooDeep reports whether a line opens more containers than that. Such a note is text alone.
func tooDeep(src []byte) bool {
	for len(src) > 0 {
		line := src
		if i := bytes.IndexByte(src, '\n'); i >= 0 {
			line = src[:i]
		}
		src = src[min(len(line)+1, len(src)):]
		if len(line) > maxNesting && nesting(line) > maxNesting {
			return true
		}
	}
	return false
}

// nesting counts the marks of quotes and list items at the start of a line.
func nesting(line []byte) int {
	depth := 0
	for i := 0; i < len(line); i++ {
		c := line[i]
		blankNext := i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t')
		switch {
		case c == ' ' || c == '\t' || c >= '0' && c <= '9':
		case c == '>', blankNext && (c == '-' || c == '+' || c == '*' || c == '.' || c == ')'):
			depth++
		default:
			return depth
		}
	}
	return depth
}
