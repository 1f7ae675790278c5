package directives

import (
	"testing"
	"time"
)

// march is the moment of the table in the fact sheet about Obsidian: a Sunday.
var march = time.Date(2026, 3, 1, 4, 5, 6, 789_000_000, time.FixedZone("CET", 3600))

func facts() Facts {
	return Facts{
		Now: march, WeekStart: time.Monday, Workflow: "daily/plan", Step: "A/B: c", Run: "r1", Item: "in/a [1].md", ItemName: "a [1]", Batch: 2,
		Files: []string{"Imported/Stand-up: 1/index.md"}, Title: func(name string) string { return map[string]string{"in/a [1].md": "A/B [1]"}[name] },
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	sunday := facts()
	sunday.WeekStart = time.Sunday
	tests := []struct {
		pattern, want string
		facts         Facts
	}{
		{"{today}|{yesterday}|{tomorrow}", "2026-03-01|2026-02-28|2026-03-02", facts()},
		{"{this-week}|{last-week}|{next-week}", "2026-02-23|2026-02-16|2026-03-02", facts()},
		{"{this-week}|{last-week}|{next-week}", "2026-03-01|2026-02-22|2026-03-08", sunday},
		{"{this-month}|{last-month}|{next-month}", "2026-03|2026-02|2026-04", facts()},
		{"{day-name}|{month-name}|{now}", "Sunday|March|2026-03-01 0405", facts()},
		{"{today:dddd, MMMM Do}", "Sunday, March 1st", facts()},
		{"{today:YYYY/MM/[Week] WW}", "2026/03/Week 09", facts()},
		{"{today:[{]YYYY[}]}", "{2026}", facts()},
		{"{workflow} {step} {run} {item} {item-name} {batch}", "daily/plan A/B: c r1 in/a [1].md a [1] 2", facts()},
		{"{{today}} {{{today}}}", "{today} {2026-03-01}", facts()},
		{"no pattern", "no pattern", facts()},
	}
	for _, tt := range tests {
		got, err := Expand(tt.pattern, tt.facts)
		if err != nil || got != tt.want {
			t.Errorf("Expand(%q) = %q, %v, want %q", tt.pattern, got, err, tt.want)
		}
	}
}

func TestExpand_forFiles(t *testing.T) {
	t.Parallel()
	if got, err := ExpandPath("Plans/{step}", facts()); err != nil || got != "Plans/A-B- c" {
		t.Errorf("ExpandPath = %q, %v", got, err)
	}
	for pattern, want := range map[string]string{
		"{item}":              `in/a \[1\].md`,
		"a/{latest}":          "a/*",
		"a/{pending:5}/x":     "a/*/x",
		"*.{png,jpg}":         "*.{png,jpg}",
		"{a,{b,c}}/{today}":   "{a,{b,c}}/2026-03-01",
		"x_{yesterday:YYYY}*": "x_2026*",
		"{{a}}":               `\{a\}`,
	} {
		if got, err := ExpandGlob(pattern, facts()); err != nil || got != want {
			t.Errorf("ExpandGlob(%q) = %q, %v, want %q", pattern, got, err, want)
		}
	}
}

func TestExpand_faults(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"{tody}": CodeUnknownPattern, "{}": CodeUnknownPattern, "{a,b}": CodeUnknownPattern, "{today": CodeBraceOpen, "}": CodeBraceOpen,
		"{latest}": CodePatternPlace, "{step:x}": CodePatternFormat, "{today:}": CodePatternFormat, "{today:3}": CodePatternFormat,
	} {
		_, err := Expand(pattern, facts())
		p, ok := err.(*PatternError) //nolint:errorlint // Expand returns it unwrapped
		if !ok || p.Code != want {
			t.Errorf("Expand(%q): %v, want %s", pattern, err, want)
		}
	}
	if _, err := Expand("{item}", Facts{Now: march}); err == nil {
		t.Error("{item} without @for_each has a value")
	}
}

func TestFacts_daysSurviveClockChanges(t *testing.T) {
	t.Parallel()
	havana, err := time.LoadLocation("America/Havana") // its clock skips midnight
	if err != nil {
		t.Skipf("no time zone data: %v", err)
	}
	f := Facts{Now: time.Date(2026, 3, 9, 0, 30, 0, 0, havana)}
	if got, _ := Expand("{yesterday}", f); got != "2026-03-08" {
		t.Errorf("yesterday = %s", got)
	}
}
