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
func (s *Server) cookieName() string { return "vaultflow-" + s.cfg.Instance }

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	next := localPath(r.URL.Query().Get("next"))
	if id, err := s.identify(r); err == nil && id.Session != "" {
		http.Redirect(w, r, next, http.StatusSeeOther)
		return
	}
	s.render(w, r, http.StatusOK, "login", "Sign in", loginView{Next: next})
}

// login takes a one-time code or a token, and leaves a cookie.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	next := localPath(r.PostFormValue("next"))
	old := ""
	if c, err := r.Cookie(s.cookieName()); err == nil {
		old = c.Value
	}
	cookie, err := s.cfg.Access.SignIn(r.PostFormValue("token"), old, session.Client{From: clientOf(r), About: r.UserAgent()})
	_, early := errors.AsType[*session.WaitError](err)
	switch {
	case errors.Is(err, session.ErrWrong):
		s.cfg.Logger.Warn("sign-in refused", "from", clientOf(r).String())
		s.render(w, r, http.StatusUnauthorized, "login", "Sign in", loginView{Next: next, Problem: "This code or token is not valid. A code works once, for ten minutes."})
	case early:
		s.refuse(w, r, err)
	case err != nil:
		s.failWith(w, r, err)
	default:
		s.setCookie(w, r, cookie, int(session.MaxTime.Seconds()))
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
}

// logout ends the session of the request.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) {
	if id := session.From(r.Context()).Session; id != "" {
		if err := s.cfg.Access.End(id); err != nil {
			s.failWith(w, r, err)
			return
		}
	}
	s.setCookie(w, r, "", -1)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(), Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: senderOf(r).secure,
	})
}

// localPath is where to go after signing in: never to another host.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
