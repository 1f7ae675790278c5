package assistantmd

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Note is a parsed workflow note with its diagnostics.
type Note struct {
	Frontmatter Frontmatter
	Blocks      []directives.Block // of the steps, in order
	Diagnostics []diag.Diagnostic
}

// Review returns the note's diagnostics, with the exact rewriting added to mistakes that were correct in AssistantMD. What is
// correct in both languages but has another meaning is reported only in notes written for AssistantMD.
func Review(n Note) []diag.Diagnostic {
	out := &findings{file: n.Frontmatter.File, list: n.Diagnostics}
	ours := n.Frontmatter.NamesEngine()
	lines := directiveLines(n.Blocks, n.Frontmatter.File)
	for _, l := range lines {
		lineReview{out: out, ours: ours}.line(l)
	}
	if n.Frontmatter.Lines != nil {
		propertyReview{out: out, front: n.Frontmatter, ours: ours, late: slices.ContainsFunc(lines, oldLine.late)}.properties()
	}
	return out.list
}

// findings holds the diagnostics of a note during its review.
type findings struct {
	file string
	list []diag.Diagnostic
}

// attach adds the edits, and the suggestion unless it is empty, to the diagnostics with a code between two columns of a line.
func (f *findings) attach(at diag.Position, end int, code, suggestion string, edits ...diag.Edit) {
	for i := range f.list {
		d := &f.list[i]
		if d.Line != at.Line || d.Column < at.Column || d.Column > end || d.Code != code {
			continue
		}
		d.Edits = edits
		if suggestion != "" {
			d.Suggestion = suggestion
		}
	}
}

// attachAny adds the edits to every error on the line.
func (f *findings) attachAny(l oldLine, suggestion string, edits ...diag.Edit) {
	for _, d := range f.list {
		if d.Line == l.place.Line && d.Severity == diag.SeverityError {
			f.attach(d.Position(), d.Column, d.Code, suggestion, edits...)
		}
	}
}

// drop removes the diagnostics with a code on a line, because another replaces them.
func (f *findings) drop(line int, code string) {
	f.list = slices.DeleteFunc(f.list, func(d diag.Diagnostic) bool { return d.Line == line && d.Code == code })
}

// warn reports another meaning.
func (f *findings) warn(at diag.Position, suggestion, message string, edits ...diag.Edit) {
	f.list = append(f.list, directives.At(at, directives.CodeOldMeaning, suggestion, "%s", message).Mended(edits...))
}

// unfinished reports whether other mistakes must be fixed first, which may reveal another meaning.
func (f *findings) unfinished() bool {
	return slices.ContainsFunc(f.list, func(d diag.Diagnostic) bool {
		return d.Code == directives.CodeOldMeaning || len(d.Edits) > 0 && d.Code != directives.CodeKeyOld && d.Code != directives.CodeLateDirective
	})
}

// directiveLines returns the directive lines of all blocks.
func directiveLines(blocks []directives.Block, file string) []oldLine {
	var lines []oldLine
	for _, b := range blocks {
		for i, text := range b.Lines {
			if isDirective, _ := directives.IsDirective(text); isDirective {
				lines = append(lines, readOldLine(text, diag.Position{File: file, Line: b.At.Line + i, Column: 1}))
			}
		}
	}
	return lines
}

// lineReview reviews directive lines.
type lineReview struct {
	out  *findings
	ours bool // the frontmatter names an engine, which every workflow of AssistantMD had to do
}

// line finds the old spellings of one directive.
func (r lineReview) line(l oldLine) {
	switch l.name {
	case "recent_runs", "recent_summaries", "passthrough_runs":
		r.out.attach(l.nameAt(), l.column(len(l.text)), directives.CodeUnknownDirective, "delete the line", l.deleted())
		return
	case "cache":
		if strings.EqualFold(l.value.text, "session") {
			r.out.attachAny(l, "delete the line: there are no chat sessions here", l.deleted())
		}
		return
	case "input":
		r.target(l)
		r.inputPath(l)
		r.inputParams(l)
	case "output":
		if strings.EqualFold(l.base.text, "context") {
			r.out.attach(l.at(l.value.start), l.column(len(l.text)), directives.CodeNoScheme, "delete the line: there is no chat context here", l.deleted())
			return
		}
		r.target(l)
		r.outputPath(l)
		r.scope(l)
	case "tools":
		r.tools(l)
	}
	r.glued(l)
}

// glued fixes a value right after the name: `@model=gpt`.
func (r lineReview) glued(l oldLine) {
	rest := l.text[l.nameEnd:]
	if value := strings.TrimLeft(rest, "=:"); value != rest && !strings.HasPrefix(rest, ":") {
		r.out.attach(l.at(l.nameEnd), l.column(l.nameEnd), directives.CodeMalformed, "", l.replace(l.nameEnd, len(l.text)-len(value), " "))
	}
}

// target fixes a scheme inside a wikilink: `[[file: notes/a]]`. In AssistantMD, quotes around scheme and path protected
// parameters, but did not make the path literal.
func (r lineReview) target(l oldLine) {
	for _, scheme := range []string{directives.SchemeFile, directives.SchemeVariable} {
		inside, ok := cutFold(l.base.text, "[["+scheme+":")
		if !ok || !strings.HasSuffix(inside, "]]") {
			continue
		}
		inside = strings.TrimLeft(inside, " \t")
		link := scheme + ": [[" + inside
		if scheme == directives.SchemeVariable || l.name == "output" { // a link must lead to an existing note
			link = scheme + ": " + strings.TrimSuffix(inside, "]]")
		}
		r.out.attach(l.at(l.base.start), l.column(l.base.end), directives.CodeNoScheme, "write "+link, l.replace(l.base.start, l.base.end, link))
	}
	text := l.base.text
	if n := len(text); r.ours && n > 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] && strings.ContainsAny(text, "{*") && text[n-2] != ')' {
		r.out.drop(l.place.Line, directives.CodeQuotedPattern)
		r.out.warn(l.at(l.base.start), "write "+text[1:n-1], "AssistantMD expanded patterns and globs inside quotes; here a quoted path is literal",
			l.replace(l.base.start, l.base.start+1, ""), l.replace(l.base.end-1, l.base.end, ""))
	}
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}
