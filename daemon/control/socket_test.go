//go:build unix

package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/failure"
)

// The control socket is the user's alone, also where the state directory is open and where its path is too long for a socket.
func TestControl_isTheUsers(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	open := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(open, "run"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{open, filepath.Join(t.TempDir(), strings.Repeat("long", 25))} {
		ctx, stop := context.WithCancel(t.Context())
		l, err := listen(ctx, state)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		done := make(chan error, 1)
		started := make(chan struct{})
		go func() {
			close(started)
			done <- Serve(ctx, state, func(context.Context, Order) Reply { return Reply{Version: "x"} })
		}()
		<-started
		var r Reply
		for r.Version == "" && ctx.Err() == nil { // until it listens
			r, _ = Ask(ctx, state, Order{Info: true})
		}
		path := socketPath(state)
		for name, want := range map[string]fs.FileMode{path: fs.ModeSocket | 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
			if info, err := os.Lstat(name); err != nil || info.Mode() != want {
				t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, want)
			}
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestControl_notInAFolderOfSomebodyElse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a folder of somebody else")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	state := filepath.Join(t.TempDir(), strings.Repeat("long", 25))
	dir := filepath.Dir(socketPath(state))
	if !strings.HasPrefix(dir, tmp) {
		t.Fatalf("the socket is in %s", dir)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if l, err := listen(t.Context(), state); err == nil {
		l.Close()
		t.Error("it listens in a folder of somebody else")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if l, err := listen(t.Context(), state); err == nil {
		l.Close()
		t.Error("it listens behind a link")
	}
}

func TestControl_peers(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if !isOurPeer(conn) {
		t.Error("our own process is refused")
	}
}

// A refusal keeps its class and its failure over the socket, so that a command ends with the same exit code and hint whether
// a serve works on the vault or not.
func TestAsk_keepsTheClassOfARefusal(t *testing.T) {
	t.Parallel()
	refusals := []error{
		Usage.Errorf("no such workflow"), Invalid.Wrap(errors.New("faults")), fmt.Errorf("run: %w", Denied.Wrap(errors.New("not trusted"))),
		failure.New(failure.Budget, "raise it", "the budget is spent"), errors.New("anything else"),
	}
	state := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	done, orders := make(chan error, 1), make(chan error, 1)
	go func() {
		done <- Serve(ctx, state, func(context.Context, Order) Reply { return Refuse(<-orders) })
	}()
	for _, refused := range refusals {
		orders <- refused
		_, err := Ask(ctx, state, Order{Info: true})
		for errors.Is(err, ErrNoServe) && ctx.Err() == nil { // until it listens
			_, err = Ask(ctx, state, Order{Info: true})
		}
		got, want := failure.Of(err), failure.Of(refused)
		if err == nil || ClassOf(err) != ClassOf(refused) || err.Error() != refused.Error() || got.Code != want.Code || got.Hint != want.Hint {
			t.Errorf("%v (%q, %+v) came back as %v (%q, %+v)", refused, ClassOf(refused), want, err, ClassOf(err), got)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// An order that arrives when serve ends is answered or was read by nobody, so that the command can ask the next serve.
func TestServe_answersToItsEnd(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	done, arrived := make(chan error, 1), make(chan struct{})
	go func() {
		done <- Serve(ctx, state, func(context.Context, Order) Reply {
			close(arrived)
			<-ctx.Done()
			time.Sleep(20 * time.Millisecond) // the server has begun to end
			return Reply{Again: true}
		})
	}()
	go func() {
		<-arrived
		stop()
	}()
	r, err := Ask(t.Context(), state, Order{Info: true})
	for errors.Is(err, ErrNoServe) { // until it listens
		r, err = Ask(t.Context(), state, Order{Info: true})
	}
	if err != nil || !r.Again {
		t.Errorf("%+v %v", r, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}

	l, err := listen(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	go func() { // nobody accepts
		time.Sleep(20 * time.Millisecond)
		l.Close()
	}()
	if _, err := Ask(t.Context(), state, Order{Info: true}); !errors.Is(err, ErrNoServe) {
		t.Errorf("closed before it accepted: %v", err)
	}
}
