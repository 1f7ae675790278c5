package web

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections live in memory, so that their time can be the test's.
type pipes struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{accept: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8321} }

// fromHome gives a connection in memory the address of this machine.
type fromHome struct{ net.Conn }

func (fromHome) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 50000} }

func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.accept <- fromHome{theirs}
	return ours
}

// slowly runs a test with a server in a bubble of synctest.
func slowly(t *testing.T, change func(*Config), test func(t *testing.T, p *pipes, s *Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, fsys := sample()
		s := w.server(t, fsys, change)
		p := newPipes()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, p) }()
		test(t, p, s)
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
}

const asOwner = "Host: 127.0.0.1\r\nAuthorization: Bearer " + ownerToken + "\r\n"

// status sends a whole request and returns the answer's status.
func (p *pipes) status(t *testing.T, request string) string {
	t.Helper()
	c := p.dial()
	defer c.Close()
	return answerTo(t, c, request)
}

func answerTo(t *testing.T, c net.Conn, request string) string {
	t.Helper()
	go func() { _, _ = io.WriteString(c, request) }() // a server that has enough closes the connection
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err.Error()
	}
	_, _ = io.Copy(io.Discard, answer.Body) // the status alone counts
	return answer.Status
}

// Three thousand clients whose bodies never come hold nothing for longer than their time, and nobody else has to wait for them.
func TestLimits_slowBodies(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"anonymous":    "POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\ntoken=",
		"without path": "POST /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n",
		"chunked":      "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
		"other site":   "POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\nContent-Length: 9\r\n\r\n",
		"signed in":    "POST /api/v1/runs HTTP/1.1\r\n" + asOwner + "Content-Length: 100\r\n\r\n{",
		"no headers":   "POST /api/v1/runs HTTP/1.1\r\nHost: ",
		"nothing":      "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slowly(t, nil, func(t *testing.T, p *pipes, s *Server) {
				const clients = 3000
				ended := make(chan time.Duration, clients)
				start := time.Now()
				for range clients {
					c := p.dial()
					go func() {
						go func() { _, _ = io.WriteString(c, head) }() // the server may close first
						_, _ = io.Copy(io.Discard, c)                  // until the server closes
						ended <- time.Since(start)
					}()
				}
				synctest.Wait()
				if open := clients - len(ended); open > s.site.cfg.Limits.Connections {
					t.Errorf("%d connections are open", open)
				}
				if got := p.status(t, "GET /api/v1/runs HTTP/1.1\r\n"+asOwner+"\r\n"); got != "200 OK" {
					t.Errorf("another client meanwhile: %s", got)
				}
				var last time.Duration
				for range clients {
					last = max(last, <-ended)
				}
				if most := 2*time.Minute + time.Second; last > most || name != "nothing" && last > 30*time.Second {
					t.Errorf("the last one was closed after %s", last)
				}
			})
		})
	}
}

func TestLimits_uploadsHaveToKeepComing(t *testing.T) {
	t.Parallel()
	head := "POST /upload HTTP/1.1\r\n" + asOwner + "Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n"
	begin := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"
	for _, c := range []struct {
		name   string
		every  time.Duration
		piece  int
		pieces int
		want   string
	}{
		{"a slow line", 5 * time.Second, 60 << 10, 400, "202 Accepted"}, // half an hour
		{"a drip", 5 * time.Second, 1, 400, "408 Request Timeout"},
		{"a stop", time.Hour, 1 << 20, 2, "408 Request Timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			slowly(t, nil, func(t *testing.T, p *pipes, _ *Server) {
				conn := p.dial()
				defer conn.Close()
				done := make(chan struct{})
				defer close(done)
				go func() {
					chunk := func(s string) { _, _ = fmt.Fprintf(conn, "%x\r\n%s\r\n", len(s), s) } // the server may close first
					_, _ = io.WriteString(conn, head)
					chunk(begin)
					for range c.pieces {
						select {
						case <-done:
							return
						case <-time.After(c.every):
						}
						chunk(strings.Repeat("x", c.piece))
					}
					chunk("\r\n--b--\r\n")
					chunk("")
				}()
				if got := answerTo(t, conn, ""); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		})
	}
}

func TestLimits_uploadsAtOnce(t *testing.T) {
	t.Parallel()
	slowly(t, func(c *Config) { c.Limits.Uploads = 2 }, func(t *testing.T, p *pipes, _ *Server) {
		head := "POST /upload HTTP/1.1\r\n" + asOwner + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n"
		for range 2 {
			c := p.dial()
			defer c.Close()
			go func() { _, _ = io.WriteString(c, head) }() // the server may close first
		}
		synctest.Wait()
		if got := p.status(t, head); got != "503 Service Unavailable" {
			t.Errorf("a third upload: %s", got)
		}
		time.Sleep(time.Minute)
		if got := p.status(t, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); got != "200 OK" {
			t.Errorf("afterwards: %s", got)
		}
	})
}

func TestLimits_liveStreamsGoOn(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/live?view=today", "/api/v1/events"} {
		slowly(t, func(c *Config) { c.Limits.Connections = 4 }, func(t *testing.T, p *pipes, _ *Server) {
			c := p.dial()
			defer c.Close()
			go func() { _, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\n"+asOwner+"\r\n") }() // read below
			lines := bufio.NewReader(c)
			for start := time.Now(); time.Since(start) < time.Hour; {
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Fatalf("%s: the stream ended after %s: %v", path, time.Since(start), err)
				}
				if strings.HasPrefix(line, ":") {
					for range 5 {
						p.dial() // and hold it: streams are not closed in favour of others
					}
				}
			}
		})
	}
}

// A stream ends with the session that it belongs to.
func TestLive_endsWithTheSession(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/live?view=today", "/api/v1/events"} {
		slowly(t, nil, func(t *testing.T, p *pipes, s *Server) {
			cookie := signInWith(t, s, ownerToken, nil)
			c := p.dial()
			defer c.Close()
			go func() {
				_, _ = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: %s=%s\r\n\r\n", path, cookie.Name, cookie.Value) // read below
			}()
			lines := bufio.NewReader(c)
			answer, err := http.ReadResponse(lines, nil)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("%s: %v %v", path, answer, err)
			}
			time.AfterFunc(time.Minute, func() {
				if err := s.site.cfg.Access.EndAll(); err != nil {
					t.Error(err)
				}
			})
			start := time.Now()
			_, _ = io.Copy(io.Discard, answer.Body) // until the server closes
			if took := time.Since(start); took < time.Minute || took > time.Minute+heartbeat+time.Second {
				t.Errorf("%s: the stream ended after %s", path, took)
			}
		})
	}
}

func TestLimits_headers(t *testing.T) {
	t.Parallel()
	slowly(t, nil, func(t *testing.T, p *pipes, _ *Server) {
		if got := p.status(t, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "+strings.Repeat("x", 2*maxHeader)+"\r\n\r\n"); got != "431 Request Header Fields Too Large" {
			t.Errorf("large headers: %s", got)
		}
		if got := p.status(t, fmt.Sprintf("POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n", maxLogin+1)+strings.Repeat("x", maxLogin+1)); got != "413 Request Entity Too Large" {
			t.Errorf("a large sign-in: %s", got)
		}
	})
}
