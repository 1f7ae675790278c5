package workflow

import (
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// readStep reads the directives and the prompt of one section.
func (b *bodyReader) readStep(s section) Step {
	block, faults := directives.Cut(s.lines, s.first)
	b.blocks = append(b.blocks, block)
	list, more := directives.Parse(block.Lines, block.At)
	list, more = b.bounded(list, more, s)
	set, typed := directives.Interpret(list)
	b.out.list = append(append(append(b.out.list, faults...), more...), typed...)

	step := Step{Name: s.name, Line: s.at.Line, Set: set}
	if step.WriteMode.Mode == "" {
		step.WriteMode.Mode = directives.ModeAppend
	}
	b.readPrompt(&step, s, block.Rest)
	b.hidden(s, block)
	from := min(block.Rest, len(s.lines))
	b.marks(s.lines[from:], b.out.at(s.first.Line+from, 1), step.places())
	if !diag.HasErrors(faults) && !diag.HasErrors(more) && !diag.HasErrors(typed) {
		c := stepCheck{b.out, b.cutShort, step, s.at}
		c.check()
	}
	return step
}

// places lists the names of the places that the step's inputs fill.
func (s Step) places() []string {
	var names []string
	if s.ForEach != nil {
		names = append(names, s.ForEach.As)
	}
	for _, in := range s.Inputs {
		names = append(names, in.As)
	}
	return names
}

// Each @input of a step searches the whole vault: a note with thousands of them would never finish.
const (
	maxStepDirectives = 300  // of one step
	maxDirectives     = 2000 // of a workflow
	maxSteps          = 500
)

// bounded reports a step with too many directives, and keeps the first ones.
func (b *bodyReader) bounded(list []directives.Directive, faults []diag.Diagnostic, s section) ([]directives.Directive, []diag.Diagnostic) {
	b.directives += len(list)
	switch {
	case len(list) > maxStepDirectives:
		faults = append(faults, directives.At(s.at, directives.CodeRepeatedDirective, "select files with a pattern, such as @input file: Notes/*.md, or use several steps",
			"the step has %d directives; at most %d are allowed", len(list), maxStepDirectives))
		list = list[:maxStepDirectives]
	case b.directives > maxDirectives:
		faults = append(faults, directives.At(s.at, directives.CodeRepeatedDirective, "use several workflows", "the workflow has more than %d directives", maxDirectives))
		list = nil
	}
	return list, faults
}

// readPrompt returns the lines below the directives, without blank lines at either end.
func (b *bodyReader) readPrompt(step *Step, s section, from int) {
	lines := s.lines[min(from, len(s.lines)):]
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines, from = lines[1:], from+1
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return
	}
	step.PromptLine = s.first.Line + from
	lines = append([]string{directives.Unescape(lines[0])}, lines[1:]...)
	step.Prompt = strings.Join(unescapeKnown(lines), "\n")
}

// unescapeKnown removes the backslash from `\@input` and the like at the start of lines outside code, where it distinguishes
// prompt text from a misplaced directive. All other text remains as it is.
func unescapeKnown(lines []string) []string {
	code := directives.CodeLines(lines)
	for i, line := range lines {
		if plain := directives.Unescape(line); i > 0 && !code[i] {
			if _, known := directives.IsDirective(plain); known {
				lines[i] = plain
			}
		}
	}
	return lines
}
