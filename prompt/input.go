package prompt

import (
	"context"
	"slices"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// inputWriter writes the step's text and its inputs into an outline, each input where the text wants it.
type inputWriter struct {
	out   *outline
	spec  Spec
	trust policy.Trust
	file  *fileWriter
}

// whole lists the whole prompt.
func (w inputWriter) whole(ctx context.Context) error {
	parts, lost := place(w.spec.Prompt, w.spec.Inputs)
	for _, name := range lost {
		w.out.warn(Warning{Message: "the prompt does not have {{" + name + "}}; the input follows it"})
	}
	for _, p := range parts {
		if p.input < 0 {
			w.out.items = append(w.out.items, item{role: roleText, words: p.text})
			continue
		}
		if err := w.input(ctx, w.spec.Inputs[p.input]); err != nil {
			return err
		}
	}
	return nil
}

// input lists the content of one @input.
func (w inputWriter) input(ctx context.Context, in Input) error {
	d := in.Directive
	w.out.begin(w.spec.File, d)
	switch {
	case d.Target.Scheme == directives.SchemeVariable:
		return w.variable(in)
	case len(in.Names) == 0:
		w.out.missing(d.Target.String(), omission.Of(omission.Missing), "no file was found")
	case d.RefsOnly:
		return w.references(in)
	default:
		return w.contents(ctx, in)
	}
	return nil
}

// contents lists the files of an input. Those that did not change share a line.
func (w inputWriter) contents(ctx context.Context, in Input) error {
	same := 0
	for _, name := range in.Names {
		if err := ctx.Err(); err != nil {
			return err
		}
		change, compared := in.Changes[name]
		switch {
		case compared && change.Fate == Unchanged:
			same++
			continue
		case compared && change.Fate == Changed:
			if err := w.changed(in, name, change); err != nil {
				return err
			}
			continue
		case compared:
			w.out.say("[shown: the whole of " + quoted(oneLine(name)) + "; " + change.Why + "]")
		}
		if err := w.file.input(ctx, in, name); err != nil {
			return err
		}
	}
	if same > 0 {
		w.out.say("[unchanged since the step last finished, and not shown: " + count(same, "file") + " of " + quoted(in.Directive.Target.Path) + "]")
	}
	return nil
}

// changed shows what changed in a file.
func (w inputWriter) changed(in Input, name string, change Change) error {
	w.out.inputs++
	f := frame{tag: tagInput, key: "path", name: name, untrusted: w.trust.Untrusted(in.reads(name)), origins: in.Origins}
	return w.out.within(f, nil, func() error {
		w.out.say("[shown: the changes of this file since the step last finished, as a unified diff]")
		w.out.cutText(in.Directive, decode([]byte(change.Diff)), Source{Note: name, Extracted: true})
		return nil
	})
}

func (w inputWriter) variable(in Input) error {
	name := in.Directive.Target.Path
	switch {
	case in.Unset:
		w.out.missing(in.Directive.Target.String(), omission.Of(omission.Unset), "the variable has no value")
		return nil
	case in.Directive.RefsOnly:
		w.out.inputs++
		return w.out.within(variableFrame(in), nil, func() error {
			w.out.add(item{role: roleWords, words: "[references only: a value of " + formatSize(int64(len(in.Text))) + "]"},
				Line{Kind: KindFile, Fate: policy.Reference, Reason: "refs_only", Source: Source{Variable: name}, Size: int64(len(in.Text))})
			return nil
		})
	}
	w.out.inputs++
	return w.out.within(variableFrame(in), nil, func() error {
		w.out.cutText(in.Directive, decode([]byte(in.Text)), Source{Variable: name})
		return nil
	})
}

func variableFrame(in Input) frame {
	name := in.Directive.Target.Path
	foreign := policy.Trust{}.Untrusted(policy.Read{Kind: policy.ReadVariable, Name: name, Trust: in.Directive.Trust, Origins: in.Origins})
	return frame{tag: tagInput, key: keyVariable, name: name, untrusted: foreign, origins: in.Origins}
}

// references lists the files of an input with refs_only.
func (w inputWriter) references(in Input) error {
	w.out.inputs++
	f := frame{tag: tagInput, key: "path", name: in.Directive.Target.Path}
	f.untrusted = slices.ContainsFunc(in.Names, func(name string) bool { return w.trust.Untrusted(in.reads(name)) })
	return w.out.within(f, nil, func() error {
		w.out.say("[references only: " + count(len(in.Names), "file") + "]")
		for _, name := range in.Names {
			if w.trust.Untrusted(in.reads(name)) {
				w.out.reads = append(w.out.reads, in.reads(name))
			}
			w.out.add(item{role: roleWords, words: "- " + oneLine(name)},
				Line{Kind: KindFile, Fate: policy.Reference, Reason: "refs_only", Source: Source{Note: name}, Name: name})
		}
		return nil
	})
}
