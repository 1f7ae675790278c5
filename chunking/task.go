package chunking

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// Task is an item of a list that begins with a box: `- [ ] text`.
type Task struct {
	Start, End int    // its lines, with all that is nested in it
	Lead       string // what is before the box on its line: blanks, marks of quotes, the list's mark
	Box        int    // offset of the mark in the box
	Mark       string // in the box: one character
	Text       string // of its first line, behind the box
	Parent     int    // index of the task that it is nested in, -1 for none
}

// Tasks lists the tasks of a note in order. What is in code, comments or math is none.
func Tasks(src []byte) []Task {
	if tooDeep(src) {
		return nil
	}
	d := parse(src, blocks)
	var list []Task
	within := map[ast.Node]int{}
	//nolint:errcheck // the walker returns no error
	ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() == ast.TypeInline {
			return ast.WalkContinue, nil
		}
		if n.Kind() != ast.KindListItem {
			return ast.WalkContinue, nil
		}
		task, ok := d.task(n)
		if !ok {
			return ast.WalkContinue, nil
		}
		task.Parent = -1
		for up := n.Parent(); up != nil; up = up.Parent() {
			if i, known := within[up]; known {
				task.Parent = i
				break
			}
		}
		within[n] = len(list)
		list = append(list, task)
		return ast.WalkContinue, nil
	})
	return list
}

// task reads an item of a list.
func (d document) task(item ast.Node) (Task, bool) {
	first := item.FirstChild()
	if first == nil || first.Lines() == nil || first.Lines().Len() == 0 || first.IsRaw() || first.Kind() != ast.KindTextBlock && first.Kind() != ast.KindParagraph {
		return Task{}, false
	}
	at := first.Lines().At(0).Start
	line := strings.TrimRight(string(d.body[at:d.lineEnd(at)]), "\r\n")
	inside, found := strings.CutPrefix(line, "[")
	_, size := utf8.DecodeRuneInString(inside)
	if !found || size == 0 || !strings.HasPrefix(inside[size:], "]") {
		return Task{}, false
	}
	text := inside[size+1:]
	if text != "" && text[0] != ' ' && text[0] != '\t' {
		return Task{}, false
	}
	start, end := d.extent(item)
	if start >= end {
		return Task{}, false
	}
	return Task{
		Start: start + d.base, End: end + d.base, Lead: string(d.body[d.lineStart(at):at]), Box: at + 1 + d.base,
		Mark: inside[:size], Text: strings.TrimSpace(text),
	}, true
}
