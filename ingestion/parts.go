package ingestion

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// parts are what of an older note is carried into its new version.
type parts struct {
	properties   *yaml.Node // nil when there are none, or they cannot be read
	above, below string     // what stands around the generated block
}

// splitNote takes a note apart. A note whose marks a person has removed is theirs as a whole: it comes above the block.
// Properties that are no YAML come there too, in a code block: they cannot be merged, and must not be lost.
func splitNote(s string) parts {
	var p parts
	s = strings.TrimPrefix(strings.ReplaceAll(s, "\r\n", "\n"), "\ufeff")
	p.properties, p.above, s = splitProperties(s)
	begin := lineIndex(s, blockBegin)
	end := lastLineIndex(s, blockEnd)
	if begin < 0 || end < begin {
		if p.above += s; s != "" && !strings.HasSuffix(s, "\n") {
			p.above += "\n"
		}
		return p
	}
	p.above += s[:begin]
	_, p.below, _ = strings.Cut(s[end:], "\n")
	return p
}

func splitProperties(s string) (properties *yaml.Node, unreadable, body string) {
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return nil, "", s
	}
	front, body, ok := strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		return nil, "", s
	}
	var doc yaml.Node
	switch err := yaml.Unmarshal([]byte(front), &doc); {
	case err == nil && len(doc.Content) == 0: // nothing, or comments
		return nil, "", body
	case err != nil || doc.Content[0].Kind != yaml.MappingNode:
		return nil, fenced(front, "yaml") + "\n\n", body
	}
	return doc.Content[0], "", body
}

// lineIndex is where the first line that is exactly this begins; -1 when none is.
func lineIndex(s, line string) int {
	if s == line || strings.HasPrefix(s, line+"\n") {
		return 0
	}
	if i := strings.Index(s+"\n", "\n"+line+"\n"); i >= 0 {
		return i + 1
	}
	return -1
}

func lastLineIndex(s, line string) int {
	if i := strings.LastIndex(s+"\n", "\n"+line+"\n"); i >= 0 {
		return i + 1
	}
	return lineIndex(s, line)
}
