package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/workflow"
)

// workflows loads every workflow of the vault with all its diagnostics.
func (a *Workspace) Workflows() ([]workflow.Loaded, error) { return a.WorkflowsIn(a.World()) }

func (a *Workspace) WorkflowsIn(world workflow.World) ([]workflow.Loaded, error) {
	all, err := workflow.Load(a.Vault.FS(), a.Settings.Vault.WorkflowsDir)
	if err != nil {
		return nil, fmt.Errorf("list workflows: %w", err)
	}
	plans := make([]*workflow.Plan, len(all))
	for i := range all {
		plans[i] = all[i].Plan
		all[i].Diagnostics = append(all[i].Diagnostics, workflow.Check(all[i].Plan, world)...)
	}
	for _, d := range workflow.Loops(plans, workflow.Folders{Import: a.Settings.Vault.ImportDir, Imported: a.Settings.Vault.ImportedDir}) {
		i := slices.IndexFunc(all, func(l workflow.Loaded) bool { return l.Plan.File == d.File })
		if i >= 0 {
			all[i].Diagnostics = append(all[i].Diagnostics, d)
		}
	}
	for i := range all {
		all[i].Diagnostics = directives.Sort(all[i].Diagnostics)
	}
	return all, nil
}

// workflow finds one workflow that may run, by name. Names are compared without case and `.md`.
func (a *Workspace) Workflow(name string) (*workflow.Plan, error) {
	all, err := a.Workflows()
	if err != nil {
		return nil, err
	}
	for _, loaded := range all {
		if !SameName(loaded.Plan.Name, name) {
			continue
		}
		if loaded.Valid() {
			return loaded.Plan, nil
		}
		lines := make([]string, len(loaded.Diagnostics)) // as text: each line has its own hint
		for i, d := range loaded.Diagnostics {
			lines[i] = d.String()
		}
		return nil, invalid(errors.New(strings.Join(lines, "\n")))
	}
	return nil, a.UnknownWorkflow(name, all)
}

func (a *Workspace) UnknownWorkflow(name string, all []workflow.Loaded) error {
	known := make([]string, len(all))
	for i, l := range all {
		known[i] = l.Plan.Name
	}
	message := fmt.Sprintf("no workflow %q below %s", name, a.Settings.Vault.WorkflowsDir)
	if near := directives.Nearest(name, known); near != "" && len(name) > 1 { // a letter is near to every other
		message += fmt.Sprintf("; did you mean %q?", near)
	} else if len(known) > 0 {
		message += "; there are: " + strings.Join(known, ", ")
	}
	return usagef("%s", message)
}

func SameName(a, b string) bool { return strings.EqualFold(a, strings.TrimSuffix(b, ".md")) }

// knownWorkflow says that there is no workflow of a name, with near names. An empty name is that of all.
func (a *Workspace) KnownWorkflow(name string) error {
	all, err := a.Workflows()
	if err != nil || name == "" || slices.ContainsFunc(all, func(l workflow.Loaded) bool { return SameName(l.Plan.Name, name) }) {
		return err
	}
	return a.UnknownWorkflow(name, all)
}

// statuses are the vault's workflows as people see them. Without a journal nothing has run yet.
func (a *Workspace) Statuses(ctx context.Context, j *journal.Journal) ([]engine.WorkflowStatus, error) {
	all, err := a.Workflows()
	if err != nil {
		return nil, err
	}
	rows := make([]engine.WorkflowStatus, 0, len(all))
	now := a.Trust.Now()
	for _, loaded := range all {
		row := statusOf(loaded, a.Zone)
		if row.Valid {
			row.Waits = a.Trust.waits(now, loaded.Plan)
		}
		if row.Waits != "" {
			row.Next = nil
		}
		if j != nil {
			runs, err := j.Runs.List(ctx, journal.RunFilter{Workflow: row.Name, Kind: engine.KindWorkflow, Limit: 1})
			if err != nil {
				return nil, err
			}
			if len(runs) > 0 {
				row.Last = &runs[0]
			}
			if row.Paused, err = trigger.Paused(ctx, j.Runs, row.Name); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func statusOf(loaded workflow.Loaded, zone *time.Location) engine.WorkflowStatus {
	p := loaded.Plan
	row := engine.WorkflowStatus{
		Name: p.Name, File: p.File, Description: p.Meta.Description, Valid: loaded.Valid(), Enabled: p.Meta.Enabled, Triggers: triggersOf(p),
	}
	for _, s := range p.Steps {
		row.Steps = append(row.Steps, s.Name)
	}
	if row.Valid {
		row.Next = trigger.Next(p, time.Now(), 3, zone)
	}
	for _, d := range loaded.Diagnostics {
		row.Diagnostics = append(row.Diagnostics, engine.Diagnostic{
			File: d.File, Line: d.Line, Column: d.Column, Severity: d.Severity, Code: d.Code, Message: d.Message, Suggestion: d.Suggestion,
		})
	}
	return row
}

func triggersOf(p *workflow.Plan) []string {
	var out []string
	for _, s := range p.Meta.Schedules {
		out = append(out, s.String())
	}
	for _, glob := range p.Meta.Watch {
		out = append(out, "watch: "+glob)
	}
	if p.Meta.OnImport != nil {
		out = append(out, strings.TrimSpace("on_import "+strings.Join(p.Meta.OnImport.Globs, ", ")))
	}
	return out
}

// schedules are a plan's schedules as written.
func schedules(p *workflow.Plan) string {
	out := make([]string, len(p.Meta.Schedules))
	for i, s := range p.Meta.Schedules {
		out[i] = s.String()
	}
	return strings.Join(out, "; ")
}

// world is what checking a workflow needs to know.
func (a *Workspace) World() workflow.World {
	return workflow.World{
		Now: time.Now(), Zone: a.Zone, Models: a.Settings.AliasNames(), Waiting: a.Settings.WithheldNames(), Default: a.Settings.Models.Default,
		Tools: step.ToolNames(), Foreign: a.foreignTool, ImportDir: a.Settings.Vault.ImportDir, FS: a.modelFS(), Links: a.links(),
		Schema: step.CheckSchema, Changes: step.NeedsYes,
	}
}

// can says whether a model has a capability. Of a model on an Ollama server it is not known before the server was asked,
// unless the settings or a table say so.
func (a *Workspace) Can(alias, capability string) (can, known bool) {
	m, err := a.Models.Model(context.Background(), alias)
	if err != nil && m.Alias == "" {
		return false, false
	}
	learned := m.Capabilities[policy.Capability(capability)]
	return learned.Has, m.Kind != "ollama" || learned.From != policy.FromDefault
}

// nextSlots are the fire times that lie ahead, at most five for each enabled workflow.
func (a *Workspace) NextSlots(name string) ([]engine.SlotRecord, error) {
	all, err := a.Workflows()
	if err != nil {
		return nil, err
	}
	var rows []engine.SlotRecord
	now := a.Trust.Now()
	for _, loaded := range all {
		if !loaded.Valid() || a.Trust.waits(now, loaded.Plan) != "" || name != "" && !SameName(loaded.Plan.Name, name) {
			continue
		}
		for _, at := range trigger.Next(loaded.Plan, time.Now(), 5, a.Zone) {
			rows = append(rows, engine.SlotRecord{Workflow: loaded.Plan.Name, Slot: at, Schedule: schedules(loaded.Plan), State: engine.SlotNext})
		}
	}
	return rows, nil
}
