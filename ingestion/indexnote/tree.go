package indexnote

import (
	"fmt"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// listedNotes is how many notes of an export are listed.
const listedNotes = 500

// writeTree lists the notes of an export, and counts its other files.
func writeTree(n *Note) {
	n.line("")
	n.line("The notes are in this folder, with their pictures and files as they were:")
	n.line("")
	notes, others := 0, 0
	for _, m := range n.Manifest.Members {
		if !strings.EqualFold(path.Ext(m.Path), ".md") {
			others++
			continue
		}
		if notes++; notes <= listedNotes {
			name := strings.TrimSuffix(m.Path, path.Ext(m.Path))
			n.line("- [[./" + name + "|" + markdown.Alias(name) + "]]")
		}
	}
	if notes > listedNotes {
		n.line(fmt.Sprintf("- and %d more notes", notes-listedNotes))
	}
	if others > 0 {
		n.line("")
		n.line(fmt.Sprintf("Other files: %d.", others))
	}
}
