package directives

import (
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// RunOn limits the days on which a step runs, for scheduled and watched runs only.
type RunOn struct {
	Daily bool           `json:"daily,omitempty"`
	Never bool           `json:"never,omitempty"` // overrides everything else
	Days  []time.Weekday `json:"days,omitempty"`
	At    diag.Position  `json:"at"`
}

// Fires reports whether the step runs on the day of t, in t's time zone. A nil RunOn means every day.
func (o *RunOn) Fires(t time.Time) bool {
	if o == nil {
		return true
	}
	return !o.Never && (o.Daily || slices.Contains(o.Days, t.Weekday()))
}

// String returns the days for people.
func (o *RunOn) String() string {
	switch {
	case o == nil || o.Daily && !o.Never:
		return "daily"
	case o.Never:
		return "never"
	}
	names := make([]string, len(o.Days))
	for i, d := range o.Days {
		names[i] = strings.ToLower(d.String())
	}
	return strings.Join(names, ", ")
}

func readRunOn(d Directive, r *report) *RunOn {
	on := &RunOn{At: d.At}
	s := source{text: d.Text, at: d.TextAt}
	for _, span := range fields(d.Text) {
		word := strings.ToLower(d.Text[span[0]:span[1]])
		day, ok := Weekday(word)
		switch {
		case word == "daily":
			on.Daily = true
		case word == "never":
			on.Never = true
		case !ok:
			r.add(s.pos(span[0]), CodeDirectiveValue, diag.DidYouMean(word, dayWords(), ""),
				"%q is not a day; @run_on takes day names, daily or never", clip(word))
			r.mendWord(s.pos(span[0]), d.Text[span[0]:span[1]], dayWords())
		case !slices.Contains(on.Days, day):
			on.Days = append(on.Days, day)
		}
	}
	return on
}

func dayWords() []string {
	words := []string{"daily", "never"}
	for d := time.Sunday; d <= time.Saturday; d++ {
		words = append(words, strings.ToLower(d.String()))
	}
	return words
}

// fields returns the spans of a text's words, which commas and blanks separate.
func fields(s string) [][2]int {
	var spans [][2]int
	start := -1
	for i := 0; i <= len(s); i++ {
		divider := i == len(s) || strings.IndexByte(", \t", s[i]) >= 0
		switch {
		case divider && start >= 0:
			spans = append(spans, [2]int{start, i})
			start = -1
		case !divider && start < 0:
			start = i
		}
	}
	return spans
}
