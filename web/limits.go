package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Limits bound what clients can keep open. The zero value of each field means its default.
type Limits struct {
	Connections int           // at the same time; beyond, those that wait longest without a running request are closed
	Headers     time.Duration // for the headers of a request
	Body        time.Duration // for a body that is not an upload, whole
	Stall       time.Duration // for the next bytes of an upload, and its first moments
	Rate        int64         // bytes a second that an upload has on average, after Stall
	Uploads     int           // at the same time
	Answer      time.Duration // for writing an answer, live streams aside
}

func (l *Limits) fill() {
	set(&l.Connections, 512)
	set(&l.Headers, 10*time.Second)
	set(&l.Body, 20*time.Second)
	set(&l.Stall, 30*time.Second)
	set(&l.Rate, 8<<10)
	set(&l.Uploads, 8)
	set(&l.Answer, 5*time.Minute)
}

func set[T int | int64 | time.Duration](v *T, usual T) {
	if *v <= 0 {
		*v = usual
	}
}

// Sizes of bodies that are read whole before their handler runs.
const (
	maxHeader = 32 << 10
	maxLogin  = 8 << 10
	maxForm   = 4 << 20
)

// connections tracks the open connections of the server. One that waits (for a request, its headers or its body) can be closed
// in favour of a newer one; one whose request is running cannot.
type connections struct {
	max int

	mu    sync.Mutex
	open  map[net.Conn]*connection // guarded by mu
	count uint64                   // orders them; guarded by mu
}

// connection is one of them.
type connection struct {
	all   *connections
	since uint64 // place in the order of waiting; guarded by all.mu
	busy  bool   // guarded by all.mu
}

type connectionKey struct{}

// begin is http.Server's ConnContext.
func (c *connections) begin(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	one := &connection{all: c, since: c.count}
	c.open[conn] = one
	return context.WithValue(ctx, connectionKey{}, one)
}

// change is http.Server's ConnState.
func (c *connections) change(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if len(c.open) > c.max {
			c.evict(conn)
		}
	case http.StateIdle:
		if one := c.open[conn]; one != nil {
			c.count++
			one.since = c.count
		}
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

// evict closes the connection that waits longest, or the new one when all others are busy. The caller holds mu.
func (c *connections) evict(newest net.Conn) {
	var out net.Conn
	for conn, one := range c.open {
		if !one.busy && (out == nil || one.since < c.open[out].since) {
			out = conn
		}
	}
	if out == nil {
		out = newest
	}
	delete(c.open, out)
	_ = out.Close() // it is not needed any more
}

// setBusy sets whether the request of a connection is running, so that the connection stays.
func setBusy(r *http.Request, busy bool) {
	one, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return // a handler without a server, as in tests
	}
	one.all.mu.Lock()
	defer one.all.mu.Unlock()
	one.busy = busy
}

// bodies bound the times of requests and their bodies.
type bodies struct{ site *site }

// timed sets the deadlines of a request. They also end bodies that no handler reads.
func (b bodies) timed(w http.ResponseWriter, r *http.Request) {
	ctl, now := http.NewResponseController(w), time.Now()
	_ = ctl.SetWriteDeadline(now.Add(b.site.cfg.Limits.Answer)) // a connection without deadlines only waits longer
	if hasBody(r) {
		_ = ctl.SetReadDeadline(now.Add(b.site.cfg.Limits.Body)) // the same
	}
}

func hasBody(r *http.Request) bool {
	return r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0
}

// errSlow reports a body that took too long.
var errSlow = errors.New("the request took too long to arrive")

// gather reads a body whole, within its time, so that no handler waits for a client. It has answered when it returns false.
func (b bodies) gather(w http.ResponseWriter, r *http.Request, most int64) bool {
	if !hasBody(r) {
		return true
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		b.drop(w, r)
		status, message := http.StatusBadRequest, "the request is incomplete"
		if errors.Is(err, os.ErrDeadlineExceeded) {
			status, message = http.StatusRequestTimeout, errSlow.Error()
		} else if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			status, message = http.StatusRequestEntityTooLarge, "the request is larger than "+size(most)
		}
		b.site.fail(w, r, status, message, "")
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(data))
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the handler may take its time
	return true
}

// drop abandons an unwanted body: the answer does not wait for it, and the connection ends.
func (b bodies) drop(w http.ResponseWriter, r *http.Request) {
	if hasBody(r) {
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)) // without deadlines, it only waits longer
	}
}

// pace is the body of an upload, which has to keep coming.
type pace struct {
	io.ReadCloser
	ctl   *http.ResponseController
	l     Limits
	start time.Time
	n     int64
}

// Read implements io.Reader. The error matches errSlow when the client is too slow.
func (p *pace) Read(b []byte) (int, error) {
	now := time.Now()
	end := p.start.Add(p.l.Stall + time.Duration(float64(p.n)/float64(p.l.Rate)*float64(time.Second)))
	if soon := now.Add(p.l.Stall); soon.Before(end) {
		end = soon
	}
	_ = p.ctl.SetReadDeadline(end)                  // without deadlines, it only waits longer
	_ = p.ctl.SetWriteDeadline(end.Add(p.l.Answer)) // the same
	n, err := p.ReadCloser.Read(b)
	p.n += int64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errSlow
	}
	return n, err
}

// paced bounds an upload and how many there are at once. It has answered when ok is false; else call done at the end.
func (b bodies) paced(w http.ResponseWriter, r *http.Request) (done func(), ok bool) {
	select {
	case b.site.uploads <- struct{}{}:
	default:
		b.drop(w, r)
		b.site.fail(w, r, http.StatusServiceUnavailable, "too many uploads at once", "try again in a moment, or put the files into the import folder")
		return nil, false
	}
	r.Body = &pace{ReadCloser: r.Body, ctl: http.NewResponseController(w), l: b.site.cfg.Limits, start: time.Now()}
	return func() {
		<-b.site.uploads
		b.drop(w, r)
	}, true
}
