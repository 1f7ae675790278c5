package chunking

import (
	"bytes"
	"strings"
)

// drawingKey is the property that Excalidraw sets in its notes.
var drawingKey = []byte("excalidraw-plugin")

// IsExcalidraw reports whether a file is a drawing of Excalidraw, whose own bytes mean nothing to a reader: by its name,
// `x.excalidraw` or `x.excalidraw.md`, or by the property excalidraw-plugin at the top of a note. name may be empty.
func IsExcalidraw(name string, data []byte) bool {
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, ".excalidraw") || strings.HasSuffix(lower, ".excalidraw.md") {
		return true
	}
	if name != "" && !strings.HasSuffix(lower, ".md") && !strings.HasSuffix(lower, ".markdown") {
		return false
	}
	_, yaml := Frontmatter(data)
	for line := range bytes.Lines(yaml) {
		key, _, found := bytes.Cut(line, []byte(":"))
		if found && bytes.EqualFold(bytes.Trim(key, `"' `), drawingKey) && !bytes.HasPrefix(line, []byte(" ")) {
			return true
		}
	}
	return false
}
