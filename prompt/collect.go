package prompt

import (
	"slices"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
)

// all lists the whole prompt.
func (c *collector) all() error {
	parts, lost := place(c.spec.Prompt, c.spec.Inputs)
	for _, name := range lost {
		c.warn(Warning{Message: "the prompt does not say {{" + name + "}}; the input stands behind it"})
	}
	for _, p := range parts {
		if p.input < 0 {
			c.items = append(c.items, item{role: roleText, words: p.text})
			continue
		}
		if err := c.input(c.spec.Inputs[p.input]); err != nil {
			return err
		}
	}
	return nil
}

// input lists what one @input gives.
func (c *collector) input(in Input) error {
	d := in.Directive
	switch {
	case d.Target.Scheme == directives.SchemeVariable:
		return c.variable(in)
	case len(in.Names) == 0:
		c.missing(d.Target.String(), "no file was found")
	case d.RefsOnly:
		return c.references(in)
	default:
		for _, name := range in.Names {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			if err := c.file(in, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// missing is an input that is not there.
func (c *collector) missing(target, why string) {
	c.inputs++
	c.add(item{role: roleWords, words: "[input missing: " + quoted(target) + ": " + why + "]"},
		Line{Kind: KindFile, Fate: policy.Missing, Reason: why, Target: target})
	c.warn(Warning{Target: target, Message: "input " + target + ": " + why})
}

func (c *collector) variable(in Input) error {
	name := in.Directive.Target.Path
	switch {
	case in.Unset:
		c.missing(in.Directive.Target.String(), "the variable has no value")
		return nil
	case in.Directive.RefsOnly:
		c.inputs++
		return c.within(variableFrame(in), nil, func() error {
			c.add(item{role: roleWords, words: "[references only: a value of " + formatSize(int64(len(in.Text))) + "]"},
				Line{Kind: KindFile, Fate: policy.Reference, Reason: "refs_only", Source: Source{Variable: name}, Size: int64(len(in.Text))})
			return nil
		})
	}
	c.inputs++
	return c.within(variableFrame(in), nil, func() error {
		c.cutText(in.Directive, decode([]byte(in.Text)), Source{Variable: name})
		return nil
	})
}

func variableFrame(in Input) frame {
	name := in.Directive.Target.Path
	foreign := policy.Trust{}.Untrusted(policy.Read{Kind: policy.ReadVariable, Name: name, Trust: in.Directive.Trust, Origins: in.Origins})
	return frame{tag: tagInput, key: keyVariable, name: name, untrusted: foreign, origins: in.Origins}
}

// references lists the files of an input with refs_only.
func (c *collector) references(in Input) error {
	c.inputs++
	f := frame{tag: tagInput, key: "path", name: in.Directive.Target.Path}
	f.untrusted = slices.ContainsFunc(in.Names, func(name string) bool { return c.untrusted(in, name) })
	return c.within(f, nil, func() error {
		c.say("[references only: " + count(len(in.Names), "file") + "]")
		for _, name := range in.Names {
			if c.untrusted(in, name) {
				c.reads = append(c.reads, in.reads(name))
			}
			c.add(item{role: roleWords, words: "- " + oneLine(name)},
				Line{Kind: KindFile, Fate: policy.Reference, Reason: "refs_only", Source: Source{Note: name}, Name: name})
		}
		return nil
	})
}

// cutText adds a text that is no note, or the part of it that the directive asks for.
func (c *collector) cutText(d directives.Input, t *decoded, src Source) {
	if len(t.text) == 0 {
		c.say("[empty]")
		return
	}
	s := selection(d, t.text)
	c.selects(src.Note, s)
	for _, p := range s.clip(chunking.Plain(t.text)) {
		c.text(p, t, src)
	}
}

// text adds a piece of text, or its receipt alone when the directive cut it.
func (c *collector) text(p piece, t *decoded, src Source) {
	l := Line{Kind: KindText, Fate: policy.Sent, Source: src, Text: p.chunk.Text, Tokens: policy.TextTokens(p.chunk.Text)}
	l.Source.Lines = [2]int{p.chunk.FirstLine, p.chunk.LastLine}
	l.Source.Bytes = [2]int{t.place(p.chunk.Start), t.place(p.chunk.End)}
	if p.cut != "" {
		l.Fate, l.Reason, l.Text, l.Tokens = policy.Omitted, p.cut, "", 0
		c.add(item{role: roleSilent}, l)
		return
	}
	c.add(item{role: roleText, words: p.chunk.Text, text: t, start: p.chunk.Start}, l)
}
