// Package daemon wires the vault, the journal, the models and the executor together, and serves a vault: it imports what
// arrives, runs what is due, and obeys the orders of commands. It prints nothing and knows no flags.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"sync"
	"time"
	_ "time/tzdata" // time zones of workflows, on machines without zoneinfo

	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/intake"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/daemon/reload"
	"github.com/vaultflow/vaultflow/daemon/statedir"
	"github.com/vaultflow/vaultflow/daemon/words"
	"github.com/vaultflow/vaultflow/daemon/workers"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/media"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/turns"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/settings/vaultid"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/workflow"
)

// Options say which vault is opened, and how.
type Options struct {
	Dir       string            // the vault's folder, absolute
	StateDir  string            // in place of the default for the vault, see [settings.StateDir]
	Settings  string            // a settings file in place of the vault's
	Overrides map[string]string // settings that were given as flags, by path
	Version   string
	Source    string // where the source of a modified build is published

	// Changes is set by commands that change the state: they are refused while a moved vault's state can only be read.
	Changes bool

	// Tolerate is called with the faults of settings files, which are then ignored: commands that look or undo still work.
	// If it is nil, Open returns the faults.
	Tolerate func(faults error)

	Shared *Shared // with the other vaults of this process; nil: there are none

	former   settings.Snapshot // in place of what the files of settings hold now
	unusable reload.Unusable   // settings with which serve could not start

	// Logger makes the log once the settings are known, and is the place to print their warnings.
	Logger func(*settings.Settings) *slog.Logger
	Web    Web
}

// Web replaces the fetchers of documents and pages, for tests. The zero value is the real web.
type Web struct {
	Documents intake.DocumentFetcher
	Pages     func(remote.Policy) tools.Fetcher
}

// Shared is what the vaults of one process share: the room for workers, the limits of services, and the places for runs. Everything else is each
// vault's own.
type Shared struct {
	room     *workers.Room
	services *modelset.Services
	runs     *turns.Places
}

// Share divides this machine's memory as the settings say, and limits the workflow runs of all vaults together.
func Share(s *settings.Settings) *Shared {
	return &Shared{workers.NewRoom(s), modelset.NewServices(), turns.New(s.Engine.MaxParallelRuns)}
}

// Close ends the workers that wait for a document.
func (s *Shared) Close() { s.room.Close() }

// Workspace is an open vault with its settings: what every command but init and version begins with.
type Workspace struct {
	Dir      string
	StateDir string
	State    vaultid.State // whose state it is
	Settings *settings.Settings
	Faults   error // of the vault's settings file, which counts as absent then
	Trust    *consent.Trust
	Vault    *disk.Vault
	Links    *vault.Written // of workflows
	Models   *modelset.Set
	Zone     *time.Location
	Log      *slog.Logger

	Passwords *workers.Passwords
	Workers   *workers.Starter
	Workflows *Workflows
	Offers    *consent.Offers
	Overviews *Overviews

	options Options
	shared  *Shared
	input   settings.Input           // of the settings in use, with their files
	given   map[string]control.Given // the values that only this process has
	reloads sync.Once                // the warning about a serve that works with other settings
	outside *outside
	rules   *intake.Rules
	digests *media.Digests
}

// Open reads the settings of a vault and opens it. A *settings.Error has all faults of the settings.
func Open(ctx context.Context, o Options) (*Workspace, error) {
	a, _, err := open(ctx, o)
	return a, err
}

// open returns the files of settings too, which it may have read although it fails.
func open(ctx context.Context, o Options) (*Workspace, settings.Snapshot, error) {
	st, err := statedir.Open(o.Dir, o.StateDir, o.Changes)
	if err != nil {
		return nil, nil, err
	}
	loaded, err := load(ctx, o, st.Dir)
	if err != nil {
		return nil, loaded.input.From, err
	}
	a, err := openLoaded(o, st, loaded)
	return a, loaded.input.From, err
}

func openLoaded(o Options, st vaultid.State, loaded loaded) (a *Workspace, err error) {
	stateDir := st.Dir
	set, log, trusted := loaded.settings, loaded.log, loaded.trust
	zone := time.Local
	if name := set.Engine.Timezone; name != "" {
		if zone, err = time.LoadLocation(name); err != nil {
			return nil, control.Invalid.Wrap(fmt.Errorf("engine.timezone: %w", err))
		}
	}
	v, err := disk.Open(o.Dir, disk.Options{
		ImportDir: set.Vault.ImportDir, ImportedDir: set.Vault.ImportedDir, Ignore: set.Vault.Ignore, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	shared := o.Shared
	if shared == nil {
		shared = Share(set)
	}
	models := modelset.New(set, log, stateDir, shared.services, trusted.Refusal)
	passwords := workers.NewPasswords(set.Ingestion.Passwords)
	reach := &outside{settings: set, trust: trusted, log: log}
	rules := intake.NewRules(set, v, trusted, log)
	links := vault.NewWritten(v, v, v.Version, modelFS(v, set))
	flows := &Workflows{dir: o.Dir, settings: set, vault: v, links: links, trust: trusted, models: models, outside: reach, zone: zone, parsed: &workflow.Cache{}}
	offers := &consent.Offers{Trust: trusted, Folders: rules.Asks, Workflows: flows.All, Dir: o.Dir, StateDir: stateDir}
	return &Workspace{
		Dir: o.Dir, StateDir: stateDir, State: st, Settings: set, Faults: loaded.faults, Trust: trusted, Vault: v, Links: links, Models: models, Zone: zone, Log: log,
		Passwords: passwords, Workers: workers.New(set, v, stateDir, passwords, shared.room, log), Workflows: flows, Offers: offers,
		Overviews: &Overviews{settings: set, offers: offers, workflows: flows, zone: zone},
		options:   o, shared: shared, input: loaded.input, given: reload.Given(set, o.Settings != ""), outside: reach, rules: rules, digests: media.NewDigests(stateDir),
	}, nil
}

// Close closes the vault.
func (a *Workspace) Close() {
	if a.options.Shared == nil {
		a.shared.Close()
	}
	a.Models.Close()
	_ = a.digests.Keep() // without them, pictures are read again
	if err := a.Vault.Close(); err != nil {
		a.Log.Warn("vault not closed", "err", err)
	}
}

// modelFS returns the vault as workflows and models see it: without settings, keys, and the notes in which the user approves changes.
func modelFS(v *disk.Vault, s *settings.Settings) fs.FS {
	return v.FSWithout(append(policy.SettingsFiles(), path.Join(s.Vault.WorkflowsDir, step.ApprovalsDir))...)
}

// ErrNothingRun is returned when nothing was ever run on this vault.
var ErrNothingRun = errors.New("nothing was run on this vault yet")

// KeyFiles lists the files that are searched for keys, in order of preference.
func (a *Workspace) KeyFiles() []string { return a.input.KeyFiles() }

// Reading opens the journal for reading, beside a process that may be at work on it.
func (a *Workspace) Reading(ctx context.Context, fn func(*journal.Journal) error) error {
	j, err := journal.OpenReader(ctx, a.StateDir)
	if errors.Is(err, os.ErrNotExist) {
		return ErrNothingRun
	}
	if err != nil {
		return err
	}
	defer j.Close()
	return fn(j)
}

// loaded is the settings of a vault with what depends on reading them.
type loaded struct {
	settings *settings.Settings
	faults   error          // of the settings files that were then ignored
	input    settings.Input // with the files that were read
	trust    *consent.Trust
	log      *slog.Logger
}

// load reads the settings, as far as the vault is trusted.
func load(ctx context.Context, o Options, stateDir string) (loaded, error) {
	environ := os.Environ()
	input := settings.Input{
		File: o.Settings, Vault: o.Dir, User: settings.UserFile(environ), StateDir: stateDir, Environ: environ, Overrides: o.Overrides,
		From: o.former,
	}
	if input.From == nil {
		input.From = input.Snapshot()
	}
	given, err := consent.Open(ctx, stateDir, o.Dir, input)
	if err != nil {
		return loaded{input: input}, err
	}
	input.Grants = given.Grants
	set, err := settings.Load(input)
	var faults error
	if err != nil && o.Tolerate != nil {
		if s := loadWithout(input); s != nil {
			o.Tolerate(err)
			set, faults, err = s, err, nil
		}
	}
	if err != nil {
		return loaded{input: input}, control.Invalid.Wrap(err)
	}
	log := o.Logger(set)
	trusted := consent.New(given, set, log)
	return loaded{set, faults, input, trusted, log}, trusted.Narrow(set, o.Overrides["web.listen"] != "")
}

// loadWithout loads settings without the files that have faults, or returns nil.
func loadWithout(input settings.Input) *settings.Settings {
	for _, without := range []struct{ vaults, users bool }{{true, false}, {false, true}, {true, true}} {
		input.NotVaults, input.NotUsers = without.vaults, without.users
		if s, err := settings.Load(input); err == nil {
			return s
		}
	}
	return nil
}

// gate decides about every change of the vault.
func (a *Workspace) gate() policy.Gate { return gateOf(a.Settings) }

func gateOf(s *settings.Settings) policy.Gate {
	v := s.Vault
	return policy.Gate{WorkflowsDir: v.WorkflowsDir, ImportDir: v.ImportDir, ImportedDir: v.ImportedDir, StatusNote: s.Engine.StatusNote}
}

// Writing returns the vault as a writer may change it.
func (a *Workspace) Writing(who policy.Writer) vault.Files {
	return vault.NewFiles(a.Vault, a.gate(), who)
}

// Ask sends an order to the process that works on the vault. It waits for a serve that starts over, and warns once when that process works
// with other settings than the files hold now, and when it does not answer.
func (a *Workspace) Ask(ctx context.Context, o control.Order) (control.Reply, error) {
	return a.AskUntil(ctx, context.WithoutCancel(ctx), o)
}

// AskUntil is Ask that stops waiting for a serve that takes no orders once stop ends: see [control.ErrUnsent]. What was sent is answered.
func (a *Workspace) AskUntil(ctx, stop context.Context, o control.Order) (control.Reply, error) {
	if err := statedir.Usable(a.State); err != nil {
		return control.Reply{}, err
	}
	slow := "the running vaultflow serve has not answered yet; if it is suspended, resume it, and if it hangs, end it and repeat the command"
	defer time.AfterFunc(10*time.Second, func() { a.Log.Warn(slow) }).Stop()
	if o.Starts() {
		o.Values = a.given
	}
	r, err := control.Await(ctx, stop, a.StateDir, o, a.tell)
	a.tell(r)
	return r, err
}

// Beside warns if a serve works on the vault with other settings than these. It waits for one that hangs at most a second.
func (a *Workspace) Beside(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if r, err := control.Ask(ctx, a.StateDir, control.Order{Look: true}); err == nil {
		a.tell(r)
	}
}

// Differences explains that serve does not work with what everybody sees, or with what this command has; empty if it does.
func (a *Workspace) Differences(r control.Reply) string {
	return words.Join("; ", r.Reload.Text(), reload.Other(r.Given, a.Settings))
}

// tell warns, once, about differences.
func (a *Workspace) tell(r control.Reply) {
	if text := a.Differences(r); text != "" {
		a.reloads.Do(func() { a.Log.Warn(text) })
	}
}

// Work locks the state directory and the vault and makes an executor. Nothing runs before Run. locked is that of [journal.Open].
func (a *Workspace) Work(ctx context.Context, locked ...func() error) (*Process, error) {
	return work(ctx, a, false, locked...)
}
