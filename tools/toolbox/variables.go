package toolbox

import (
	"context"
	"fmt"
	"slices"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools"
)

// variables are the run's variables during one turn.
type variables struct {
	stored   step.Vars
	workflow string
	vars     []engine.Var
	set      []engine.StagedVar
	origins  []string // untrusted sources of the variables that were read
}

var _ tools.Variables = (*variables)(nil)

// Names implements tools.Variables.
func (v *variables) Names() []string {
	var names []string
	for _, one := range v.vars {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

// Value implements tools.Variables: a variable of the run, or one kept between runs.
func (v *variables) Value(ctx context.Context, name string) (string, bool, error) {
	one, err := v.stored.Find(ctx, v.workflow, name, v.vars)
	if err != nil || one.Digest == "" {
		return "", false, err
	}
	v.origins = policy.AddOrigins(v.origins, one.Origins...)
	data, err := v.stored.Blobs.Get(ctx, one.Digest)
	return string(data), err == nil, err
}

// put sets a variable of the run, or with shared one kept between runs.
func (v *variables) put(ctx context.Context, name, text string, shared bool) error {
	digest, err := v.stored.Blobs.Put(ctx, []byte(text))
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

// scoped returns the text of a variable of one scope, "" if not set.
func (v *variables) scoped(ctx context.Context, name, scope string) (string, error) {
	for _, s := range v.set {
		if s.Name == name && s.Shared == (scope == "workflow") {
			data, err := v.stored.Blobs.Get(ctx, s.Digest)
			return string(data), err
		}
	}
	one, err := v.stored.Get(ctx, v.workflow, name, scope, v.vars)
	if err != nil || one.Digest == "" {
		return "", err
	}
	data, err := v.stored.Blobs.Get(ctx, one.Digest)
	return string(data), err
}

// free returns the first of tool_1, tool_2, … that no variable uses.
func (v *variables) free() string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("tool_%d", n)
		if !slices.ContainsFunc(v.vars, func(o engine.Var) bool { return o.Name == name }) {
			return name
		}
	}
}
