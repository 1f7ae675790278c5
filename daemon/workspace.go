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

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/modelset"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/media/remote"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/step"
	"github.com/vaultflow/vaultflow/tools"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// Options say which vault is opened, and how.
type Options struct {
	Dir       string            // the vault's folder, absolute
	StateDir  string            // in place of the default for the vault, see [settings.StateDir]
	Settings  string            // a settings file in place of the vault's
	Overrides map[string]string // settings that were given as flags, by path
	Version   string
	Source    string // where the source of a modified build is published

	// Tolerate, for commands that look or take something back, opens a vault whose settings file has faults: it is told them, and
	// the file counts as absent. Nil: the faults are the error.
	Tolerate func(faults error)

	former settings.Snapshot // in place of what the files of settings hold now

	// Logger makes the log once the settings are known, and is the place to print their warnings.
	Logger func(*settings.Settings) *slog.Logger
	Web    Web
}

// Web replaces the fetchers of documents and pages, for tests. The zero value is the real web.
type Web struct {
	Documents DocumentFetcher
	Pages     func(remote.Policy) tools.Fetcher
}

// Workspace is an open vault with its settings: what every command but init and version begins with.
type Workspace struct {
	Dir      string
	StateDir string
	Settings *settings.Settings
	Faults   error // of the vault's settings file, which counts as absent then
	Trust    *Trust
	Vault    *disk.Vault
	Models   *modelset.Set
	Zone     *time.Location
	Log      *slog.Logger

	Passwords *Passwords
	Workers   *Workers
	Workflows *Workflows
	Offers    *Offers
	Overviews *Overviews

	options     Options
	loaded      settings.Snapshot // the files of settings as they were loaded
	outdated    sync.Once         // the warning about a serve with former settings
	outside     *outside
	rules       *importRules
	recognition *recognition
}

// Open reads the settings of a vault and opens it. A *settings.Error has all faults of the settings.
func Open(ctx context.Context, o Options) (*Workspace, error) {
	stateDir, err := FindState(o.Dir, o.StateDir)
	if err != nil {
		return nil, err
	}
	a := &Workspace{Dir: o.Dir, StateDir: stateDir, options: o}
	if err := a.load(ctx, o); err != nil {
		return nil, err
	}
	s := a.Settings
	a.Zone = time.Local
	if name := s.Engine.Timezone; name != "" {
		if a.Zone, err = time.LoadLocation(name); err != nil {
			return nil, control.Invalid.Wrap(fmt.Errorf("engine.timezone: %w", err))
		}
	}
	a.Vault, err = disk.Open(o.Dir, disk.Options{
		ImportDir: s.Vault.ImportDir, ImportedDir: s.Vault.ImportedDir, Ignore: s.Vault.Ignore, Logger: a.Log,
	})
	if err != nil {
		return nil, err
	}
	a.Models = modelset.New(s, a.Log, a.StateDir, a.Trust.refusal)
	a.Passwords = newPasswords(s.Ingestion.Passwords)
	a.Workers = &Workers{settings: s, vault: a.Vault, stateDir: stateDir, passwords: a.Passwords, log: a.Log}
	a.outside = &outside{settings: s, trust: a.Trust, log: a.Log}
	a.rules = &importRules{settings: s, vault: a.Vault, trust: a.Trust, log: a.Log}
	a.recognition = &recognition{settings: s, models: a.Models, trust: a.Trust, log: a.Log, made: map[string]ocrService{}}
	a.Workflows = &Workflows{settings: s, vault: a.Vault, files: a.modelFS, trust: a.Trust, models: a.Models, outside: a.outside, zone: a.Zone}
	a.Offers = &Offers{trust: a.Trust, rules: a.rules, workflows: a.Workflows, dir: a.Dir, stateDir: stateDir}
	a.Overviews = &Overviews{settings: s, offers: a.Offers, workflows: a.Workflows, zone: a.Zone}
	return a, nil
}

// Close closes the vault.
func (a *Workspace) Close() {
	if err := a.Vault.Close(); err != nil {
		a.Log.Warn("vault not closed", "err", err)
	}
}

// modelFS is the vault as workflows and models see it: without the notes in which people approve.
func (a *Workspace) modelFS() fs.FS {
	return a.Vault.FSWithout(path.Join(a.Settings.Vault.WorkflowsDir, step.ApprovalsDir))
}

// ErrNothingRun is returned when nothing was ever run on this vault.
var ErrNothingRun = errors.New("nothing was run on this vault yet")

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

// load reads the settings, as far as the vault is trusted.
func (a *Workspace) load(ctx context.Context, o Options) error {
	environ := os.Environ()
	input := settings.Input{
		File: o.Settings, Vault: a.Dir, User: settings.UserFile(environ), StateDir: a.StateDir, Environ: environ, Overrides: o.Overrides,
	}
	if a.loaded = o.former; a.loaded == nil {
		a.loaded = input.Snapshot()
	}
	input.From = a.loaded
	given, err := openAnswers(ctx, a.StateDir, a.Dir, func() ([]trust.Ask, error) { return asked(input) })
	if err != nil {
		return err
	}
	input.Grants = given.grants
	a.Settings, err = settings.Load(input)
	if err != nil && o.Tolerate != nil {
		input.NotVaults, a.Faults = true, err
		if without, again := settings.Load(input); again == nil {
			o.Tolerate(err)
			a.Settings, err = without, nil
		}
	}
	if err != nil {
		return control.Invalid.Wrap(err)
	}
	a.Log = o.Logger(a.Settings)
	a.Trust = newTrust(given, a.Settings, a.Log)
	return a.Trust.narrow(a.Settings, o.Overrides["web.listen"] != "")
}

// gate decides about every change of the vault.
func (a *Workspace) gate() policy.Gate {
	v := a.Settings.Vault
	return policy.Gate{
		WorkflowsDir: v.WorkflowsDir, ImportDir: v.ImportDir, ImportedDir: v.ImportedDir, StatusNote: a.Settings.Engine.StatusNote,
	}
}

// Writing returns the vault as a writer may change it.
func (a *Workspace) Writing(who policy.Writer) vault.Files {
	return vault.NewFiles(a.Vault, a.gate(), who)
}

// Ask sends an order to the process that works on the vault, and warns once when that process has other settings than the
// files hold now.
func (a *Workspace) Ask(ctx context.Context, o control.Order) (control.Reply, error) {
	r, err := control.Ask(ctx, a.StateDir, o)
	if len(r.Changed) > 0 {
		a.outdated.Do(func() { a.Log.Warn(OutdatedText(r.Changed)) })
	}
	return r, err
}

// Work locks the state directory and the vault and makes an executor. Nothing runs before Run.
func (a *Workspace) Work(ctx context.Context) (*Process, error) { return work(ctx, a, false) }
