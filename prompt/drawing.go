package prompt

import (
	"bytes"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/failure/omission"
)

// isDrawing reports whether a file is an Excalidraw drawing.
func isDrawing(name string, p *parsed) bool {
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, ".excalidraw") || strings.HasSuffix(lower, ".excalidraw.md") {
		return true
	}
	if p.is.kind != kindMarkdown {
		return false
	}
	_, yaml := chunking.Frontmatter(p.text.text)
	return bytes.HasPrefix(yaml, []byte("excalidraw-plugin:")) || bytes.Contains(yaml, []byte("\nexcalidraw-plugin:"))
}

// drawing shows the picture that Excalidraw exported beside the drawing, or notes that there is none: the drawing itself is
// not readable.
func (w *fileWriter) drawing(s shown, p *parsed) error {
	s.line.MediaType, s.line.Size = "application/vnd.excalidraw", p.size
	picture := w.files.exported(s.name)
	if picture == "" {
		return w.out.refuse(s, omission.Of(omission.Drawing), "")
	}
	return w.picture(s, picture)
}
