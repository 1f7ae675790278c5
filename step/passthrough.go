package step

import (
	"context"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/prompt"
)

// passage is a text that a step without a model passes on, with its place from `as=`.
type passage struct{ place, text string }

// passThrough is a step without a model: it writes what it read, below the step's own text or at the places that the text names. Text
// is empty if there is nothing but white space.
func (a *Assembler) passThrough(ctx context.Context, s Context, resolved []engine.ResolvedInput) (engine.AssembleOut, error) {
	passages, err := a.passages(ctx, s, resolved)
	if err != nil {
		return engine.AssembleOut{}, err
	}
	own, _, err := s.promptText(nil, nil)
	if err != nil {
		return engine.AssembleOut{}, err
	}
	text := placed(own, passages)
	if strings.TrimSpace(text) == "" {
		return engine.AssembleOut{}, nil
	}
	digest, err := a.stored.Blobs.Put(ctx, []byte(text))
	return engine.AssembleOut{Text: digest}, err
}

// passages returns the items of the batch and the inputs that are not routed, in order.
func (a *Assembler) passages(ctx context.Context, s Context, resolved []engine.ResolvedInput) ([]passage, error) {
	var list []passage
	items, err := s.itemInputs()
	if err != nil {
		return nil, err
	}
	for _, input := range items {
		text, err := a.itemText(s, input)
		if err != nil {
			return nil, err
		}
		list = append(list, passage{input.Directive.As, text})
	}
	for _, directive := range s.Step.Inputs {
		i := slices.IndexFunc(resolved, func(r engine.ResolvedInput) bool { return r.Directive == directive.Index })
		if i < 0 || directive.Route != nil && directive.Route.To != directives.RouteInline {
			continue
		}
		text, err := a.inputs.textOf(ctx, s, directive, resolved[i])
		if err != nil {
			return nil, err
		}
		list = append(list, passage{directive.As, text})
	}
	return list, nil
}

// itemText returns an item as text: a list's entry, or a file's content.
func (a *Assembler) itemText(s Context, input prompt.Input) (string, error) {
	switch part := s.part(); {
	case len(input.Names) == 0:
		return input.Text, nil
	case part != nil:
		return a.inputs.partText(input.Names[0], part.Part)
	}
	return a.inputs.fileText(input.Names[0])
}

// placed returns a text with passages at their places {{NAME}}, and the others after it. Places inside passages are ignored.
func placed(text string, passages []passage) string {
	at := map[string][]string{}
	for _, p := range passages {
		if p.place != "" {
			at[p.place] = append(at[p.place], p.text)
		}
	}
	used := map[string]bool{}
	var b strings.Builder
	for {
		before, behind, opened := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(behind, "}}")
		b.WriteString(before)
		if !opened {
			break
		}
		texts, known := at[strings.TrimSpace(name)]
		if !closed || !known {
			b.WriteString("{{")
			text = behind
			continue
		}
		b.WriteString(strings.Join(texts, "\n\n"))
		used[strings.TrimSpace(name)] = true
		text = after
	}
	var parts []string
	if b.Len() > 0 {
		parts = append(parts, b.String())
	}
	for _, p := range passages {
		if !used[p.place] {
			parts = append(parts, p.text)
		}
	}
	return strings.Join(parts, "\n\n")
}
