// Package vaults serves several vaults in one process: they share the workers, the limits of services and the address of the dashboard,
// and nothing else. What fails in one is tried again with growing pauses, and the others do not notice.
package vaults

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/vaultflow/vaultflow"
	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/access"
	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/settings"
	"github.com/vaultflow/vaultflow/web"
	"github.com/vaultflow/vaultflow/web/session"
)

// Pauses before a vault that failed is tried again: each is twice the one before. After a time of steady without a failure, they begin again with the first.
const (
	firstPause = time.Second
	lastPause  = 5 * time.Minute
	steady     = 10 * time.Minute
)

// Config names the vaults, with what they share. All fields but Look are required.
type Config struct {
	Dirs     []string
	Open     func(dir, name string) daemon.Options
	Settings *settings.Settings // the user's own: for the memory, and the address of the dashboard
	StateDir string             // who signed in to the dashboard, and where commands ask about vaults that are not served
	Web      bool
	Look     <-chan os.Signal // makes each vault look for changed settings, and tries those that failed
	Ready    func(r daemon.Ready) error
	Version  string
	Source   string // where the source of a modified build is published
	Log      *slog.Logger
}

// process is a serve of several vaults.
type process struct {
	Config
	vaults []*vault
	shared *daemon.Shared
	access *session.Access // of browsers; nil without a dashboard
	url    string
}

// vault is one of them.
type vault struct {
	folder
	look    chan os.Signal
	options *daemon.Options // of the last attempt to serve it; used by keep only

	mu        sync.Mutex
	problem   string         // why it is not served; guarded by mu
	dashboard *daemon.Served // guarded by mu
}

// Serve serves the vaults until ctx ends. It fails at once only for what concerns all of them: names that do not go together, and the
// address of the dashboard.
func Serve(ctx context.Context, c Config) error {
	found, err := folders(c.Dirs)
	if err != nil {
		return control.Usage.Wrap(err)
	}
	p := &process{Config: c, shared: daemon.Share(c.Settings)}
	for _, f := range found {
		p.vaults = append(p.vaults, &vault{folder: f, look: make(chan os.Signal, 1)})
	}
	defer p.shared.Close()
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	if c.Web {
		show, err := p.front(ctx)
		if err != nil {
			return err
		}
		all.Go(func() { failed <- show() })
	}
	all.Go(func() { p.answer(ctx) })
	for _, v := range p.vaults {
		all.Go(func() { p.keep(ctx, v) })
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case s := <-c.Look:
			for _, v := range p.vaults {
				select {
				case v.look <- s:
				default: // it looks anyway
				}
			}
		}
	}
}

// front opens the dashboard's address and returns what answers there.
func (p *process) front(ctx context.Context) (show func() error, err error) {
	set := p.Settings.Web
	l, err := web.Listen(ctx, set.Listen)
	if err != nil {
		return nil, fmt.Errorf("dashboard: listen on %s: %w; another address: --listen 127.0.0.1:0, or --no-web", set.Listen, err)
	}
	p.url = access.URLOf(l.Addr())
	if err = os.MkdirAll(p.StateDir, 0o700); err == nil {
		p.access, err = access.Open(set, p.StateDir)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	f, err := web.NewFront(web.Config{
		Access: p.access, Proxy: access.ProxyOf(set.Proxy), Version: p.Version, Source: access.SourceOf(p.Version, p.Source), Notice: vaultflow.Notice,
		Listen: set.Listen, Hosts: set.Hosts, Instance: p.instance(), Logger: p.Log,
	}, p.list)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return func() error { return f.Serve(ctx, l) }, nil
}

// instance is a part of the name of browsers' cookies.
func (p *process) instance() string { return settings.VaultID(p.StateDir) }

// list returns the vaults for the first page.
func (p *process) list() []web.Listed {
	var list []web.Listed
	for _, v := range p.vaults {
		v.mu.Lock()
		one := web.Listed{Name: v.name, Dir: v.dir, Problem: v.problem}
		if v.dashboard != nil {
			one.Dashboard = v.dashboard.Pages
			one.Problem = cmp.Or(one.Problem, v.dashboard.Trouble())
		}
		v.mu.Unlock()
		list = append(list, one)
	}
	return list
}

// keep serves a vault until ctx ends, and again whenever that failed.
func (p *process) keep(ctx context.Context, v *vault) {
	log := p.Log.With("vault", v.name)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		began := time.Now()
		err := p.once(ctx, v)
		if ctx.Err() != nil {
			if err != nil && !errors.Is(err, context.Canceled) {
				log.Error("the vault was not left in order", "err", err)
			}
			return
		}
		if err == nil {
			err = errors.New("it ended by itself")
		}
		if time.Since(began) > steady {
			pause = firstPause
		}
		v.tell(err)
		p.note(ctx, v, err)
		log.Error("the vault is not served; it is tried again", "dir", v.dir, "err", err, "in", pause)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-v.look:
		}
		timer.Stop()
	}
}

// tell keeps what is wrong with a vault for the list; nil is nothing.
func (v *vault) tell(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.problem = ""
	if err != nil {
		v.problem = err.Error()
	}
}

// show puts a vault's dashboard into the list, or takes it out.
func (v *vault) show(s *daemon.Served) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.dashboard = s
}

// once serves a vault until it fails. A panic is a failure like any other.
func (p *process) once(ctx context.Context, v *vault) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	if _, err := os.Stat(v.dir); err != nil {
		return err
	}
	for _, o := range p.vaults { // links may lead elsewhere by now
		if o == v {
			break
		}
		if err := apart(v.dir, []folder{o.folder}); err != nil {
			return err
		}
	}
	options := p.Open(v.dir, v.name)
	options.Shared = p.shared
	v.options = &options
	serving := daemon.ServeOptions{
		Web: p.Web, Look: v.look, Gone: v.tell,
		Ready: func(r daemon.Ready) error {
			v.tell(nil)
			return p.Ready(r)
		},
	}
	if p.Web {
		serving.Front = &daemon.Front{
			Settings: p.Settings.Web, URL: p.url, Root: web.VaultsPath + v.name, Access: p.access, Instance: p.instance(), Show: v.show,
		}
	}
	return daemon.Serve(ctx, options, serving)
}
