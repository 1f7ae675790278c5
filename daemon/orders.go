package daemon

import (
	"context"
	"os"
	"sync"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/daemon/reload"
)

// orders answers the orders of commands.
type orders struct {
	w    *Process
	dash *dashboard

	obeying sync.RWMutex // held for reading while something is started
}

// obey carries out an order, and reports what becomes of changed settings. Nothing starts with settings that have changed.
func (a *orders) obey(ctx context.Context, o control.Order) control.Reply {
	if o.Starts() {
		a.obeying.RLock()
		defer a.obeying.RUnlock()
		if state := a.w.changes.State(); state.Over {
			a.w.changes.Soon()
			return control.Reply{Again: true, Reload: state}
		}
		if err := reload.Refuse(o.Values, a.w.Workspace.Settings); err != nil {
			return control.Refuse(err)
		}
	}
	r := a.answer(ctx, o)
	r.Reload, r.Given = a.w.changes.State(), a.w.Workspace.given
	return r
}

// finish waits until what was being started has started.
func (a *orders) finish() {
	a.obeying.Lock()
	defer a.obeying.Unlock()
}

func (a *orders) answer(ctx context.Context, o control.Order) control.Reply {
	var id, was string
	var err error
	a.w.Workspace.Passwords.Add(o.Passwords...)
	switch {
	case o.Run != nil:
		id, err = a.w.Runs.Start(ctx, *o.Run)
	case o.Import != nil:
		id, err = a.w.Imports.Drop(ctx, *o.Import)
	case o.Cancel != "":
		id, err = o.Cancel, a.w.Runs.Cancel(ctx, o.Cancel)
	case o.Retry != "":
		id, err = a.w.Runs.Retry(ctx, o.Retry, o.From)
	case o.Approve != nil:
		id, err = o.Approve.Run, a.w.Decide(ctx, *o.Approve)
	case o.Undo != "":
		id, err = a.w.Runs.Undo(ctx, o.Undo)
	case o.Own != "":
		err = a.w.ClearOrigin(ctx, o.Own)
	case o.Dismiss != "":
		id, err = o.Dismiss, a.w.Runs.Dismiss(ctx, o.Dismiss)
	case o.Unpause != "":
		was, err = a.w.Runs.Unpause(ctx, o.Unpause)
	case o.Trust:
		a.w.changes.Soon()
		return control.Reply{Trust: a.w.Workspace.Trust.Fingerprint()}
	case o.Look:
		return control.Reply{}
	case o.Info:
		r := control.Reply{URL: a.dash.url, Version: a.w.Workspace.options.Version, Process: os.Getpid(), Trouble: a.w.trouble()}
		r.Link, r.Expires = a.dash.link()
		return r
	default:
		err = control.Usage.Errorf("an empty order")
	}
	if err != nil {
		return control.Refuse(err)
	}
	return control.Reply{Run: id, Was: was}
}
