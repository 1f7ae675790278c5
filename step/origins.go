package step

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/origin"
)

// Sources reports which inputs and items are untrusted.
type Sources struct {
	ImportedDir string       // everything below it is foreign
	Book        *origin.Book // nil: nothing else is
	Vars        Vars
}

// Trust returns what the policy needs to know about the vault's content.
func (src Sources) Trust(ctx context.Context) policy.Trust {
	t := policy.Trust{ImportedDir: src.ImportedDir}
	if src.Book != nil {
		known := Origins{src.Book}
		t.Known = func(name string) (bool, []string) { return known.Known(ctx, name) }
		t.Named = func(name string) (bool, []string) { return known.Named(ctx, name) }
	}
	return t
}

// ofInputs returns the untrusted sources among a step's inputs, including routed ones: their variables and files are as untrusted as
// an answer.
func (src Sources) ofInputs(ctx context.Context, s Context, resolved []engine.ResolvedInput) []string {
	var reads []policy.Read
	for _, r := range resolved {
		trust := ""
		for _, in := range s.Step.Inputs {
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
	return src.Trust(ctx).Origins(reads)
}

// NameItems sets the untrusted sources of the items' names: strangers choose the names of files they sent, and the entries of lists
// made from their texts.
func (src Sources) NameItems(ctx context.Context, s *Context, vars []engine.Var) error {
	list, err := src.ofList(ctx, *s, vars)
	if err != nil {
		return err
	}
	s.NameFrom = list
	given := s.Step.ForEach != nil && s.Step.ForEach.Target.Scheme == directives.SchemeTrigger && s.Facts.ChosenFiles
	for _, it := range s.items {
		if !it.Value {
			s.Facts.FromGlob = !given
			read := policy.Read{Kind: s.nameKind(policy.ReadName), Name: it.Name, Trust: s.Step.ForEach.Input().Trust}
			s.NameFrom = policy.AddOrigins(s.NameFrom, src.Trust(ctx).Origins([]policy.Read{read})...)
		}
	}
	if given {
		s.NameFrom = policy.AddOrigins(s.NameFrom, s.chosen...)
	}
	s.Facts.Foreign = len(s.NameFrom) > 0
	if len(s.Facts.Files) == 1 && s.Step.NamesFile() {
		from := src.ofSubject(ctx, *s)
		s.Facts.ForeignFiles = len(from) > 0
		s.NameFrom = policy.AddOrigins(s.NameFrom, from...)
	}
	return nil
}

// setItems sets the untrusted sources of what a step reads of its items. It returns those among the files of the batch, whose names a
// stranger may have chosen.
func (src Sources) setItems(ctx context.Context, s *Context, vars []engine.Var) (files []string, err error) {
	if s.foreign, err = src.ofList(ctx, *s, vars); err != nil {
		return nil, err
	}
	if each := s.Step.ForEach; s.readsItems() && each.Target.Scheme != directives.SchemeVariable {
		var reads []policy.Read
		kind := s.nameKind(itemKind(each))
		for _, it := range s.items {
			reads = append(reads, policy.Read{Kind: kind, Name: it.Name, Trust: each.Input().Trust})
		}
		files = src.Trust(ctx).Origins(reads)
	}
	s.itemFrom = policy.AddOrigins(slices.Clone(s.foreign), files...)
	return files, nil
}

// ofList returns the untrusted sources of the list of an @for_each.
func (src Sources) ofList(ctx context.Context, s Context, vars []engine.Var) ([]string, error) {
	if !s.readsItems() || s.Step.ForEach.Target.Scheme != directives.SchemeVariable {
		return nil, nil
	}
	v, err := src.Vars.Find(ctx, s.Plan.Name, s.Step.ForEach.Target.Path, vars)
	return v.Origins, err
}

// itemKind returns what the step sees of its items: their content with `as=`, otherwise their names.
func itemKind(each *directives.ForEach) policy.ReadKind {
	if each.As != "" {
		return policy.ReadFile
	}
	return policy.ReadName
}

// Origins answers policy.Trust and prompt.Builder from a book. A failed lookup counts as foreign.
type Origins struct{ Book *origin.Book }

// Known reports whether a file is foreign, and returns its origins.
func (o Origins) Known(ctx context.Context, name string) (foreign bool, origins []string) {
	f, err := o.Book.Of(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return o.Named(ctx, name)
	}
	if err != nil {
		return true, []string{notLookedUp(err)}
	}
	return f.Foreign, f.Origins
}

// Named is Known for a name without its content.
func (o Origins) Named(ctx context.Context, name string) (foreign bool, origins []string) {
	f, err := o.Book.Named(ctx, name)
	if err != nil {
		return true, []string{notLookedUp(err)}
	}
	return f.Foreign, f.Origins
}

func notLookedUp(err error) string { return fmt.Sprintf("unknown: %v", err) }
