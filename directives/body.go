package directives

import (
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Body is the fenced block right below a directive. Blank lines between the two do not count.
type Body struct {
	Lines []string
	At    diag.Position // of the first of the lines
	Info  string        // info string, lower case
}

// bodyInfos holds the info strings that a schema's block may have.
var bodyInfos = []string{"", "yaml", "yml", "json", "schema"}

// takesBody reports whether a line has its value in a fenced block below: a directive that may have one, or a misspelling of
// it, with nothing but parameters.
func takesBody(line string) bool {
	if !isDirectiveLine(line) {
		return false
	}
	name, end := lineName(line)
	row := byName[canonical(name)]
	if row == nil && !isKnown(name) {
		row = byName[nearestDirective(name)]
	}
	if row == nil || !row.grammar.body {
		return false
	}
	rest := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line[end:]), ":"))
	return rest == "" || rest[0] == '(' && rest[len(rest)-1] == ')'
}

// bodyFence finds the fenced block that follows from a line on, after blank lines only. It returns the indexes of the opening
// fence, -1 without one, and of the closing fence, len(lines) without one.
func bodyFence(lines []string, from int) (open, close int) {
	open = skipBlank(lines, from)
	if open == len(lines) || isDirectiveFence(lines[open]) {
		return -1, 0
	}
	if mark, _ := FenceOf(lines[open]); mark == "" {
		return -1, 0
	}
	return open, fenceEnd(lines, open)
}

// fenceEnd returns the index of the line that closes the fence on a line, or the number of lines.
func fenceEnd(lines []string, open int) int {
	mark, _ := FenceOf(lines[open])
	for i := open + 1; i < len(lines); i++ {
		if m, info := FenceOf(lines[i]); m != "" && m[0] == mark[0] && len(m) >= len(mark) && info == "" {
			return i
		}
	}
	return len(lines)
}

// CodeLines reports which lines are in fenced code blocks, the fences included.
func CodeLines(lines []string) []bool {
	code := make([]bool, len(lines))
	for i := 0; i < len(lines); i++ {
		if mark, _ := FenceOf(lines[i]); mark != "" {
			end := min(fenceEnd(lines, i), len(lines)-1)
			for ; i < end; i++ {
				code[i] = true
			}
			code[end] = true
		}
	}
	return code
}

// body reads the required block below a directive on line i.
func (p *parser) body(d *Directive, i int) {
	open, end := bodyFence(p.lines, i+1)
	if open < 0 {
		if !d.Faulty {
			line := strings.TrimRight(p.lines[i], " \t")
			p.r.add(source{text: line, at: offsetLines(p.at, i)}.pos(len(line)), CodeNoValue, byName[d.Name].advice, "@%s has no value", d.Name)
			d.Faulty = true
		}
		return
	}
	p.next = min(end+1, len(p.lines))
	mark, info := FenceOf(p.lines[open])
	at := place(p.at, open, p.lines[open])
	switch info = strings.ToLower(info); {
	case end == len(p.lines):
		p.r.add(at, CodeFenceOpen, "add a line with "+mark, "the block of @%s is not closed", d.Name)
		d.Faulty = true
	case !slices.Contains(bodyInfos, info):
		p.r.add(at, CodeDirectiveValue, "write "+mark+"yaml or "+mark+"json", "the block of @%s must be YAML or JSON, not %q", d.Name, clip(info))
		d.Faulty = true
	default:
		d.Body = &Body{Lines: p.lines[open+1 : end], At: offsetLines(p.at, open+1), Info: info}
	}
}
