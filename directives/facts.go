package directives

import (
	"strconv"
	"strings"
	"time"
)

// Facts are what patterns are made of. Now is the run's scheduled time and must carry the workflow's time zone.
type Facts struct {
	Now       time.Time
	WeekStart time.Weekday // first day of a week; note that the zero value is Sunday and the language's default Monday
	Workflow  string       // name, such as daily/plan
	Step      string
	Run       string
	Item      string // the item of an @for_each; empty outside of one
	ItemName  string
	Batch     int      // from 1; 0 outside of an @for_each
	Items     []string // all items of the batch, Item among them; for an @input
	Foreign   bool     // somebody else chose what the item is called; see [Output.Place]
	FromGlob  bool     // the item is a file that the path of the @for_each selects
}

// dates holds the patterns that are dates, with their default formats.
var dates = map[string]string{
	"today": "YYYY-MM-DD", "yesterday": "YYYY-MM-DD", "tomorrow": "YYYY-MM-DD",
	"this-week": "YYYY-MM-DD", "last-week": "YYYY-MM-DD", "next-week": "YYYY-MM-DD",
	"this-month": "YYYY-MM", "last-month": "YYYY-MM", "next-month": "YYYY-MM",
	"day-name": "dddd", "month-name": "MMMM",
	// No colon: the name is fit for files on every system.
	"now": "YYYY-MM-DD HHmm",
}

// names holds the patterns that are names and numbers.
var names = []string{"item", "item-name", "batch", "workflow", "step", "run"}

// selectors holds the shorthands for selection.
var selectors = []string{"latest", "pending"}

// PatternNames lists every pattern, in the order of the language's page.
func PatternNames() []string {
	list := []string{
		"today", "yesterday", "tomorrow", "this-week", "last-week", "next-week", "this-month", "last-month", "next-month",
		"day-name", "month-name", "now",
	}
	return append(append(list, names...), selectors...)
}

// date is the day that a date pattern means.
func (f Facts) date(name string) time.Time {
	switch name {
	case "yesterday":
		return addDays(f.Now, -1)
	case "tomorrow":
		return addDays(f.Now, 1)
	case "this-week", "last-week", "next-week":
		back := (int(f.Now.Weekday()) - int(f.WeekStart) + 7) % 7
		return addDays(f.Now, map[string]int{"this-week": 0, "last-week": -7, "next-week": 7}[name]-back)
	case "this-month", "last-month", "next-month":
		y, m, _ := f.Now.Date()
		m += time.Month(map[string]int{"this-month": 0, "last-month": -1, "next-month": 1}[name])
		return civil(y, m, 1, f.Now)
	}
	return f.Now
}

func addDays(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	return civil(y, m, d+n, t)
}

// civil is a day at the clock time of t. Of a time that the zone's clock shows twice on that day it is the one with the
// offset of t; one that the clock skips is as much later as the clock jumps, or noon if that is on another day.
func civil(year int, month time.Month, day int, t time.Time) time.Time {
	want := time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	_, before := want.Add(-26 * time.Hour).In(t.Location()).Zone()
	_, after := want.Add(26 * time.Hour).In(t.Location()).Zone()
	_, own := t.Zone()
	at := func(offset int) time.Time { return want.Add(-time.Duration(offset) * time.Second).In(t.Location()) }
	for _, offset := range []int{own, before, after} {
		if got := at(offset); got.Day() == want.Day() && got.Hour() == want.Hour() && got.Minute() == want.Minute() {
			return got
		}
	}
	if got := at(before); got.Day() == want.Day() {
		return got
	}
	return time.Date(year, month, day, 12, 0, 0, 0, t.Location())
}

// value is what stands in the place of a pattern; ok is false for one that has no value in these facts.
func (f Facts) value(name, format string) (text string, ok bool) {
	if standard, isDate := dates[name]; isDate {
		if format == "" {
			format = standard
		}
		return FormatDate(f.date(name), format), true
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

// plain makes a text fit for one part of a file's name.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || strings.ContainsRune(`/\:*?"<>|`, c) {
			return '-'
		}
		return c
	}, s)
}
