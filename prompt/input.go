package prompt

import (
	"context"
	"slices"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
)

// inputWriter writes the step's text and its inputs into an outline, each input where the text wants it.
type inputWriter struct {
	out   *outline
	spec  Spec
	trust policy.Trust
	file  *fileWriter
}

// all lists the whole prompt.
func (w inputWriter) all(ctx context.Context) error {
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
	switch {
	case d.Target.Scheme == directives.SchemeVariable:
		return w.variable(in)
	case len(in.Names) == 0:
		w.out.missing(d.Target.String(), "no file was found")
	case d.RefsOnly:
		return w.references(in)
	default:
		for _, name := range in.Names {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := w.file.input(ctx, in, name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w inputWriter) variable(in Input) error {
	name := in.Directive.Target.Path
	switch {
	case in.Unset:
		w.out.missing(in.Directive.Target.String(), "the variable has no value")
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
