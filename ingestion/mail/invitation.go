package mail

import (
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// property is a line of a calendar (RFC 5545).
type property struct {
	name, value string
	params      map[string]string
}

// calendarLabels are the properties of an entry that a note shows, in its order there.
var calendarLabels = []struct{ name, label string }{
	{"DTSTART", "Begins"},
	{"DTEND", "Ends"},
	{"DUE", "Due"},
	{"DURATION", "Lasts"},
	{"RRULE", "Repeats"},
	{"RDATE", "Also on"},
	{"EXDATE", "Not on"},
	{"RECURRENCE-ID", "Instead of"},
	{"LOCATION", "Place"},
	{"ORGANIZER", "Organiser"},
	{"ATTENDEE", "With"},
	{"STATUS", "Status"},
	{"URL", "Link"},
}

// Invitation returns the entries of a calendar as Markdown: title, times with their zones, place, people and description. What is no
// calendar stays as it is.
func Invitation(text string) string {
	var entries []string
	var entry []property
	var open []string
	for _, p := range properties(text) {
		inner := ""
		if len(open) > 0 {
			inner = open[len(open)-1]
		}
		switch {
		case p.name == "BEGIN":
			open = append(open, strings.ToUpper(p.value))
		case p.name == "END" && inner != "":
			if isEntry(inner) {
				entries = append(entries, entryText(entry))
				entry = nil
			}
			open = open[:len(open)-1]
		case p.name == "METHOD" && strings.EqualFold(p.value, "CANCEL"):
			entries = append(entries, "This is cancelled:")
		case isEntry(inner):
			entry = append(entry, p)
		}
	}
	if len(entry) > 0 { // it is cut off
		entries = append(entries, entryText(entry))
	}
	if len(entries) == 0 {
		return Lines(text)
	}
	return strings.Join(entries, "\n\n")
}

func isEntry(component string) bool {
	return component == "VEVENT" || component == "VTODO" || component == "VJOURNAL"
}

// entryText returns an entry as a title, a list and a description.
func entryText(entry []property) string {
	var title, list, words []string
	for _, p := range entry {
		switch p.name {
		case "SUMMARY":
			title = append(title, "**"+markdown.Inline(markdown.Plain(plainValue(p.value)))+"**")
		case "DESCRIPTION", "COMMENT":
			if v := plainValue(p.value); strings.TrimSpace(v) != "" {
				words = append(words, Lines(v))
			}
		}
	}
	for _, l := range calendarLabels {
		for _, p := range entry {
			if p.name == l.name {
				if v := shownValue(p); v != "" {
					list = append(list, "- "+l.label+": "+markdown.Inline(v))
				}
			}
		}
	}
	blocks := title
	if len(list) > 0 {
		blocks = append(blocks, strings.Join(list, "\n"))
	}
	return strings.Join(append(blocks, words...), "\n\n")
}

// shownValue returns what a reader sees of a property.
func shownValue(p property) string {
	switch p.name {
	case "DTSTART", "DTEND", "DUE", "RDATE", "EXDATE", "RECURRENCE-ID":
		var times []string
		for v := range strings.SplitSeq(p.value, ",") {
			times = append(times, calendarTime(v, p.params["TZID"]))
		}
		return strings.Join(times, ", ")
	case "ORGANIZER", "ATTENDEE":
		who := p.value
		if len(who) > 7 && strings.EqualFold(who[:7], "mailto:") {
			who = who[7:]
		}
		if name := p.params["CN"]; name != "" && name != who {
			who = name + " (" + who + ")"
		}
		if answer := strings.ToLower(p.params["PARTSTAT"]); answer != "" && answer != "needs-action" {
			who += ", " + answer
		}
		return who
	case "STATUS", "RRULE", "DURATION":
		return p.value
	}
	return plainValue(p.value)
}

// calendarTime returns a time of a calendar as people write it, with its zone. One without is that of whoever reads it.
func calendarTime(value, zone string) string {
	value = strings.TrimSpace(value)
	if t, err := time.Parse("20060102", value); err == nil {
		return t.Format("2006-01-02")
	}
	if t, err := time.Parse("20060102T150405Z", value); err == nil {
		return t.Format("2006-01-02 15:04 UTC")
	}
	t, err := time.Parse("20060102T150405", value)
	switch {
	case err != nil:
		return strings.TrimSpace(value + " " + zone)
	case zone != "":
		return t.Format("2006-01-02 15:04") + " (" + zone + ")"
	}
	return t.Format("2006-01-02 15:04")
}

// plainValue undoes what protects characters in a text of a calendar.
func plainValue(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`).Replace(s)
}

// properties returns the lines of a calendar, with what they continue on the next ones.
func properties(text string) (list []property) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.NewReplacer("\n ", "", "\n\t", "").Replace(text)
	for line := range strings.SplitSeq(text, "\n") {
		fields, value, found := calendarFields(line)
		if !found {
			continue
		}
		p := property{name: strings.ToUpper(strings.TrimSpace(fields[0])), value: strings.TrimRight(value, "\r"), params: map[string]string{}}
		for _, f := range fields[1:] {
			key, v, _ := strings.Cut(f, "=")
			p.params[strings.ToUpper(key)] = strings.Trim(v, `"`)
		}
		list = append(list, p)
	}
	return list
}

// calendarFields cuts a line at the signs that are not in quotes.
func calendarFields(line string) (fields []string, value string, found bool) {
	quoted, from := false, 0
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ';':
			fields = append(fields, line[from:i])
			from = i + 1
		case c == ':':
			return append(fields, line[from:i]), line[i+1:], true
		}
	}
	return nil, "", false
}
