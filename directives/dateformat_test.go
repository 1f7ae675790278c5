package directives

import (
	"testing"

	"github.com/vaultflow/vaultflow/directives/moment"
)

func TestDateFormats_ofOtherPrograms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// Java, spreadsheets
		"@output file: a {today:yyyy-MM-dd}":         "@output file: a {today:YYYY-MM-DD}",
		"@output file: a {today:yyyy/MM/yyyy-MM-dd}": "@output file: a {today:YYYY/MM/YYYY-MM-DD}",
		"@output file: a {today:dd.MM.yyyy}":         "@output file: a {today:DD.MM.YYYY}",
		"@output file: a {today:dd.mm.yy}":           "@output file: a {today:DD.MM.YY}",
		"@output file: a {today:d MMMM yyyy}":        "@output file: a {today:D MMMM YYYY}",
		"@output file: a {today:d mmm yyyy}":         "@output file: a {today:D MMM YYYY}",
		"@output file: a {today:YYYY-mm-DD}":         "@output file: a {today:YYYY-MM-DD}",
		"@output file: a {now:YYYY-mm-DD HHmm}":      "@output file: a {now:YYYY-MM-DD HHmm}",
		"@output file: a {now:YYYY-MM-DD HHMM}":      "@output file: a {now:YYYY-MM-DD HHmm}",
		"@header {now:HH:MM}":                        "@header {now:HH:mm}",
		"@header {today:EEEE, d MMMM}":               "@header {today:dddd, D MMMM}",
		"@header {today:DDDD, D MMMM}":               "@header {today:dddd, D MMMM}",
		"@input file: Daily/{yesterday:yyyy-MM-dd}":  "@input file: Daily/{yesterday:YYYY-MM-DD}",
		// Go, strftime
		"@output file: a {today:2006-01-02}": "@output file: a {today:YYYY-MM-DD}",
		"@header {now:Mon 2 Jan 2006 15:04}": "@header {now:ddd D MMM YYYY HH:mm}",
		"@output file: a {today:%Y-%m-%d}":   "@output file: a {today:YYYY-MM-DD}",
		"@header {today:%A %d %B}":           "@header {today:dddd DD MMMM}",
		// templates, and no braces at all
		"@output file: a {{date}}":               "@output file: a {today}",
		"@output file: {{date:YYYY}}/{{ Date }}": "@output file: {today:YYYY}/{today}",
		"@output file: a {{time:HH:mm}}":         "@output file: a {now:HHmm}",
		"@header {{date}} {{time:HH:mm}}":        "@header {today} {now:HH:mm}",
		"@header <% tp.date.now(\"YYYY\") %>":    "@header {today:YYYY}",
		"@header <% tp.date.now() %>":            "@header {today}",
		"@output file: {date}":                   "@output file: {today}",
		"@output file: Daily/yyyy-MM-dd":         "@output file: Daily/{today:YYYY-MM-DD}",
		"@header Plan of YYYY-MM-DD":             "@header Plan of {today:YYYY-MM-DD}",
		"@input file: {nope}":                    "@input file: {nope}",
	} {
		if got := mended(t, text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"@output file: a {today:2026}x {today:[x]}", "@header {now:hh:mm}", "@header {{title}}", "@header <% tp.file.title %>"} {
		if _, faults := read(text); len(faults) == 0 {
			t.Errorf("%q: nothing said", text)
		}
	}
}

// What moment understands, and what authors write on purpose, is left alone: every format of moment's own tests, too.
func TestDateFormats_ofMoment(t *testing.T) {
	t.Parallel()
	for _, format := range []string{
		"YYYY-MM-DD", "yyyy", "dddd, D MMMM", "dd DD.MM.", "ddd D", "[Week] WW", "GGGG-[W]WW", "HHmm", "YYYY-MM-DD HHmm", "YYYYMMDD-HHmmss", "h:mm a", "hh:mm A",
		"YYYY/MM/DD", "YYYY-DDDD", "Do MMMM", "MMMM YYYY", "D.M.", "mm", "HH:mm:ss.SSS", "X", "LL", "dddd", "d", "e", "E", "Q", "gggg-ww", "MM", "HH",
		"YYYY-MM/DD", "[yyyy-MM-dd] YYYY", "dddd[, the] Do [of] MMMM", "H.mm", "Hmm", "kk:mm", "MM-DD HH", "DD HH", "YYYY-MM-DD[T]HH:mm", "D MMM HH.mm",
	} {
		if better, whose := momentFormat(format); better != format || constant(format) || twelveHours(format) {
			t.Errorf("%q is taken for %q of %s", format, better, whose)
		}
	}
	for _, token := range moment.Tokens() {
		if better, _ := momentFormat(token); better != token {
			t.Errorf("the token %q is taken for %q", token, better)
		}
	}
}

func TestTemplateMarks_leavesOthersAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{{c1::answer}}", "{{book}}", "{{dates}}", "a < b % c", "{today}", "{{ date.now }}"} {
		if got := TemplateMarks(text); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}
