package moment

import (
	"testing"
	"time"
)

var march = time.Date(2026, 3, 1, 4, 5, 6, 789_000_000, time.FixedZone("CET", 3600))

func TestFormat_asMomentDoes(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"YYYY": "2026", "YY": "26", "Q": "1", "Qo": "1st", "M": "3", "Mo": "3rd", "MM": "03", "MMM": "Mar", "MMMM": "March",
		"D": "1", "Do": "1st", "DD": "01", "DDD": "60", "DDDo": "60th", "DDDD": "060",
		"d": "0", "do": "0th", "dd": "Su", "ddd": "Sun", "dddd": "Sunday", "e": "0", "E": "7",
		"w": "10", "wo": "10th", "ww": "10", "W": "9", "Wo": "9th", "WW": "09", "gg": "26", "gggg": "2026", "GGGG": "2026",
		"A": "AM", "a": "am", "H": "4", "HH": "04", "h": "4", "hh": "04", "k": "4", "kk": "04", "m": "5", "mm": "05", "s": "6", "ss": "06",
		"S": "7", "SS": "78", "SSS": "789", "Z": "+01:00", "ZZ": "+0100", "X": "1772334306", "x": "1772334306789",
		"L": "03/01/2026", "LL": "March 1, 2026", "LT": "4:05 AM", "l": "3/1/2026", "ll": "Mar 1, 2026",
		"[Week] WW": "Week 09", `\Y`: "Y", "YYYY[W]WW": "2026W09", "foo": "foo", "[a[b]c]": "[amb]c", "": "",
	} {
		if got := Format(march, format); got != want {
			t.Errorf("Format(%q) = %q, want %q", format, got, want)
		}
	}
}

func TestFormat_names(t *testing.T) {
	t.Parallel()
	// The ancestor replaced tokens in names it had just put in: "Monday" became "3onday".
	monday := time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)
	if got := Format(monday, "dddd MMMM ddd hh A"); got != "Monday March Mon 01 PM" {
		t.Errorf("got %q", got)
	}
	for day, want := range map[string]string{"2027-01-03": "2026-W53-7", "2026-12-31": "2026-W53-4", "2029-12-31": "2030-W01-1"} {
		d, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		if got := Format(d, "GGGG-[W]WW-E"); got != want {
			t.Errorf("%s = %s, want %s", day, got, want)
		}
	}
}
