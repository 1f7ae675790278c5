package defuse

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Text makes a text inert before it is written to the file name. old is the file's content: active parts of it are its owner's, and
// stay if the text repeats them. The text's code blocks count as code only if old leaves nothing open. Findings are in the order of the
// text. Text is idempotent, and Undo restores the text.
func Text(name, text, old string, r Rules) (string, []Finding) {
	return pass(formatOf(name), text, old, r)
}

// Properties makes a JSON object inert whose members become properties of a note.
func Properties(object string, r Rules) (string, []Finding) { return pass(properties, object, "", r) }

// format is how a text is read.
type format int

const (
	markdown   format = iota
	structured        // JSON: its strings are Markdown, those that a canvas loads are addresses
	properties        // JSON whose members become frontmatter
	markup            // HTML
	table             // of values divided by commas or tabs
	base              // of Obsidian: YAML with formulas
)

func formatOf(name string) format {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".jsonl", ".canvas", ".geojson", ".excalidraw":
		return structured
	case ".html", ".htm", ".xhtml", ".svg", ".xml":
		return markup
	case ".csv", ".tsv":
		return table
	case ".base":
		return base
	}
	return markdown
}

// maxPasses limits how often a text is scanned again because marks have changed its meaning: a broken comment reveals what it hid.
const maxPasses = 4

func pass(f format, text, old string, r Rules) (string, []Finding) {
	var own map[string]bool
	trusted := quiet(old)
	if old != "" {
		own = map[string]bool{}
		for _, m := range scan(f, old, own, r, trusted) {
			own[m.key] = true
		}
	}
	var all []mark
	for n := range maxPasses + 1 {
		marks := scan(f, text, own, r, trusted && n < maxPasses)
		if len(marks) == 0 {
			break
		}
		text = insert(text, marks)
		all = append(all, marks...)
	}
	return text, findings(all)
}

// insert puts the marks at their places, which are in order.
func insert(text string, marks []mark) string {
	var b strings.Builder
	b.Grow(len(text) + len(marks)*len(Mark))
	from := 0
	for _, m := range marks {
		b.WriteString(text[from:m.at])
		b.WriteString(Mark)
		from = m.at
	}
	b.WriteString(text[from:])
	return b.String()
}

// findings returns the marks for people, one for each construct.
func findings(marks []mark) []Finding {
	slices.SortStableFunc(marks, func(a, b mark) int { return a.line - b.line })
	var list []Finding
	known := map[Finding]bool{}
	for i, m := range marks {
		f := Finding{m.line, m.reason, shortened(m.text)}
		if len(list) == maxFindings {
			return append(list, Finding{Line: m.line, Reason: fmt.Sprintf("and %d more places from here on", len(marks)-i)})
		}
		if !known[f] {
			known[f] = true
			list = append(list, f)
		}
	}
	return list
}

// maxFindings bounds the list of one text.
const maxFindings = 200

const maxFindingText = 120

func shortened(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), Mark, "")), " ")
	if len(text) > maxFindingText {
		text = strings.ToValidUTF8(text[:maxFindingText], "") + "…"
	}
	return text
}

// mark is a place that gets one.
type mark struct {
	at     int // byte of the text
	line   int
	reason string
	text   string // the construct
	key    string // knows the construct again in another text
}
