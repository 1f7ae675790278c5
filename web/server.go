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
	cfg     Config
	handler http.Handler
	pages   *pages
	bundles *bundles
	streams chan struct{}   // one place for each live stream
	closing context.Context // ends the live streams
	close   context.CancelFunc
}

// maxStreams bounds the live streams that are open at the same time.
const maxStreams = 64

// New makes the dashboard.
func New(c Config) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p, err := newPages()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: c, pages: p, bundles: &bundles{fsys: c.FS}, streams: make(chan struct{}, maxStreams)}
	s.closing, s.close = context.WithCancel(context.Background()) // ends with Run; a Server that is only a handler never closes
	s.handler = s.guard(s.routes())
	return s, nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Run listens until ctx ends, and then stops within a few seconds. A Server runs once.
func (s *Server) Run(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("dashboard: listen on %s: %w", s.cfg.Listen, err)
	}
	return s.serve(ctx, l)
}

func (s *Server) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	if s.cfg.Started != nil {
		s.cfg.Started(l.Addr())
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

// routes says which handler answers which path.
func (s *Server) routes() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", s.page(s.today))
	m.HandleFunc("GET /runs/{id}", s.page(s.run))
	m.HandleFunc("GET /imports/{id...}", s.page(s.imported))
	m.HandleFunc("GET /live", s.live)
	m.HandleFunc("GET /media/{name...}", s.media)
	m.HandleFunc("GET /static/{file}", s.static)
	m.HandleFunc("GET /login", s.loginPage)
	m.HandleFunc("POST /login", s.login)
	m.HandleFunc("GET /healthz", s.healthz)

	m.HandleFunc("POST /workflows/run", s.startWorkflow)
	m.HandleFunc("POST /runs/{id}/cancel", s.cancel)
	m.HandleFunc("POST /runs/{id}/retry", s.retry)
	m.HandleFunc("GET /runs/{id}/changes", s.changes)
	m.HandleFunc("GET /runs/{id}/undo", s.undoPreview)
	m.HandleFunc("POST /runs/{id}/undo", s.undo)
	m.HandleFunc("GET /approvals", s.approvals)
	m.HandleFunc("POST /approvals/{run}", s.decide)
	m.HandleFunc("POST /upload", s.upload)

	m.HandleFunc("GET /api/v1/runs", s.apiRuns)
	m.HandleFunc("POST /api/v1/runs", s.apiStart)
	m.HandleFunc("GET /api/v1/runs/{id}", s.apiRun)
	m.HandleFunc("GET /api/v1/approvals", s.apiApprovals)
	m.HandleFunc("POST /api/v1/approvals/{run}", s.apiDecide)
	m.HandleFunc("GET /api/v1/imports", s.apiImports)
	m.HandleFunc("GET /api/v1/imports/{id...}", s.apiImport)
	m.HandleFunc("GET /api/v1/workflows", s.apiWorkflows)
	m.HandleFunc("GET /api/v1/status", s.apiStatus)
	m.HandleFunc("GET /api/v1/health", s.apiHealth)
	m.HandleFunc("GET /api/v1/events", s.apiEvents)
	m.HandleFunc("/", s.notFound)
	return m
}

// static serves the stylesheet and the script.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	data, err := assets.ReadFile("assets/" + r.PathValue("file"))
	if err != nil {
		s.notFound(w, r)
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
