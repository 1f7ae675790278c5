package step

import (
	"path"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/vault"
)

// shortest is a vault's links by the shortest path; without a .md a name means a note.
func shortest(names ...string) vault.LinksFunc {
	return func(target, _ string) (loc vault.Location) {
		if path.Ext(target) == "" {
			target += ".md"
		}
		for _, name := range names {
			if !strings.HasSuffix("/"+name, "/"+target) {
				continue
			}
			if loc.Found {
				loc.Longer = true
				continue
			}
			loc.Name, loc.Found = name, true
		}
		return loc
	}
}

// A link to a page is long enough that the note with it, which has the document's name, does not take it.
func TestLink_notToTheOutputItself(t *testing.T) {
	t.Parallel()
	const name, pdf = "Imported/Board/Board.md", "Imported/Board/Board.pdf"
	for _, tt := range []struct{ name, output, want string }{
		{name, "Cards/Board.md", "[[Board/Board#^p1|p. 1]]"},
		{name, "Cards/board.md", "[[Board/Board#^p1|p. 1]]"},
		{name, "Board.md", "[[Board/Board#^p1|p. 1]]"},
		{name, "x/Board/Board.md", "[[Imported/Board/Board#^p1|p. 1]]"},
		{name, "Cards/Whiteboard.md", "[[Board#^p1|p. 1]]"},
		{name, "Cards/Board (2).md", "[[Board#^p1|p. 1]]"},
		{name, name, "[[Board#^p1|p. 1]]"},
		{pdf, "Cards/Board.md", "[[Board.pdf#^p1|p. 1]]"},
	} {
		s := &shelf{Library: Library{Links: shortest(name, pdf)}, output: tt.output}
		if got := s.linkTo(tt.name, "#^p1", "p. 1"); got != tt.want {
			t.Errorf("in %s: %s, want %s", tt.output, got, tt.want)
		}
	}
}
