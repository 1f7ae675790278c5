package mcp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// grace is how long a program may take to exit after its standard input is closed.
var grace = 2 * time.Second // tests have less patience

// transport returns the connection to the server, and a function that ends it, which may be called more than once.
func (c *connection) transport() (t sdk.Transport, end func(), err error) {
	if len(c.Command) == 0 {
		return &sdk.StreamableClientTransport{
			Endpoint: c.URL, HTTPClient: c.client(), MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxMessage,
		}, func() {}, nil
	}
	return c.program()
}

// program starts the server's program. Its standard error is discarded: it may contain secrets.
func (c *connection) program() (sdk.Transport, func(), error) {
	cmd := exec.Command(c.Command[0], c.Command[1:]...) //nolint:noctx // it outlives the first call; the connection ends it
	cmd.Env, cmd.Dir = c.Env, os.TempDir()
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be ours
	}
	setGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, theirs, err := os.Pipe() // cmd's own pipe closes when the program exits, and loses its last output
	if err != nil {
		return nil, nil, err
	}
	cmd.Stdout = theirs
	err = cmd.Start()
	_ = theirs.Close() // the program has its own copy
	if err != nil {
		_ = out.Close() // nothing was written
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return nil, nil, fmt.Errorf("program %s not found", c.Command[0])
		}
		return nil, nil, err
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }() // its exit status does not matter
	end := func() {
		_ = in.Close() // makes it exit
		select {
		case <-done:
		case <-time.After(grace):
		}
		killGroup(cmd)
		<-done
		_ = out.Close() // read to its end, or not needed
	}
	return &sdk.IOTransport{Reader: out, Writer: in, MaxLineLength: maxMessage}, end, nil
}

// client sends the configured headers, follows no redirect, which would send them elsewhere, and reads no answer beyond the limit.
func (c *connection) client() *http.Client {
	return &http.Client{
		Transport:     headed{c.Headers},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// headed adds headers to requests.
type headed struct{ headers map[string]string }

// RoundTrip implements http.RoundTripper.
func (h headed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.headers {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body = &bounded{ReadCloser: response.Body, left: maxMessage}
	}
	return response, err
}

// bounded is a body that fails beyond a limit.
type bounded struct {
	io.ReadCloser
	left int
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer exceeds %d MB", maxMessage>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
