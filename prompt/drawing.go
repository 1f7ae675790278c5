package prompt

import (
	"bytes"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/policy"
)

// isDrawing tells whether a file is a drawing of Excalidraw.
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

// drawing shows the picture that Excalidraw exported beside the drawing, or says that there is none: the drawing's own
// bytes mean nothing to a reader.
func (c *collector) drawing(s shown, p *parsed) error {
	s.line.MediaType, s.line.Size = "application/vnd.excalidraw", p.size
	picture := c.exported(s.name)
	if picture == "" {
		return c.refuse(s, policy.Reference, "an Excalidraw drawing without an exported picture beside it")
	}
	return c.picture(s, picture)
}

// exported is the name of the picture that was exported from a drawing: `A.excalidraw.png` or `A.png` for
// `A.excalidraw.md`, in the forms that Excalidraw writes.
func (c *collector) exported(name string) string {
	stem := name
	for _, end := range []string{".md", ".excalidraw"} {
		if n := len(stem) - len(end); n > 0 && strings.EqualFold(stem[n:], end) {
			stem = stem[:n]
		}
	}
	for _, end := range []string{".excalidraw.png", ".excalidraw.light.png", ".png", ".light.png", ".excalidraw.svg", ".excalidraw.light.svg", ".svg", ".light.svg", ".excalidraw.dark.png", ".dark.png"} {
		if info, err := fs.Stat(c.builder.FS, stem+end); err == nil && info.Mode().IsRegular() && c.mayRead(stem+end) {
			return stem + end
		}
	}
	return ""
}
