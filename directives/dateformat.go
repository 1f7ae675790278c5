package directives

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives/moment"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// checkFormat reports a date format that is written for another program, and whether it did.
func (s source) checkFormat(p piece, r *report) bool {
	format := p.format
	if format == "" {
		return false
	}
	at := s.pos(p.offset + 1 + len(p.name) + 1)
	switch better, known := momentFormat(format); {
	case better == format && constant(format):
		r.add(at, CodeForeignFormat, "write {"+p.name+":YYYY-MM-DD}", "%q in {%s} is the same on every day: it has no date token", clip(format), p.name)
	case better == format && twelveHours(format):
		r.add(at, CodeForeignFormat, "write HH for the hour, or add A", "%q in {%s} is the same in the morning and in the evening: hh counts to twelve", clip(format), p.name)
		return false
	case better == format:
		return false
	default:
		r.add(at, CodeForeignFormat, "write {"+p.name+":"+better+"}", "%q in {%s} is a format of %s, and has another meaning here", clip(format), p.name, known)
		r.mend(diag.Replace(at, utf8.RuneCountInString(format), better))
	}
	return true
}

// constant reports whether a format has no letter outside brackets, so that each date is the same.
func constant(format string) bool {
	return !slices.ContainsFunc(runs(format), func(r letters) bool { return r.letter != 0 })
}

// twelveHours reports whether a format has an hour from 1 to 12 without saying which half of the day.
func twelveHours(format string) bool {
	list := runs(format)
	has := func(set string) bool {
		return slices.ContainsFunc(list, func(r letters) bool { return r.letter != 0 && strings.IndexByte(set, r.letter) >= 0 })
	}
	return has("h") && !has("aAHkXxLl")
}

// momentFormat returns a format of strftime, Go, Java or a spreadsheet as one of moment, and whose it is. A format of moment is
// returned as it is, and so is one whose meaning is not certain.
func momentFormat(format string) (better, whose string) {
	switch {
	case strings.Contains(format, `\`):
		return format, ""
	case strftime.MatchString(format):
		return fromStrftime(format), "strftime"
	case strings.Contains(format, "2006"):
		return goLayout.Replace(format), "Go"
	case len(moment.StrayLetters(format)) > 0:
		return format, "" // words
	}
	return fromJava(format), "Java or a spreadsheet"
}

// strftime finds `%Y` and the like.
var strftime = regexp.MustCompile(`%-?[A-Za-z]`)

var strftimeTokens = map[string]string{
	"%Y": "YYYY", "%y": "YY", "%m": "MM", "%d": "DD", "%H": "HH", "%I": "hh", "%M": "mm", "%S": "ss", "%p": "A", "%A": "dddd", "%a": "ddd",
	"%B": "MMMM", "%b": "MMM", "%j": "DDDD", "%V": "WW", "%G": "GGGG", "%F": "YYYY-MM-DD", "%-d": "D", "%-m": "M", "%e": "D", "%R": "HH:mm", "%T": "HH:mm:ss",
}

func fromStrftime(format string) string {
	certain := true
	better := strftime.ReplaceAllStringFunc(format, func(token string) string {
		known, ok := strftimeTokens[token]
		certain = certain && ok
		return known
	})
	if !certain {
		return format
	}
	return better
}

// goLayout replaces the parts of a Go layout, the longer ones first.
var goLayout = strings.NewReplacer("2006", "YYYY", "January", "MMMM", "Jan", "MMM", "Monday", "dddd", "Mon", "ddd", "15", "HH", "01", "MM", "02", "DD",
	"03", "hh", "04", "mm", "05", "ss", "06", "YY", "PM", "A", "pm", "a", "2", "D", "1", "M")

// letters is a run of one letter in a format, or, with letter 0, other text.
type letters struct {
	letter byte
	text   string
}

// runs splits a format. Text in brackets is other text.
func runs(format string) []letters {
	var list []letters
	for i := 0; i < len(format); {
		end, letter := i+1, byte(0)
		switch c := format[i]; {
		case c == '[' && strings.IndexByte(format[i:], ']') > 0:
			end = i + strings.IndexByte(format[i:], ']') + 1
		case isLetter(rune(c)):
			letter = c
			for end < len(format) && format[end] == c {
				end++
			}
		}
		list = append(list, letters{letter, format[i:end]})
		i = end
	}
	return list
}

// fromJava corrects tokens that Java and spreadsheets write in the other case: dd for the day of the month, mm for the month,
// MM for minutes, EEEE for the name of the day. What surrounds a token shows what it is.
func fromJava(format string) string {
	list := runs(format)
	has := func(set string, least, most int) bool {
		return slices.ContainsFunc(list, func(r letters) bool {
			return r.letter != 0 && strings.IndexByte(set, r.letter) >= 0 && len(r.text) >= least && len(r.text) <= most
		})
	}
	year, hour, day, month := has("yY", 1, 4), has("Hhk", 1, 2), has("D", 1, 2), has("M", 1, 4)
	fixed := slices.Clone(list)
	for i, r := range list {
		before, glued := neighbour(list, i, -1)
		after, _ := neighbour(list, i, 1)
		n := len(r.text)
		ordinal := i+1 < len(list) && list[i+1].letter == 'o'
		switch r.letter {
		case 'd':
			if n <= 2 && !ordinal && !day && (year || month || has("m", 1, 4) && !hour) {
				fixed[i].text = strings.Repeat("D", n)
			}
		case 'm':
			inDate := strings.IndexByte("yYdD", before) >= 0 && (after == 0 || strings.IndexByte("yYdD", after) >= 0) || before == 0 && after != 0 && strings.IndexByte("yYdD", after) >= 0
			if n <= 2 && !month && (year || day) && (inDate || !hour) || n > 2 && n <= 4 && strings.IndexByte("Hhk", before) < 0 {
				fixed[i].text = strings.Repeat("M", n)
			}
		case 'M':
			if n == 2 && glued && strings.IndexByte("Hhk", before) >= 0 {
				fixed[i].text = "mm"
			}
		case 'E':
			if n > 2 {
				fixed[i].text = strings.Repeat("d", min(n, 4))
			}
		case 'D':
			if n == 3 && month || n == 4 && (month || day) {
				fixed[i].text = strings.Repeat("d", n)
			}
		}
	}
	if slices.Equal(fixed, list) {
		return format
	}
	var b strings.Builder
	for _, r := range fixed {
		if r.letter == 'y' {
			r.text = strings.ToUpper(r.text)
		}
		b.WriteString(r.text)
	}
	return b.String()
}

// neighbour returns the next letter in a direction, or 0; glued is true if at most a separator without blanks is between them.
func neighbour(list []letters, i, step int) (letter byte, glued bool) {
	between := ""
	for j := i + step; j >= 0 && j < len(list); j += step {
		if list[j].letter != 0 {
			return list[j].letter, len(between) <= 1 && between != " "
		}
		between += list[j].text
	}
	return 0, false
}

// Marks of templates that other programs replace.
var (
	braced    = regexp.MustCompile(`\{\{\s*([Dd]ate|[Tt]ime|[Tt]itle)\s*(?::([^{}]*))?\}\}`)
	templater = regexp.MustCompile(`<%[^%]*%>`)
	dateNow   = regexp.MustCompile(`^<%[-_+*]?\s*tp\.date\.now\(\s*(?:"([^"\\]*)"|'([^'\\]*)')?\s*\)\s*[-_]?%>$`)
	bareDate  = regexp.MustCompile(`(?i)\byyyy([-._ ]?)mm([-._ ]?)dd\b`)
)

// Mark is a mark of Obsidian's templates or of Templater, with the pattern that means the same here. Pattern is empty if there is none.
type Mark struct {
	Text, Pattern string
	Offset        int // in bytes
}

// TemplateMarks finds the marks in a text.
func TemplateMarks(text string) []Mark {
	var list []Mark
	for _, m := range braced.FindAllStringSubmatchIndex(text, -1) {
		mark := Mark{Text: text[m[0]:m[1]], Offset: m[0]}
		format := ""
		if m[4] >= 0 {
			format = text[m[4]:m[5]]
		}
		switch strings.ToLower(text[m[2]:m[3]]) {
		case "date":
			mark.Pattern = withFormat("today", format)
		case "time":
			if format == "" {
				format = "HHmm"
			}
			mark.Pattern = withFormat("now", format)
		}
		list = append(list, mark)
	}
	for _, m := range templater.FindAllStringIndex(text, -1) {
		mark := Mark{Text: text[m[0]:m[1]], Offset: m[0]}
		if now := dateNow.FindStringSubmatch(mark.Text); now != nil {
			mark.Pattern = withFormat("today", now[1]+now[2])
		}
		list = append(list, mark)
	}
	return list
}

func withFormat(name, format string) string {
	if format == "" {
		return "{" + name + "}"
	}
	return "{" + name + ":" + format + "}"
}

// checkMarks reports marks of templates and dates that nothing replaces.
func (s source) checkMarks(m mode, r *report) {
	for _, mark := range TemplateMarks(s.text) {
		if m != modeText && strings.HasPrefix(mark.Pattern, "{now:") {
			mark.Pattern = "{now:" + strings.ReplaceAll(mark.Pattern[5:], ":", "") // no file's name has a colon
		}
		suggestion := "write {trigger-title}, or {item-title} with @for_each"
		if mark.Pattern != "" {
			suggestion = "write " + mark.Pattern
		} else if strings.HasPrefix(mark.Text, "<%") {
			suggestion = "write a pattern such as {today}"
		}
		r.add(s.pos(mark.Offset), CodeTemplateMark, suggestion, "%s is a mark of a template and is not replaced here", clip(mark.Text))
		if mark.Pattern != "" {
			r.mend(diag.Replace(s.pos(mark.Offset), utf8.RuneCountInString(mark.Text), mark.Pattern))
		}
	}
	if m == modeGlob {
		return // a note such as Templates/YYYY-MM-DD may exist
	}
	for _, found := range bareDate.FindAllStringSubmatchIndex(s.text, -1) {
		if before := s.text[:found[0]]; strings.Count(before, "{") > strings.Count(before, "}") {
			continue // the format of a pattern
		}
		text := s.text[found[0]:found[1]]
		pattern := withFormat("today", "YYYY"+s.text[found[2]:found[3]]+"MM"+s.text[found[4]:found[5]]+"DD")
		r.add(s.pos(found[0]), CodeForeignFormat, "write "+pattern, "%s without braces is text, and not a date", text)
		r.mend(diag.Replace(s.pos(found[0]), utf8.RuneCountInString(text), pattern))
	}
}
