package web

import (
	"net/http"
	"strings"
)

type loginView struct {
	Next  string
	Wrong bool
}

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request) {
	if s.cfg.Token == "" {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	s.render(w, r, http.StatusOK, "login", "Sign in", loginView{Next: localPath(r.URL.Query().Get("next"))})
}

// login takes the token once and leaves a cookie.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	next := localPath(r.PostFormValue("next"))
	if s.cfg.Token == "" || !same(strings.TrimSpace(r.PostFormValue("token")), s.cfg.Token) {
		s.cfg.Logger.Warn("sign-in refused")
		s.render(w, r, http.StatusUnauthorized, "login", "Sign in", loginView{Next: next, Wrong: true})
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: s.cookieValue(), Path: "/", MaxAge: 30 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	http.Redirect(w, r, next, http.StatusSeeOther)
}

// localPath is where to go after signing in: never to another host.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}
