package daemon

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// A vault has one process that works: `serve`, or a command while no serve is there. Commands that come later ask the
// Process process over a socket in the state directory, which the operating system opens to its owner alone.

// socketName is the control socket's name in its folder, which nobody else can open whatever the state directory's mode is.
// Socket paths are short (108 bytes on Linux), so a state directory with a long path gets its folder in the temporary one.
const socketName = "control.sock"

// Order is what a command asks of the working process. One of its fields is set, apart from Passwords and From.
type Order struct {
	Run    *RunOrder    `json:"run,omitempty"`
	Import *ImportOrder `json:"import,omitempty"`
	Cancel string       `json:"cancel,omitempty"` // run
	Retry  string       `json:"retry,omitempty"`  // run

	Unpause string `json:"unpause,omitempty"` // name of a workflow
	Own     string `json:"own,omitempty"`     // name of a file whose content is one's own from now on

	Approve *ApproveOrder    `json:"approve,omitempty"`
	From    engine.RetryFrom `json:"from,omitzero"`  // goes with Retry
	Undo    string           `json:"undo,omitempty"` // run

	// Passwords come beside an order, for the documents that it imports. They stay in the memory of the working process.
	Passwords []string `json:"passwords,omitempty"`

	Info  bool `json:"info,omitempty"`
	Trust bool `json:"trust,omitempty"` // somebody has changed the trust in the vault
}

// RunOrder asks for a workflow run.
type RunOrder struct {
	Workflow string            `json:"workflow"`
	Steps    []string          `json:"steps,omitempty"`
	Vars     map[string]string `json:"vars,omitempty"`
	Model    string            `json:"model,omitempty"`
	Fresh    bool              `json:"fresh,omitempty"`
}

// ImportOrder asks for a file of this machine to be copied in and imported.
type ImportOrder struct {
	Path OSPath `json:"path"`          // absolute
	URL  string `json:"url,omitempty"` // in place of Path: it is fetched
	Name string `json:"name"`          // need not be text, or a name that a vault can hold
	ImportHow
	Walked bool `json:"walked,omitempty"` // found in a folder: clutter is left out without a word
}

// OSPath is a path of the operating system that crosses the socket byte for byte: JSON holds text alone.
type OSPath string

// MarshalText implements encoding.TextMarshaler.
func (p OSPath) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, []byte(p)), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *OSPath) UnmarshalText(text []byte) error {
	path, err := base64.StdEncoding.AppendDecode(nil, text)
	*p = OSPath(path)
	return err
}

// Reply is the working process's answer.
type Reply struct {
	Run     string         `json:"run,omitempty"`
	URL     string         `json:"url,omitempty"`  // of the dashboard
	Link    string         `json:"link,omitempty"` // to it, for signing in once
	Expires time.Time      `json:"expires,omitzero"`
	Version string         `json:"version,omitempty"`
	Process int            `json:"process,omitempty"` // its id
	Was     string         `json:"was,omitempty"`     // why a workflow was paused
	Trust   string         `json:"trust,omitempty"`   // fingerprint of the trust that is in force
	Changed []string       `json:"changed,omitempty"` // files of settings that hold something else than when they were loaded
	Failure *failure.Error `json:"failure,omitempty"`
	Class   Class          `json:"class,omitempty"` // of the refusal, if it has one
}

// socketPath is where the working process of a state directory listens.
func socketPath(stateDir string) string {
	path := filepath.Join(stateDir, "run", socketName)
	if len(path) < 100 {
		return path
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("vaultflow-%d", os.Getuid()), shortHash(stateDir)+".sock")
}

// closedFolder makes sure that only the user can look into a folder. In the temporary folder, somebody else may have made it.
func closedFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !isOurs(info):
		return fmt.Errorf("%s belongs to somebody else; remove it, or set another TMPDIR", dir)
	case info.Mode().Perm() != 0o700:
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// listenControl opens the control socket.
func listenControl(ctx context.Context, stateDir string) (net.Listener, error) {
	path := socketPath(stateDir)
	if err := closedFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // left by a process that was killed; the journal's lock is ours
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

// ownPeers accepts connections of the user alone.
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

// dialControl reaches the working process. It may be told passwords, so that somebody else's socket is refused.
func dialControl(ctx context.Context, stateDir string) (net.Conn, error) {
	var d net.Dialer
	path := socketPath(stateDir)
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil && !isOurPeer(conn) {
		conn.Close()
		err = fmt.Errorf("the socket %s belongs to somebody else", path)
	}
	return conn, err
}

// maxOrder bounds an order, in bytes: a content that a person edited is in it, in base64.
const maxOrder = MaxEdited/3*4 + 1<<20

// serveControl answers orders until ctx ends.
func serveControl(ctx context.Context, stateDir string, handle func(context.Context, Order) Reply) error {
	listener, err := listenControl(ctx, stateDir)
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
		server.Close()
	}()
	err = server.Serve(listener)
	<-done
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Ask sends an order to the working process.
func Ask(ctx context.Context, stateDir string, o Order) (Reply, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return Reply{}, err
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialControl(ctx, stateDir)
	}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://vaultflow/", bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	response, err := client.Do(request)
	if err != nil {
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

// ApproveOrder is a person's decision about items of a run.
type ApproveOrder struct {
	Run    string  `json:"run"`
	Items  []int   `json:"items,omitempty"` // none: all that wait
	Reject bool    `json:"reject,omitempty"`
	Reason string  `json:"reason,omitempty"`
	Edited *[]byte `json:"edited,omitempty"` // what is written in place of what was proposed
}

// MaxEdited bounds a content that a person writes in place of a proposed one, in bytes.
const MaxEdited = 16 << 20
