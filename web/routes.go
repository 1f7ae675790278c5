package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/vaultflow/vaultflow/web/session"
)

// What a route asks for beside the scopes of package session.
const (
	nobody   session.Scope = "open"      // everybody may: it says nothing about the vault
	signedIn session.Scope = "signed in" // any identity, whatever its scopes
)

// route is a row of the table of what the dashboard answers. There is no other way in: a path that is not in the table
// asks for a sign-in, and then does not exist.
type route struct {
	Pattern string
	Needs   session.Scope // checked before the handler reads anything
	Handler http.HandlerFunc
}

// streams reports whether the handler reads the body as it comes. Other bodies arrive whole, see Limits.
func (r route) streams() bool { return r.Needs == session.Import }

// table lists every route with the scope it needs.
func (s *Server) table() []route {
	return []route{
		{"GET /healthz", nobody, s.healthz},
		{"GET /static/{file}", nobody, s.static},
		{"GET /login", nobody, logins{s}.page},
		{"POST /login", nobody, logins{s}.signIn},
		{"POST /logout", signedIn, logins{s}.signOut},

		{"GET /licences", signedIn, accounts{s}.licences},
		{"GET /account", session.Trust, accounts{s}.show},
		{"POST /account/sessions/end", session.Trust, accounts{s}.endAll},
		{"POST /account/sessions/{id}/end", session.Trust, accounts{s}.endOne},
		{"POST /account/tokens", session.Trust, accounts{s}.create},
		{"POST /account/tokens/{name}/revoke", session.Trust, accounts{s}.revoke},

		{"GET /{$}", session.Read, s.page(s.today)},
		{"GET /runs/{id}", session.Read, s.page(s.run)},
		{"GET /imports/{id...}", session.Read, s.page(s.imported)},
		{"GET /live", session.Read, s.live},
		{"GET /media/{name...}", session.Read, s.media},
		{"GET /runs/{id}/changes", session.Read, s.changes},
		{"GET /runs/{id}/undo", session.Read, s.undoPreview},
		{"GET /approvals", session.Read, asks{s}.list},
		{"GET /approvals/{run}/{item}", session.Read, asks{s}.one},
		{"GET /trust", session.Read, trusts{s}.show},

		{"POST /workflows/run", session.Run, s.startWorkflow},
		{"POST /runs/{id}/cancel", session.Run, s.cancel},
		{"POST /runs/{id}/retry", session.Run, s.retry},
		{"POST /runs/{id}/undo", session.Run, s.undo},
		{"POST /approvals/{run}", session.Approve, asks{s}.decide},
		{"POST /upload", session.Import, s.upload},
		{"POST /trust", session.Trust, trusts{s}.decide},

		{"GET /api/v1/runs", session.Read, s.apiRuns},
		{"POST /api/v1/runs", session.Run, s.apiStart},
		{"GET /api/v1/runs/{id}", session.Read, s.apiRun},
		{"GET /api/v1/approvals", session.Read, asks{s}.apiList},
		{"GET /api/v1/approvals/{run}/{item}", session.Read, asks{s}.apiOne},
		{"POST /api/v1/approvals/{run}", session.Approve, asks{s}.apiDecide},
		{"GET /api/v1/imports", session.Read, s.apiImports},
		{"GET /api/v1/imports/{id...}", session.Read, s.apiImport},
		{"GET /api/v1/workflows", session.Read, s.apiWorkflows},
		{"GET /api/v1/status", session.Read, s.apiStatus},
		{"GET /api/v1/trust", session.Read, trusts{s}.api},
		{"GET /api/v1/health", session.Read, s.apiHealth},
		{"GET /api/v1/events", session.Read, s.apiEvents},
		{"/", signedIn, s.notFound},
	}
}

// routes builds the table's handlers. The scope is checked by the route that was found and never by the path's text.
func (s *Server) routes() (*http.ServeMux, error) {
	m := http.NewServeMux()
	for _, r := range s.table() {
		if err := r.check(); err != nil {
			return nil, err
		}
		m.Handle(r.Pattern, s.allow(r))
	}
	return m, nil
}

// check refuses a row that would be open by mistake.
func (r route) check() error {
	switch {
	case r.Handler == nil:
		return fmt.Errorf("dashboard: %s has no handler", r.Pattern)
	case r.Needs != nobody && r.Needs != signedIn && !session.All().Has(r.Needs):
		return fmt.Errorf("dashboard: %s does not say which scope it needs", r.Pattern)
	case r.Needs == session.Read && !strings.HasPrefix(r.Pattern, "GET "):
		return fmt.Errorf("dashboard: %s changes something, so %s is not enough", r.Pattern, r.Needs)
	}
	return nil
}
