// Package moment formats dates with the tokens of moment, in English, and knows the date patterns of the language, such as
// {this-week}. It is pure: the caller supplies the time, with its zone.
package moment

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tokens holds the tokens of moment's date formats; of those that begin alike, the longest comes first.
var tokens = []struct {
	name   string
	format func(time.Time) string
}{
	{"YYYYYY", func(t time.Time) string { return fmt.Sprintf("%+07d", t.Year()) }},
	{"YYYYY", func(t time.Time) string { return fmt.Sprintf("%05d", t.Year()) }},
	{"YYYY", year},
	{"YY", func(t time.Time) string { return fmt.Sprintf("%02d", t.Year()%100) }},
	{"Y", year},
	{"NNNNN", era("AD")},
	{"NNNN", era("Anno Domini")},
	{"NNN", era("AD")},
	{"NN", era("AD")},
	{"N", era("AD")},
	{"yyyy", year},
	{"yyy", year},
	{"yy", year},
	{"yo", func(t time.Time) string { return ordinal(t.Year()) }},
	{"y", year},
	{"Qo", func(t time.Time) string { return ordinal(quarter(t)) }},
	{"Q", number(quarter)},
	{"MMMM", func(t time.Time) string { return t.Month().String() }},
	{"MMM", func(t time.Time) string { return t.Month().String()[:3] }},
	{"MM", two(month)},
	{"Mo", func(t time.Time) string { return ordinal(month(t)) }},
	{"M", number(month)},
	{"DDDD", func(t time.Time) string { return fmt.Sprintf("%03d", t.YearDay()) }},
	{"DDDo", func(t time.Time) string { return ordinal(t.YearDay()) }},
	{"DDD", number(time.Time.YearDay)},
	{"DD", two(time.Time.Day)},
	{"Do", func(t time.Time) string { return ordinal(t.Day()) }},
	{"D", number(time.Time.Day)},
	{"dddd", func(t time.Time) string { return t.Weekday().String() }},
	{"ddd", func(t time.Time) string { return t.Weekday().String()[:3] }},
	{"dd", func(t time.Time) string { return t.Weekday().String()[:2] }},
	{"do", func(t time.Time) string { return ordinal(weekday(t)) }},
	{"d", number(weekday)},
	{"e", number(weekday)},
	{"E", number(isoWeekday)},
	{"GGGGG", func(t time.Time) string { y, _ := t.ISOWeek(); return fmt.Sprintf("%05d", y) }},
	{"GGGG", func(t time.Time) string { y, _ := t.ISOWeek(); return fmt.Sprintf("%04d", y) }},
	{"GG", func(t time.Time) string { y, _ := t.ISOWeek(); return fmt.Sprintf("%02d", y%100) }},
	{"WW", two(isoWeek)},
	{"Wo", func(t time.Time) string { return ordinal(isoWeek(t)) }},
	{"W", number(isoWeek)},
	{"ggggg", func(t time.Time) string { y, _ := localWeek(t); return fmt.Sprintf("%05d", y) }},
	{"gggg", func(t time.Time) string { y, _ := localWeek(t); return fmt.Sprintf("%04d", y) }},
	{"gg", func(t time.Time) string { y, _ := localWeek(t); return fmt.Sprintf("%02d", y%100) }},
	{"ww", two(week)},
	{"wo", func(t time.Time) string { return ordinal(week(t)) }},
	{"w", number(week)},
	{"Hmmss", func(t time.Time) string { return number(time.Time.Hour)(t) + t.Format("0405") }},
	{"Hmm", func(t time.Time) string { return number(time.Time.Hour)(t) + t.Format("04") }},
	{"hmmss", func(t time.Time) string { return number(hour12)(t) + t.Format("0405") }},
	{"hmm", func(t time.Time) string { return number(hour12)(t) + t.Format("04") }},
	{"HH", two(time.Time.Hour)},
	{"H", number(time.Time.Hour)},
	{"hh", two(hour12)},
	{"h", number(hour12)},
	{"kk", two(hour24)},
	{"k", number(hour24)},
	{"mm", two(time.Time.Minute)},
	{"m", number(time.Time.Minute)},
	{"ss", two(time.Time.Second)},
	{"s", number(time.Time.Second)},
	{"SSSSSSSSS", fraction(9)},
	{"SSSSSSSS", fraction(8)},
	{"SSSSSSS", fraction(7)},
	{"SSSSSS", fraction(6)},
	{"SSSSS", fraction(5)},
	{"SSSS", fraction(4)},
	{"SSS", fraction(3)},
	{"SS", fraction(2)},
	{"S", fraction(1)},
	{"A", func(t time.Time) string { return t.Format("PM") }},
	{"a", func(t time.Time) string { return t.Format("pm") }},
	{"ZZ", func(t time.Time) string { return t.Format("-0700") }},
	{"Z", func(t time.Time) string { return t.Format("-07:00") }},
	{"X", func(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }},
	{"x", func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }},
}

// localFormats holds moment's formats of the English locale, by token.
var localFormats = map[string]string{
	"LTS": "h:mm:ss A", "LT": "h:mm A",
	"LLLL": "dddd, MMMM D, YYYY h:mm A", "LLL": "MMMM D, YYYY h:mm A", "LL": "MMMM D, YYYY", "L": "MM/DD/YYYY",
	"llll": "ddd, MMM D, YYYY h:mm A", "lll": "MMM D, YYYY h:mm A", "ll": "MMM D, YYYY", "l": "M/D/YYYY",
}

// Tokens lists the tokens of date formats; those of local formats come last.
func Tokens() []string {
	var list []string
	for _, t := range tokens {
		list = append(list, t.name)
	}
	return append(list, slices.Sorted(maps.Keys(localFormats))...)
}

// Format formats a time with moment's tokens in English: `YYYY-MM-DD`, `dddd`, `[Week] WW`. `[text]` is literal, `\` makes
// the token after it literal, and anything else stays as it is. The format is scanned once, the longest token first, so the
// names it inserts are never mistaken for tokens.
func Format(t time.Time, format string) string {
	var b strings.Builder
	for _, part := range scanFormat(expandLocal(format), false) {
		if part.format != nil {
			b.WriteString(part.format(t))
		} else {
			b.WriteString(part.text)
		}
	}
	return b.String()
}

// expandLocal replaces the tokens of local formats by their meaning before any other token is read, as moment does:
// `dllll` begins with the token `dddd`.
func expandLocal(format string) string {
	var b strings.Builder
	for i := 0; i < len(format); {
		n, local := 1, ""
		switch format[i] {
		case '[':
			if end := bracketEnd(format, i); end > 0 {
				n = end + 1 - i
			}
		case '\\':
			escaped, _ := localAt(format[i+1:])
			n += len(escaped)
		default:
			var token string
			if token, local = localAt(format[i:]); token != "" {
				n = len(token)
			}
		}
		if local == "" {
			local = format[i : i+n]
		}
		b.WriteString(local)
		i += n
	}
	return b.String()
}

// localAt returns the longest token of a local format at the beginning of s, and the format it abbreviates.
func localAt(s string) (token, format string) {
	for n := min(4, len(s)); n > 0; n-- {
		if local := localFormats[s[:n]]; local != "" {
			return s[:n], local
		}
	}
	return "", ""
}

// formatPart is literal text or a token.
type formatPart struct {
	text   string
	format func(time.Time) string
	local  bool // the token of a local format, which abbreviates several tokens
	stray  bool // a letter outside brackets that is not a token
}

// scanFormat cuts a format into parts. With local, the tokens of local formats are parts of their own; without it they
// have been expanded already, and whatever looks like one is literal.
func scanFormat(format string, local bool) []formatPart {
	var parts []formatPart
	for i := 0; i < len(format); {
		if format[i] == '[' {
			if end := bracketEnd(format, i); end > 0 {
				parts = append(parts, formatPart{text: format[i+1 : end]})
				i = end + 1
				continue
			}
		}
		escaped := format[i] == '\\'
		if escaped {
			i++
		}
		if i == len(format) || escaped && format[i] == '\\' {
			i++ // a backslash is never literal, as in moment
			continue
		}
		part := partAt(format[i:], local)
		i += len(part.text)
		if escaped {
			part = formatPart{text: part.text}
		}
		parts = append(parts, part)
	}
	return parts
}

// bracketEnd returns the offset of the last `]` before the next `[`, as in moment, where `[a] b]` is one literal text.
func bracketEnd(s string, open int) int {
	limit := strings.IndexByte(s[open+1:], '[')
	if limit < 0 {
		limit = len(s) - open - 1
	}
	if end := strings.LastIndexByte(s[open+1:open+1+limit], ']'); end >= 0 {
		return open + 1 + end
	}
	return -1
}

// partAt returns the longest token at the beginning of s, or its first byte.
func partAt(s string, local bool) formatPart {
	if token, _ := localAt(s); local && token != "" {
		return formatPart{text: token, local: true}
	}
	for _, token := range tokens {
		if strings.HasPrefix(s, token.name) {
			return formatPart{text: token.name, format: token.format}
		}
	}
	return formatPart{text: s[:1], stray: isLetter(s[0])}
}

// StrayLetters returns the words of a format that contain letters which are not tokens.
func StrayLetters(format string) []string {
	var words []string
	word, stray := "", false
	for _, p := range append(scanFormat(format, true), formatPart{}) {
		if p.stray || p.format != nil || p.local {
			word, stray = word+p.text, stray || p.stray
			continue
		}
		if stray {
			words = append(words, word)
		}
		word, stray = "", false
	}
	return words
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func number(f func(time.Time) int) func(time.Time) string {
	return func(t time.Time) string { return strconv.Itoa(f(t)) }
}

func two(f func(time.Time) int) func(time.Time) string {
	return func(t time.Time) string { return fmt.Sprintf("%02d", f(t)) }
}

// era always returns the same name: workflows run in one era only.
func era(name string) func(time.Time) string { return func(time.Time) string { return name } }

func fraction(digits int) func(time.Time) string {
	return func(t time.Time) string { return fmt.Sprintf("%09d", t.Nanosecond())[:digits] }
}

func year(t time.Time) string       { return strconv.Itoa(t.Year()) }
func month(t time.Time) int         { return int(t.Month()) }
func quarter(t time.Time) int       { return (month(t) + 2) / 3 }
func weekday(t time.Time) int       { return int(t.Weekday()) }
func isoWeekday(t time.Time) int    { return (weekday(t)+6)%7 + 1 }
func isoWeek(t time.Time) int       { _, w := t.ISOWeek(); return w }
func week(t time.Time) int          { _, w := localWeek(t); return w }
func hour12(t time.Time) int        { return (t.Hour()+11)%12 + 1 }
func hour24(t time.Time) int        { return (t.Hour()+23)%24 + 1 }
func daysOf(t time.Time) (days int) { return int(t.Unix() / 86400) }

// localWeek returns the week of the English locale: weeks start on Sunday, and the first one contains 1 January.
func localWeek(t time.Time) (year, week int) {
	y, m, d := t.Date()
	sunday := time.Date(y, m, d-weekday(t), 0, 0, 0, 0, time.UTC)
	year = sunday.AddDate(0, 0, 6).Year()
	first := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	first = first.AddDate(0, 0, -weekday(first))
	return year, (daysOf(sunday)-daysOf(first))/7 + 1
}

func ordinal(n int) string {
	suffix := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
