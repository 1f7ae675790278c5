package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow"
	"github.com/vaultflow/vaultflow/daemon/access"
	"github.com/vaultflow/vaultflow/daemon/consent"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/policy"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/undo"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
	"github.com/vaultflow/vaultflow/web"
	"github.com/vaultflow/vaultflow/web/session"
)

// listenWeb opens the address of the dashboard.
func listenWeb(ctx context.Context, a *Workspace) (net.Listener, error) {
	if path, ok := a.Settings.Web.Socket(); ok {
		if rel, err := filepath.Rel(a.Dir, path); err == nil && filepath.IsLocal(rel) {
			return nil, fmt.Errorf("web.listen: the socket %s would lie in the vault; choose a folder outside", path)
		}
	}
	l, err := web.Listen(ctx, a.Settings.Web.Listen)
	if err != nil {
		return nil, fmt.Errorf("dashboard: listen on %s: %w; another address: --listen 127.0.0.1:0, or --no-web", a.Settings.Web.Listen, err)
	}
	return l, nil
}

// dashboard is where the dashboard of a serve is, and who may use it. Without a URL there is none.
type dashboard struct {
	settings settings.Web
	access   *session.Access
	url      string
	front    *Front // that shows it, or nil
}

// newDashboard returns the dashboard of a vault, which a front may show.
func newDashboard(a *Workspace, front *Front) *dashboard {
	if front != nil {
		return &dashboard{settings: front.Settings, url: front.URL, front: front}
	}
	return &dashboard{settings: a.Settings.Web}
}

// link returns an address that signs one browser in.
func (d *dashboard) link() (link string, expires time.Time) {
	switch {
	case d.url == "":
		return "", time.Time{}
	case d.front != nil:
		return access.Link(d.url, d.settings, d.front.Access, "?next="+d.front.Root+"/")
	}
	return access.Link(d.url, d.settings, d.access, "")
}

// Front shows the dashboards of all vaults of a process at one address, each below a path.
type Front struct {
	Settings settings.Web
	URL      string
	Root     string          // the vault's path, such as /vaults/notes
	Access   *session.Access // of browsers
	Instance string          // see [web.Config]
	Show     func(s *Served) // nil: the vault is not served for now
}

// Served is the dashboard of a vault that is served.
type Served struct {
	Pages   *web.Server
	Trouble func() string // see [engine.Overview]
}

// serve shows a dashboard until ctx ends.
func (f *Front) serve(ctx context.Context, s *web.Server, trouble func() string) error {
	f.Show(&Served{s, trouble})
	<-ctx.Done()
	f.Show(nil)
	s.Close()
	return nil
}

// newWeb makes the dashboard.
func newWeb(w *Process, watcher *disk.Watcher, dash *dashboard) (*web.Server, error) {
	looking, err := w.Workspace.takeBack(w.Journal)
	if err != nil {
		return nil, err
	}
	if dash.access, err = access.Open(dash.settings, w.Workspace.StateDir); err != nil {
		return nil, err
	}
	health := &health{w: w, watcher: watcher}
	c := web.Config{
		Runs: webRuns{w.Journal}, Imports: webImports{w.Journal}, Events: w.Exec, Blobs: w.Journal.Blobs, FS: w.Workspace.Vault.FS(),
		Workflows: func(ctx context.Context) ([]engine.WorkflowStatus, error) {
			return w.Workspace.Workflows.Statuses(ctx, w.Journal)
		},
		Stale: func(ctx context.Context, r engine.RunRecord) string {
			return w.Workspace.Workflows.ChangedSince(ctx, w.Journal, r)
		},
		Overview: func(ctx context.Context) (engine.Overview, error) { return serving(ctx, w, dash.url) }, Approvals: webApprovals{w},
		Trust: webTrust{w}, Undo: webUndo{looking, w}, Starter: webStarter{w}, Control: webControl{w.Runs}, Dropper: webDropper{w.Workspace.Writing(policy.ByDrop)}, Health: health.checks,
		Vault: filepath.Base(w.Workspace.Dir), Version: w.Workspace.options.Version, Listen: dash.settings.Listen, Hosts: dash.settings.Hosts,
		Access: dash.access, Instance: shortHash(w.Workspace.StateDir), MaxUpload: int64(w.Workspace.Settings.Ingestion.MaxFileSize), Zone: w.Workspace.Zone, Logger: w.Workspace.Log,
		Proxy: access.ProxyOf(dash.settings.Proxy), Source: access.SourceOf(w.Workspace.options.Version, w.Workspace.options.Source), Notice: vaultflow.Notice,
	}
	if f := dash.front; f != nil {
		c.Front, c.Root, c.Instance = f.Access, f.Root, f.Instance
	}
	return web.New(c)
}

// shortHash returns the beginning of a text's digest.
func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// webRuns are workflow runs for the dashboard.
type webRuns struct{ j *journal.Journal }

// Runs implements web.Runs.
func (r webRuns) Runs(ctx context.Context, limit int) ([]engine.RunRecord, error) {
	return r.j.Runs.List(ctx, journal.RunFilter{Kind: engine.KindWorkflow, Undo: true, Limit: limit})
}

// Run implements web.Runs.
func (r webRuns) Run(ctx context.Context, id string) (engine.RunRecord, error) {
	return r.j.Runs.Run(ctx, id)
}

// Events implements web.Runs.
func (r webRuns) Events(ctx context.Context, run string, after int64, limit int) ([]engine.Event, error) {
	return r.j.Events.List(ctx, run, after, limit)
}

// webApprovals are what people are asked, for the dashboard.
type webApprovals struct{ w *Process }

// Approvals implements web.Approvals.
func (a webApprovals) Approvals(ctx context.Context, run string) ([]engine.Proposal, error) {
	return a.w.Journal.Approvals.Open(ctx, run)
}

// Decide implements web.Approvals.
func (a webApprovals) Decide(ctx context.Context, d engine.Decision) error {
	d.By, d.Who = engine.DecidedDashboard, session.From(ctx).Name
	return a.w.desk.Decide(ctx, d)
}

// Keep implements web.Approvals.
func (a webApprovals) Keep(ctx context.Context, edited []byte) (string, error) {
	return a.w.Journal.Blobs.Put(ctx, edited)
}

// Seen implements web.Approvals.
func (a webApprovals) Seen(viewer string, p engine.Proposal, page int) string {
	return a.w.desk.Keys().Seen(viewer, p, page)
}

// HasSeen implements web.Approvals.
func (a webApprovals) HasSeen(token, viewer string, p engine.Proposal, page int) bool {
	return a.w.desk.Keys().HasSeen(token, viewer, p, page)
}

// webImports are imports for the dashboard.
type webImports struct{ j *journal.Journal }

// Imports implements web.Imports.
func (i webImports) Imports(ctx context.Context, limit int) ([]engine.ImportRecord, error) {
	return i.j.Imports.List(ctx, journal.ImportFilter{Limit: limit})
}

// Import implements web.Imports.
func (i webImports) Import(ctx context.Context, id string) (engine.ImportRecord, error) {
	return i.j.Imports.Get(ctx, id)
}

// webStarter runs workflows from the dashboard.
type webStarter struct{ w *Process }

// StartWorkflow implements web.Starter.
func (s webStarter) StartWorkflow(ctx context.Context, name string, files []string) (engine.Started, error) {
	id, err := s.w.Runs.Start(ctx, control.RunOrder{Workflow: name, Files: files})
	return engine.Started{Run: id, Created: true}, forUser(err)
}

// forUser makes a refusal that is meant for the user a failure that the dashboard shows.
func forUser(err error) error {
	if control.ClassOf(err) != "" {
		return failure.New(failure.InvalidWorkflow, "", "%v", err)
	}
	return err
}

// webTrust is what the vault asks for, for the dashboard.
type webTrust struct{ w *Process }

// Trust implements web.Trust.
func (t webTrust) Trust(context.Context) (engine.Trust, error) {
	o, err := t.w.Workspace.Offers.Look()
	if err == nil && t.w.Workspace.Trust.Announce("dashboard") {
		o.Note = consent.Adopted
	}
	return o.Trust, err
}

// Decide implements web.Trust.
func (t webTrust) Decide(_ context.Context, answer engine.TrustAnswer) (again bool, err error) {
	o, err := t.w.Workspace.Offers.Look()
	if err != nil {
		return false, err
	}
	if err := t.w.Workspace.Trust.Accept(o, answer); err != nil {
		return false, err
	}
	time.AfterFunc(answerFirst, t.w.changes.Soon)
	return t.w.Workspace.Trust.Outdated(), nil
}

// answerFirst is how long the browser has for its answer before serve begins again.
const answerFirst = 300 * time.Millisecond

// webControl ends and repeats runs from the dashboard.
type webControl struct{ *Runs }

// Again implements web.Control.
func (c webControl) Again(ctx context.Context, run string) (started string, err error) {
	r, err := c.journal.Runs.Run(ctx, run)
	if err != nil {
		return "", err
	}
	orders, _, err := c.workflows.Again(r)
	for _, o := range orders {
		var id string
		if id, err = c.Start(ctx, o); err != nil {
			break
		}
		if started == "" {
			started = id
		}
	}
	return started, forUser(err)
}

// webDropper puts uploads into the import folder, where the watcher takes them.
type webDropper struct{ files vault.Files }

// Drop implements web.Dropper.
func (d webDropper) Drop(ctx context.Context, name string, r io.Reader) (string, error) {
	dropped, _, err := d.files.Drop(ctx, r, name)
	return dropped, err
}

// healthEvery is how long a look at the worker holds: starting one takes a moment.
const healthEvery = time.Minute

// health checks the daemon for the dashboard.
type health struct {
	w       *Process
	watcher *disk.Watcher

	mu     sync.Mutex
	looked time.Time // guarded by mu
	worker string    // what is wrong with it; guarded by mu
}

func (h *health) checks(ctx context.Context) []web.Check {
	status := h.watcher.Status()
	watching := web.Check{Name: "watcher", State: web.StateOK, Detail: status.Mode}
	if status.Why != "" {
		watching.State, watching.Detail = web.StateWarning, status.Mode+": "+status.Why
	}
	worker := web.Check{Name: "worker", State: web.StateOK, Detail: "ready"}
	if problem := h.workerProblem(ctx); problem != "" {
		worker = web.Check{Name: "worker", State: web.StateProblem, Detail: problem, Fix: "`vaultflow doctor` lists what to install"}
	}
	return []web.Check{worker, watching}
}

func (h *health) workerProblem(ctx context.Context) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); now.Sub(h.looked) > healthEvery {
		h.worker, h.looked = h.w.Workspace.Workers.Problem(ctx), now
	}
	return h.worker
}

// webUndo takes runs back from the dashboard.
type webUndo struct {
	runs *undo.Undo
	w    *Process
}

var _ web.Undo = webUndo{}

// PreviewUndo implements web.Undo.
func (u webUndo) PreviewUndo(ctx context.Context, run string) (engine.UndoPreview, error) {
	return u.runs.Preview(ctx, run)
}

// Changed implements web.Undo.
func (u webUndo) Changed(ctx context.Context, run string, limit int) ([]engine.ChangeDiff, int, error) {
	return u.runs.Changed(ctx, run, limit)
}

// Undo implements web.Undo.
func (u webUndo) Undo(ctx context.Context, run string) (engine.Started, error) {
	id, err := u.w.Runs.Undo(ctx, run)
	return engine.Started{Run: id, Created: true}, err
}
