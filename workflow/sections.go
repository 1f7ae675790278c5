package workflow

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/vaultflow/vaultflow/directives"
)

// section is a level-2 heading and the lines below it.
type section struct {
	name  string
	at    Position // of the heading
	lines []string
	first Position // of the first of the lines
}

// instructional reports whether a heading adds to the system prompt.
var instructional = regexp.MustCompile(`(?i)\binstructions\b`)

// bodyReader reads the sections of a note.
type bodyReader struct {
	name string // of the workflow
	src  *source
	out  *report

	starts     []int              // offsets of the body's lines, computed when needed
	blocks     []directives.Block // of the steps, in order
	directives int                // of the steps so far
	cutShort   bool               // a --- line has separated directives from a step, which is reported
}

// read reads the sections of the body into instructions and steps.
func (b *bodyReader) read(p *Plan) {
	sections := b.sections()
	if sections == nil {
		whole := section{name: path.Base(b.name), at: b.out.at(min(b.src.bodyLine, b.src.lastLine), 1), lines: strings.Split(string(b.src.body), "\n"), first: b.out.at(b.src.bodyLine, 1)}
		if strings.TrimSpace(string(b.src.body)) == "" {
			b.out.add(whole.at, directives.CodeNoStep, "add a ## heading with a prompt below it", "the workflow has no step")
			return
		}
		p.Steps = append(p.Steps, b.readStep(whole))
		return
	}
	var instructions []string
	named := map[string]int{}
	for _, s := range sections {
		if instructional.MatchString(s.name) {
			if text := b.readInstructions(s); text != "" {
				instructions = append(instructions, text)
			}
			continue
		}
		if key := strings.ToLower(s.name); s.name == "" {
			b.out.add(s.at, directives.CodeUnnamedStep, "", "this heading has no text: a step needs a name")
		} else if before, twice := named[key]; twice {
			b.out.add(s.at, directives.CodeDuplicateStep, "rename one of them", "the step %q has the same name as the one on line %d", s.name, before)
		} else {
			named[key] = s.at.Line
		}
		p.Steps = append(p.Steps, b.readStep(s))
	}
	p.Instructions = strings.Join(instructions, "\n\n")
	if len(p.Steps) == 0 {
		b.out.add(sections[0].at, directives.CodeNoStep, "add a ## heading with a prompt below it", "the workflow has instructions but no step")
	}
}

// sections splits the body at its level-2 headings, as goldmark sees them; nil if there are none.
func (b *bodyReader) sections() []section {
	if !b.boundedBlocks() {
		return nil
	}
	doc := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	).Parse(text.NewReader(b.src.body)) // inline content does not matter, and can be slow in hostile notes
	var (
		list  []section
		start int // of the lines below the last heading
	)
	close := func(end int) {
		if len(list) == 0 {
			b.beforeSections(string(b.src.body[:end]))
			return
		}
		s := &list[len(list)-1]
		s.first = b.offset(start)
		s.first.Column = 1
		s.lines = strings.Split(string(b.src.body[min(start, end):end]), "\n")
	}
	for node := doc.FirstChild(); node != nil; node = node.NextSibling() {
		h, ok := node.(*ast.Heading)
		if !ok || h.Level != 2 {
			continue
		}
		at := h.Pos()
		if at < 0 || at > len(b.src.body) {
			continue
		}
		begin := bytes.LastIndexByte(b.src.body[:at], '\n') + 1
		close(begin)
		if len(list) == maxSteps {
			b.out.add(b.offset(at), directives.CodeNoStep, "use several workflows", "the workflow has more than %d steps", maxSteps)
			break
		}
		name, end := b.heading(h, begin)
		list = append(list, section{name: name, at: b.offset(at)})
		start = end
	}
	if list != nil {
		close(len(b.src.body))
	}
	return list
}

// The time goldmark needs for nested quotes and lists, and for link definitions, grows with the square of their number.
const (
	maxNesting     = 100 // quotes and list items that one line opens
	maxDefinitions = 500 // lines that start like a link definition
)

var (
	opening    = regexp.MustCompile(`^(?:[ \t0-9]*(?:>|[-+*.)][ \t]))+`)
	definition = regexp.MustCompile(`^[ \t>]*\[`)
)

// boundedBlocks reports whether the body can be split at its headings quickly, and adds a diagnostic if not.
func (b *bodyReader) boundedBlocks() bool {
	definitions := 0
	for i, line := range strings.Split(string(b.src.body), "\n") {
		marks := len(strings.Map(func(c rune) rune {
			if strings.ContainsRune(">-+*.)", c) {
				return c
			}
			return -1
		}, opening.FindString(line)))
		if definition.MatchString(line) {
			definitions++
		}
		switch {
		case marks > maxNesting || len(line)-len(strings.TrimLeft(line, " \t")) > 10*maxNesting:
			b.out.add(b.out.at(b.src.bodyLine+i, 1), directives.CodeUnreadable, "remove the markers from the line", "the line opens more than %d quotes or lists", maxNesting)
			return false
		case definitions > maxDefinitions:
			b.out.add(b.out.at(b.src.bodyLine+i, 1), directives.CodeUnreadable, "move them to a note that the workflow reads with @input", "more than %d lines start with a bracket", maxDefinitions)
			return false
		}
	}
	return true
}

// heading returns the text of a heading and the offset of the line below it.
func (b *bodyReader) heading(h *ast.Heading, begin int) (name string, end int) {
	lines := h.Lines()
	parts := make([]string, 0, lines.Len())
	for i := range lines.Len() {
		seg := lines.At(i)
		parts = append(parts, strings.TrimSpace(string(seg.Value(b.src.body))))
	}
	end = b.lineEnd(begin)
	if setext := !strings.HasPrefix(strings.TrimLeft(string(b.src.body[begin:end]), " "), "#") || lines.Len() > 1; setext && lines.Len() > 0 {
		end = b.lineEnd(b.lineEnd(max(begin, lines.At(lines.Len()-1).Start)))
		b.checkSetext(parts, begin)
	}
	return strings.Join(parts, " "), end
}

// checkSetext reports rules (---) that were meant as dividers but turn the text above into a heading.
func (b *bodyReader) checkSetext(lines []string, begin int) {
	at := b.offset(begin)
	for i, line := range lines {
		if directive, _ := directives.IsDirective(line); directive {
			at.Line += i
			b.cutShort = true
			b.out.add(at, directives.CodeSetextAccident, "put a blank line before ---", "the --- below turns this directive into a heading")
			return
		}
	}
	if len(lines) > 1 {
		b.out.add(at, directives.CodeSetextSuspected, "put a blank line before ---, or use ##", "the --- below turns this paragraph into a heading")
	}
}

// lineEnd returns the offset after the next line end.
func (b *bodyReader) lineEnd(from int) int {
	if i := bytes.IndexByte(b.src.body[min(from, len(b.src.body)):], '\n'); i >= 0 {
		return from + i + 1
	}
	return len(b.src.body)
}

// offset returns the position of a byte of the body.
func (b *bodyReader) offset(at int) Position {
	if b.starts == nil {
		b.starts = []int{0}
		for i, c := range b.src.body {
			if c == '\n' {
				b.starts = append(b.starts, i+1)
			}
		}
	}
	line, exact := slices.BinarySearch(b.starts, at)
	if !exact {
		line--
	}
	return b.out.at(b.src.bodyLine+line, utf8.RuneCount(b.src.body[b.starts[line]:at])+1)
}

// beforeSections reports directives in the author's notes above the first heading.
func (b *bodyReader) beforeSections(text string) {
	for i, line := range strings.Split(text, "\n") {
		if _, known := directives.IsDirective(line); known {
			b.out.add(b.out.at(b.src.bodyLine+i, 1), directives.CodeOutsideSection, "move it below the heading of a step", "this directive is above the first section and is not used")
		}
	}
}

// readInstructions returns the text of an instructions section, in which directives have no meaning.
func (b *bodyReader) readInstructions(s section) string {
	block, _ := directives.Cut(s.lines, s.first)
	for i, line := range block.Lines {
		if _, known := directives.IsDirective(line); known {
			b.out.add(b.out.at(block.At.Line+i, 1), directives.CodeInInstructions, "move it into a step", "a directive has no meaning in instructions")
		}
	}
	b.marks(s.lines, s.first, nil)
	return strings.Trim(strings.Join(s.lines, "\n"), "\n \t")
}
