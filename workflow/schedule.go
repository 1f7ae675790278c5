package workflow

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// Kinds of a [Schedule].
const (
	KindCron = "cron"
	KindOnce = "once"
)

// Schedule is one entry of the schedule property.
type Schedule struct {
	Kind string    `json:"kind"`          // cron or once
	Spec string    `json:"spec"`          // the text after `cron:` or `once:`
	Pos  Position  `json:"at"`            // of the entry
	At   time.Time `json:"time,omitzero"` // of once, if its text has an offset; otherwise it depends on the zone
}

// String returns the entry as written.
func (s Schedule) String() string { return s.Kind + ": " + s.Spec }

// Next returns the first time strictly after a moment at which the schedule fires, or the zero time if never. Clock times are
// in the zone: one that the clock skips fires once, right after the gap; one that it shows twice fires once, at its first
// occurrence. `@every` counts from the start of 1970 in UTC, so it does not depend on when the engine was started. An invalid
// schedule never fires.
func (s Schedule) Next(after time.Time, loc *time.Location) time.Time {
	if loc == nil {
		loc = time.UTC
	}
	switch s.Kind {
	case KindOnce:
		at, err := s.Moment(loc)
		if err != nil || !at.After(after) {
			return time.Time{}
		}
		return at
	case KindCron:
		c, fault := parseCron(s.Spec)
		if fault != nil {
			return time.Time{}
		}
		return c.next(after, loc)
	}
	return time.Time{}
}

// Moment returns when a `once:` fires in a zone. A clock time that the zone skips is an error.
func (s Schedule) Moment(loc *time.Location) (time.Time, error) {
	if s.Kind != KindOnce {
		return time.Time{}, fmt.Errorf("%s is not a once: schedule", s)
	}
	clock, fixed, fault := parseOnce(s.Spec)
	if fault != nil {
		return time.Time{}, fault
	}
	if fixed {
		return clock.In(loc), nil
	}
	at, exists := firstShown(clock, loc)
	if !exists {
		return at, &scheduleError{directives.CodeOnceNoSuch, fmt.Sprintf("%s does not exist in %s: the clock jumps to %s", s.Spec, loc, at.Format("15:04")), "choose another time"}
	}
	return at, nil
}

// scheduleError is what is wrong with an entry.
type scheduleError struct{ code, message, suggestion string }

func (e *scheduleError) Error() string { return e.message }

var _ failure.Reporter = (*scheduleError)(nil)

// Failure implements [failure.Reporter].
func (e *scheduleError) Failure() failure.Error {
	return failure.Error{Hint: e.suggestion}
}

// onceForms lists the accepted forms of a date. A misread date would run a job at the wrong time, so nothing is guessed.
var onceForms = []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02"}

// parseOnce parses a date. A fixed one has an offset; any other is a clock time, returned in UTC.
func parseOnce(text string) (t time.Time, fixed bool, fault *scheduleError) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true, nil
	}
	for _, form := range onceForms {
		if t, err := time.Parse(form, text); err == nil {
			return t, false, nil
		}
	}
	return time.Time{}, false, &scheduleError{directives.CodeOnce, fmt.Sprintf("%q is not an exact date and time", text), "write once: 2026-12-24 09:00"}
}

// parseSchedule parses the text of one entry.
func parseSchedule(text string, at Position) (Schedule, *scheduleError) {
	kind, spec, found := strings.Cut(text, ":")
	s := Schedule{Kind: strings.ToLower(strings.TrimSpace(kind)), Spec: strings.Join(strings.Fields(spec), " "), Pos: at}
	if !found || s.Kind != KindCron && s.Kind != KindOnce {
		return s, &scheduleError{directives.CodeScheduleForm, fmt.Sprintf("%q is neither cron: nor once:", text), scheduleHint(text)}
	}
	if s.Kind == KindOnce {
		t, fixed, fault := parseOnce(s.Spec)
		if fault != nil {
			return s, fault
		}
		if fixed {
			s.At = t
		}
		return s, nil
	}
	_, fault := parseCron(s.Spec)
	return s, fault
}

// scheduleHint suggests the entry that was probably meant.
func scheduleHint(text string) string {
	if kind := missingKind(text); kind != "" {
		return "write " + strconv.Quote(kind+": "+text)
	}
	return `write "cron: 0 8 * * *" or "once: 2026-12-24 09:00"`
}

// missingKind returns the kind of an entry that lacks one, or "" when both or neither could be meant.
func missingKind(text string) string {
	if strings.HasPrefix(text, "@") || len(strings.Fields(text)) == 5 {
		return KindCron
	}
	if _, _, fault := parseOnce(text); fault == nil {
		return KindOnce
	}
	return ""
}

func noSuchTimes(list []Schedule, loc *time.Location) []diag.Diagnostic {
	var found []diag.Diagnostic
	for _, s := range list {
		if s.Kind != KindOnce {
			continue
		}
		var fault *scheduleError
		if _, err := s.Moment(loc); errors.As(err, &fault) {
			found = append(found, directives.At(s.Pos, fault.code, fault.suggestion, "%s", fault.message))
		}
	}
	return found
}
