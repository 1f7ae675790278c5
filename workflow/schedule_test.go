package workflow

import (
	"errors"
	"testing"
	"time"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Skipf("no time zone data: %v", err)
	}
	return loc
}

func schedule(t *testing.T, text string) Schedule {
	t.Helper()
	s, fault := parseSchedule(text, Position{})
	if fault != nil {
		t.Fatalf("%s: %v", text, fault)
	}
	return s
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	m, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSchedule_nextAcrossClockChanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		zone, entry, after string
		want               []string // consecutive moments
	}{
		// 2027-03-28 02:00 → 03:00 and 2027-10-31 03:00 → 02:00.
		{"Europe/Berlin", "cron: 30 2 * * *", "2027-03-27T12:00:00+01:00", []string{"2027-03-28T03:00:00+02:00", "2027-03-29T02:30:00+02:00"}},
		{"Europe/Berlin", "cron: */20 2 * * *", "2027-03-28T00:00:00+01:00", []string{"2027-03-28T03:00:00+02:00", "2027-03-29T02:00:00+02:00"}},
		{"Europe/Berlin", "cron: */30 * * * *", "2027-03-28T01:15:00+01:00", []string{"2027-03-28T01:30:00+01:00", "2027-03-28T03:00:00+02:00", "2027-03-28T03:30:00+02:00"}},
		{"Europe/Berlin", "cron: 30 2 * * *", "2027-10-30T12:00:00+02:00", []string{"2027-10-31T02:30:00+02:00", "2027-11-01T02:30:00+01:00"}},
		{"Europe/Berlin", "cron: 30 2 * * *", "2027-10-31T02:10:00+01:00", []string{"2027-11-01T02:30:00+01:00"}},
		{"Europe/Berlin", "cron: 0 3 * * *", "2027-10-31T02:30:00+02:00", []string{"2027-10-31T03:00:00+01:00"}},
		{"Europe/Berlin", "cron: */30 * * * *", "2027-10-31T02:00:00+02:00", []string{"2027-10-31T02:30:00+02:00", "2027-10-31T03:00:00+01:00"}},
		{"Europe/Berlin", "once: 2027-10-31 02:30", "2027-01-01T00:00:00Z", []string{"2027-10-31T02:30:00+02:00"}},
		{"Europe/Berlin", "once: 2027-07-01T10:00:00Z", "2027-01-01T00:00:00Z", []string{"2027-07-01T12:00:00+02:00"}},
		// 2027-03-14 02:00 → 03:00 and 2027-11-07 02:00 → 01:00.
		{"America/New_York", "cron: 30 2 * * *", "2027-03-13T12:00:00-05:00", []string{"2027-03-14T03:00:00-04:00", "2027-03-15T02:30:00-04:00"}},
		{"America/New_York", "cron: 15 1 * * *", "2027-11-06T12:00:00-04:00", []string{"2027-11-07T01:15:00-04:00", "2027-11-08T01:15:00-05:00"}},
		{"America/New_York", "cron: 0 9 * * 1-5", "2027-11-05T10:00:00-04:00", []string{"2027-11-08T09:00:00-05:00"}},
		// Half an hour: 2027-04-04 02:00 → 01:30 and 2027-10-03 02:00 → 02:30.
		{"Australia/Lord_Howe", "cron: 15 2 * * *", "2027-10-02T12:00:00+10:30", []string{"2027-10-03T02:30:00+11:00", "2027-10-04T02:15:00+11:00"}},
		{"Australia/Lord_Howe", "cron: 45 1 * * *", "2027-04-03T12:00:00+11:00", []string{"2027-04-04T01:45:00+11:00", "2027-04-05T01:45:00+10:30"}},
		{"Australia/Lord_Howe", "cron: 0,30 2 * * *", "2027-10-02T12:00:00+10:30", []string{"2027-10-03T02:30:00+11:00", "2027-10-04T02:00:00+11:00"}},
		// A whole day is missing: 2011-12-30.
		{"Pacific/Apia", "cron: 0 12 30 * *", "2011-12-01T00:00:00-10:00", []string{"2011-12-31T00:00:00+14:00", "2012-01-30T12:00:00+14:00"}},
		// Midnight is missing: 2026-03-08.
		{"America/Havana", "cron: 0 0 * * *", "2026-03-07T12:00:00-05:00", []string{"2026-03-08T01:00:00-04:00", "2026-03-09T00:00:00-04:00"}},
		{"UTC", "cron: 30 2 * * *", "2027-03-28T02:30:00Z", []string{"2027-03-29T02:30:00Z"}},
		{"UTC", "cron: 0 9 * * 7", "2026-03-02T00:00:00Z", []string{"2026-03-08T09:00:00Z", "2026-03-15T09:00:00Z"}},
		{"UTC", "cron: 0 9 * * 5-7", "2026-03-02T00:00:00Z", []string{"2026-03-06T09:00:00Z", "2026-03-07T09:00:00Z", "2026-03-08T09:00:00Z", "2026-03-13T09:00:00Z"}},
		{"UTC", "cron: 0 9 * * FRI-SUN", "2026-03-02T00:00:00Z", []string{"2026-03-06T09:00:00Z", "2026-03-07T09:00:00Z", "2026-03-08T09:00:00Z"}},
		{"UTC", "cron: 0 9 1 * MON", "2026-03-02T10:00:00Z", []string{"2026-03-09T09:00:00Z", "2026-03-16T09:00:00Z", "2026-03-23T09:00:00Z", "2026-03-30T09:00:00Z", "2026-04-01T09:00:00Z"}},
		{"UTC", "cron: 0 0 29 2 *", "2026-03-02T10:00:00Z", []string{"2028-02-29T00:00:00Z"}},
		{"UTC", "cron: @daily", "2026-03-02T00:00:00Z", []string{"2026-03-03T00:00:00Z"}},
		{"UTC", "cron: @every 15m", "2026-03-02T00:07:00Z", []string{"2026-03-02T00:15:00Z", "2026-03-02T00:30:00Z"}},
		{"UTC", "cron: @every 1d", "2026-03-02T00:00:00Z", []string{"2026-03-03T00:00:00Z"}},
		{"UTC", "once: 2026-03-02", "2026-03-02T00:00:00Z", nil},
	}
	for _, tt := range tests {
		loc := zone(t, tt.zone)
		s, after := schedule(t, tt.entry), at(t, tt.after)
		for i, want := range tt.want {
			got := s.Next(after, loc)
			if !got.Equal(at(t, want)) {
				t.Errorf("%s in %s, %d after %s: %s, want %s", tt.entry, tt.zone, i+1, tt.after, got.Format(time.RFC3339), want)
				break
			}
			after = got
		}
		if tt.want == nil && !s.Next(after, loc).IsZero() {
			t.Errorf("%s fires after %s", tt.entry, tt.after)
		}
	}
}

// Every clock time of a year is reached in order, strictly ascending, from wherever one asks.
func TestSchedule_nextIsStrictlyAfterAndConsistent(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"} {
		loc := zone(t, name)
		s := schedule(t, "cron: 15,45 1-3 * * *")
		end := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
		n := 0
		for moment := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC); moment.Before(end); n++ {
			next := s.Next(moment, loc)
			if !next.After(moment) {
				t.Fatalf("%s: %s after %s", name, next, moment)
			}
			if between := s.Next(moment.Add(next.Sub(moment)/2), loc); !between.Equal(next) {
				t.Fatalf("%s: asked between %s and %s: %s", name, moment, next, between)
			}
			moment = next
		}
		if n < 365*6-3 || n > 365*6+1 {
			t.Errorf("%s: %d moments in a year", name, n)
		}
	}
}

func TestSchedule_missingClockTimeOfOnce(t *testing.T) {
	t.Parallel()
	s := schedule(t, "once: 2027-03-28 02:30")
	_, err := s.Moment(zone(t, "Europe/Berlin"))
	var fault *scheduleError
	if !errors.As(err, &fault) || fault.code != "VF127" {
		t.Errorf("got %v", err)
	}
	if m, err := s.Moment(time.UTC); err != nil || !m.Equal(at(t, "2027-03-28T02:30:00Z")) {
		t.Errorf("got %v, %v", m, err)
	}
}

func TestParseCron_refuses(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"":                      "VF121",
		"TZ=UTC":                "VF125", // the library panics
		"TZ=":                   "VF125",
		"CRON_TZ=UTC * * * * *": "VF125",
		"* * * *":               "VF121",
		"0 0 8 * * *":           "VF121",
		"60 * * * *":            "VF121",
		"0 8 * * 8":             "VF121",
		"0 8 * * 7-3":           "VF121",
		"*/0 * * * *":           "VF121",
		"*/90 * * * *":          "VF124",
		"0 */25 * * *":          "VF124",
		"0 0 */32 * *":          "VF124",
		"0 0 30 2 *":            "VF122",
		"0 0 31 4,6 *":          "VF122",
		"@every 0s":             "VF121",
		"@every -5m":            "VF121",
		"@every 59s":            "VF123",
		"@every":                "VF121",
		"@dialy":                "VF121",
		"@reboot":               "VF121",
		"L * * * *":             "VF121",
		"0 9 * * 1#1":           "VF121",
		"0 9 * * mon-":          "VF121",
	} {
		_, fault := parseCron(spec)
		if fault == nil || fault.code != want {
			t.Errorf("parseCron(%q) = %v, want %s", spec, fault, want)
		}
	}
	for _, spec := range []string{"*/60 * * * *", "0 8 * * 1-5", "0 8 ? * *", "0 8 * JAN-MAR mon,wed", "@DAILY", "0 8 * * 0-7", "0 8 * * 7/2", "59 23 31 12 *"} {
		if _, fault := parseCron(spec); fault != nil {
			t.Errorf("parseCron(%q): %v", spec, fault)
		}
	}
}
