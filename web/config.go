package web

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/web/session"
)

// Runs lists runs. The methods of all interfaces here are safe for concurrent use.
type Runs interface {
	// Runs returns at most limit workflow runs, newest first.
	Runs(ctx context.Context, limit int) ([]engine.RunRecord, error)
	// Run returns one run with its steps. engine.ErrNotFound makes a 404.
	Run(ctx context.Context, id string) (engine.RunRecord, error)
	// Events returns the stored events of a run after a place, oldest first.
	Events(ctx context.Context, run string, after int64, limit int) ([]engine.Event, error)
}

// Imports lists imports.
type Imports interface {
	// Imports returns at most limit imports, newest first, including files that are arriving.
	Imports(ctx context.Context, limit int) ([]engine.ImportRecord, error)
	// Import returns one import. engine.ErrNotFound makes a 404.
	Import(ctx context.Context, id string) (engine.ImportRecord, error)
}

// Blobs reads what steps refer to by digest: receipts and answers.
type Blobs interface {
	Get(ctx context.Context, digest string) ([]byte, error)
}

// Events delivers what happens; engine.Executor does.
type Events interface {
	Subscribe(buffer int) (<-chan engine.Event, func())
}

// Starter runs a workflow for the user. An error that is a failure.Reporter may have advice.
type Starter interface {
	// StartWorkflow starts a run about files, by their names in the vault; none for a workflow that needs none.
	StartWorkflow(ctx context.Context, name string, files []string) (engine.Started, error)
}

// Control ends and repeats runs and imports.
type Control interface {
	Cancel(ctx context.Context, run string) error
	Retry(ctx context.Context, run string, from engine.RetryFrom) (retried string, err error) // another one for an import whose file was replaced
	Again(ctx context.Context, run string) (started string, err error)                        // runs its workflow as it is now, about the same files
	Dismiss(ctx context.Context, run string) error                                            // its failure need not be listed any more
}

// Dropper puts an uploaded file into the import folder, never over another one, and says under which vault name. The name
// comes from a browser and is as untrusted as the content.
type Dropper interface {
	Drop(ctx context.Context, name string, r io.Reader) (stored string, err error)
}

// State is the health of a part of the daemon.
type State string

// The states of a [Check].
const (
	StateOK      State = "ok"
	StateWarning State = "warning" // degraded, but working
	StateProblem State = "problem" // somebody must act
)

// Check is one line about the daemon's health.
type Check struct {
	Name   string `json:"name"` // "worker", "watcher"
	State  State  `json:"state"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // advice
}

// Config is what the dashboard works with. Runs, Imports, Workflows, Overview, Events, FS and Access are required; without one of the
// others, what needs it is not shown.
type Config struct {
	Runs      Runs
	Imports   Imports
	Workflows func(ctx context.Context) ([]engine.WorkflowStatus, error)
	Overview  func(ctx context.Context) (engine.Overview, error)
	Events    Events
	FS        fs.FS // the vault's, for pictures and manifests

	Blobs   Blobs
	Starter Starter
	Control Control
	Dropper Dropper
	Health  func(ctx context.Context) []Check
	Stale   func(ctx context.Context, r engine.RunRecord) string // a warning if a run's workflow has changed since, or ""

	Approvals Approvals
	Undo      Undo
	Trust     Trust

	Access *session.Access // who may do what; required
	Front  *session.Access // of a vault below a [NewFront]: where browsers sign in
	Root   string          // its path there, such as /vaults/notes; empty without a front
	Proxy  Proxy

	Vault     string   // name to show
	Version   string   // to show
	Source    string   // address of the source of this version; the AGPL asks for it
	Notice    string   // licences of what the program contains
	Listen    string   // address, such as 127.0.0.1:8321 or unix:/path
	Hosts     []string // further host names under which browsers come
	Instance  string   // distinguishes the dashboards on one host, in letters and digits
	MaxUpload int64    // bytes of one upload; 0 means 512 MiB
	Limits    Limits
	Zone      *time.Location // for times that have no zone of their own; nil means the machine's
	Now       func() time.Time
	Logger    *slog.Logger
}

const defaultMaxUpload = 512 << 20

// check refuses what cannot work, and fills in defaults.
func (c *Config) check() error {
	if c.Runs == nil || c.Imports == nil || c.Workflows == nil || c.Overview == nil || c.Events == nil || c.FS == nil || c.Access == nil {
		return errors.New("dashboard: runs, imports, workflows, overview, events, the vault's files and access are needed")
	}
	c.fill()
	return nil
}

// fill fills in defaults.
func (c *Config) fill() {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:8321"
	}
	if c.MaxUpload <= 0 {
		c.MaxUpload = defaultMaxUpload
	}
	c.Limits.fill()
	if c.Zone == nil {
		c.Zone = time.Local
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}
