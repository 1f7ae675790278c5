package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/vaultflow/vaultflow/web/session"
)

type loginView struct {
	Next    string
	Problem string
}

// cookieName is the session cookie's name. Browsers send a cookie to every port of a host, so it differs between vaults:
// signing in to one does not sign out of another.
func (s guard) cookieName() string { return "vaultflow-" + s.site.cfg.Instance }

// browsers are who signed in with a browser: at the front, if there is one.
func (s *site) browsers() *session.Access {
	if s.cfg.Front != nil {
		return s.cfg.Front
	}
	return s.cfg.Access
}

// logins are the handlers of signing in and out.
type logins struct{ site *site }

func (l logins) page(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get("next"))
	if id, err := guard(l).identify(r); err == nil && id.Session != "" {
		l.site.redirect(w, r, next)
		return
	}
	l.site.render(w, r, http.StatusOK, "login", "Sign in", loginView{Next: next})
}

// signIn takes a one-time code or a token, and leaves a cookie.
func (l logins) signIn(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	next := localPath(r.PostFormValue("next"))
	old := ""
	if c, err := r.Cookie(guard(l).cookieName()); err == nil {
		old = c.Value
	}
	cookie, err := l.site.browsers().SignIn(r.PostFormValue("token"), old, session.Client{From: clientOf(r), About: r.UserAgent()})
	_, early := errors.AsType[*session.WaitError](err)
	switch {
	case errors.Is(err, session.ErrWrong):
		l.site.cfg.Logger.Warn("sign-in refused", "from", clientOf(r).String())
		l.site.render(w, r, http.StatusUnauthorized, "login", "Sign in", loginView{Next: next, Problem: "This code or token is not valid. A code works once, for ten minutes."})
	case early:
		guard(l).refuse(w, r, err)
	case err != nil:
		l.site.failWith(w, r, err)
	default:
		l.setCookie(w, r, cookie, int(session.MaxTime.Seconds()))
		l.site.redirect(w, r, next)
	}
}

// signOut ends the session of the request.
func (l logins) signOut(w http.ResponseWriter, r *http.Request) {
	if id := session.From(r.Context()).Session; id != "" {
		if err := l.site.browsers().End(id); err != nil {
			l.site.failWith(w, r, err)
			return
		}
	}
	l.setCookie(w, r, "", -1)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func (l logins) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: guard(l).cookieName(), Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: senderOf(r).secure,
	})
}

// localPath is where to go after signing in: never to another host.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
