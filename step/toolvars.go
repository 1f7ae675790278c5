package step

import (
	"context"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
)

// boxVars are the run's variables as the tools of one turn see and set them. It implements tools.Variables.
type boxVars struct {
	w        *Workflow
	workflow string
	vars     []engine.Var
	set      []engine.StagedVar
	origins  []string // untrusted things that the variables were made from whose values were given
}

// Names implements tools.Variables.
func (v *boxVars) Names() []string {
	var names []string
	for _, one := range v.vars {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

// Value implements tools.Variables: a variable of the run, or one that is kept between runs.
func (v *boxVars) Value(ctx context.Context, name string) (string, bool, error) {
	for _, scope := range []string{"run", "workflow"} {
		one, err := v.w.variable(ctx, v.workflow, name, scope, v.vars)
		if err != nil {
			return "", false, err
		}
		if one.Digest != "" {
			v.origins = policy.AddOrigins(v.origins, one.Origins...)
			data, err := v.w.Blobs.Get(ctx, one.Digest)
			return string(data), err == nil, err
		}
	}
	return "", false, nil
}

// put gives a variable of the run, or one that is kept between runs, a text.
func (v *boxVars) put(ctx context.Context, name, text string, shared bool) error {
	digest, err := v.w.Blobs.Put(ctx, []byte(text))
	if err != nil {
		return err
	}
	v.set = slices.DeleteFunc(v.set, func(s engine.StagedVar) bool { return s.Name == name && s.Shared == shared })
	v.set = append(v.set, engine.StagedVar{Name: name, Digest: digest, Shared: shared, Target: "tool"})
	if !shared {
		v.vars = slices.DeleteFunc(v.vars, func(o engine.Var) bool { return o.Name == name })
		v.vars = append(v.vars, engine.Var{Name: name, Digest: digest})
	}
	return nil
}

// scoped is the text of a variable of one scope; empty when it is not set.
func (v *boxVars) scoped(ctx context.Context, name, scope string) (string, error) {
	for _, s := range v.set {
		if s.Name == name && s.Shared == (scope == "workflow") {
			data, err := v.w.Blobs.Get(ctx, s.Digest)
			return string(data), err
		}
	}
	one, err := v.w.variable(ctx, v.workflow, name, scope, v.vars)
	if err != nil || one.Digest == "" {
		return "", err
	}
	data, err := v.w.Blobs.Get(ctx, one.Digest)
	return string(data), err
}

// free is the first name tool_1, tool_2, … that no variable has.
func (v *boxVars) free() string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("tool_%d", n)
		if !slices.ContainsFunc(v.vars, func(o engine.Var) bool { return o.Name == name }) {
			return name
		}
	}
}
