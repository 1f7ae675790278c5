package directives

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// maxLine is the longest directive line in bytes. Directives are written by hand; a longer line is an accident, and
// the bound keeps the search for matching parentheses cheap.
const maxLine = 4096

// Directive is one directive line before its value has a type.
type Directive struct {
	Name   string        // canonical: lower case with `_`
	At     diag.Position // of the `@`
	Text   string        // the value without the parameter block
	TextAt diag.Position // of Text
	Params []Param       // in the order written
	Body   *Body         // the fenced block right below it; only @schema has one
	Faulty bool          // the line has a fault, which was reported: nothing but Name and At is set
}

// Param is one item of a parameter block.
type Param struct {
	Key     string // canonical: lower case with `_`
	Value   string // without quotes; empty for a bare key
	Bare    bool   // written without `=`, which means true
	Quoted  bool
	At      diag.Position
	ValueAt diag.Position
}

// Parse reads the lines of a directive block; blank lines are skipped. Column 1 of the position is the first character
// of a line. Every fault is reported. A directive that has a fault of its own is in the result with its name alone (for
// a misspelt one that is the name it must mean), so that no later step sees a half-understood one or misses it.
func Parse(lines []string, at diag.Position) ([]Directive, []diag.Diagnostic) {
	var r report
	p := parser{lines: lines, at: at, r: &r, seen: map[string]diag.Position{}}
	for p.next < len(lines) {
		p.line()
	}
	return p.all, r.list
}

// parser walks over the lines of one block.
type parser struct {
	lines []string
	at    diag.Position
	next  int // index of the line to read
	r     *report
	seen  map[string]diag.Position // directives that may be given once
	all   []Directive
}

func (p *parser) line() {
	i := p.next
	line := p.lines[i]
	p.next++
	if strings.TrimSpace(line) == "" {
		return
	}
	if mark, _ := fenceOf(line); mark != "" {
		p.r.add(place(p.at, i, line), CodeNotDirective, "only @schema without a value has a fenced block below it", "this fenced block belongs to no directive")
		p.next = min(fenceEnd(p.lines, i)+1, len(p.lines))
		return
	}
	d, written := parseLine(source{text: strings.TrimRight(line, " \t\r\n"), at: offsetLines(p.at, i)}, p.r)
	if takesBody(line) {
		p.body(&d, i)
	}
	if d.Name == "" {
		return
	}
	if written && byName[d.Name].grammar.single {
		p.once(&d)
	}
	if d.Faulty {
		d = Directive{Name: d.Name, At: d.At, Faulty: true}
	}
	p.all = append(p.all, d)
}

// once reports a directive that may be given once and was given before.
func (p *parser) once(d *Directive) {
	if before, twice := p.seen[d.Name]; twice {
		p.r.add(d.At, CodeRepeatedDirective, "", "@%s is given twice; the first is on line %d", d.Name, before.Line)
		d.Faulty = true
		return
	}
	p.seen[d.Name] = d.At
}

// source is a line, or the end of one, that knows the position of each of its bytes.
type source struct {
	text string
	at   diag.Position // of the first byte
}

func (s source) pos(offset int) diag.Position {
	p := s.at
	p.Column += utf8.RuneCountInString(s.text[:offset])
	return p
}

// from is the source from an offset on, without blanks at its beginning.
func (s source) from(offset int) source {
	for offset < len(s.text) && (s.text[offset] == ' ' || s.text[offset] == '\t') {
		offset++
	}
	return source{text: s.text[offset:], at: s.pos(offset)}
}

// to is the source up to an offset, without blanks at its end.
func (s source) to(offset int) source {
	return source{text: strings.TrimRight(s.text[:offset], " \t"), at: s.at}
}

// parseLine reads one line. The result has a name as soon as it is clear which directive is meant; written is false
// for one that is misspelt.
func parseLine(line source, r *report) (d Directive, written bool) {
	d = Directive{At: line.pos(indentBytes(line.text)), Faulty: true}
	if !isDirectiveLine(line.text) {
		r.add(d.At, CodeNotDirective, "move prompt text below the block", "this line of the directives block is not a directive")
		return d, false
	}
	name, end := lineName(line.text)
	row, ok := byName[canonical(name)]
	if !ok {
		d.Name = unknownDirective(name, d.At, r)
		return d, false
	}
	g := row.grammar
	d.Name = row.name
	if len(line.text) > maxLine {
		r.add(d.At, CodeLineTooLong, "", "this directive has %d bytes; at most %d are read", len(line.text), maxLine)
		return d, true
	}
	rest := line.from(end)
	if strings.HasPrefix(rest.text, ":") {
		rest = rest.from(1)
	} else if rest.text != "" && len(rest.text) == len(line.text)-end && rest.text[0] != '(' {
		glued(d.Name, name, rest, r)
		return d, true
	}
	faults := len(r.list)
	d.Text, d.TextAt, d.Params = value(d.Name, g, rest, r)
	if d.Text == "" && !g.bare && len(r.list) == faults {
		r.add(rest.at, CodeNoValue, row.advice, "@%s has no value", d.Name)
	}
	d.Faulty = len(r.list) > faults
	return d, true
}

// glued reports a value that follows the name without a blank.
func glued(name, written string, rest source, r *report) {
	after := strings.TrimLeft(rest.text, "=:")
	r.add(rest.at, CodeMalformed, "write @"+name+" "+after, "a blank or a colon must follow @%s", written)
	r.mend(diag.Replace(rest.at, utf8.RuneCountInString(rest.text)-utf8.RuneCountInString(after), " "))
}

// unknownDirective reports a name that the language does not know, and returns the one that it must mean.
func unknownDirective(written string, at diag.Position, r *report) string {
	if slices.Contains(foreign, canonical(written)) {
		r.add(at, CodeUnknownDirective, "delete the line", "@%s belongs to AssistantMD's chats and has no meaning in a workflow", canonical(written))
		return ""
	}
	near := nearestDirective(written)
	suggestion := `known are @` + strings.Join(Names(), ", @") + `; write \@` + written + ` if it is prompt text`
	if near != "" {
		suggestion = "did you mean @" + near + `? Write \@` + written + " if it is prompt text"
	}
	r.add(at, CodeUnknownDirective, suggestion, "unknown directive @%s", written)
	r.mendWord(diag.Position{File: at.File, Line: at.Line, Column: at.Column + 1}, written, Names())
	return near
}

// value separates a directive's value from its parameter block.
func value(name string, g grammar, s source, r *report) (string, diag.Position, []Param) {
	if g.params == nil {
		return s.text, s.at, nil
	}
	start := 0
	if g.target {
		start = schemeEnd(s.text)
	}
	if start < len(s.text) {
		if end, delimited := delimitedEnd(s, start, r); delimited {
			if end < 0 {
				return "", s.at, nil
			}
			tail := s.from(end)
			params := trailing(name, g, tail, r)
			return s.text[:end], s.at, params
		}
	}
	open, items, ok := cutBlock(s, g)
	if !ok {
		return s.text, s.at, nil
	}
	base := s.to(open)
	checkSecondBlock(name, g, base, s.pos(open), r)
	return base.text, base.at, params(name, g, items, r)
}

// delimitedEnd is the end of a quoted text or wikilink that starts at an offset; -1 if it is not closed, which is
// reported.
func delimitedEnd(s source, start int, r *report) (end int, delimited bool) {
	rest := s.text[start:]
	switch {
	case rest[0] == '"' || rest[0] == '\'':
		if i := strings.IndexByte(rest[1:], rest[0]); i >= 0 {
			return start + 1 + i + 1, true
		}
		r.add(s.pos(start), CodeQuoteOpen, "close it with "+rest[:1], "this quote is not closed")
		return -1, true
	case strings.HasPrefix(rest, "[["):
		if i := strings.Index(rest, "]]"); i >= 0 {
			return start + i + 2, true
		}
		r.add(s.pos(start), CodeQuoteOpen, "close it with ]]", "this wikilink is not closed")
		return -1, true
	}
	return 0, false
}

// trailing reads what follows a quoted text or wikilink: nothing, or a parameter block.
func trailing(name string, g grammar, s source, r *report) []Param {
	if s.text == "" {
		return nil
	}
	if s.text[0] != '(' || s.text[len(s.text)-1] != ')' {
		r.add(s.at, CodeTrailingText, "put parameters in parentheses; a part of the path belongs inside the quotes", "unexpected text %q after the closing quote or ]]", clip(s.text))
		return nil
	}
	return params(name, g, split(source{text: s.text[1 : len(s.text)-1], at: s.pos(1)}, g), r)
}

// schemeEnd is the offset behind `word:` and the blanks that follow it, or 0.
func schemeEnd(s string) int {
	i := 0
	for i < len(s) && isNameByte(s[i]) {
		i++
	}
	j := i
	for j < len(s) && s[j] == ' ' {
		j++
	}
	if i == 0 || j >= len(s) || s[j] != ':' {
		return 0
	}
	for j++; j < len(s) && (s[j] == ' ' || s[j] == '\t'); j++ {
		continue
	}
	return j
}

// clip shortens text that is quoted in a message.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= 40 {
		return s
	}
	return string([]rune(s)[:39]) + "…"
}
