package workflow

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// hidden reports directives that a list, a quote, indentation or a code block makes prompt text.
func (b *bodyReader) hidden(s section, block directives.Block) {
	told := -1
	for _, h := range directives.FindHidden(s.lines, block.Rest) {
		at := b.out.at(s.first.Line+h.Line, utf8.RuneCountInString(h.Prefix)+1)
		if h.Fence < 0 {
			b.out.add(at, directives.CodeHiddenLine, "begin the line with @"+h.Name+`, or write \@`+h.Name+" if it is meant as text",
				"@%s is prompt text, because %q is before it", h.Name, strings.TrimRight(h.Prefix, " ")+" ")
			if h.Head && !block.Fenced {
				b.out.mend(diag.Replace(b.out.at(at.Line, 1), at.Column-1, ""))
			}
			continue
		}
		if h.Fence == told {
			continue // once for the block
		}
		told = h.Fence
		fence := s.lines[h.Fence]
		mark, _ := directives.FenceOf(fence)
		open := strings.Index(fence, mark) + len(mark)
		b.out.add(at, directives.CodeHiddenLine, "write "+mark+"directives above them, or nothing around them", "the directives in this code block are prompt text")
		if len(block.Lines) == 0 && !block.Fenced {
			b.out.mend(diag.Replace(b.out.at(s.first.Line+h.Fence, open+1), utf8.RuneCountInString(strings.TrimRight(fence[open:], " \t")), "directives"))
		}
	}
}

// fixable returns how many lines from the first of the prompt on are nothing but hidden directives. A fix may change them.
func fixable(lines []string, from int) int {
	for _, h := range directives.FindHidden(lines, from) {
		if h.Head {
			from = h.Line + 1
		}
	}
	return from
}

// datePattern finds a pattern such as {today:dddd} in a text.
var datePattern = regexp.MustCompile(`\{+[a-z-]+(?::[^{}]*)?\}+`)

// marks reports what prompt text and instructions do not replace: marks of templates, and patterns of dates. A place that an
// input fills is none, and neither is code.
func (b *bodyReader) marks(lines []string, first Position, places []string) {
	code := directives.CodeLines(lines)
	for i, line := range lines {
		if code[i] {
			continue
		}
		text := withoutCode(line)
		add := func(offset int, mark string) {
			b.out.add(b.out.at(first.Line+i, utf8.RuneCountInString(line[:offset])+1), directives.CodeTemplateMark, "say it in words; the model knows the date of the run",
				"%s is not replaced in text: the model reads it as it is", mark)
		}
		for _, m := range directives.TemplateMarks(text) {
			if !slices.Contains(places, strings.Trim(m.Text, "{}")) {
				add(m.Offset, m.Text)
			}
		}
		for _, span := range datePattern.FindAllStringIndex(text, -1) {
			mark := text[span[0]:span[1]]
			name, _, _ := strings.Cut(strings.Trim(mark, "{}"), ":")
			if strings.HasPrefix(mark, "{") && !strings.HasPrefix(mark, "{{") && slices.Contains(directives.DatePatterns(), name) {
				add(span[0], mark)
			}
		}
	}
}

// withoutCode replaces inline code with blanks, byte for byte.
func withoutCode(line string) string {
	parts := strings.Split(line, "`")
	for i := 1; i < len(parts)-1; i += 2 {
		parts[i] = strings.Repeat(" ", len(parts[i]))
	}
	return strings.Join(parts, "`")
}
