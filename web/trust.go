package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/vaultflow/vaultflow/content/visible"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/web/session"
)

// Trust shows what the vault's files ask for, and stores what the user allows.
type Trust interface {
	// Trust returns what is asked for now.
	Trust(ctx context.Context) (engine.Trust, error)
	// Decide stores an answer. It is an error if something in it has changed since it was shown. With again, the daemon
	// restarts with the new settings within seconds.
	Decide(ctx context.Context, a engine.TrustAnswer) (again bool, err error)
}

// trustPage is the page of trust.
type trustPage struct {
	engine.Trust
	Untrusted, Shared, Own bool
	SinceAt                stamp
	All                    []string // digests of the settings that wait
	May                    bool     // the viewer may answer
	Again                  bool     // the daemon is restarting
}

// trusts are the handlers of the page of trust.
type trusts struct{ site *site }

// show is the page.
func (s trusts) show(w http.ResponseWriter, r *http.Request) { s.page(w, r, false) }

func (s trusts) page(w http.ResponseWriter, r *http.Request, again bool) {
	if s.site.cfg.Trust == nil {
		s.site.notFound(w, r)
		return
	}
	t, err := s.site.cfg.Trust.Trust(r.Context())
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	p := trustPage{
		Trust: shownTrust(t), Untrusted: t.Level == "untrusted", Shared: t.Level == "shared", Own: t.Level == "own", Again: again,
		SinceAt: when(t.Since, s.site.cfg.Now(), s.site.cfg.Zone), May: session.From(r.Context()).Scopes.Has(session.Trust),
	}
	for _, setting := range t.Settings {
		if !setting.Granted {
			p.All = append(p.All, setting.Digest)
		}
	}
	s.site.render(w, r, http.StatusOK, "trust", "Trust", p)
}

// shownTrust makes what strangers wrote visible.
func shownTrust(t engine.Trust) engine.Trust {
	t.Settings, t.Workflows = slices.Clone(t.Settings), slices.Clone(t.Workflows)
	for i := range t.Settings {
		x := &t.Settings[i]
		x.Key, x.Says, x.Value, x.Was = visible.Name(x.Key), visible.Name(x.Says), visible.Name(x.Value), visible.Name(x.Was)
	}
	return t
}

// decide stores what the user allows. It needs a session: a token of a program is not enough.
func (s trusts) decide(w http.ResponseWriter, r *http.Request) {
	if s.site.cfg.Trust == nil {
		s.site.notFound(w, r)
		return
	}
	if session.From(r.Context()).Session == "" {
		s.site.fail(w, r, http.StatusForbidden, "a token cannot change what a vault is trusted with", "sign in with a browser, or run `vaultflow trust`")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 256<<10)
	if err := r.ParseForm(); err != nil {
		s.site.fail(w, r, http.StatusBadRequest, "the form cannot be read", "")
		return
	}
	answer := engine.TrustAnswer{Level: r.PostForm.Get("level"), Settings: r.PostForm["setting"], Workflows: r.PostForm["workflow"]}
	if answer.Level == "" && len(answer.Settings)+len(answer.Workflows) == 0 {
		s.site.fail(w, r, http.StatusBadRequest, "nothing was chosen", "go back, and choose what to allow")
		return
	}
	again, err := s.site.cfg.Trust.Decide(r.Context(), answer)
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	if again {
		w.Header().Set("Refresh", againAfter+"; url=/trust")
		s.page(w, r, true)
		return
	}
	s.site.redirect(w, r, "/trust")
}

// againAfter is when a browser reloads the page of a restarting daemon, in seconds.
const againAfter = "6"

// api is the page for programs.
func (s trusts) api(w http.ResponseWriter, r *http.Request) {
	if s.site.cfg.Trust == nil {
		s.site.notFound(w, r)
		return
	}
	t, err := s.site.cfg.Trust.Trust(r.Context())
	if err != nil {
		s.site.failWith(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, t)
}
