package step

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy/origin"
)

// Resolve finds the files and variables of a step's inputs. It only reads.
func (w *Workflow) Resolve(ctx context.Context, in engine.ResolveIn) (engine.ResolveOut, error) {
	s, err := w.scene(ctx, in.StepRef)
	if err != nil {
		return engine.ResolveOut{}, err
	}
	var out engine.ResolveOut
	for _, input := range s.step.Inputs {
		if err := ctx.Err(); err != nil {
			return out, fmt.Errorf("resolve inputs: %w", err)
		}
		found, warnings, err := w.resolveInput(ctx, s, input, in.Vars)
		if err != nil {
			return out, err
		}
		out.Warnings = append(out.Warnings, warningLines(warnings)...)
		if input.Required && len(found.Files) == 0 && found.Digest == "" {
			out.Missing = append(out.Missing, input.Target.String())
		}
		out.Inputs = append(out.Inputs, found)
	}
	return out, nil
}

func (w *Workflow) resolveInput(ctx context.Context, s scene, input directives.Input, vars []engine.Var) (engine.ResolvedInput, []directives.Diagnostic, error) {
	found := engine.ResolvedInput{Directive: input.Index}
	if input.Target.Scheme == directives.SchemeVariable {
		found.Variable = input.Target.Path
		v, err := w.variable(ctx, s.plan.Name, input.Target.Path, input.Scope, vars)
		found.Digest, found.Origins = v.Digest, v.Origins
		return found, nil, err
	}
	var warnings []directives.Diagnostic
	for _, facts := range s.perItem(input) {
		env := w.resolveEnv(s)
		env.Facts = facts
		resolution, err := input.Resolve(ctx, env)
		if err != nil {
			return found, nil, inputFailure(err)
		}
		warnings = append(warnings, resolution.Warnings...)
		for _, file := range resolution.Files {
			if slices.ContainsFunc(found.Files, func(f engine.ResolvedFile) bool { return f.Name == file.Name }) {
				continue // two items that find the same file
			}
			resolved, err := w.seen(s, input, file)
			if err != nil {
				return found, nil, err
			}
			found.Files = append(found.Files, resolved)
		}
	}
	return found, warnings, nil
}

// perItem gives the facts that an input is resolved with: once for each item of the batch when its path speaks of them.
func (s scene) perItem(input directives.Input) []directives.Facts {
	if len(s.items) < 2 || input.Target.Literal || !strings.Contains(input.Target.Path, "{item") {
		return []directives.Facts{s.facts}
	}
	var list []directives.Facts
	for _, it := range s.items {
		facts := s.facts
		facts.Item, facts.ItemName, facts.Items = it.text, it.name(), nil
		list = append(list, facts)
	}
	return list
}

// seen is a file with the content that it has now. A file that the workflow may not read fails the step.
func (w *Workflow) seen(s scene, input directives.Input, file directives.Found) (engine.ResolvedFile, error) {
	resolved := engine.ResolvedFile{Name: file.Name, SHA256: file.SHA256, Pending: input.Selection.Pending}
	real, err := origin.Real(w.FS, file.Name)
	if err != nil {
		return resolved, failure.New(failure.Permission, "take the link out of the vault", "%s: %v", input.At, err)
	}
	if may := s.plan.Meta.Permissions.MayRead; may(file.Name) && !may(real) {
		return resolved, failure.New(failure.Permission, "add it to permissions.read in the frontmatter",
			"%s: %s is a link to %s, which may not be read by this workflow", input.At, file.Name, real)
	} else if !may(file.Name) {
		return resolved, failure.New(failure.Permission, "add it to permissions.read in the frontmatter",
			"%s: %s may not be read by this workflow", input.At, file.Name)
	}
	if resolved.SHA256 == "" {
		if resolved.SHA256, err = w.digest(file.Name); err != nil {
			return resolved, failure.New(failure.Input, "", "read %s: %v", file.Name, err)
		}
	}
	return resolved, nil
}

func (w *Workflow) resolveEnv(s scene) directives.ResolveEnv {
	env := directives.ResolveEnv{
		FS: w.FS, Facts: s.facts, Links: w.Links, Pending: w.Memory, From: s.plan.File, MaxFiles: w.MaxFiles, Born: w.Born,
	}
	if s.plan.Fresh {
		env.Pending = nil
	}
	return env
}

// inputFailure gives an error of resolving its code, unless it has one.
func inputFailure(err error) error {
	cause := failure.Of(err)
	if cause.Code == failure.Internal {
		cause.Code = failure.Input
	}
	return cause
}

// variable is a variable of the run, or one that is kept between runs. Its digest is empty when the variable is not set.
func (w *Workflow) variable(ctx context.Context, workflow, name, scope string, vars []engine.Var) (engine.Var, error) {
	if scope == "workflow" {
		v, _, err := w.Memory.Variable(ctx, workflow, name)
		return v, err
	}
	for _, v := range vars {
		if v.Name == name {
			return v, nil
		}
	}
	return engine.Var{}, nil
}

// digest reads a file once, without keeping it.
func (w *Workflow) digest(name string) (string, error) {
	f, err := w.FS.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("hash: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
