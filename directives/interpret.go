package directives

import (
	"cmp"
	"slices"
)

// Set is what the directives of one step say. Directives that were not given are nil.
type Set struct {
	Inputs    []Input    `json:"inputs,omitempty"`
	Outputs   []Output   `json:"outputs,omitempty"`
	Header    *Header    `json:"header,omitempty"`
	Model     *Model     `json:"model,omitempty"`
	WriteMode *WriteMode `json:"write_mode,omitempty"`
	RunOn     *RunOn     `json:"run_on,omitempty"`
	Tools     *Tools     `json:"tools,omitempty"`
	ForEach   *ForEach   `json:"for_each,omitempty"`
	When      []When     `json:"when,omitempty"`
	Schema    *Schema    `json:"schema,omitempty"`
	Cache     *Cache     `json:"cache,omitempty"`
	Retry     *Retry     `json:"retry,omitempty"`
	Timeout   *Timeout   `json:"timeout,omitempty"`
	Budget    *Budget    `json:"budget,omitempty"`
	Approve   *Approve   `json:"approve,omitempty"`
}

// Interpret gives directives their types. An input, output or condition with a faulty value is reported and left out;
// of other directives with a fault the rest is kept. Faulty directives of [Parse] have been reported by it.
func Interpret(list []Directive) (Set, []Diagnostic) {
	var (
		set Set
		r   report
	)
	r.items = slices.ContainsFunc(list, func(d Directive) bool { return d.Name == "for_each" })
	inputs, conditions := 0, 0
	for _, d := range list {
		faults := len(r.list)
		switch {
		case d.Faulty:
		case d.Name == "input":
			in := readInput(d, &r)
			in.Index = inputs
			if clean(&r, faults) {
				set.Inputs = append(set.Inputs, in)
			}
		case d.Name == "output":
			if out := readOutput(d, &r); clean(&r, faults) {
				set.Outputs = append(set.Outputs, out)
			}
		case d.Name == "when":
			w := readWhen(d, &r)
			w.Index = conditions
			if clean(&r, faults) {
				set.When = append(set.When, w)
			}
		default:
			set.read(d, &r)
		}
		switch d.Name {
		case "input":
			inputs++
		case "when":
			conditions++
		}
	}
	checkPlaces(set, &r)
	return set, r.list
}

// read reads a directive that stands once in a step; the lines of @tools add up.
func (set *Set) read(d Directive, r *report) {
	switch d.Name {
	case "header":
		set.Header = readHeader(d, r)
	case "model":
		set.Model = readModel(d, r)
	case "write_mode":
		set.WriteMode = readWriteMode(d, r)
	case "run_on":
		set.RunOn = readRunOn(d, r)
	case "tools":
		set.Tools = readTools(d, set.Tools, r)
	case "for_each":
		set.ForEach = readForEach(d, r)
	case "schema":
		set.Schema = readSchema(d, r)
	case "cache":
		set.Cache = readCache(d, r)
	case "retry":
		set.Retry = readRetry(d, r)
	case "timeout":
		set.Timeout = readTimeout(d, r)
	case "budget":
		set.Budget = readBudget(d, r)
	case "approve":
		set.Approve = readApprove(d, r)
	}
}

// clean says whether no error was added since the report had n entries.
func clean(r *report, n int) bool { return !HasErrors(r.list[n:]) }

// checkPlaces reports names of places that are given twice, in the order of the lines.
func checkPlaces(set Set, r *report) {
	inputs := set.Inputs
	if set.ForEach != nil {
		inputs = append(slices.Clone(inputs), set.ForEach.Input())
		slices.SortStableFunc(inputs, func(a, b Input) int { return cmp.Compare(a.At.Line, b.At.Line) })
	}
	lines := map[string]int{}
	for _, in := range inputs {
		if before, twice := lines[in.As]; in.As != "" && twice {
			r.add(in.At, CodePlaceTwice, "", "as=%s is used on line %d already", in.As, before)
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
