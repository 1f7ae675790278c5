package vaults

import (
	"context"
	"errors"
	"os"

	"github.com/vaultflow/vaultflow/daemon"
	"github.com/vaultflow/vaultflow/daemon/access"
	"github.com/vaultflow/vaultflow/daemon/control"
)

// answer shows commands where the dashboard is, and why a vault is not served: its own process does not answer then. Only the first of several
// such processes of a user does.
func (p *process) answer(ctx context.Context) {
	err := os.MkdirAll(p.StateDir, 0o700)
	if err == nil {
		if _, busy := control.Ask(ctx, p.StateDir, control.Order{Info: true}); busy == nil {
			err = errors.New("another serve of several vaults does")
		} else {
			err = control.Serve(ctx, p.StateDir, p.obey)
		}
	}
	if err != nil && ctx.Err() == nil {
		p.Log.Warn("status cannot show why a vault is not served", "err", err)
	}
}

func (p *process) obey(_ context.Context, o control.Order) control.Reply {
	if !o.Info {
		return control.Refuse(control.Usage.Errorf("the vault is not served now"))
	}
	r := control.Reply{Version: p.Version, Process: os.Getpid(), URL: p.url}
	if p.access != nil {
		r.Link, r.Expires = access.Link(p.url, p.Settings.Web, p.access, "")
	}
	for _, v := range p.vaults {
		if o.Vault != "" && same(o.Vault, v.dir) {
			v.mu.Lock()
			r.Trouble = v.problem
			v.mu.Unlock()
		}
	}
	return r
}

// note writes into the vault's status note why the vault is not served, as far as that is possible.
func (p *process) note(ctx context.Context, v *vault, why error) {
	if v.options == nil {
		return
	}
	if err := daemon.NoteUnserved(ctx, *v.options, why); err != nil {
		p.Log.Debug("status note not written", "vault", v.name, "err", err)
	}
}
