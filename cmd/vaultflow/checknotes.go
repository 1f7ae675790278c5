package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/workflow"
)

// noteChecker reports what models would not get of the notes that workflows reach, each once. It sends nothing.
type noteChecker struct {
	workspace *daemon.Workspace
	g         *globals
	previewer *step.Previewer
	told      map[string]bool
	found     int
}

// omissionLine is an omission as machines read it.
type omissionLine struct {
	Type     string `json:"type"` // "omission"
	Workflow string `json:"workflow"`
	engine.Omission
}

// check reports the omissions of a workflow, of all batches of an @for_each. Nothing counts as processed: pending inputs are
// read from the beginning.
func (c *noteChecker) check(ctx context.Context, p workflow.Plan) error {
	if err := c.workspace.Trust.MayPreview(&p); err != nil {
		fmt.Fprintf(c.g.err, "the notes of %s are not checked: %v\n", p.Name, err)
		return nil
	}
	p.Fresh = true
	for i, s := range p.Steps {
		for batch := 1; ; batch++ {
			shown, err := c.previewer.Preview(ctx, p, i, time.Now().In(c.workspace.Zone), batch, nil)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				fmt.Fprintf(c.g.err, "the notes of step %q of %s are not checked: %v\n", s.Name, p.Name, err)
				break
			}
			if shown.Prompt != nil {
				if err := c.report(p.Name, step.Omissions(shown.Prompt.Receipt.Left())); err != nil {
					return err
				}
			}
			if shown.Items == nil || batch >= shown.Items.Batches {
				break
			}
		}
	}
	return nil
}

// report prints omissions that were not printed yet. Variables that earlier steps set have no value here.
func (c *noteChecker) report(name string, list []engine.Omission) error {
	list = slices.DeleteFunc(list, func(o engine.Omission) bool { return o.Why.Cause() == omission.Unset })
	if c.g.json {
		for _, o := range list {
			o.ID = "" // it is another one in another prompt
			if key := fmt.Sprint(o); !c.told[key] {
				c.told[key] = true
				c.found++
				if err := c.g.print(omissionLine{"omission", name, o}, nil); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, line := range engine.OmissionLines(list) {
		if c.told[line] {
			continue
		}
		c.told[line] = true
		c.found++
		if err := c.g.print(nil, func(w io.Writer) { fmt.Fprintln(w, line) }); err != nil {
			return err
		}
	}
	return nil
}
