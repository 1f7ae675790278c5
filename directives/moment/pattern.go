package moment

import (
	"cmp"
	"slices"
	"time"
)

// patterns holds the date patterns in the order of the language's page, each with its default format.
var patterns = []struct{ name, format string }{
	{"today", "YYYY-MM-DD"},
	{"yesterday", "YYYY-MM-DD"},
	{"tomorrow", "YYYY-MM-DD"},
	{"this-week", "YYYY-MM-DD"},
	{"last-week", "YYYY-MM-DD"},
	{"next-week", "YYYY-MM-DD"},
	{"this-month", "YYYY-MM"},
	{"last-month", "YYYY-MM"},
	{"next-month", "YYYY-MM"},
	{"day-name", "dddd"},
	{"month-name", "MMMM"},
	{"now", "YYYY-MM-DD HHmm"}, // no colon: it must be a valid file name on every system
}

// Patterns lists the date patterns, in the order of the language's page.
func Patterns() []string {
	var list []string
	for _, p := range patterns {
		list = append(list, p.name)
	}
	return list
}

// IsPattern reports whether a pattern is a date.
func IsPattern(name string) bool { return slices.Contains(Patterns(), name) }

// Expand returns the date that a pattern means at a time, in its default format if none is set.
func Expand(name, format string, now time.Time, weekStart time.Weekday) string {
	for _, p := range patterns {
		if p.name == name {
			return Format(date(name, now, weekStart), cmp.Or(format, p.format))
		}
	}
	return ""
}

// date returns the day that a pattern means.
func date(name string, now time.Time, weekStart time.Weekday) time.Time {
	switch name {
	case "yesterday":
		return addDays(now, -1)
	case "tomorrow":
		return addDays(now, 1)
	case "this-week", "last-week", "next-week":
		back := (int(now.Weekday()) - int(weekStart) + 7) % 7
		return addDays(now, map[string]int{"this-week": 0, "last-week": -7, "next-week": 7}[name]-back)
	case "this-month", "last-month", "next-month":
		y, m, _ := now.Date()
		m += time.Month(map[string]int{"this-month": 0, "last-month": -1, "next-month": 1}[name])
		return civil(y, m, 1, now)
	}
	return now
}

func addDays(t time.Time, n int) time.Time {
	y, m, d := t.Date()
	return civil(y, m, d+n, t)
}

// civil returns a day at the clock time of t. If the zone's clock shows that time twice on that day, it is the one with the
// offset of t; a time that the clock skips is moved by the length of the jump, or to noon if that is another day.
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
