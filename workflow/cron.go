package workflow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/vaultflow/vaultflow/directives"
)

// cronSchedule is a parsed cron expression: an interval, or clock times.
type cronSchedule struct {
	every time.Duration
	clock cron.Schedule // in UTC, which has no clock changes
}

// horizon is a fixed day from which to check whether an expression ever matches: the parser looks five years ahead, which
// include a 29 February.
var horizon = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// parseCron parses a cron expression with robfig's parser, after checks that the parser lacks.
func parseCron(spec string) (cronSchedule, *scheduleError) {
	lower := strings.ToLower(spec)
	switch {
	case spec == "":
		return cronSchedule{}, &scheduleError{directives.CodeCron, "the cron expression is empty", "write cron: 0 8 * * *"}
	case strings.HasPrefix(spec, "TZ=") || strings.HasPrefix(spec, "CRON_TZ="):
		return cronSchedule{}, &scheduleError{directives.CodeCronZone, "a cron expression cannot contain a time zone", "use the timezone property"}
	case strings.HasPrefix(lower, "@every"):
		return parseEvery(spec)
	}
	if !strings.HasPrefix(spec, "@") {
		var fault *scheduleError
		if spec, fault = cronFields(spec); fault != nil {
			return cronSchedule{}, fault
		}
	}
	parsed, err := parseStandard(strings.ToLower(spec))
	if err != nil {
		return cronSchedule{}, &scheduleError{directives.CodeCron, fmt.Sprintf("the cron expression is not valid: %v", err), cronHint(spec)}
	}
	if parsed.Next(horizon).IsZero() {
		return cronSchedule{}, &scheduleError{directives.CodeCronNever, "the cron expression never matches", "choose a day that the month has"}
	}
	return cronSchedule{clock: parsed}, nil
}

func cronHint(spec string) string {
	if !strings.HasPrefix(spec, "@") {
		return "write five fields: minute hour day month weekday"
	}
	return hint(strings.ToLower(spec), []string{"@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@midnight", "@annually"})
}

// parseStandard calls the library's parser, which panics on some texts.
func parseStandard(spec string) (s cron.Schedule, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%q cannot be parsed", spec)
		}
	}()
	return cron.ParseStandard(spec)
}

func parseEvery(spec string) (cronSchedule, *scheduleError) {
	d, err := directives.ParseDuration(spec[len("@every"):])
	switch {
	case err != nil:
		return cronSchedule{}, &scheduleError{directives.CodeCron, fmt.Sprintf("@every: %v", err), "write @every 15m"}
	case d < time.Minute:
		return cronSchedule{}, &scheduleError{directives.CodeCronTooOften, fmt.Sprintf("@every %v is below one minute", d), "write @every 1m or more"}
	}
	return cronSchedule{every: d.Truncate(time.Second)}, nil
}

// next returns the first fire time after a moment.
func (c cronSchedule) next(after time.Time, loc *time.Location) time.Time {
	if c.every > 0 {
		seconds := int64(c.every / time.Second)
		n := after.Unix()
		back := ((n % seconds) + seconds) % seconds
		return time.Unix(n-back+seconds, 0).In(loc)
	}
	// Treat the zone's clock time as UTC, where the library sees no clock changes, and convert each clock time it finds back
	// to the zone.
	wall := clockOf(after.In(loc))
	for range 1000 { // a gap has at most a day of minutes, all of which mean the same moment
		if wall = c.clock.Next(wall); wall.IsZero() {
			return time.Time{}
		}
		at, exists := firstShown(wall, loc)
		if at.After(after) {
			return at
		}
		if !exists {
			wall = clockOf(at).Add(-time.Second) // skip the rest of the gap
		}
	}
	return time.Time{}
}

// clockOf returns what the clock shows, as a time in UTC.
func clockOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// firstShown returns when a zone's clock first shows a time (given in UTC). If the clock jumps over that time, exists is
// false and at is the first moment after the jump.
func firstShown(clock time.Time, loc *time.Location) (at time.Time, exists bool) {
	// No zone ever jumped by more than a day and an hour; look at each period of constant offset around the clock time.
	for t := clock.Add(-50 * time.Hour).In(loc); ; {
		start, end := t.ZoneBounds()
		_, offset := t.Zone()
		at := clock.Add(-time.Duration(offset) * time.Second)
		if !start.IsZero() && at.Before(start) {
			return start.In(loc), false
		}
		if end.IsZero() || at.Before(end) {
			return at.In(loc), true
		}
		t = end.In(loc)
	}
}

// cronField describes one of the five fields.
type cronField struct {
	name     string
	min, max int
}

var cronForm = []cronField{{"minute", 0, 59}, {"hour", 0, 23}, {"day", 1, 31}, {"month", 1, 12}, {"weekday", 0, 6}}

// cronFields checks the number of fields and their steps, and rewrites weekday 7 as 0.
func cronFields(spec string) (string, *scheduleError) {
	fields := strings.Fields(spec)
	if len(fields) != len(cronForm) {
		return "", &scheduleError{directives.CodeCron, fmt.Sprintf("a cron expression has five fields, not %d", len(fields)), "write minute hour day month weekday"}
	}
	for i, text := range fields {
		form := cronForm[i]
		for item := range strings.SplitSeq(text, ",") {
			_, step, found := strings.Cut(item, "/")
			if !found {
				continue
			}
			if n, err := strconv.Atoi(step); err == nil && n > form.max-form.min+1 {
				return "", &scheduleError{directives.CodeCronStep, fmt.Sprintf("the step %s is larger than the field %s", item, form.name), everyHint(form.name, n)}
			}
		}
	}
	fields[4] = weekdays(fields[4])
	return strings.Join(fields, " "), nil
}

func everyHint(field string, n int) string {
	switch field {
	case "minute":
		return fmt.Sprintf("write @every %dm", n)
	case "hour":
		return fmt.Sprintf("write @every %dh", n)
	}
	return "use a smaller step"
}

// weekdays rewrites a weekday field for the library, which accepts 0 to 6: 7 becomes Sunday, and ranges that include it, in
// numbers or names (fri-sun), become lists.
func weekdays(field string) string {
	var out []string
	for item := range strings.SplitSeq(strings.ToLower(field), ",") {
		out = append(out, weekdayItem(item)...)
	}
	return strings.Join(out, ",")
}

func weekdayItem(item string) []string {
	span, step, stepped := strings.Cut(item, "/")
	from, to, ranged := strings.Cut(span, "-")
	first, ok := weekdayNumber(from)
	if !ok {
		return []string{item}
	}
	last := first
	if ranged {
		if last, ok = weekdayNumber(to); !ok {
			return []string{item}
		}
		if last == 0 && first > 0 {
			last = 7
		}
	}
	if first < 7 && last < 7 {
		return []string{item}
	}
	n := 1
	if stepped {
		var err error
		if n, err = strconv.Atoi(step); err != nil || n < 1 {
			return []string{item}
		}
	}
	var days []string
	for d := first; d <= last && d <= 7; d += n {
		if day := strconv.Itoa(d % 7); !slices.Contains(days, day) {
			days = append(days, day)
		}
	}
	if len(days) == 0 {
		return []string{item} // 7-3: the library reports what is wrong
	}
	return days
}

func weekdayNumber(s string) (int, bool) {
	if i := slices.Index([]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}, s); i >= 0 {
		return i, true
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n <= 7
}
