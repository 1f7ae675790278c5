package control

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/vaultflow/vaultflow/failure"
)

// socketName is the control socket's name. Its folder is private even if the state directory is not. Socket paths are short
// (108 bytes on Linux), so a state directory with a long path gets a folder below the temporary one.
const socketName = "control.sock"

// socketPath returns where the working process listens.
func socketPath(stateDir string) string {
	path := filepath.Join(stateDir, "run", socketName)
	if len(path) < 100 {
		return path
	}
	sum := sha256.Sum256([]byte(stateDir))
	return filepath.Join(os.TempDir(), fmt.Sprintf("vaultflow-%d", os.Getuid()), hex.EncodeToString(sum[:8])+".sock")
}

// closedFolder makes a folder that only the user can open. Below the temporary folder, somebody else may have made it first.
func closedFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !isOurs(info):
		return fmt.Errorf("%s belongs to another user; remove it, or set another TMPDIR", dir)
	case info.Mode().Perm() != 0o700:
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// listen opens the control socket.
func listen(ctx context.Context, stateDir string) (net.Listener, error) {
	path := socketPath(stateDir)
	if err := closedFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // left by a killed process; we hold the journal's lock
		return nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return ownPeers{l}, nil
}

// ownPeers accepts connections from the user only.
type ownPeers struct{ net.Listener }

// Accept implements net.Listener.
func (l ownPeers) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil || isOurPeer(conn) {
			return conn, err
		}
		conn.Close()
	}
}

// dial connects to the working process. It refuses a socket of another user, because orders may hold passwords.
func dial(ctx context.Context, stateDir string) (net.Conn, error) {
	var d net.Dialer
	path := socketPath(stateDir)
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil && !isOurPeer(conn) {
		conn.Close()
		err = fmt.Errorf("the socket %s belongs to another user", path)
	}
	return conn, err
}

// maxOrder bounds an order, in bytes. It may hold edited content in base64.
const maxOrder = MaxEdited/3*4 + 1<<20

// Serve answers orders until ctx ends.
func Serve(ctx context.Context, stateDir string, handle func(context.Context, Order) Reply) error {
	listener, err := listen(ctx, stateDir)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	server := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var o Order
			if err := json.NewDecoder(io.LimitReader(r.Body, maxOrder)).Decode(&o); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(handle(r.Context(), o)); err != nil {
				return // the other side went away
			}
		}),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-ctx.Done()
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswers)
		defer cancel()
		if err := server.Shutdown(closing); err != nil {
			server.Close()
		}
	}()
	err = server.Serve(listener)
	<-done
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// lastAnswers is how long orders that have arrived are answered after the end.
const lastAnswers = 2 * time.Second

// ErrNoServe means that no serve takes orders. If the vault is in use all the same, another command works on it.
var ErrNoServe = failure.New(failure.State, "wait until it has ended, or start `vaultflow serve`, which many commands can use at once",
	"another vaultflow command is using this vault")

// ErrUnsent means that the user stopped waiting before a serve took the order: nothing was done.
var ErrUnsent = errors.New("the order was not sent")

// startingOver is how long a serve may take to start over. It takes no orders meanwhile.
const startingOver = 3 * time.Second

// announcedOver is the same for a serve that has said so.
const announcedOver = 30 * time.Second

// Await is Ask that waits for a serve that starts over. It calls waits each time when serve has said so: calls of models may have to end
// first, which can take minutes. Once ctx or stop ends, it sends nothing more and returns [ErrUnsent]; stop waits for the answer to what was sent.
func Await(ctx, stop context.Context, stateDir string, o Order, waits func(Reply)) (Reply, error) {
	end := time.Now().Add(startingOver)
	for {
		if stop.Err() != nil {
			return Reply{}, ErrUnsent
		}
		r, err := Ask(ctx, stateDir, o)
		switch {
		case err == nil && r.Again:
			waits(r)
			end = time.Now().Add(announcedOver)
		case !errors.Is(err, ErrNoServe) || time.Now().After(end):
			return r, err
		}
		select {
		case <-ctx.Done():
			return r, errors.Join(ErrUnsent, err, ctx.Err())
		case <-stop.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// isUnread reports whether nobody read the order: no socket, nobody behind it, or one that closed before it accepted the connection.
func isUnread(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Ask sends an order to the working process.
func Ask(ctx context.Context, stateDir string, o Order) (Reply, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return Reply{}, err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dial(ctx, stateDir)
	}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://vaultflow/", bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		if isUnread(err) {
			return Reply{}, ErrNoServe
		}
		return Reply{}, fmt.Errorf("reach the running vaultflow: %w", err)
	}
	defer response.Body.Close()
	var r Reply
	if err := json.NewDecoder(response.Body).Decode(&r); err != nil {
		return Reply{}, fmt.Errorf("read the answer of the running vaultflow: %w", err)
	}
	switch {
	case r.Failure == nil:
	case r.Class != "":
		return r, &Refusal{r.Class, r.Failure}
	default:
		return r, r.Failure
	}
	return r, nil
}
