package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools/toolbox"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/workflow"
)

// Workflows finds, checks and describes the workflows of a vault.
type Workflows struct {
	dir      string // of the vault
	settings *settings.Settings
	vault    *disk.Vault
	links    vault.Links
	trust    *consent.Trust
	models   *modelset.Set
	outside  *outside
	zone     *time.Location
	parsed   *workflow.Cache
}

// All loads every workflow of the vault with all its diagnostics.
func (w *Workflows) All() ([]workflow.Loaded, error) { return w.In(w.World()) }

// Checked is All with what the vault's files and the models reveal. A run may be given another model, so only these lists look at
// what models can.
func (w *Workflows) Checked(ctx context.Context) ([]workflow.Loaded, error) {
	world := w.World()
	world.Can = w.Can
	all, err := w.In(world)
	for i := range all {
		all[i].Diagnostics = diag.Sort(append(all[i].Diagnostics, workflow.Inspect(ctx, all[i].Plan, world)...))
	}
	return all, err
}

// In is All with diagnostics for another world.
func (w *Workflows) In(world workflow.World) ([]workflow.Loaded, error) {
	all, err := w.parsed.Load(w.vault.FS(), w.settings.Vault.WorkflowsDir)
	if err != nil {
		return nil, fmt.Errorf("list workflows: %w", err)
	}
	plans := make([]*workflow.Plan, len(all))
	world.Called = slices.ContainsFunc(all, func(l workflow.Loaded) bool { return l.Plan.RunsOthers() })
	for i := range all {
		plans[i] = all[i].Plan
		all[i].Diagnostics = append(all[i].Diagnostics, workflow.Check(all[i].Plan, world)...)
		if all[i].Valid() { // what has a fault is not in the plan
			all[i].Diagnostics = append(all[i].Diagnostics, workflow.Surprises(all[i].Plan, world)...)
		}
	}
	for _, d := range workflow.Loops(plans, workflow.Folders{Import: w.settings.Vault.ImportDir, Imported: w.settings.Vault.ImportedDir}) {
		i := slices.IndexFunc(all, func(l workflow.Loaded) bool { return l.Plan.File == d.File })
		if i >= 0 {
			all[i].Diagnostics = append(all[i].Diagnostics, d)
		}
	}
	for i := range all {
		all[i].Diagnostics = diag.Sort(all[i].Diagnostics)
	}
	return all, nil
}

// Named finds a workflow that may run. Names are compared without case and `.md`.
func (w *Workflows) Named(name string) (*workflow.Plan, error) {
	all, err := w.All()
	if err != nil {
		return nil, err
	}
	for _, loaded := range all {
		if !w.Is(loaded.Plan, name) {
			continue
		}
		if loaded.Valid() {
			return loaded.Plan, nil
		}
		lines := make([]string, len(loaded.Diagnostics)) // as text: each line has its own hint
		for i, d := range loaded.Diagnostics {
			lines[i] = d.String()
		}
		return nil, control.Invalid.Wrap(errors.New(strings.Join(lines, "\n")))
	}
	return nil, w.Unknown(name, all)
}

// Files finds the files that a run by hand is to be about. It refuses a run that needs one and has none, and several files for a
// workflow that starts one run each.
func (w *Workflows) Files(plan *workflow.Plan, steps, names []string) ([]string, error) {
	files := make([]string, 0, len(names))
	for _, name := range names {
		file, err := w.FileNamed(name, "")
		if err = errors.Join(err, w.MayBeAbout(file)); err != nil {
			return nil, err
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	if fault := plan.FileFault(steps, len(files)); fault != "" {
		return nil, control.Usage.Errorf("%s", fault)
	}
	return files, nil
}

// MayBeAbout returns an error if runs cannot be about a file because models may not read it.
func (w *Workflows) MayBeAbout(file string) error {
	if _, err := fs.Stat(modelFS(w.vault, w.settings), file); errors.Is(err, disk.ErrClosed) {
		return control.Usage.Errorf("a run cannot be about %s: %w", file, disk.ErrClosed)
	}
	return nil
}

// Unknown is the error for a name that no workflow has, with the nearest name.
func (w *Workflows) Unknown(name string, all []workflow.Loaded) error {
	known := make([]string, len(all))
	for i, l := range all {
		known[i] = l.Plan.Name
	}
	message := fmt.Sprintf("no workflow %q below %s", name, w.settings.Vault.WorkflowsDir)
	if near := diag.Nearest(name, known); near != "" && len(name) > 1 { // a letter is near to every other
		message += fmt.Sprintf("; did you mean %q?", near)
	} else if len(known) > 0 {
		message += "; there are: " + strings.Join(known, ", ")
	}
	return control.Usage.Errorf("%s", message)
}

// Known returns the name of a workflow as it is spelled. No name means all workflows. Unless it is found, the name is returned
// as it was given, for records of workflows that are gone, with an error.
func (w *Workflows) Known(name string) (string, error) {
	all, err := w.All()
	if err != nil || name == "" {
		return name, err
	}
	i := slices.IndexFunc(all, func(l workflow.Loaded) bool { return w.Is(l.Plan, name) })
	if i < 0 {
		return strings.TrimSuffix(name, ".md"), w.Unknown(name, all)
	}
	return all[i].Plan.Name, nil
}

// Statuses describes the workflows for people. Without a journal nothing has run yet.
func (w *Workflows) Statuses(ctx context.Context, j *journal.Journal) ([]engine.WorkflowStatus, error) {
	all, err := w.All()
	if err != nil {
		return nil, err
	}
	rows := make([]engine.WorkflowStatus, 0, len(all))
	now := w.trust.Now()
	for _, loaded := range all {
		row := statusOf(loaded, w.zone)
		if row.Valid {
			row.Waits = w.trust.Waits(now, loaded.Plan)
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
	row.NeedsFile = p.NeedsFile(nil)
	if row.Valid {
		row.Next = trigger.Next(p, time.Now(), 3, zone)
	}
	for _, d := range loaded.Diagnostics {
		row.Diagnostics = append(row.Diagnostics, d.Mended()) // edits are for `vaultflow check --fix`
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
		out = append(out, strings.TrimSuffix("on_import: "+strings.Join(p.Meta.OnImport.Globs, ", "), ": "))
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

// World returns what checking a workflow needs to know.
func (w *Workflows) World() workflow.World {
	return workflow.World{
		Now: time.Now(), Zone: w.zone, Models: w.settings.AliasNames(), Waiting: w.settings.WaitingNames(), Default: w.settings.Models.Default,
		Tools: toolbox.Names(), Foreign: w.outside.foreignTool, ImportDir: w.settings.Vault.ImportDir, Imported: w.settings.Vault.ImportedDir, Gate: gateOf(w.settings), FS: modelFS(w.vault, w.settings), Links: w.links,
		Schema: step.CheckSchema, Changes: toolbox.NeedsYes,
	}
}

// Can reports whether a model has a capability. For a model on an Ollama server that is unknown until the server was asked,
// unless the settings or a table say so.
func (w *Workflows) Can(alias, capability string) (can, known bool) {
	m, err := w.models.Model(context.Background(), alias)
	if err != nil && m.Alias == "" {
		return false, false
	}
	learned := m.Capabilities[policy.Capability(capability)]
	return learned.Has, m.Kind != "ollama" || learned.From != policy.FromDefault
}

// NextSlots returns the next fire times, at most five for each enabled workflow, or for the one with this name.
func (w *Workflows) NextSlots(name string) ([]engine.SlotRecord, error) {
	all, err := w.All()
	if err != nil {
		return nil, err
	}
	var rows []engine.SlotRecord
	now := w.trust.Now()
	for _, loaded := range all {
		if !loaded.Valid() || w.trust.Waits(now, loaded.Plan) != "" || name != "" && loaded.Plan.Name != name {
			continue
		}
		for _, at := range trigger.Next(loaded.Plan, time.Now(), 5, w.zone) {
			rows = append(rows, engine.SlotRecord{Workflow: loaded.Plan.Name, Slot: at, Schedule: schedules(loaded.Plan), State: engine.SlotNext})
		}
	}
	return rows, nil
}

// Again returns the orders that run the workflow of a run as it is now, about the same files, and those files that are gone.
func (w *Workflows) Again(r engine.RunRecord) (orders []control.RunOrder, gone []string, err error) {
	if r.Kind != engine.KindWorkflow {
		return nil, nil, control.Usage.Errorf("run %s is no run of a workflow", r.ID)
	}
	plan, err := w.Named(r.Workflow)
	if err != nil {
		return nil, nil, err
	}
	var files []string
	for _, name := range r.Trigger.Files {
		if file, _ := w.fileAt(name); file == "" {
			gone = append(gone, name)
			continue
		}
		files = append(files, name)
	}
	order := control.RunOrder{Workflow: plan.Name, Steps: r.Chosen}
	switch {
	case !plan.ReadsFile(r.Chosen): // such as one that looks for pending files
		return []control.RunOrder{order}, nil, nil
	case len(files) == 0 && len(gone) > 0:
		return nil, gone, control.Usage.Errorf("the files of run %s are gone: %s", r.ID, engine.FileList(gone))
	case len(files) < 2 || !plan.EachByHand():
		order.Files = files
		return []control.RunOrder{order}, gone, nil
	}
	for _, file := range files {
		order.Files = []string{file}
		orders = append(orders, order)
	}
	return orders, gone, nil
}

// ChangedSince explains that a run's workflow was edited since. It returns "" if it was not, or is gone: the run has its own plan.
func (w *Workflows) ChangedSince(ctx context.Context, j *journal.Journal, r engine.RunRecord) string {
	data, err := j.Blobs.Get(ctx, r.Plan)
	if err != nil {
		return ""
	}
	pinned, err := engine.ReadPlan(data)
	if err != nil {
		return ""
	}
	all, err := w.All()
	changed := func(l workflow.Loaded) bool { return l.Plan.Name == pinned.Name && l.Plan.SHA256 != pinned.SHA256 }
	if err != nil || !slices.ContainsFunc(all, changed) {
		return ""
	}
	same := ""
	if len(r.Trigger.Files) > 0 {
		same = " about the same files"
	}
	return fmt.Sprintf("%s has changed since run %s started. A retry repeats the run with the old version; `vaultflow retry %s --current` runs the new one%s",
		pinned.File, r.ID, r.ID, same)
}
