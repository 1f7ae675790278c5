package trigger_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// A second opinion about when schedules fire, for the simulated year. It shares nothing with the engine: instead of asking
// for the next moment it walks over all minutes and reads the clock on the wall.

// enumerate returns the minutes of a time, from and until included, at which a clock on the wall of a zone fires one of the
// schedules. The clock fires when it shows a time for the first time; if it jumps, all the times that it leaves out are
// shown at once.
func enumerate(t *testing.T, schedules []string, loc *time.Location, from, until time.Time) []time.Time {
	t.Helper()
	var fires []time.Time
	var matchers []func(time.Time) bool
	var every []int64 // minutes
	for _, s := range schedules {
		kind, spec, _ := strings.Cut(s, ": ")
		if text, found := strings.CutPrefix(spec, "@every "); found {
			d, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			every = append(every, int64(d/time.Minute))
			continue
		}
		matchers = append(matchers, matcher(t, kind, spec))
	}
	highest := wall(from.Add(-72*time.Hour), loc)
	for m := from.Add(-72*time.Hour).Unix() / 60; m <= until.Unix()/60; m++ {
		at := time.Unix(m*60, 0)
		shown, hit := wall(at, loc), false
		for clock := highest.Add(time.Minute); !clock.After(shown); clock = clock.Add(time.Minute) {
			for _, matches := range matchers {
				hit = hit || matches(clock)
			}
		}
		if shown.After(highest) {
			highest = shown
		}
		for _, n := range every {
			hit = hit || m%n == 0
		}
		if hit && !at.Before(from) {
			fires = append(fires, at)
		}
	}
	return fires
}

// wall is what the clock shows, to the minute, as if it hung in Greenwich.
func wall(at time.Time, loc *time.Location) time.Time {
	_, offset := at.In(loc).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second).Truncate(time.Minute)
}

// matcher reports whether a schedule fires when the clock shows a time.
func matcher(t *testing.T, kind, spec string) func(time.Time) bool {
	t.Helper()
	if kind == "once" {
		at, err := time.Parse("2006-01-02 15:04", spec)
		if err != nil {
			t.Fatal(err)
		}
		return at.Equal
	}
	fields := strings.Fields(spec)
	if len(fields) != 5 {
		t.Fatalf("%q has not five fields", spec)
	}
	var is [5][60]bool
	for i, field := range fields {
		for value := range is[i] {
			is[i][value] = holds(t, field, value)
		}
	}
	both := fields[2] == "*" || fields[4] == "*"
	return func(c time.Time) bool {
		day, weekday := is[2][c.Day()], is[4][c.Weekday()]
		return is[0][c.Minute()] && is[1][c.Hour()] && is[3][c.Month()] && (both && day && weekday || !both && (day || weekday))
	}
}

// holds reports whether a field of a cron expression holds a value.
func holds(t *testing.T, field string, value int) bool {
	t.Helper()
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, part := range strings.Split(field, ",") {
		span, step, stepped := strings.Cut(part, "/")
		first, last := 0, 99
		if span != "*" {
			from, to, ranged := strings.Cut(span, "-")
			first = number(from)
			last = first
			if ranged {
				last = number(to)
			}
		}
		if value >= first && value <= last && (!stepped || (value-first)%number(step) == 0) {
			return true
		}
	}
	return false
}
