//go:build unix

package web

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestListen_unixSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "d.sock")
	l, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Fatalf("%v %v", info, err)
	}
	if l.Addr().String() != path {
		t.Errorf("it calls itself %s", l.Addr())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".sock-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if second, err := Listen(t.Context(), "unix:"+path); err == nil {
		second.Close()
		t.Fatal("two listen on one socket")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket stays behind")
	}
}

func TestListen_unixMakesWayForNothingButADeadSocket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, dead := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "dead")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: dead, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false)
	old.Close()
	if err := os.Symlink(dead, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, dir} {
		if l, err := Listen(t.Context(), "unix:"+path); err == nil {
			l.Close()
			t.Errorf("%s was replaced", path)
		}
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "precious" {
		t.Errorf("%q %v", data, err)
	}
	l, err := Listen(t.Context(), "unix:"+dead)
	if err != nil {
		t.Fatalf("a socket that nobody answers on: %v", err)
	}
	l.Close()
}

func TestServe_onAUnixSocket(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	path := filepath.Join(t.TempDir(), "d.sock")
	s := w.server(t, fsys, func(c *Config) { c.Listen, c.Limits.Body = "unix:"+path, time.Minute })
	l, err := Listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(t.Context(), l) }()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := answerTo(t, conn, "GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+ownerToken+"\r\n\r\n"); got != "200 OK" {
		t.Error(got)
	}
	other, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if got := answerTo(t, other, "GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nRemote-User: me\r\n\r\n"); got != "401 Unauthorized" {
		t.Error(got)
	}
}
