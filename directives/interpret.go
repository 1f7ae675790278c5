package directives

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Set is what the directives of one step say. Directives that were not given are nil.
type Set struct {
	Inputs    []Input    `json:"inputs,omitempty"`
	Outputs   []Output   `json:"outputs,omitempty"`
	Header    *Header    `json:"header,omitempty"`
	Model     *Model     `json:"model,omitempty"`
	WriteMode *WriteMode `json:"write_mode,omitempty"`
	RunOn     *RunOn     `json:"run_on,omitempty"`
}

// Interpret gives directives their types. A directive with a faulty value is reported and left out.
func Interpret(list []Directive) (Set, []Diagnostic) {
	var (
		set Set
		r   report
	)
	inputs := 0
	for _, d := range list {
		faults := len(r.list)
		switch d.Name {
		case "input":
			in := readInput(d, &r)
			in.Index = inputs
			inputs++
			if clean(&r, faults) {
				set.Inputs = append(set.Inputs, in)
			}
		case "output":
			if out := readOutput(d, &r); clean(&r, faults) {
				set.Outputs = append(set.Outputs, out)
			}
		case "header":
			set.Header = readHeader(d, &r)
		case "model":
			set.Model = readModel(d, &r)
		case "write_mode":
			set.WriteMode = readWriteMode(d, &r)
		case "run_on":
			set.RunOn = readRunOn(d, &r)
		}
	}
	checkPlaces(set.Inputs, &r)
	return set, r.list
}

// clean says whether no error was added since the report had n entries.
func clean(r *report, n int) bool { return !HasErrors(r.list[n:]) }

func checkPlaces(inputs []Input, r *report) {
	lines := map[string]int{}
	for _, in := range inputs {
		if before, twice := lines[in.As]; in.As != "" && twice {
			r.add(in.At, CodePlaceTwice, "", "as=%s is used by the input on line %d already", in.As, before)
		}
		lines[in.As] = in.At.Line
	}
}

// Header is the text that is put before file output, with patterns.
type Header struct {
	Text string   `json:"text"`
	At   Position `json:"at"`
}

func readHeader(d Directive, r *report) *Header {
	s := source{text: d.Text, at: d.TextAt}
	if inner, quoted := unquote(s); quoted {
		s = inner
	}
	checkPattern(s, modeText, r)
	return &Header{Text: s.text, At: s.at}
}

// RunOn limits the days on which a step runs. It concerns scheduled and watched runs only.
type RunOn struct {
	Daily bool           `json:"daily,omitempty"`
	Never bool           `json:"never,omitempty"` // wins over everything else
	Days  []time.Weekday `json:"days,omitempty"`
	At    Position       `json:"at"`
}

// Fires says whether the step runs on the day of a moment, in the moment's own time zone. A nil RunOn means every day.
func (o *RunOn) Fires(t time.Time) bool {
	if o == nil {
		return true
	}
	return !o.Never && (o.Daily || slices.Contains(o.Days, t.Weekday()))
}

// String lists the days for people.
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
			r.add(s.pos(span[0]), CodeDirectiveValue, didYouMean(word, dayWords(), ""),
				"%q is not a day; @run_on takes day names, daily or never", clip(word))
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

// fields gives the spans of the words of a text that commas and blanks divide.
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

// WriteMode says how an output is put into its file or variable.
type WriteMode struct {
	Mode    string   `json:"mode"`              // append, replace or new
	Heading string   `json:"heading,omitempty"` // for section
	At      Position `json:"at,omitzero"`
}

// Write modes.
const (
	ModeAppend  = "append"
	ModeReplace = "replace"
	ModeNew     = "new"
)

// OrAppend is the mode, and append for the zero value.
func (m WriteMode) OrAppend() string {
	if m.Mode == "" {
		return ModeAppend
	}
	return m.Mode
}

// later lists write modes of the language that this version does not carry out.
var later = []string{"frontmatter", "section"}

func readWriteMode(d Directive, r *report) *WriteMode {
	m := &WriteMode{Mode: strings.ToLower(d.Text), At: d.At}
	for _, p := range d.Params {
		m.Heading = p.Value
		if m.Mode != "section" {
			r.add(p.At, CodeParamElsewhere, "", "heading= belongs to @write_mode section")
		}
	}
	checkMode(m.Mode, d.TextAt, CodeDirectiveValue, "@write_mode", r)
	return m
}

func checkMode(mode string, at Position, code, owner string, r *report) {
	modes := []string{ModeAppend, ModeReplace, ModeNew}
	switch {
	case slices.Contains(later, mode):
		r.add(at, CodeNotAvailable, "use append, replace or new", "%s %s is not available in this version", owner, mode)
	case !slices.Contains(modes, mode):
		r.add(at, code, didYouMean(mode, append(modes, later...), ""), "%s is %s, not %q", owner, oneOf(modes), clip(mode))
	}
}

// String is the position-free form, for messages.
func (m WriteMode) String() string { return fmt.Sprintf("%s %s", m.OrAppend(), m.Heading) }
