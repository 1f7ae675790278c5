package indexnote

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// parts are what of an older note is carried into its new version.
type parts struct {
	properties   *yaml.Node // nil if there are none or they cannot be read
	front        string     // their text
	above, below string     // what stands around the generated block
	crlf         bool       // its lines end as those of Windows do
}

// splitNote takes a note apart. The text between the marks is ours, and everything else is the user's. If the user has doubled a
// block, each copy is ours and the text between them stays. A mark without its partner is removed; the text around it stays.
// Without any block, everything goes above the new one. Properties that are not YAML go there too, in a code block: they cannot be
// merged, and must not be lost.
func splitNote(s string) parts {
	p := parts{crlf: strings.Contains(s, "\r\n")}
	s = strings.TrimPrefix(strings.ReplaceAll(s, "\r\n", "\n"), "\ufeff")
	var found bool
	if p.front, s, found = CutFront(s); found {
		if p.properties = mapping(p.front); p.properties == nil {
			p.above = unreadable(p.front)
		}
	}
	above, below, ours := splitBlocks(s)
	if !ours && above != "" && !strings.HasSuffix(above, "\n") {
		above += "\n"
	}
	p.above, p.below = p.above+above, below
	return p
}

// splitBlocks removes the generated blocks from a note. The new one replaces the first.
func splitBlocks(s string) (above, below string, found bool) {
	lines := strings.SplitAfter(s, "\n")
	var kept [2]strings.Builder // above and below the first block
	at := 0
	for i := 0; i < len(lines); i++ {
		switch strings.TrimSpace(lines[i]) {
		case End: // without a beginning
		case Begin:
			if end := blockEndAfter(lines, i); end > 0 {
				i, at = end, 1
			}
		default:
			kept[at].WriteString(lines[i])
		}
	}
	return kept[0].String(), kept[1].String(), at == 1
}

// blockEndAfter is the line that ends the block which begins in line i; 0 when another one begins before it.
func blockEndAfter(lines []string, i int) int {
	for n := i + 1; n < len(lines); n++ {
		switch strings.TrimSpace(lines[n]) {
		case End:
			return n
		case Begin:
			return 0
		}
	}
	return 0
}

// CutFront cuts the properties off a note.
func CutFront(s string) (front, body string, found bool) {
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return "", s, false
	}
	front, body, found = strings.Cut("\n"+rest+"\n", "\n---\n")
	if !found {
		return "", s, false
	}
	return strings.TrimPrefix(front, "\n"), strings.TrimSuffix(body, "\n"), true
}

// mapping reads properties, or returns nil if they are not a mapping.
func mapping(front string) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(front), &doc); err != nil {
		return nil
	}
	if len(doc.Content) == 0 { // nothing, or comments
		return &yaml.Node{Kind: yaml.MappingNode}
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	return doc.Content[0]
}

// unreadable keeps properties that cannot be merged, where the user finds them.
func unreadable(front string) string {
	if strings.TrimSpace(front) == "" {
		return ""
	}
	return markdown.Fenced(front, "yaml") + "\n\n"
}
