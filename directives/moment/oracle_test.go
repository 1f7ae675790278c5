package moment

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tables, on machines without zoneinfo
)

// momentTable reads a table that testdata/generate.js wrote with moment, and calls row for each of its lines.
func momentTable(t *testing.T, name string, row func(at time.Time, columns, values []string)) (rows int) {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	zones := map[string]*time.Location{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		t.Fatalf("%s is empty", name)
	}
	columns := strings.Split(lines.Text(), "\t")[2:]
	for ; lines.Scan(); rows++ {
		values := strings.Split(lines.Text(), "\t")
		if zones[values[0]] == nil {
			if zones[values[0]], err = time.LoadLocation(values[0]); err != nil {
				t.Fatal(err)
			}
		}
		ms, err := strconv.ParseInt(values[1], 10, 64)
		if err != nil || len(values) != len(columns)+2 {
			t.Fatalf("%s: a line is damaged: %q", name, lines.Text())
		}
		row(time.UnixMilli(ms).In(zones[values[0]]), columns, values[2:])
		if t.Failed() {
			break // one moment shows what is wrong
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// Every token, on every day of 2024 to 2028 in three time zones, is what moment makes of it.
func TestFormat_everyTokenAsMomentOnEveryDay(t *testing.T) {
	t.Parallel()
	days := map[string]bool{}
	var have []string
	rows := momentTable(t, "tokens.tsv.gz", func(at time.Time, tokens, values []string) {
		days[at.Location().String()+at.Format(time.DateOnly)] = true
		have = tokens
		for i, token := range tokens {
			if got := Format(at, token); got != values[i] {
				t.Errorf("%s in %s at %s = %q, moment says %q", token, at.Location(), at.Format(time.RFC3339Nano), got, values[i])
			}
		}
	})
	const everyDay = 3 * (366 + 365 + 365 + 365 + 366)
	if len(days) != everyDay || rows < everyDay {
		t.Errorf("the table holds %d days in %d lines, want every day: %d", len(days), rows, everyDay)
	}
	for _, token := range tokens {
		if !slices.Contains(have, token.name) {
			t.Errorf("the table has no column for the token %s", token.name)
		}
	}
	for token := range localFormats {
		if !slices.Contains(have, token) {
			t.Errorf("the table has no column for the token %s", token)
		}
	}
}

// Every date pattern, with weeks that start on each of the seven days, is what moment's arithmetic makes of it.
func TestExpand_everyPatternAsMomentOnEveryDay(t *testing.T) {
	t.Parallel()
	var have []string
	momentTable(t, "patterns.tsv.gz", func(at time.Time, patterns, values []string) {
		have = patterns
		for i, pattern := range patterns {
			pattern, first, weekly := strings.Cut(pattern, "@")
			start := int(time.Monday)
			if weekly {
				start = slices.Index([]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}, first)
			}
			name, format, _ := strings.Cut(pattern, ":")
			if got := Expand(name, format, at, time.Weekday(start)); got != values[i] {
				t.Errorf("{%s} in %s at %s, weeks from %s = %q, moment says %q", pattern, at.Location(), at.Format(time.RFC3339Nano), time.Weekday(start), got, values[i])
			}
		}
	})
	for _, name := range Patterns() {
		if !slices.ContainsFunc(have, func(column string) bool { return column == name || strings.HasPrefix(column, name+"@") }) {
			t.Errorf("the table has no column for the pattern {%s}", name)
		}
	}
}

// Formats in which tokens, brackets and backslashes run together are cut as moment cuts them.
func TestFormat_formatsAsMoment(t *testing.T) {
	t.Parallel()
	if rows := momentTable(t, "formats.tsv", func(at time.Time, _, values []string) {
		if got := Format(at, values[0]); got != values[1] {
			t.Errorf("%q at %s = %q, moment says %q", values[0], at.Format(time.RFC3339Nano), got, values[1])
		}
	}); rows < 3000 && !t.Failed() {
		t.Errorf("only %d formats", rows)
	}
}
