//go:build unix

package daemon

import (
	"context"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		l, err := listenControl(ctx, state)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		done := make(chan error, 1)
		started := make(chan struct{})
		go func() {
			close(started)
			done <- serveControl(ctx, state, func(context.Context, Order) Reply { return Reply{Version: "x"} })
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
	if l, err := listenControl(t.Context(), state); err == nil {
		l.Close()
		t.Error("it listens in a folder of somebody else")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if l, err := listenControl(t.Context(), state); err == nil {
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
