package note

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
)

// MergeTasks merges the tasks of a text with those below a heading of a note. Tasks with the same words are the same: one that is
// open is ticked when the text has it ticked, and one that is not there is added, nested where the text nests it. The second of two
// tasks with the same words is the second one in the note too. Nothing else changes, no tick is taken away, and other marks stay. left reports
// what of the text did not get into the note.
func MergeTasks(note []byte, heading, text string) (merged []byte, left []string, err error) {
	level, name := headingText(heading)
	if name == "" {
		return nil, nil, errors.New("the heading is empty")
	}
	wanted := tasksOf(withoutHeading(text, name))
	eol := LineEnd(note)
	s, found := sectionOf(note, name)
	if !found {
		if text = wanted.text(); text == "" {
			return note, wanted.others(nil, ""), nil
		}
		merged, err = addSection(note, level, name, text, eol)
		return merged, wanted.others(nil, ""), err
	}
	m := taskMerge{note: note, in: s, eol: eol, wanted: wanted}
	m.had = slices.DeleteFunc(nested(chunking.Tasks(note)), func(t task) bool { return t.Start < s.body || t.Start >= s.end })
	m.match()
	left = append(m.left, wanted.others(m.same, string(note[s.body:s.end]))...)
	merged, err = m.apply()
	return merged, left, err
}

// task is a task with the one that it is nested in; nil for none.
type task struct {
	chunking.Task
	in *chunking.Task
}

func nested(list []chunking.Task) []task {
	var tasks []task
	for _, t := range list {
		one := task{Task: t}
		if t.Parent >= 0 {
			one.in = &list[t.Parent]
		}
		tasks = append(tasks, one)
	}
	return tasks
}

// taskList is an answer with its tasks.
type taskList struct {
	src   string
	tasks []chunking.Task
}

// tasksOf reads an answer, or what is in its only code block when it has no tasks outside.
func tasksOf(answer string) taskList {
	l := taskList{answer, chunking.Tasks([]byte(answer))}
	if len(l.tasks) == 0 {
		inside := Unfenced(answer)
		l = taskList{inside, chunking.Tasks([]byte(inside))}
	}
	return l
}

// text is the tasks alone.
func (l taskList) text() string {
	var b strings.Builder
	for i, t := range l.tasks {
		if t.Parent < 0 {
			b.WriteString(l.render(i, nil, "", marker(t.Lead)))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// others reports how many lines get nowhere: those that are no task, nor nested in a new one, and that the note does not have. same
// has the tasks that are in the note.
func (l taskList) others(same map[int]int, note string) []string {
	inside := map[string]bool{}
	for line := range strings.Lines(note) {
		inside[strings.TrimSpace(line)] = true
	}
	var lost []string
	at := 0
	for line := range strings.Lines(l.src) {
		if words := strings.TrimSpace(line); words != "" && !inside[words] && !l.goes(at, same) {
			lost = append(lost, words)
		}
		at += len(line)
	}
	switch len(lost) {
	case 0:
		return nil
	case 1:
		return []string{"1 line of the answer was left out, since it is no task: " + clipped(lost[0])}
	}
	return []string{fmt.Sprintf("%d lines of the answer were left out, since they are no tasks, such as: %s", len(lost), clipped(lost[0]))}
}

// goes reports whether the line at an offset gets into the note: it begins a task or belongs to a new one.
func (l taskList) goes(at int, same map[int]int) bool {
	for i, t := range slices.Backward(l.tasks) {
		if at >= t.Start && at < t.End {
			_, known := same[i]
			return !known || at == t.Start
		}
	}
	return false
}

func clipped(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return text
}

// render writes a task with what is nested in it, but not the tasks in skip, with another indentation and mark of its list.
func (l taskList) render(i int, skip map[int]bool, indent, mark string) string {
	t := l.tasks[i]
	prefix := indentOf(t.Lead)
	wider := strings.Repeat(" ", max(0, len(mark)-len(marker(t.Lead))))
	var b strings.Builder
	at := t.Start
	for line := range strings.Lines(l.src[t.Start:t.End]) {
		gone := false
		for j := range l.tasks {
			gone = gone || skip[j] && l.tasks[j].Start > t.Start && at >= l.tasks[j].Start && at < l.tasks[j].End
		}
		words := strings.TrimRight(line, "\n")
		switch {
		case gone:
		case at == t.Start:
			b.WriteString(indent + mark + " " + words[len(t.Lead):] + "\n")
		case strings.TrimSpace(words) == "":
			b.WriteString("\n")
		default:
			rest, _ := strings.CutPrefix(words, prefix)
			b.WriteString(indent + wider + rest + "\n")
		}
		at += len(line)
	}
	return b.String()
}

var leadParts = regexp.MustCompile(`^(.*?)([-*+]|\d{1,9}[.)])[ \t]*$`)

// indentOf is what is before the list's mark.
func indentOf(lead string) string {
	if m := leadParts.FindStringSubmatch(lead); m != nil {
		return m[1]
	}
	return ""
}

// marker is the list's mark: -, *, + or a number.
func marker(lead string) string {
	if m := leadParts.FindStringSubmatch(lead); m != nil {
		return m[2]
	}
	return "-"
}

// following is the mark of the item behind one with this mark.
func following(mark string) string {
	n, err := strconv.Atoi(strings.TrimRight(mark, ".)"))
	if err != nil {
		return mark
	}
	return strconv.Itoa(n+1) + mark[len(mark)-1:]
}

// taskMerge merges the tasks of an answer with those of a section.
type taskMerge struct {
	note   []byte
	in     section
	eol    string
	had    []task
	wanted taskList

	same map[int]int // index of a wanted task, and of the one in the note that is the same
	left []string
}

// doneSign is what a plugin writes behind a task that was ticked, and blockID is an anchor for links: neither is a task's text.
var (
	doneSign = regexp.MustCompile(` ✅ \d{4}-\d{2}-\d{2}`)
	blockID  = regexp.MustCompile(` \^[A-Za-z0-9-]+$`)
)

// words are a task's text for comparing.
func words(text string) string {
	text = doneSign.ReplaceAllString(blockID.ReplaceAllString(text, ""), "")
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

// match finds the wanted tasks among those of the section: one that is nested in a task below the same task first, else, and any
// other, by its words alone.
func (m *taskMerge) match() {
	m.same = map[int]int{}
	used := map[int]bool{}
	find := func(text string, fits func(t task) bool) int {
		for i, t := range m.had {
			if !used[i] && words(t.Text) == text && fits(t) {
				return i
			}
		}
		return -1
	}
	for i, want := range m.wanted.tasks {
		text := words(want.Text)
		if text == "" {
			continue
		}
		found := -1
		if p, known := m.same[want.Parent]; known {
			found = find(text, func(t task) bool { return t.in != nil && t.in.Box == m.had[p].Box })
		}
		if found < 0 {
			found = find(text, func(t task) bool { return want.Parent < 0 || t.in == nil })
		}
		if found < 0 {
			continue
		}
		used[found] = true
		m.same[i] = found
		if had := m.had[found]; ticked(want.Mark) && !ticked(had.Mark) && !open(had.Mark) {
			m.left = append(m.left, fmt.Sprintf("the task %q is marked [%s] in the note and stays so", clipped(had.Text), had.Mark))
		}
	}
}

func ticked(mark string) bool { return mark == "x" || mark == "X" }

// open reports whether a task may be ticked: it is not done, or begun.
func open(mark string) bool { return mark == " " || mark == "/" || mark == "\t" }

// edit replaces the bytes between two offsets. Of those at one offset the one with the longer indentation comes first, or
// it would be nested in another task.
type edit struct {
	from, to int
	text     string
	indent   string
	mark     string // of the list, at the last line that was added
}

// apply makes the changes.
func (m *taskMerge) apply() ([]byte, error) {
	var edits []edit
	known := map[int]bool{}
	for i, j := range m.same {
		known[i] = true
		if had := m.had[j]; ticked(m.wanted.tasks[i].Mark) && open(had.Mark) {
			edits = append(edits, edit{from: had.Box, to: had.Box + len(had.Mark), text: "x"})
		}
	}
	insert := func(i, at int, indent, mark string) {
		e := slices.IndexFunc(edits, func(e edit) bool { return e.from == at && e.to == at && e.indent == indent })
		if e < 0 {
			e = len(edits)
			edits = append(edits, edit{from: at, to: at, indent: indent, mark: mark})
		} else {
			mark = following(edits[e].mark)
		}
		edits[e].mark = mark
		edits[e].text += m.wanted.render(i, known, indent, mark)
	}
	var top strings.Builder
	last := m.lastTop()
	for i, want := range m.wanted.tasks {
		p, below := m.same[want.Parent]
		switch {
		case known[i], words(want.Text) == "", want.Parent >= 0 && !below: // the last: with the task that it is nested in
		case below:
			at, indent, mark := m.below(p)
			insert(i, at, indent, mark)
		case last >= 0:
			lead := m.had[last].Lead
			insert(i, m.had[last].End, indentOf(lead), following(marker(lead)))
		default:
			top.WriteString(m.wanted.render(i, known, "", marker(want.Lead)))
		}
	}
	out := m.made(edits)
	s, found := sectionOf(out, m.in.name)
	if !found || s.start != m.in.start || len(out)-s.end != len(m.note)-m.in.end {
		return nil, fmt.Errorf("the tasks below %q cannot be merged in place", m.in.name)
	}
	return s.append(out, strings.TrimSuffix(top.String(), "\n"), m.eol)
}

// made is the note after edits.
func (m *taskMerge) made(edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(len(b.indent), len(a.indent)))
	})
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(out, m.note[at:e.from]...)
		text := strings.ReplaceAll(e.text, "\n", m.eol)
		if e.to == e.from && !bytes.HasSuffix(out, []byte("\n")) { // behind the note's last line, which has no break
			text = m.eol + strings.TrimSuffix(text, m.eol)
		}
		out, at = append(out, text...), e.to
	}
	return append(out, m.note[at:]...)
}

// lastTop is the last task of the heading's own text that is nested in none, -1 when there is none.
func (m *taskMerge) lastTop() int {
	for i, t := range slices.Backward(m.had) {
		if t.in == nil && t.Start < m.in.stop {
			return i
		}
	}
	return -1
}

// below is where a new task goes that is nested in one of the note, with its indentation and mark.
func (m *taskMerge) below(p int) (at int, indent, mark string) {
	parent := m.had[p]
	at = parent.End
	for _, t := range m.had {
		if t.in != nil && t.in.Box == parent.Box {
			at, indent, mark = t.End, indentOf(t.Lead), following(marker(t.Lead))
		}
	}
	if mark != "" {
		return at, indent, mark
	}
	unit := strings.Repeat(" ", len(marker(parent.Lead))+1)
	for _, t := range m.had {
		if strings.Contains(t.Lead, "\t") {
			unit = "\t"
		}
	}
	return at, indentOf(parent.Lead) + unit, "-"
}
