package prompt

import "strings"

// part is a piece of the step's prompt text, or an input that stands there.
type part struct {
	text  string
	input int // index into the inputs; -1 for text
}

// place puts the inputs with as=NAME where the prompt says {{NAME}}, and the others behind it, in order. A place that
// stands twice gets its input once and a word about it afterwards. lost are inputs whose place does not stand anywhere;
// they come behind the prompt too.
func place(prompt string, inputs []Input) (parts []part, lost []string) {
	placed := make([]bool, len(inputs))
	shown := map[string]bool{}
	rest := prompt
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			parts = append(parts, part{text: text.String(), input: -1})
			text.Reset()
		}
	}
	for {
		before, behind, ok := strings.Cut(rest, "{{")
		name, after, closed := strings.Cut(behind, "}}")
		if !ok || !closed {
			text.WriteString(rest)
			break
		}
		name = strings.TrimSpace(name)
		text.WriteString(before)
		rest = after
		switch here := named(inputs, name); {
		case len(here) == 0:
			text.WriteString("{{") // not ours; look again right behind it
			rest = behind
		case shown[name]:
			text.WriteString("(the input " + name + " above)")
		default:
			shown[name] = true
			flush()
			for _, i := range here {
				placed[i] = true
				parts = append(parts, part{input: i})
			}
		}
	}
	flush()
	for i, in := range inputs {
		if placed[i] {
			continue
		}
		if in.Directive.As != "" {
			lost = append(lost, in.Directive.As)
		}
		parts = append(parts, part{input: i})
	}
	return parts, lost
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
