package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// fix mends the mechanical mistakes of workflow notes and prints what it changed. Notes that AssistantMD kept elsewhere
// are moved first, so that they are mended too. A note that somebody else changes at the same time keeps their version.
func fixWorkflows(ctx context.Context, a *daemon.Workspace, g *globals, chosen func(*workflow.Plan) bool) error {
	if err := bringHome(ctx, a, g, chosen); err != nil {
		return err
	}
	all, err := a.Workflows.All()
	if err != nil {
		return err
	}
	var faults []error
	for _, loaded := range all {
		if chosen(loaded.Plan) {
			faults = append(faults, fixNote(ctx, a, g, loaded.Plan))
		}
	}
	return errors.Join(faults...)
}

// bringHome moves workflows out of AssistantMD's folder. One whose place is taken stays, and is reported by check.
func bringHome(ctx context.Context, a *daemon.Workspace, g *globals, chosen func(*workflow.Plan) bool) error {
	dir := a.Settings.Vault.WorkflowsDir
	for _, old := range workflow.FindAbroad(a.Vault.FS(), dir) {
		if !chosen(&workflow.Plan{Name: workflow.NameOf(old.To, dir), File: old.File}) {
			continue
		}
		err := a.Writing(policy.ByFix).Move(ctx, old.File, old.To)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("move a workflow: %w", err)
		}
		line := struct {
			Type string `json:"type"`
			workflow.Abroad
		}{"moved", old}
		if err := g.print(line, func(w io.Writer) { fmt.Fprintf(w, "%s: moved to %s\n", old.File, old.To) }); err != nil {
			return err
		}
	}
	return nil
}

// fixNote mends one note.
func fixNote(ctx context.Context, a *daemon.Workspace, g *globals, plan *workflow.Plan) error {
	src, base, err := a.Vault.Read(plan.File, workflow.MaxSize)
	if err != nil {
		return nil //nolint:nilerr // check reports notes that cannot be read
	}
	world := a.Workflows.World()
	out, fixed := workflow.Fix(plan.Name, plan.File, src, func(p *workflow.Plan) []diag.Diagnostic {
		return slices.Concat(workflow.Check(p, world), workflow.Inspect(ctx, p, world), workflow.Surprises(p, world))
	})
	if len(fixed) == 0 {
		return nil
	}
	err = a.Writing(policy.ByFix).Write(ctx, plan.File, out, base)
	if _, conflict := errors.AsType[*vault.ConflictError](err); conflict {
		return fmt.Errorf("%s was changed meanwhile and is left as it is", plan.File)
	}
	if err != nil {
		return fmt.Errorf("mend a workflow: %w", err)
	}
	for _, f := range fixed {
		line := struct {
			Type    string   `json:"type"`
			File    string   `json:"file"`
			Line    int      `json:"line"`
			Column  int      `json:"column"`
			Code    string   `json:"code"`
			Message string   `json:"message"`
			Removed []string `json:"removed"`
			Added   []string `json:"added"`
		}{"fixed", f.File, f.Line, f.Column, f.Code, f.Message, f.Removed, f.Added}
		if err := g.print(line, func(w io.Writer) { printFixed(w, f) }); err != nil {
			return err
		}
	}
	return nil
}

func printFixed(w io.Writer, f workflow.Fixed) {
	fmt.Fprintf(w, "%s: fixed[%s]: %s\n", f.Position(), f.Code, f.Message)
	for _, line := range f.Removed {
		fmt.Fprintf(w, "  - %s\n", line)
	}
	for _, line := range f.Added {
		fmt.Fprintf(w, "  + %s\n", line)
	}
}
