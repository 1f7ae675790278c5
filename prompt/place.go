package prompt

import "strings"

// part is a piece of the step's prompt text, or an input in it.
type part struct {
	text  string
	input int // index into the inputs; -1 for text
}

// placing divides a prompt text at its places.
type placing struct {
	inputs []Input
	placed []bool
	shown  map[string]bool // names whose place has been filled
	parts  []part
	text   strings.Builder
}

// place puts the inputs with as=NAME where the prompt says {{NAME}}, and the others behind it, in order. A place that
// stands twice gets its input once and a word about it afterwards. lost are inputs whose place does not stand anywhere;
// they come behind the prompt too.
func place(prompt string, inputs []Input) (parts []part, lost []string) {
	p := placing{inputs: inputs, placed: make([]bool, len(inputs)), shown: map[string]bool{}}
	for rest := prompt; rest != ""; {
		before, behind, ok := strings.Cut(rest, "{{")
		name, after, closed := strings.Cut(behind, "}}")
		if !ok || !closed {
			p.text.WriteString(rest)
			break
		}
		p.text.WriteString(before)
		rest = after
		if !p.fill(strings.TrimSpace(name)) {
			p.text.WriteString("{{") // not ours; look again right behind it
			rest = behind
		}
	}
	p.flush()
	for i, in := range inputs {
		if p.placed[i] {
			continue
		}
		if in.Directive.As != "" {
			lost = append(lost, in.Directive.As)
		}
		p.parts = append(p.parts, part{input: i})
	}
	return p.parts, lost
}

// fill puts the inputs of that name here; false when there are none.
func (p *placing) fill(name string) bool {
	here := named(p.inputs, name)
	switch {
	case len(here) == 0:
		return false
	case p.shown[name]:
		p.text.WriteString("(the input " + name + " above)")
		return true
	}
	p.shown[name] = true
	p.flush()
	for _, i := range here {
		p.placed[i] = true
		p.parts = append(p.parts, part{input: i})
	}
	return true
}

// flush ends a piece of text.
func (p *placing) flush() {
	if p.text.Len() > 0 {
		p.parts = append(p.parts, part{text: p.text.String(), input: -1})
		p.text.Reset()
	}
}

func named(inputs []Input, name string) []int {
	var list []int
	for i, in := range inputs {
		if name != "" && in.Directive.As == name {
			list = append(list, i)
		}
	}
	return list
}
