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

// common lists the routes that a vault's dashboard and the front of several have.
func (s *Server) common() []route {
	login, account := logins{s.site}, accounts{s.site}
	return []route{
		{"GET /healthz", nobody, s.healthz},
		{"GET /static/{file}", nobody, s.static},
		{"GET /login", nobody, login.page},
		{"POST /login", nobody, login.signIn},
		{"POST /logout", signedIn, login.signOut},

		{"GET /licences", signedIn, account.licences},
		{"GET /account", session.Trust, account.show},
		{"POST /account/sessions/end", session.Trust, account.endAll},
		{"POST /account/sessions/{id}/end", session.Trust, account.endOne},
		{"POST /account/tokens", session.Trust, account.create},
		{"POST /account/tokens/{name}/revoke", session.Trust, account.revoke},
	}
}

// table lists every route with the scope it needs.
func (s *Server) table() []route {
	front, runs, imports := frontPage{s.site}, runPages{s.site}, importPages{s.site}
	acts, undoing, api := actions{s.site}, undoPages{s.site}, apiRoutes{s.site}
	approvals, trust := asks{s.site}, trusts{s.site}
	return append(s.common(), []route{
		{"GET /{$}", session.Read, s.site.page(front.today)},
		{"GET /runs/{id}", session.Read, s.site.page(runs.run)},
		{"GET /imports/{id...}", session.Read, s.site.page(imports.imported)},
		{"GET /live", session.Read, liveStreams{s.site}.live},
		{"GET /media/{name...}", session.Read, s.media},
		{"GET /runs/{id}/changes", session.Read, undoing.changes},
		{"GET /runs/{id}/undo", session.Read, undoing.undoPreview},
		{"GET /approvals", session.Read, approvals.list},
		{"GET /approvals/{run}/{item}", session.Read, approvals.one},
		{"GET /trust", session.Read, trust.show},

		{"POST /workflows/run", session.Run, acts.startWorkflow},
		{"POST /runs/{id}/cancel", session.Run, acts.cancel},
		{"POST /runs/{id}/retry", session.Run, acts.retry},
		{"POST /runs/{id}/dismiss", session.Run, acts.dismiss},
		{"POST /runs/{id}/undo", session.Run, undoing.undo},
		{"POST /approvals/{run}", session.Approve, approvals.decide},
		{"POST /upload", session.Import, acts.upload},
		{"POST /trust", session.Trust, trust.decide},

		{"GET /api/v1/runs", session.Read, api.runs},
		{"POST /api/v1/runs", session.Run, api.start},
		{"GET /api/v1/runs/{id}", session.Read, api.run},
		{"GET /api/v1/approvals", session.Read, approvals.apiList},
		{"GET /api/v1/approvals/{run}/{item}", session.Read, approvals.apiOne},
		{"POST /api/v1/approvals/{run}", session.Approve, approvals.apiDecide},
		{"GET /api/v1/imports", session.Read, api.imports},
		{"GET /api/v1/imports/{id...}", session.Read, api.oneImport},
		{"GET /api/v1/workflows", session.Read, api.workflows},
		{"GET /api/v1/status", session.Read, api.status},
		{"GET /api/v1/trust", session.Read, trust.api},
		{"GET /api/v1/health", session.Read, api.health},
		{"GET /api/v1/events", session.Read, api.events},
		{"/", signedIn, s.site.notFound},
	}...)
}

// routes builds a table's handlers. The scope is checked by the route that was found and never by the path's text.
func (s *Server) routes(table []route) (*http.ServeMux, error) {
	m := http.NewServeMux()
	for _, r := range table {
		if err := r.check(); err != nil {
			return nil, err
		}
		m.Handle(r.Pattern, guard{s.site}.allow(r))
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
