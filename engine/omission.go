package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure/omission"
)

// Omission is something of which the model got less than was written: a file, or a page of one.
type Omission struct {
	ID     string `json:"id,omitempty"` // of its chunk, for what tools deliver later
	File   string `json:"file"`
	Page   int    `json:"page,omitempty"`   // from 1
	Step   string `json:"step,omitempty"`   // of the ladder (policy.Step), else what became of it, such as missing
	Reason string `json:"reason,omitempty"` // in words

	Note string       `json:"note,omitempty"` // in which it is named: a note, or the workflow's
	Line int          `json:"line,omitempty"` // from 1; 0: not known
	Why  omission.Why `json:"why,omitzero"`   // zero in records of earlier versions
}

// Omit returns an omission with its cause.
func Omit(file string, why omission.Why, step, reason string) Omission {
	return Omission{File: file, Why: why, Step: step, Reason: reason}
}

// LeftOut is what one line says: one omission, pages of one file, or many files that a note names and that share a cause. Records
// of runs have these instead of all omissions: a document of 600 pages is one.
type LeftOut struct {
	Note  string       `json:"note,omitempty"` // where it is named; see [Omission]
	Line  int          `json:"line,omitempty"`
	Last  int          `json:"last_line,omitempty"` // of many files: where the last one is named
	File  string       `json:"file,omitempty"`
	To    string       `json:"last_file,omitempty"` // of many files, of which File is the first
	Files int          `json:"files,omitempty"`     // how many
	Pages string       `json:"pages,omitempty"`     // such as "3-5, 9"
	What  string       `json:"what"`                // what the model got instead, and the reason
	Why   omission.Why `json:"why,omitzero"`        // zero in records of earlier versions
}

// String is the line: place, files, what the model got instead and why, and what the user can do.
func (l LeftOut) String() string {
	var b strings.Builder
	b.WriteString(l.Place())
	if l.Note != "" {
		b.WriteString(": ")
	}
	if files := l.Named(); files != "" && (files != l.Note || l.Pages != "") {
		b.WriteString(files + ": ")
	}
	b.WriteString(l.What)
	if remedy := l.Why.Remedy(); remedy != "" {
		b.WriteString("; " + remedy)
	}
	return b.String()
}

// Place is where it is named: a note, with the line as far as that is known.
func (l LeftOut) Place() string {
	switch {
	case l.Note == "" || l.Line == 0:
		return l.Note
	case l.Last > l.Line:
		return fmt.Sprintf("%s:%d-%d", l.Note, l.Line, l.Last)
	}
	return fmt.Sprintf("%s:%d", l.Note, l.Line)
}

// Named names the files and pages.
func (l LeftOut) Named() string {
	switch {
	case l.Files > 0:
		return fmt.Sprintf("%d files, %s to %s", l.Files, l.File, l.To)
	case l.Pages == "":
		return l.File
	case strings.ContainsAny(l.Pages, "-,"):
		return l.File + ", pages " + l.Pages
	}
	return l.File + ", page " + l.Pages
}

// In is the omission as another run has it, which started the one of this workflow.
func (l LeftOut) In(workflow string) Omission {
	return Omission{File: l.Named(), Note: l.Note, Line: l.Line, Step: l.What + ", in " + workflow, Why: l.Why}
}

// fewFiles is how many files with the same omission have a line each.
const fewFiles = 3

// OmissionLines describes omissions.
func OmissionLines(list []Omission) []string { return leftOutLines(LeftOutOf(list)) }

func leftOutLines(all []LeftOut) []string {
	var lines []string
	for _, l := range all {
		lines = append(lines, l.String())
	}
	return lines
}

// LeftOutOf puts omissions together: pages of a file as ranges, and many files that one note names.
func LeftOutOf(list []Omission) []LeftOut {
	var all []LeftOut
	told := map[Omission]bool{}
	for _, o := range list {
		key := Omission{File: o.File, Step: o.Step, Reason: o.Reason, Note: o.Note, Why: o.Why}
		if o.Page == 0 {
			key.File = ""
		}
		if !told[key] {
			told[key] = true
			all = append(all, leftOutLike(list, o)...)
		}
	}
	return all
}

// leftOutLike puts the omissions together that are like the first one.
func leftOutLike(list []Omission, first Omission) []LeftOut {
	what := omissionWords(first)
	var files []Omission
	var pages []int
	for _, o := range list {
		switch {
		case !o.like(first):
		case first.Page > 0 && o.File == first.File && o.Page > 0:
			pages = append(pages, o.Page)
		case first.Page == 0 && o.Page == 0 && !slices.ContainsFunc(files, func(f Omission) bool { return f.File == o.File }):
			files = append(files, o)
		}
	}
	if first.Page > 0 {
		return []LeftOut{{Note: first.Note, Line: first.Line, File: first.File, Pages: pageRanges(pages), What: what, Why: first.Why}}
	}
	if n := len(files); n > fewFiles {
		return []LeftOut{{Note: first.Note, Line: first.Line, Last: files[n-1].Line, File: first.File, To: files[n-1].File, Files: n, What: what, Why: first.Why}}
	}
	var all []LeftOut
	for _, o := range files {
		all = append(all, LeftOut{Note: o.Note, Line: o.Line, File: o.File, What: what, Why: o.Why})
	}
	return all
}

// like reports whether two omissions have the same cause and are named in the same note.
func (o Omission) like(other Omission) bool {
	return o.Step == other.Step && o.Reason == other.Reason && o.Why == other.Why && o.Note == other.Note
}

// omissionWords returns what the model got instead, and why.
func omissionWords(o Omission) string {
	words := map[string]string{
		"smaller picture": "a smaller picture", "text": "its text alone", "line": "its name alone", "range": "not shown",
		"missing": "not found", "refused": "not shown", "deferred": "not shown", "omitted": "not shown", "reference": "its name alone",
	}[o.Step]
	if words == "" {
		words = o.Step
	}
	if o.Reason != "" && o.Reason != words {
		words += " (" + o.Reason + ")"
	}
	return words
}

// pageRanges names pages: `3`, `3-5, 9`.
func pageRanges(pages []int) string {
	slices.Sort(pages)
	return strings.ReplaceAll(content.PageRange(slices.Compact(pages)), ",", ", ")
}

// Leaf names a page of a file in what tools delivered.
func Leaf(file string, page int) string { return fmt.Sprintf("%s#page=%d", file, page) }

// delivered reports whether a tool has shown what was omitted.
func (o Omission) delivered(shown []string) bool {
	return o.ID != "" && slices.Contains(shown, o.ID) || o.Page > 0 && slices.Contains(shown, Leaf(o.File, o.Page))
}
