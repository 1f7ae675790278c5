package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// socketPath returns the path of an address such as unix:/run/user/1000/vaultflow.sock.
func socketPath(address string) (path string, ok bool) { return strings.CutPrefix(address, "unix:") }

// Listen opens an address: host:port, or unix:/path of a socket that only the user can open.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	if path, ok := socketPath(address); ok {
		return listenUnix(ctx, path)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", address)
}

// listenUnix makes the socket in a closed folder first: at its own place, others could open it before its mode is set.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if err := makeWay(ctx, path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".sock-") // mode 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // empty by now
	closed := filepath.Join(dir, "s")
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", closed)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // it would remove the name in the folder
	if err := errors.Join(os.Chmod(closed, 0o600), os.Rename(closed, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &unixListener{Listener: l, path: path, made: info}, nil
}

// makeWay removes the socket of a process that is gone. Anything else stays, and is an error.
func makeWay(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is there and is not a socket; move it away", path)
	}
	d := net.Dialer{Timeout: 2 * time.Second}
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		conn.Close()
		return fmt.Errorf("another program listens on %s", path)
	}
	if !refused(err) {
		return fmt.Errorf("%s is a socket that cannot be tried: %w", path, err)
	}
	return os.Remove(path)
}

// unixListener removes its socket when it closes, unless somebody put another one there.
type unixListener struct {
	net.Listener
	path string
	made fs.FileInfo
	once sync.Once
}

// Addr implements net.Listener: the socket was made under another name.
func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close implements net.Listener.
func (l *unixListener) Close() error {
	err := l.Listener.Close()
	l.once.Do(func() {
		if now, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(now, l.made) {
			err = errors.Join(err, os.Remove(l.path))
		}
	})
	return err
}
