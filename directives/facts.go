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
	Item      string // the item of an @for_each; empty outside one
	ItemName  string
	Batch     int      // from 1; 0 outside an @for_each
	Items     []string // all items of the batch, including Item; for an @input
	Foreign   bool     // somebody else named the item; see [Output.Place]
	FromGlob  bool     // the item is a file that the path of the @for_each selects
}

// names lists the patterns that are names and numbers.
var names = []string{"item", "item-name", "batch", "workflow", "step", "run"}

// selectors lists the patterns that are shorthands for selection.
var selectors = []string{"latest", "pending"}

// PatternNames lists every pattern, in the order of the language's page.
func PatternNames() []string {
	return slices.Concat(moment.Patterns(), names, selectors)
}

// value returns the text that replaces a pattern; ok is false for one that has no value in these facts.
func (f Facts) value(name, format string) (text string, ok bool) {
	if moment.IsPattern(name) {
		return moment.Expand(name, format, f.Now, f.WeekStart), true
	}
	switch name {
	case "item":
		return f.Item, f.Item != ""
	case "item-name":
		return f.ItemName, f.ItemName != ""
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
