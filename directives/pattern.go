package directives

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/directives/moment"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
)

// mode is what a pattern's text is for.
type mode int

const (
	modeText mode = iota // a heading: any text
	modePath             // one file: values are made valid names
	modeGlob             // files: globs are kept, values are escaped
)

// PatternError is a fault in a pattern. Offset counts bytes from the beginning of the pattern.
type PatternError struct {
	Offset     int
	Code       string
	Message    string
	Suggestion string
}

func (e *PatternError) Error() string { return e.Message }

var _ failure.Reporter = (*PatternError)(nil)

// Failure implements [failure.Reporter].
func (e *PatternError) Failure() failure.Error {
	return failure.Error{Hint: e.Suggestion}
}

// piece is a part of a scanned pattern: literal text, glob syntax, or a name in braces.
type piece struct {
	text   string // literal text or glob syntax
	glob   bool
	name   string // of a pattern in braces
	format string
	offset int
}

// Expand replaces the patterns in a text, such as a header. Literal braces are written `{{` and `}}`. It returns the first
// fault, as a [*PatternError].
func Expand(pattern string, f Facts) (string, error) { return expand(pattern, f, modeText) }

// ExpandPath is Expand for the path of one file: it replaces characters that no file name can contain in the values of {step},
// {item-name} and the like. It does not check the result; see [Output.Name].
func ExpandPath(pattern string, f Facts) (string, error) { return expand(pattern, f, modePath) }

// ExpandGlob is Expand for a path with globs, in doublestar's syntax: values are escaped, {latest} and {pending} become
// `*`, and braces with a comma are alternatives.
func ExpandGlob(pattern string, f Facts) (string, error) { return expand(pattern, f, modeGlob) }

func expand(pattern string, f Facts, m mode) (string, error) {
	pieces, faults := scan(pattern, m)
	if len(faults) > 0 {
		return "", faults[0]
	}
	var b strings.Builder
	root := false // the last piece was the folder of a file at the vault's root
	for _, p := range pieces {
		if root {
			p.text = strings.TrimPrefix(p.text, "/")
			root = false
		}
		switch {
		case p.glob:
			b.WriteString(p.text)
		case p.name == "":
			b.WriteString(literal(p.text, m))
		default:
			v, ok := f.value(p.name, p.format)
			if !ok {
				return "", f.lacks(p)
			}
			root = m != modeText && v == "" && isFolder(p.name) && b.Len() == 0
			if m != modeText && isPart(p.name) {
				v = plain(v)
			}
			b.WriteString(literal(v, m))
		}
	}
	return b.String(), nil
}

// isFolder reports whether a pattern is the folder of a file.
func isFolder(name string) bool { return name == "trigger-folder" || name == "item-folder" }

// isPart reports whether the value of a pattern is one part of a path, although it may contain anything.
func isPart(name string) bool {
	_, suffix, ok := ofFile(name)
	return name == "step" || ok && suffix != "" && suffix != "folder"
}

// literal escapes glob syntax in literal text of a glob.
func literal(s string, m mode) string {
	if m != modeGlob || !strings.ContainsAny(s, `*?[]{}\`) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune(`*?[]{}\`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// Patterns returns the formats of the patterns in a path, by name. A quoted path has none.
func (t Target) Patterns() map[string]string {
	found := map[string]string{}
	if t.Literal {
		return found
	}
	pieces, _ := scan(t.Path, modeGlob)
	for _, p := range pieces {
		if p.name != "" {
			found[p.name] = p.format
		}
	}
	return found
}

// Fleeting returns the patterns of a path, as written, that have another value in the run of the next day: {run} and most dates.
// A quoted path has none.
func (t Target) Fleeting() []string {
	if t.Literal {
		return nil
	}
	day := time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC) // the next day is in the same week and month
	now, next := Facts{Now: day, Run: "a"}, Facts{Now: day.Add(25*time.Hour + time.Minute + time.Second), Run: "b"}
	var list []string
	pieces, _ := scan(t.Path, modeGlob)
	for _, p := range pieces {
		before, _ := now.value(p.name, p.format)
		if after, _ := next.value(p.name, p.format); p.name != "" && before != after {
			list = append(list, strings.TrimSuffix("{"+p.name+":"+p.format, ":")+"}")
		}
	}
	return list
}

// scanner walks once through a pattern.
type scanner struct {
	text   string
	mode   mode
	depth  int // of open alternatives
	pieces []piece
	faults []*PatternError
}

func scan(pattern string, m mode) ([]piece, []*PatternError) {
	s := &scanner{text: pattern, mode: m}
	opened := 0
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; {
		case c == '{' && strings.HasPrefix(pattern[i+1:], "{"):
			s.pieces = append(s.pieces, piece{text: "{", offset: i})
			i += 2
		case c == '{':
			if s.depth == 0 {
				opened = i
			}
			i = s.open(i)
		case c == '}' && s.depth > 0:
			s.depth--
			s.glob(i, "}")
			i++
		case c == '}' && strings.HasPrefix(pattern[i+1:], "}"):
			s.pieces = append(s.pieces, piece{text: "}", offset: i})
			i += 2
		case c == '}':
			s.fault(i, CodeBraceOpen, "write }} for a literal brace", "this } closes nothing")
			i++
		default:
			n := strings.IndexAny(pattern[i:], "{}")
			if n < 0 {
				n = len(pattern) - i
			}
			s.pieces = append(s.pieces, piece{text: pattern[i : i+n], glob: m == modeGlob, offset: i})
			i += n
		}
	}
	if s.depth > 0 {
		s.fault(opened, CodeBraceOpen, "close it, or write {{ for a literal brace", "this { is not closed")
	}
	return s.pieces, s.faults
}

func (s *scanner) glob(offset int, text string) {
	s.pieces = append(s.pieces, piece{text: text, glob: true, offset: offset})
}

func (s *scanner) fault(offset int, code, suggestion, format string, args ...any) {
	s.faults = append(s.faults, &PatternError{offset, code, fmt.Sprintf(format, args...), suggestion})
}

// open reads what an opening brace starts, a pattern or alternatives, and returns the offset after it.
func (s *scanner) open(i int) int {
	end := patternEnd(s.text, i+1)
	if end < 0 {
		s.fault(i, CodeBraceOpen, "close it, or write {{ for a literal brace", "this { is not closed")
		return len(s.text)
	}
	inside := s.text[i+1 : end]
	name, format, formatted := strings.Cut(inside, ":")
	if s.mode == modeGlob && !slices.Contains(PatternNames(), name) && alternatives(s.text[i+1:]) {
		s.depth++
		s.glob(i, "{")
		return i + 1
	}
	p := piece{name: name, format: format, offset: i}
	if s.check(p, formatted) {
		if slices.Contains(selectors, name) {
			p = piece{text: "*", glob: true, name: name, format: format, offset: i}
		}
		s.pieces = append(s.pieces, p)
	}
	return end + 1
}

// patternEnd returns the offset of the brace that ends a pattern, ignoring any inside `[literal]`.
func patternEnd(s string, from int) int {
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '[':
			if end := strings.IndexByte(s[i:], ']'); end >= 0 {
				i += end
			}
		case '}':
			return i
		}
	}
	return -1
}

// alternatives reports whether there is a top-level comma before the closing brace.
func alternatives(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return false
			}
		case ',':
			if depth == 0 {
				return true
			}
		}
	}
	return false
}

func (s *scanner) check(p piece, formatted bool) bool {
	dated := isDate(p.name)
	isSelector := slices.Contains(selectors, p.name)
	switch {
	case isSelector && s.mode != modeGlob:
		s.fault(p.offset, CodePatternPlace, "use it in an @input", "{%s} selects files and has no meaning here", p.name)
	case isSelector:
		if _, err := selectorCount(p.format); formatted && err != nil {
			s.fault(p.offset, CodePatternFormat, "write {"+p.name+":3}", "{%s:%s} takes a whole number above zero", p.name, clip(p.format))
			return false
		}
		return true
	case dated && formatted && strings.Trim(p.format, "0123456789 ") == "":
		s.fault(p.offset, CodePatternFormat, "use a glob with limit=, or a format such as {"+p.name+":YYYY-MM-DD}", "{%s:%s} is not a date format", p.name, clip(p.format))
	case dated:
		return true
	case (slices.Contains(names, p.name) || ofAnswer(p.name) != "") && formatted:
		s.fault(p.offset, CodePatternFormat, "write {"+p.name+"}", "{%s} takes no format", p.name)
	case slices.Contains(names, p.name), ofAnswer(p.name) != "":
		return true
	default:
		s.fault(p.offset, CodeUnknownPattern, didYouMeanPattern(p.name), "unknown pattern {%s}", clip(p.name))
	}
	return false
}

// otherNames holds what other programs call our patterns.
var otherNames = map[string]string{
	"date": "today", "time": "now:HHmm", "datetime": "now", "timestamp": "now", "day": "day-name", "weekday": "day-name",
	"week": "this-week", "month": "this-month", "year": "today:YYYY", "file": "trigger", "filename": "trigger-name",
	"name": "item-name", "title": "trigger-title", "folder": "item-folder", "index": "batch",
}

func didYouMeanPattern(name string) string {
	if other := otherNames[strings.ToLower(strings.TrimSpace(name))]; other != "" {
		return "did you mean {" + other + "}? Literal braces are written {{ and }}"
	}
	if n := diag.Nearest(strings.ReplaceAll(strings.TrimSpace(name), "_", "-"), PatternNames()); n != "" {
		return "did you mean {" + n + "}? Literal braces are written {{ and }}"
	}
	return "known are {" + strings.Join(PatternNames(), "} {") + "}; literal braces are written {{ and }}"
}

// selectorCount parses the number of `{latest:3}`.
func selectorCount(format string) (int, error) {
	if format == "" {
		return 0, fmt.Errorf("no number")
	}
	n, err := strconv.Atoi(format)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a whole number above zero", format)
	}
	return n, nil
}

// mendPattern corrects the name after the brace at an offset.
func (s source) mendPattern(offset int, r *report) {
	rest := s.text[offset+1:]
	name := rest[:max(strings.IndexAny(rest, ":}"), 0)]
	if strings.EqualFold(strings.TrimSpace(name), "date") { // with a format of its own, too
		r.mend(diag.Replace(s.pos(offset+1), utf8.RuneCountInString(name), "today"))
		return
	}
	known := slices.Concat(DatePatterns(), names)
	if near, ok := diag.Certain(strings.ReplaceAll(strings.TrimSpace(name), "_", "-"), known); ok {
		r.mend(diag.Replace(s.pos(offset+1), utf8.RuneCountInString(name), near))
	}
}

// ofItems reports whether a pattern has a value only for items of an @for_each.
func ofItems(name string) bool { return ofItem(name) || name == "batch" }

// checkPattern reports the faults of a pattern at their positions, and returns its pieces if there are none.
func checkPattern(s source, m mode, r *report) ([]piece, bool) {
	s.checkMarks(m, r)
	pieces, faults := scan(s.text, m)
	for _, f := range faults {
		r.add(s.pos(f.Offset), f.Code, f.Suggestion, "%s", f.Message)
		if f.Code == CodeUnknownPattern {
			s.mendPattern(f.Offset, r)
		}
	}
	for _, p := range pieces {
		if ofItems(p.name) && !r.items {
			suggestion := "remove it, or add @for_each"
			if r.within {
				suggestion = "remove it"
			}
			r.add(s.pos(p.offset), CodePatternPlace, suggestion, "{%s} has no meaning here: it belongs in the other directives of a step with @for_each", p.name)
			faults = append(faults, nil)
		}
		if ofAnswer(p.name) != "" && !r.answers {
			r.add(s.pos(p.offset), CodePatternPlace, "use it in @output file: or behind to: of @move", "{%s} has no meaning here: there is no answer yet", p.name)
			faults = append(faults, nil)
		}
		if isDate(p.name) && !s.checkFormat(p, r) {
			for _, run := range moment.StrayLetters(p.format) {
				r.add(s.pos(p.offset), CodeFormatLetters, "write ["+run+"] for literal text", "%q in the format of {%s} has letters that are not date tokens", run, p.name)
			}
		}
	}
	return pieces, len(faults) == 0
}
