package directives

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// maxLine is the longest directive line in bytes. A longer one is an accident, since directives are written by hand. The
// bound keeps the search for matching parentheses cheap.
const maxLine = 4096

// Directive is one directive line before interpretation.
type Directive struct {
	Name   string        // canonical: lower case with `_`
	At     diag.Position // of the `@`
	Text   string        // the value without the parameter block
	TextAt diag.Position // of Text
	Params []Param       // in the order written
	Body   *Body         // the fenced block right below it; only @schema has one
	Faulty bool          // the line has a reported fault: only Name and At are set
}

// Param is one item of a parameter block.
type Param struct {
	Key     string // canonical: lower case with `_`
	Value   string // without quotes; empty for a bare key
	Bare    bool   // without `=`, which means true
	Quoted  bool
	At      diag.Position
	ValueAt diag.Position
}

// Parse parses the lines of a directive block and skips blank ones. Column 1 of the position is the first character of a
// line. It reports every fault. A faulty directive is in the result with its name alone (a misspelt one with the name it must
// mean), so that later passes neither see half of it nor miss it.
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
	if mark, _ := FenceOf(line); mark != "" {
		p.r.add(place(p.at, i, line), CodeNotDirective, "only @schema without a value has a fenced block below it", "this fenced block does not belong to a directive")
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

// once reports a directive that may appear once and appeared before.
func (p *parser) once(d *Directive) {
	if before, twice := p.seen[d.Name]; twice {
		p.r.add(d.At, CodeRepeatedDirective, "", "@%s appears twice; the first is on line %d", d.Name, before.Line)
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

// from returns the source from an offset on, without leading blanks.
func (s source) from(offset int) source {
	for offset < len(s.text) && (s.text[offset] == ' ' || s.text[offset] == '\t') {
		offset++
	}
	return source{text: s.text[offset:], at: s.pos(offset)}
}

// to returns the source up to an offset, without trailing blanks.
func (s source) to(offset int) source {
	return source{text: strings.TrimRight(s.text[:offset], " \t"), at: s.at}
}

// parseLine parses one line. The result has a name if it is clear which directive is meant; written is false for a misspelt
// one.
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
		r.add(d.At, CodeLineTooLong, "", "this directive has %d bytes; at most %d are allowed", len(line.text), maxLine)
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

// glued reports a value right after the name, without a space.
func glued(name, written string, rest source, r *report) {
	after := strings.TrimLeft(rest.text, "=:")
	r.add(rest.at, CodeMalformed, "write @"+name+" "+after, "@%s must be followed by a space or a colon", written)
	r.mend(diag.Replace(rest.at, utf8.RuneCountInString(rest.text)-utf8.RuneCountInString(after), " "))
}

// unknownDirective reports an unknown name, and returns the one that it must mean.
func unknownDirective(written string, at diag.Position, r *report) string {
	if slices.Contains(foreign, canonical(written)) {
		r.add(at, CodeUnknownDirective, "delete the line", "@%s is for AssistantMD's chats and has no meaning in a workflow", canonical(written))
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
	if g.parts {
		_, start = partsOf(s.text)
		for start > 0 && start < len(s.text) && (s.text[start] == ' ' || s.text[start] == '\t') {
			start++
		}
	}
	if g.to {
		if at, behind := toWord(s.text); at >= 0 {
			start = behind + indentBytes(s.text[behind:])
		} else {
			start = len(s.text)
		}
	}
	if g.target {
		start += schemeEnd(s.text[start:])
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

// delimitedEnd returns the end of a quoted text or wikilink that starts at an offset, or -1 after reporting that it is not
// closed.
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
		r.add(s.at, CodeTrailingText, "put parameters in parentheses, and the whole path inside the quotes", "unexpected text %q after the closing quote or ]]", clip(s.text))
		return nil
	}
	return params(name, g, split(source{text: s.text[1 : len(s.text)-1], at: s.pos(1)}, g), r)
}

// schemeEnd returns the offset after `word:` and following blanks, or 0.
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

// clip shortens text for a message.
func clip(s string) string {
	if utf8.RuneCountInString(s) <= 40 {
		return s
	}
	return string([]rune(s)[:39]) + "…"
}
