package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/chunking"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy"
)

// all lists the whole prompt.
func (c *collector) all() error {
	c.pictures = map[string]probed{}
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
		c.variable(in)
	case len(in.Names) == 0:
		c.missing(d.Target.String(), "no file was found")
	case d.RefsOnly:
		c.references(in)
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

func (c *collector) variable(in Input) {
	name := in.Directive.Target.Path
	if in.Unset {
		c.missing(in.Directive.Target.String(), "the variable has no value")
		return
	}
	c.frame(frame{tag: "input", key: "variable", name: name, untrusted: in.Directive.Trust == "untrusted"}, func() {
		c.cutText(in.Directive, []byte(in.Text), Source{Variable: name})
	})
}

// frame adds the tags of an input around what the function adds.
func (c *collector) frame(f frame, inside func()) {
	c.inputs++
	c.items = append(c.items, item{role: roleOpen, frame: f, input: c.inputs})
	inside()
	c.items = append(c.items, item{role: roleRefs, input: c.inputs}, item{role: roleClose, frame: f, input: c.inputs})
}

// references lists the files of an input with refs_only.
func (c *collector) references(in Input) {
	f := frame{tag: "input", key: "path", name: in.Directive.Target.Path}
	c.frame(f, func() {
		c.say("[references only: " + count(len(in.Names), "file") + "]")
		for _, name := range in.Names {
			c.add(item{role: roleWords, words: "- " + oneLine(name)},
				Line{Kind: KindFile, Fate: policy.Reference, Reason: "refs_only", Source: Source{Note: name}, Name: name})
		}
	})
}

// file shows one file as what its bytes are.
func (c *collector) file(in Input, name string) error {
	data, size, err := c.builder.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.missing(name, "the file is not there any more")
		return nil
	case err != nil:
		return fmt.Errorf("read input %q: %w", name, err)
	}
	is := recognise(name, data)
	if is.warning != "" {
		c.warn(Warning{Note: name, Message: is.warning})
	}
	f := frame{tag: "input", key: "path", name: name, untrusted: c.untrusted(in, name)}
	var failed error
	c.frame(f, func() {
		switch {
		case is.kind == kindImage:
			failed = c.picture(in, name)
		case is.kind == kindOpaque || size > int64(len(data)):
			c.opaque(name, is, size, int64(len(data)))
		case is.kind == kindMarkdown:
			n := note{input: in, name: name, data: data, untrusted: f.untrusted}
			failed = c.note(n)
		default:
			c.cutText(in.Directive, data, Source{Note: name})
		}
	})
	return failed
}

// untrusted tells whether what stands in the file is data from outside.
func (c *collector) untrusted(in Input, name string) bool {
	switch in.Directive.Trust {
	case "trusted":
		return false
	case "untrusted":
		return true
	}
	return c.builder.imported(name)
}

// imported tells whether a file came from outside the vault.
func (b Builder) imported(name string) bool {
	dir := strings.Trim(b.ImportedDir, "/")
	if dir == "" {
		dir = "Imported"
	}
	return strings.HasPrefix(strings.ToLower(name), strings.ToLower(dir)+"/")
}

// opaque is a file that this version does not show: one line about it.
func (c *collector) opaque(name string, is recognised, size, read int64) {
	reason := "this version does not read " + is.media
	if is.kind != kindOpaque && size > read {
		reason = "larger than " + formatSize(read)
	}
	l := Line{Kind: KindFile, Fate: policy.Reference, Reason: reason, Source: Source{Note: name}, Name: name, MediaType: is.media, Size: size}
	c.add(item{role: roleWords, words: "[file: " + quoted(name) + ", " + is.media + ", " + formatSize(size) + "; not shown: " + reason + "]"}, l)
}

// cutText adds a text that is no note, or the part of it that the directive asks for.
func (c *collector) cutText(d directives.Input, data []byte, src Source) {
	if len(data) == 0 {
		c.say("[empty]")
		return
	}
	s := selection(d, data)
	if s.words != "" {
		c.say(s.words)
	}
	for _, p := range s.clip(chunking.Plain(data)) {
		c.text(p, src)
	}
}

// text adds a piece of text, or its receipt alone when the directive cut it.
func (c *collector) text(p piece, src Source) {
	l := Line{Kind: KindText, Fate: policy.Sent, Source: src, Text: p.chunk.Text, Tokens: policy.TextTokens(p.chunk.Text)}
	l.Source.Lines = [2]int{p.chunk.FirstLine, p.chunk.LastLine}
	l.Source.Bytes = [2]int{p.chunk.Start, p.chunk.End}
	if p.cut != "" {
		l.Fate, l.Reason, l.Text, l.Tokens = policy.Omitted, p.cut, "", 0
		c.add(item{role: roleSilent}, l)
		return
	}
	c.add(item{role: roleText, words: p.chunk.Text}, l)
}
