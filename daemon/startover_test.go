package daemon

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/settings/vaultid"
)

// A serve that starts over, as after `vaultflow trust`, takes no orders for a moment: commands wait for it.
func TestAsk_serveThatStartsOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	serving, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		time.Sleep(300 * time.Millisecond)
		ended <- control.Serve(serving, dir, func(context.Context, control.Order) control.Reply { return control.Reply{Run: "r1"} })
	}()
	r, err := (&Workspace{StateDir: dir, State: vaultid.State{Standing: vaultid.Own}}).Ask(t.Context(), control.Order{Cancel: "r1"})
	if err != nil || r.Run != "r1" {
		t.Errorf("got %+v, %v; want an answer", r, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := (&Workspace{StateDir: dir, State: vaultid.State{Standing: vaultid.Own}}).Ask(short, control.Order{Cancel: "r1"}); !errors.Is(err, control.ErrNoServe) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without a serve: %v", err)
	}
}
