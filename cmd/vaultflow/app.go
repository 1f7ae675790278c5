package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"
	_ "time/tzdata" // time zones of workflows, on machines without zoneinfo

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/engine/trigger"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/origin"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/prompt"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/workflow"
)

// app is an open vault with its settings: what every command but init and version begins with.
type app struct {
	dir      string
	stateDir string
	settings *settings.Settings
	trust    *vaultTrust
	vault    *disk.Vault
	models   *modelset.Set
	services services
	zone     *time.Location
	log      *slog.Logger
	given    givenPasswords
	address  string // where serve's dashboard listened
	loaded   loadedFiles
	outdated sync.Once // the warning about a serve with former settings
}

// open finds the vault, loads its settings and opens it. Warnings about settings go to standard error.
func (g *globals) open() (*app, error) {
	dir, err := g.vaultDir()
	if err != nil {
		return nil, err
	}
	a := &app{dir: dir}
	if err := a.loadSettings(g); err != nil {
		return nil, err
	}
	a.log = newLogger(g, a.settings)
	a.trust.log = a.log
	a.zone = time.Local
	if name := a.settings.Engine.Timezone; name != "" {
		if a.zone, err = time.LoadLocation(name); err != nil {
			return nil, exit(exitInvalid, fmt.Errorf("engine.timezone: %w", err))
		}
	}
	s := a.settings
	a.vault, err = disk.Open(dir, disk.Options{
		ImportDir: s.Vault.ImportDir, ImportedDir: s.Vault.ImportedDir, Ignore: s.Vault.Ignore, Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	a.models = modelset.New(s, a.log, a.stateDir, a.trust.refusal)
	return a, nil
}

func (a *app) close() {
	if err := a.vault.Close(); err != nil {
		a.log.Warn("vault not closed", "err", err)
	}
}

// newLogger logs for people on standard error: warnings for short commands, more with --verbose.
func newLogger(g *globals, s *settings.Settings) *slog.Logger {
	level := slog.LevelWarn
	if g.daemon {
		level = slog.LevelInfo
		if err := level.UnmarshalText([]byte(s.Logging.Level)); err != nil {
			level = slog.LevelInfo
		}
	}
	if g.verbose {
		level = slog.LevelDebug
	}
	if g.json || s.Logging.Format == "json" {
		return slog.New(slog.NewJSONHandler(plain(g.err), &slog.HandlerOptions{Level: level}))
	}
	return slog.New(tint.NewTextHandler(plain(g.err), &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: os.Getenv("NO_COLOR") != "" || !isTerminal(g.err)}))
}

// isTerminal tells whether a stream is a person's screen.
func isTerminal(w any) bool {
	if s, is := w.(*screen); is {
		w = s.to
	}
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd()) // the null device is a character device too
}

// world is what checking a workflow needs to know.
func (a *app) world() workflow.World {
	return workflow.World{
		Now: time.Now(), Zone: a.zone, Models: a.settings.AliasNames(), Waiting: a.settings.WithheldNames(), Default: a.settings.Models.Default,
		Tools: step.ToolNames(), Foreign: a.foreignTool, ImportDir: a.settings.Vault.ImportDir, FS: a.modelFS(), Links: a.links(),
		Schema: step.CheckSchema, Changes: step.NeedsYes,
	}
}

// modelFS is the vault as workflows and models see it: without the notes in which people approve.
func (a *app) modelFS() fs.FS {
	return a.vault.FSWithout(path.Join(a.settings.Vault.WorkflowsDir, step.ApprovalsDir))
}

// can says whether a model has a capability. Of a model on an Ollama server it is not known before the server was asked,
// unless the settings or a table say so.
func (a *app) can(alias, capability string) (can, known bool) {
	m, err := a.models.Model(context.Background(), alias)
	if err != nil && m.Alias == "" {
		return false, false
	}
	learned := m.Capabilities[policy.Capability(capability)]
	return learned.Has, m.Kind != "ollama" || learned.From != policy.FromDefault
}

// links finds notes by Obsidian's rules, for directives.
func (a *app) links() directives.Links {
	return directives.LinksFunc(func(link, from string) directives.Location { return directives.Location(a.vault.Locate(link, from)) })
}

// stores are the parts of a journal that workflow runs use. Blobs and Memory are required.
type stores struct {
	Blobs     step.Blobs
	Memory    step.Memory
	Origins   origin.Store
	Changes   step.Changes
	Approvals step.Approvals
	History   step.History
	Ledger    step.Ledger
}

func storesOf(j *journal.Journal) stores {
	return stores{
		Blobs: j.Blobs, Memory: j.Memory, Origins: j.Origins, Changes: j.Changes, Approvals: j.Approvals, History: j.Undo, Ledger: j.Spending,
	}
}

// flow makes the activities of workflow runs over stores.
func (a *app) flow(kept stores) (*step.Workflow, error) {
	limits, whenExceeded := a.settings.BudgetOverlay()
	budget, err := policy.DefaultBudget().Merge(policy.Overlay{From: "settings", Limits: limits, WhenExceeded: whenExceeded})
	if err != nil {
		return nil, exit(exitInvalid, fmt.Errorf("policy.budget: %w", err))
	}
	w := &step.Workflow{
		FS: a.modelFS(), Vault: a.vault, Links: a.links(), Blobs: kept.Blobs, Memory: kept.Memory, Models: a.models,
		Changes: kept.Changes, Approvals: kept.Approvals, History: kept.History, Ledger: kept.Ledger,
		Budget: budget, DefaultModel: a.settings.Models.Default, WorkflowsDir: a.settings.Vault.WorkflowsDir,
		ImportDir: a.settings.Vault.ImportDir, ImportedDir: a.settings.Vault.ImportedDir, VaultName: filepath.Base(a.dir),
		MaxFiles: a.settings.Engine.MaxSelectedFiles, MaxText: 64 << 20, StrictLinks: a.settings.Policy.Links == "strict",
		Born: a.vault.Born, AutoBuffer: a.settings.Engine.AutoBufferTokens, NoRewrites: !a.settings.LLM.OverflowFallback,
	}
	w.Zone = a.zone.String()
	w.Runs = nested{}
	w.Prompt = prompt.Builder{
		FS:          w.FS,
		Links:       prompt.LinksFunc(func(link, from string) prompt.Location { return prompt.Location(a.vault.Locate(link, from)) }),
		Probe:       media.Probe(w.FS),
		Fallbacks:   w.PageText,
		ImportedDir: w.ImportedDir,
	}
	knowOrigins(w, a.book(kept.Origins))
	a.giveMedia(w)
	a.nameOutside(w)
	return w, nil
}

// errNoState says that nothing was ever run on this vault.
var errNoState = errors.New("nothing was run on this vault yet")

// reading opens the journal for reading, beside a process that may be working on it.
func (a *app) reading(ctx context.Context, fn func(*journal.Journal) error) error {
	j, err := journal.OpenReader(ctx, a.stateDir)
	if errors.Is(err, os.ErrNotExist) {
		return errNoState
	}
	if err != nil {
		return err
	}
	defer j.Close()
	return fn(j)
}

// reading is for commands that only look: an empty list when nothing was ever run.
func (g *globals) reading(ctx context.Context, fn func(*app, *journal.Journal) error) error {
	a, err := g.open()
	if err != nil {
		return err
	}
	defer a.close()
	err = a.reading(ctx, func(j *journal.Journal) error { return fn(a, j) })
	if errors.Is(err, errNoState) && !g.json {
		fmt.Fprintln(g.err, err)
		return nil
	}
	if errors.Is(err, errNoState) {
		return nil
	}
	return err
}

// nextSlots are the fire times that lie ahead, at most five for each enabled workflow.
func (a *app) nextSlots(name string) ([]engine.SlotRecord, error) {
	all, err := a.workflows()
	if err != nil {
		return nil, err
	}
	var rows []engine.SlotRecord
	now := a.trust.now()
	for _, loaded := range all {
		if !loaded.Valid() || a.trust.waits(now, loaded.Plan) != "" || name != "" && !sameName(loaded.Plan.Name, name) {
			continue
		}
		for _, at := range trigger.Next(loaded.Plan, time.Now(), 5, a.zone) {
			rows = append(rows, engine.SlotRecord{Workflow: loaded.Plan.Name, Slot: at, Schedule: schedules(loaded.Plan), State: engine.SlotNext})
		}
	}
	return rows, nil
}
