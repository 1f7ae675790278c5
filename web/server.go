package web

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// grace is how long open requests may take when the server stops. Live streams end at once.
const grace = 3 * time.Second

//go:embed assets
var assets embed.FS

// Server is the dashboard. Make it with [New]; it is an http.Handler with every guard in place.
type Server struct {
	site    *site
	handler http.Handler
	close   context.CancelFunc // ends the live streams
}

// site is what all pages share.
type site struct {
	cfg     Config
	pages   *pages
	bundles *bundles
	streams chan struct{}   // one place for each live stream
	uploads chan struct{}   // one place for each upload
	closing context.Context // ends with the server
}

// maxStreams bounds the live streams that are open at the same time.
const maxStreams = 64

// New makes the dashboard.
func New(c Config) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return newServer(c, (*Server).table)
}

// newServer makes a dashboard that answers what is in a table.
func newServer(c Config, table func(*Server) []route) (*Server, error) {
	p, err := newPages(c.Root)
	if err != nil {
		return nil, err
	}
	closing, end := context.WithCancel(context.Background()) // ends with Run; a Server that is only a handler never closes
	s := &Server{close: end, site: &site{
		cfg: c, pages: p, bundles: &bundles{fsys: c.FS}, closing: closing,
		streams: make(chan struct{}, maxStreams), uploads: make(chan struct{}, c.Limits.Uploads),
	}}
	routes, err := s.routes(table(s))
	if err != nil {
		return nil, err
	}
	s.handler = guard{s.site}.guard(routes)
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers on a listener of [Listen] until ctx ends, and then stops within a few seconds. It closes the listener. A Server
// serves once.
func (s *Server) Serve(ctx context.Context, l net.Listener) error { return s.serve(ctx, l, s) }

// serve answers with a handler, which may be a front's.
func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler) error {
	open := &connections{max: s.site.cfg.Limits.Connections, open: map[net.Conn]*connection{}}
	server := &http.Server{ // no ReadTimeout: it would end live streams; see timed
		Handler: h, ReadHeaderTimeout: s.site.cfg.Limits.Headers, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader,
		ConnContext: open.begin, ConnState: open.change,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		s.close()
		return fmt.Errorf("dashboard: %w", err)
	case <-ctx.Done():
	}
	s.close()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		_ = server.Close() // what is still open after the grace is cut; there is nothing else to do about it
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("dashboard: %w", err)
	}
	return nil
}

// Close ends the live streams of a dashboard that another one shows.
func (s *Server) Close() { s.close() }

// static serves the stylesheet and the script.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	data, err := assets.ReadFile("assets/" + r.PathValue("file"))
	if err != nil {
		s.site.notFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+digest(data)+`"`)
	http.ServeContent(w, r, r.PathValue("file"), time.Time{}, newReader(data))
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // a client that is gone needs no answer
}
