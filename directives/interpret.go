package directives

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
