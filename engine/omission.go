package engine

import (
	"fmt"
	"slices"
	"strconv"
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

// fewFiles is how many files with the same omission have a line each.
const fewFiles = 3

// OmissionLines describes omissions: pages of a file as ranges, and many files that one note names in one line.
func OmissionLines(list []Omission) []string {
	var lines []string
	told := map[Omission]bool{}
	for _, o := range list {
		key := Omission{File: o.File, Step: o.Step, Reason: o.Reason, Note: o.Note, Why: o.Why}
		if o.Page == 0 {
			key.File = ""
		}
		if told[key] {
			continue
		}
		told[key] = true
		lines = append(lines, omissionLines(list, o)...)
	}
	return lines
}

// omissionLines describes the omissions that are like the first one.
func omissionLines(list []Omission, first Omission) []string {
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
		return []string{first.place() + first.File + ", " + pageRanges(pages) + ": " + what}
	}
	if len(files) > fewFiles {
		last := files[len(files)-1].Line
		return []string{fmt.Sprintf("%s%d files, %s to %s: %s", first.placeTo(last), len(files), files[0].File, files[len(files)-1].File, what)}
	}
	var lines []string
	for _, o := range files {
		if o.File == o.Note {
			lines = append(lines, o.place()+what)
			continue
		}
		lines = append(lines, o.place()+o.File+": "+what)
	}
	return lines
}

// like reports whether two omissions have the same cause and are named in the same note.
func (o Omission) like(other Omission) bool {
	return o.Step == other.Step && o.Reason == other.Reason && o.Why == other.Why && o.Note == other.Note
}

// place is where something is named, as the beginning of a line.
func (o Omission) place() string { return o.placeTo(o.Line) }

// placeTo is place for what is named on several lines.
func (o Omission) placeTo(last int) string {
	switch {
	case o.Note == "":
		return ""
	case o.Line == 0:
		return o.Note + ": "
	case last > o.Line:
		return fmt.Sprintf("%s:%d-%d: ", o.Note, o.Line, last)
	}
	return fmt.Sprintf("%s:%d: ", o.Note, o.Line)
}

// omissionWords returns what the model got instead, why, and what the user can do.
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
	if remedy := o.Why.Remedy(); remedy != "" {
		words += "; " + remedy
	}
	return words
}

// pageRanges names pages: `page 3`, `pages 3-5, 9`.
func pageRanges(pages []int) string {
	slices.Sort(pages)
	pages = slices.Compact(pages)
	if len(pages) == 1 {
		return "page " + strconv.Itoa(pages[0])
	}
	return "pages " + strings.ReplaceAll(content.PageRange(pages), ",", ", ")
}

// Leaf names a page of a file in what tools delivered.
func Leaf(file string, page int) string { return fmt.Sprintf("%s#page=%d", file, page) }

// delivered reports whether a tool has shown what was omitted.
func (o Omission) delivered(shown []string) bool {
	return o.ID != "" && slices.Contains(shown, o.ID) || o.Page > 0 && slices.Contains(shown, Leaf(o.File, o.Page))
}
