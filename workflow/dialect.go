package workflow

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
)

// dialect looks at a note for what AssistantMD's language of February and March 2026 wrote in another way. What is a
// mistake in this language has been reported when it runs: dialect adds the exact rewriting to those diagnostics. What
// is correct in both languages and means something else is reported only in notes that were written for AssistantMD.
type dialect struct {
	*note
	ours bool // the frontmatter names an engine, which every workflow of AssistantMD had to do
	late bool // a directive has a form that came at the end of March, with enabled defaulting to false
}

// readDialect runs when all else of the note has been read.
func (n *note) readDialect() {
	d := dialect{note: n, ours: n.hasKey("workflow_engine") || n.hasKey("workflow-engine")}
	lines := n.directiveLines()
	d.late = slices.ContainsFunc(lines, oldLine.late)
	for _, l := range lines {
		d.line(l)
	}
	d.properties()
}

// attach gives the edits, and the suggestion unless it is empty, to the diagnostics with a code between two places of
// a line.
func (d dialect) attach(at Position, end int, code, suggestion string, edits ...directives.Edit) {
	for i := range d.list {
		f := &d.list[i]
		if f.Line != at.Line || f.Column < at.Column || f.Column > end || f.Code != code {
			continue
		}
		f.Edits = edits
		if suggestion != "" {
			f.Suggestion = suggestion
		}
	}
}

// drop removes the diagnostics with a code on a line, which one of the dialect replaces.
func (d dialect) drop(line int, code string) {
	d.note.list = slices.DeleteFunc(d.note.list, func(f directives.Diagnostic) bool { return f.Line == line && f.Code == code })
}

// warn reports another meaning.
func (d dialect) warn(at Position, suggestion, message string, edits ...directives.Edit) {
	d.note.list = append(d.note.list, directives.At(at, directives.CodeOldMeaning, suggestion, "%s", message).Mended(edits...))
}

// directiveLines are the lines of all directive blocks.
func (n *note) directiveLines() []oldLine {
	var lines []oldLine
	for _, b := range n.blocks {
		for i, text := range b.Lines {
			if isDirective, _ := directives.IsDirective(text); isDirective {
				lines = append(lines, readOldLine(text, n.at(b.At.Line+i, 1)))
			}
		}
	}
	return lines
}

// line finds the old spellings of one directive.
func (d dialect) line(l oldLine) {
	switch l.name {
	case "recent_runs", "recent_summaries", "passthrough_runs":
		d.attach(l.nameAt(), l.column(len(l.text)), directives.CodeUnknownDirective, "delete the line", l.deleted())
		return
	case "cache":
		if strings.EqualFold(l.value.text, "session") {
			d.attachAny(l, "delete the line: there are no chat sessions here", l.deleted())
		}
		return
	case "input":
		d.target(l)
		d.inputPath(l)
		d.inputParams(l)
	case "output":
		if strings.EqualFold(l.base.text, "context") {
			d.attach(l.at(l.value.start), l.column(len(l.text)), directives.CodeNoScheme, "delete the line: there is no chat context here", l.deleted())
			return
		}
		d.target(l)
		d.outputPath(l)
		d.scope(l)
	case "tools":
		d.tools(l)
	}
	d.glued(l)
}

// attachAny gives the edits to every error on the line.
func (d dialect) attachAny(l oldLine, suggestion string, edits ...directives.Edit) {
	for _, f := range d.list {
		if f.Line == l.place.Line && f.Severity == directives.SeverityError {
			d.attach(f.Position(), f.Column, f.Code, suggestion, edits...)
		}
	}
}

// glued mends a value that follows the name without a blank: `@model=gpt`.
func (d dialect) glued(l oldLine) {
	rest := l.text[l.nameEnd:]
	if value := strings.TrimLeft(rest, "=:"); value != rest && !strings.HasPrefix(rest, ":") {
		d.attach(l.at(l.nameEnd), l.column(l.nameEnd), directives.CodeMalformed, "", l.replace(l.nameEnd, len(l.text)-len(value), " "))
	}
}

// target mends a scheme inside of a wikilink: `[[file: notes/a]]`. Quotes around scheme and path made parameters safe
// in AssistantMD, and did not make a path literal.
func (d dialect) target(l oldLine) {
	for _, scheme := range []string{directives.SchemeFile, directives.SchemeVariable} {
		inside, ok := cutFold(l.base.text, "[["+scheme+":")
		if !ok || !strings.HasSuffix(inside, "]]") {
			continue
		}
		inside = strings.TrimLeft(inside, " \t")
		link := scheme + ": [[" + inside
		if scheme == directives.SchemeVariable || l.name == "output" { // a link leads to a note that is there already
			link = scheme + ": " + strings.TrimSuffix(inside, "]]")
		}
		d.attach(l.at(l.base.start), l.column(l.base.end), directives.CodeNoScheme, "write "+link, l.replace(l.base.start, l.base.end, link))
	}
	text := l.base.text
	if n := len(text); d.ours && n > 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] && strings.ContainsAny(text, "{*") && text[n-2] != ')' {
		d.drop(l.place.Line, directives.CodeQuotedPattern)
		d.warn(l.at(l.base.start), "write "+text[1:n-1], "AssistantMD expanded patterns and globs inside of quotes; here a quoted path is literal",
			l.replace(l.base.start, l.base.start+1, ""), l.replace(l.base.end-1, l.base.end, ""))
	}
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}
