package directives

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/directives/moment"
)

// Facts hold the values of patterns. Now is the run's scheduled time and must be in the workflow's time zone.
type Facts struct {
	Now       time.Time
	WeekStart time.Weekday // first day of a week; the zero value is Sunday, but the language's default is Monday
	Workflow  string       // name, such as daily/plan
	Step      string
	Run       string

	Files        []string // vault names of the files that started the run
	ForeignFiles bool     // somebody else named them; see [Output.Place]
	ChosenFiles  bool     // content from outside chose them: a model that was shown it asked for the run

	Item      string // the item of an @for_each; empty outside one
	ItemName  string
	ItemLabel string   // what the item is today, such as pages 21–40; empty: its name
	ItemTitle string   // of a chapter or section; empty: that of the file
	ItemValue bool     // the item is an entry of a list, not a file
	Batch     int      // from 1; 0 outside an @for_each
	Items     []string // all items of the batch, including Item; for an @input
	Foreign   bool     // somebody else named the item; see [Output.Place]
	FromGlob  bool     // the item is a file that the path of the @for_each selects

	Answer        map[string]string // properties of the step's answer, as texts, for what is named after it
	ForeignAnswer bool              // the model was shown content from outside
	Unanswered    bool              // there is no answer yet: its patterns have a placeholder

	Title func(name string) string // the title of a file; nil, or an empty answer: its name
}

// names lists the patterns that are names and numbers.
var names = slices.Concat(filePatterns("trigger"), filePatterns("item"), []string{"batch", "workflow", "step", "run"})

// slotName is the pattern of the planned time. All dates are of that time: it says so where it matters.
const slotName = "slot"

// isDate reports whether a pattern is a date.
func isDate(name string) bool { return name == slotName || moment.IsPattern(name) }

// DatePatterns lists the patterns that are dates.
func DatePatterns() []string { return append(moment.Patterns(), slotName) }

// selectors lists the patterns that are shorthands for selection.
var selectors = []string{"latest", "pending"}

// PatternNames lists every pattern, in the order of the language's page.
func PatternNames() []string {
	return slices.Concat(DatePatterns(), names, selectors)
}

// value returns the text that replaces a pattern; ok is false for one that has no value in these facts.
func (f Facts) value(name, format string) (text string, ok bool) {
	if name == slotName {
		name = "now"
	}
	if moment.IsPattern(name) {
		return moment.Expand(name, format, f.Now, f.WeekStart), true
	}
	whole, suffix, file := ofFile(name)
	switch {
	case file && whole == "item":
		return f.itemValue(suffix)
	case file && len(f.Files) == 1:
		return f.fileValue(f.Files[0], suffix), true
	}
	if field := ofAnswer(name); field != "" {
		return f.answerValue(field)
	}
	switch name {
	case "batch":
		return strconv.Itoa(f.Batch), f.Batch > 0
	case "workflow":
		return f.Workflow, f.Workflow != ""
	case "step":
		return f.Step, f.Step != ""
	case "run":
		return f.Run, f.Run != ""
	}
	return "", false
}

// plain makes a text fit for one part of a file name.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || strings.ContainsRune(`/\:*?"<>|`, c) {
			return '-'
		}
		return c
	}, s)
}
