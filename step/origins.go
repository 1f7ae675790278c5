package step

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
)

// trust tells what is data from outside.
func (w *Workflow) trust(ctx context.Context) policy.Trust {
	t := policy.Trust{ImportedDir: w.ImportedDir}
	if w.Origin != nil {
		known := Origins{w.Origin}
		t.Known = func(name string) (bool, []string) { return known.Known(ctx, name) }
		t.Named = func(name string) (bool, []string) { return known.Named(ctx, name) }
	}
	return t
}

// inputOrigins are the untrusted things among a step's inputs, those that are routed elsewhere too: their variables and
// files are as untrusted as an answer.
func (w *Workflow) inputOrigins(ctx context.Context, s scene, resolved []engine.ResolvedInput) []string {
	var reads []policy.Read
	for _, r := range resolved {
		trust := ""
		for _, in := range s.step.Inputs {
			if in.Index == r.Directive {
				trust = in.Trust
			}
		}
		if r.Variable != "" {
			reads = append(reads, policy.Read{Kind: policy.ReadVariable, Name: r.Variable, Trust: trust, Origins: r.Origins})
		}
		for _, f := range r.Files {
			reads = append(reads, policy.Read{Kind: policy.ReadFile, Name: f.Name, Trust: trust, Origins: r.Origins})
		}
	}
	return w.trust(ctx).Origins(reads)
}

// nameItems finds out whether somebody else chose what the items are called: strangers choose the entries of lists that were
// made from what they wrote, and the names of files that they sent.
func (w *Workflow) nameItems(ctx context.Context, s *scene, vars []engine.Var) error {
	list, _, err := w.itemOrigins(ctx, *s, vars)
	if err != nil {
		return err
	}
	s.nameFrom = list
	for _, it := range s.items {
		if !it.Value {
			s.facts.FromGlob = true
			read := policy.Read{Kind: policy.ReadName, Name: it.Name, Trust: s.step.ForEach.Input().Trust}
			s.nameFrom = policy.AddOrigins(s.nameFrom, w.trust(ctx).Origins([]policy.Read{read})...)
		}
	}
	s.facts.Foreign = len(s.nameFrom) > 0
	return nil
}

// itemOrigins are the untrusted things that the list of an @for_each was made from, and among the files of the batch: their
// names may have been chosen by somebody else. A step that does not speak of its item has none.
func (w *Workflow) itemOrigins(ctx context.Context, s scene, vars []engine.Var) (list, files []string, err error) {
	each := s.step.ForEach
	if each == nil || each.As == "" && !s.usesItem() {
		return nil, nil, nil
	}
	if each.Target.Scheme != directives.SchemeVariable {
		var reads []policy.Read
		for _, it := range s.items {
			reads = append(reads, policy.Read{Kind: itemKind(each), Name: it.Name, Trust: each.Input().Trust})
		}
		return nil, w.trust(ctx).Origins(reads), nil
	}
	for _, scope := range []string{"run", "workflow"} {
		v, err := w.variable(ctx, s.plan.Name, each.Target.Path, scope, vars)
		if err != nil || v.Digest != "" {
			return v.Origins, nil, err
		}
	}
	return nil, nil, nil
}

// usesItem reports whether the step speaks of its item: in its text, in the name of an input or output, or in its header.
func (s scene) usesItem() bool {
	data, err := json.Marshal(s.step)
	return err != nil || bytes.Contains(data, []byte("{item"))
}

// itemKind is what the step is shown of its items: their content with `as=`, their names otherwise.
func itemKind(each *directives.ForEach) policy.ReadKind {
	if each.As != "" {
		return policy.ReadFile
	}
	return policy.ReadName
}

// advice says what a person writes to let a step do what was refused after it was shown these things: for the tool, for the
// input that brought in the first file of them, or for that file everywhere.
func (b *toolbox) advice(tool string) string {
	text := "A person who wants this writes @tools " + tool + " (untrusted=allow)"
	name := ""
	for _, o := range b.in.Origins {
		if file, is := strings.CutPrefix(o, string(policy.ReadFile)+" "); is {
			name = file
			break
		}
	}
	if name == "" {
		return text
	}
	for _, in := range b.s.step.Inputs {
		found, _, err := b.w.resolveInput(b.ctx, b.s, in, nil)
		if err == nil && slices.ContainsFunc(found.Files, func(f engine.ResolvedFile) bool { return f.Name == name }) {
			text += ", or trust=trusted on the line @input " + in.Target.String()
			break
		}
	}
	return text + `, or runs: vaultflow trust "` + name + `"`
}
