package directives

import (
	"cmp"
	"slices"

	"github.com/vaultflow/vaultflow/failure/diag"
)

// Set holds the directives of one step. Those that are absent have their zero value.
type Set struct {
	Inputs    []Input       `json:"inputs,omitempty"`
	Outputs   []Output      `json:"outputs,omitempty"`
	Header    string        `json:"header,omitempty"` // with patterns
	HeaderAt  diag.Position `json:"header_at,omitzero"`
	Model     *Model        `json:"model,omitempty"` // nil: the workflow's
	WriteMode WriteMode     `json:"write_mode"`
	RunOn     *RunOn        `json:"run_on,omitempty"` // nil: every day
	Tools     *Tools        `json:"tools,omitempty"`  // nil: only those that the step needs (read_chunks)
	ForEach   *ForEach      `json:"for_each,omitempty"`
	When      []When        `json:"when,omitempty"`
	Schema    *Schema       `json:"schema,omitempty"`
	Cache     *Cache        `json:"cache,omitempty"`
	Retry     *Retry        `json:"retry,omitempty"`
	Timeout   *Timeout      `json:"timeout,omitempty"`
	Budget    *Budget       `json:"budget,omitempty"` // in addition to the workflow's
	Approve   *Approve      `json:"approve,omitempty"`
	Cite      *Cite         `json:"cite,omitempty"`
	Move      *Move         `json:"move,omitempty"`
}

// Interpret turns directives into typed values. It reports faults: an input, output or condition with one is left out, other
// directives keep what is valid. [Parse] has already reported its own faulty directives.
func Interpret(list []Directive) (Set, []diag.Diagnostic) {
	var (
		set Set
		r   report
	)
	r.items = slices.ContainsFunc(list, func(d Directive) bool { return d.Name == "for_each" })
	count := map[string]int{}
	for _, d := range list {
		if row := byName[d.Name]; row != nil && !d.Faulty {
			row.read(&set, d, count[d.Name], &r)
		}
		count[d.Name]++
	}
	checkPlaces(set, &r)
	return set, r.list
}

// readInput adds an input, unless its value has a fault. The index counts faulty ones.
func (s *Set) readInput(d Directive, index int, r *report) {
	faults := len(r.list)
	in := readInput(d, r)
	in.Index = index
	if clean(r, faults) {
		s.Inputs = append(s.Inputs, in)
	}
}

// readOutput adds an output, unless its value has a fault.
func (s *Set) readOutput(d Directive, r *report) {
	faults := len(r.list)
	if out := readOutput(d, r); clean(r, faults) {
		s.Outputs = append(s.Outputs, out)
	}
}

// readWhen adds a condition, unless its value has a fault. The index counts faulty ones.
func (s *Set) readWhen(d Directive, index int, r *report) {
	faults := len(r.list)
	w := readWhen(d, r)
	w.Index = index
	if clean(r, faults) {
		s.When = append(s.When, w)
	}
}

// clean reports whether no error was added since the report had n entries.
func clean(r *report, n int) bool { return !diag.HasErrors(r.list[n:]) }

// checkPlaces reports places that are named twice, in the order of the lines.
func checkPlaces(set Set, r *report) {
	inputs := set.Inputs
	if set.ForEach != nil {
		inputs = append(slices.Clone(inputs), set.ForEach.Input())
		slices.SortStableFunc(inputs, func(a, b Input) int { return cmp.Compare(a.At.Line, b.At.Line) })
	}
	lines := map[string]int{}
	for _, in := range inputs {
		if before, twice := lines[in.As]; in.As != "" && twice {
			r.add(in.At, CodePlaceTwice, "", "as=%s is already used on line %d", in.As, before)
		}
		lines[in.As] = in.At.Line
	}
}

// readHeader reads the text before file output, with patterns.
func readHeader(d Directive, r *report) (text string, at diag.Position) {
	s := source{text: d.Text, at: d.TextAt}
	if inner, quoted := unquote(s); quoted {
		s = inner
	}
	checkPattern(s, modeText, r)
	return s.text, s.at
}
