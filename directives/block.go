package directives

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Block is the directive block of a step, cut from the prompt text below it.
type Block struct {
	Lines  []string      // the lines of the block, blank ones included, without fence lines
	At     diag.Position // of the first line of Lines
	Fenced bool          // the block is a fenced one with the info string `directives`
	Rest   int           // index of the first line after the block, in the lines that Cut was given
}

// Cut finds the directive block at the top of a step's lines, which start at the given position. Directives are the first
// lines that start with `@` and a letter, with blank lines between them, or the content of one fenced block with the info
// string `directives`. Mixing both is an error, and so is a directive line below prompt text.
//
// A fenced block below an `@schema` without a value is part of the directive. Inside a directives fence it follows Markdown's
// rule: the outer fence must be longer than the inner one, or use the other character.
func Cut(lines []string, at diag.Position) (Block, []diag.Diagnostic) {
	var r report
	first := skipBlank(lines, 0)
	if first < len(lines) && isDirectiveFence(lines[first]) {
		b := cutFenced(lines, first, at, &r)
		if broken(&b, lines, first, at, &r) {
			return b, r.list
		}
		if next := skipBlank(lines, b.Rest); next < len(lines) && isDirectiveLine(lines[next]) {
			r.add(place(at, next, lines[next]), CodeMixedBlock, "", "this directive is below the fenced block")
			for next < len(lines) && (isDirectiveLine(lines[next]) || strings.TrimSpace(lines[next]) == "") {
				next++
			}
			b.Rest = next
		}
		findLate(lines, b.Rest, at, &r)
		return b, r.list
	}
	end, next := first, first
	for next < len(lines) && isDirectiveLine(lines[next]) {
		end = next + 1
		if open, close := bodyFence(lines, end); takesBody(lines[next]) && open >= 0 {
			end = min(close+1, len(lines))
		}
		next = skipBlank(lines, end)
	}
	b := Block{Lines: lines[first:end], At: offsetLines(at, first), Rest: end}
	if next < len(lines) && end > first && isDirectiveFence(lines[next]) {
		r.add(place(at, next, lines[next]), CodeMixedBlock, "", "this fenced block is below directive lines")
		b.Rest = cutFenced(lines, next, at, &r).Rest
	}
	findLate(lines, b.Rest, at, &r)
	return b, r.list
}

// broken detects a schema whose fence has ended the directives block around it. What follows is then ignored, because it
// cannot be understood.
func broken(b *Block, lines []string, first int, at diag.Position, r *report) bool {
	for i, line := range b.Lines {
		if !takesBody(line) {
			continue
		}
		if open, close := bodyFence(b.Lines, i+1); open >= 0 && close == len(b.Lines) && b.Rest > 0 {
			mark, _ := FenceOf(lines[first])
			longer := mark + mark[:1]
			r.add(place(at, first, lines[first]), CodeFenceOpen, "write "+longer+" around the directives",
				"the closing fence of the schema also closes the directives block")
			b.Lines, b.Rest = b.Lines[:i], len(lines)
			return true
		}
	}
	return false
}

func cutFenced(lines []string, first int, at diag.Position, r *report) Block {
	if end := fenceEnd(lines, first); end < len(lines) {
		return Block{Lines: lines[first+1 : end], At: offsetLines(at, first+1), Fenced: true, Rest: end + 1}
	}
	mark, _ := FenceOf(lines[first])
	r.add(place(at, first, lines[first]), CodeFenceOpen, "add a line with "+mark, "the directives block is not closed")
	return Block{At: offsetLines(at, first+1), Fenced: true, Rest: len(lines)}
}

// findLate reports known directives after the start of the prompt text, outside code.
func findLate(lines []string, from int, at diag.Position, r *report) {
	for i := from; i < len(lines); i++ {
		if mark, _ := FenceOf(lines[i]); mark != "" {
			if isDirectiveFence(lines[i]) {
				r.add(place(at, i, lines[i]), CodeLateDirective, "move it to the top of the step", "this directives block is below prompt text")
			}
			i = fenceEnd(lines, i)
			continue
		}
		if _, known := IsDirective(lines[i]); known && indent(lines[i]) < 4 {
			name, _ := lineName(lines[i])
			r.add(place(at, i, lines[i]), CodeLateDirective, `move it above the prompt text, or write \@`+name,
				"@%s is below prompt text, where it has no effect", name)
		}
	}
}

// Hidden is a directive in a list, a quote, an indented line or a code block. It is prompt text.
type Hidden struct {
	Line   int    // index in the lines that FindHidden was given
	Prefix string // what hides it: `- `, `> `, blanks; empty in a code block
	Name   string
	Head   bool // only such lines are above it, so it was meant as a directive
	Fence  int  // index of the line that opens the code block, or -1
}

// hiding matches the marks of lists and quotes at the start of a line.
var hiding = regexp.MustCompile(`^[ \t]*(?:(?:>|(?:[-*+]|\d{1,3}[.)])[ \t])[ \t]*(?:\[[ xX]\][ \t]+)?)+`)

// FindHidden finds lines of prompt text, from an index on, that would be directives without a mark, indentation or code block
// before them. Below other text a line counts only if it is a directive without fault, and a code block never: prompts may
// show some.
func FindHidden(lines []string, from int) []Hidden {
	var list []Hidden
	head := true
	for i := from; i < len(lines); i++ {
		line := lines[i]
		if strings.TrimSpace(line) == "" {
			continue
		}
		if mark, _ := FenceOf(line); mark != "" {
			end := fenceEnd(lines, i)
			if head && !isDirectiveFence(line) {
				list = append(list, hiddenInFence(lines[:min(end, len(lines))], i)...)
			}
			i, head = end, false
			continue
		}
		h := Hidden{Line: i, Prefix: hiding.FindString(line), Fence: -1}
		if h.Prefix == "" && indent(line) >= 4 {
			h.Prefix = line[:indentBytes(line)]
		}
		rest := line[len(h.Prefix):]
		if directive, known := IsDirective(rest); h.Prefix == "" || !directive || !known || !head && !flawless(rest) {
			head = false
			continue
		}
		h.Name, _ = lineName(rest)
		h.Head = head
		list = append(list, h)
	}
	return list
}

// hiddenInFence returns the directives of a code block that has nothing else.
func hiddenInFence(lines []string, open int) []Hidden {
	var list []Hidden
	for i := open + 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		if _, known := IsDirective(lines[i]); !known {
			return nil
		}
		name, _ := lineName(lines[i])
		list = append(list, Hidden{Line: i, Name: name, Head: true, Fence: open})
	}
	return list
}

// flawless reports whether a line is a directive without fault.
func flawless(line string) bool {
	list, faults := Parse([]string{line}, diag.Position{Line: 1, Column: 1})
	_, more := Interpret(list)
	return len(list) == 1 && !diag.HasErrors(faults) && !diag.HasErrors(more)
}

// Unescape turns a line of prompt text that starts with `\@` and a letter into one that starts with `@`. Other lines
// are returned as they are.
func Unescape(line string) string {
	trimmed := strings.TrimLeft(line, " \t")
	if strings.HasPrefix(trimmed, `\@`) && isDirectiveLine(trimmed[1:]) {
		return line[:len(line)-len(trimmed)] + trimmed[1:]
	}
	return line
}

// IsDirective reports whether a line would be a directive at the top of a step, and whether its name is known.
func IsDirective(line string) (directive, knownName bool) {
	if !isDirectiveLine(line) {
		return false, false
	}
	name, _ := lineName(line)
	return true, isKnown(name)
}

func isDirectiveLine(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return len(line) > 1 && line[0] == '@' && isLetter(rune(line[1]))
}

// lineName returns the name in a directive line and the byte offset after it.
func lineName(line string) (name string, end int) {
	start := indentBytes(line) + 1
	end = start
	for end < len(line) && isNameByte(line[end]) {
		end++
	}
	return line[start:end], end
}

func isLetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isNameByte(c byte) bool {
	return isLetter(rune(c)) || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// FenceOf returns the backquotes or tildes that open or close a fence on this line, and the info string.
func FenceOf(line string) (mark, info string) {
	if indent(line) > 3 {
		return "", ""
	}
	s := strings.TrimSpace(line)
	if !strings.HasPrefix(s, "```") && !strings.HasPrefix(s, "~~~") {
		return "", ""
	}
	n := len(s) - len(strings.TrimLeft(s, s[:1]))
	info = strings.TrimSpace(s[n:])
	if s[0] == '`' && strings.Contains(info, "`") {
		return "", ""
	}
	return s[:n], info
}

func isDirectiveFence(line string) bool {
	mark, info := FenceOf(line)
	return mark != "" && strings.EqualFold(info, "directives")
}

func indentBytes(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// indent counts columns; a tab advances to the next multiple of four.
func indent(line string) int {
	n := 0
	for _, c := range line[:indentBytes(line)] {
		if c == '\t' {
			n += 4 - n%4
		} else {
			n++
		}
	}
	return n
}

func skipBlank(lines []string, i int) int {
	for i < len(lines) && strings.TrimSpace(lines[i]) == "" {
		i++
	}
	return i
}

func offsetLines(at diag.Position, n int) diag.Position {
	at.Line += n
	return at
}

// place returns the position of a line's first character that is not blank.
func place(at diag.Position, i int, line string) diag.Position {
	return diag.Position{File: at.File, Line: at.Line + i, Column: at.Column + utf8.RuneCountInString(line[:indentBytes(line)])}
}
