package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
)

// policy is the content security policy of pages: our own files and nothing else, no inline script, no inline style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard wraps the routes: panics, headers, the Host check against DNS rebinding, requests from other sites, the token.
func (s *Server) guard(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, http.StatusForbidden, "this request came from another site", "")
	}))
	inner := crossOrigin.Handler(s.authenticate(next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.recover(w, r)
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // not no-referrer: that makes the Origin of our own forms null
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		h.Set("Cache-Control", "no-store")
		if !s.knownHost(r.Host) {
			s.fail(w, r, http.StatusMisdirectedRequest, "the dashboard does not answer under this host name", "add the name to web.hosts in the settings")
			return
		}
		inner.ServeHTTP(w, r)
	})
}

func (s *Server) recover(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
		panic(p)
	}
	s.cfg.Logger.Error("request panicked", "path", r.URL.Path, "err", p, "stack", string(debug.Stack()))
	s.fail(w, r, http.StatusInternalServerError, "something went wrong; the log says what", "")
}

// knownHost says whether the Host header names this server. A site that makes its own name resolve to 127.0.0.1 sends its
// own name here; an address cannot be rebound.
func (s *Server) knownHost(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(hostOf(host), "."))
	own := hostOf(s.cfg.Listen)
	switch {
	case name == "":
		return false
	case isLoopback(name) || strings.EqualFold(name, own):
		return true
	case slices.ContainsFunc(s.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, name) }):
		return true
	}
	if ip, err := netip.ParseAddr(own); own == "" || err == nil && ip.IsUnspecified() {
		_, err := netip.ParseAddr(name)
		return err == nil
	}
	return false
}

// hostOf is the host of host:port, without the brackets of IPv6.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

const cookieName = "vaultflow"

// authenticate asks for the token, when there is one: as a bearer token, or as the cookie that the login page sets.
func (s *Server) authenticate(next http.Handler) http.Handler {
	if s.cfg.Token == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open := r.URL.Path == "/healthz" || r.URL.Path == "/login" || strings.HasPrefix(r.URL.Path, "/static/")
		switch {
		case open || s.holdsToken(r):
			next.ServeHTTP(w, r)
		case isPage(r):
			http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer realm="vaultflow"`)
			s.fail(w, r, http.StatusUnauthorized, "a token is needed", "send it as `Authorization: Bearer …`")
		}
	})
}

func (s *Server) holdsToken(r *http.Request) bool {
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(token, s.cfg.Token)
	}
	cookie, err := r.Cookie(cookieName)
	return err == nil && same(cookie.Value, s.cookieValue())
}

// cookieValue proves that the token was known, without being the token.
func (s *Server) cookieValue() string {
	sum := sha256.Sum256([]byte("vaultflow dashboard\x00" + s.cfg.Token))
	return hex.EncodeToString(sum[:])
}

func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// isPage says whether a browser wants a page to show.
func isPage(r *http.Request) bool {
	return r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/live" && !strings.HasPrefix(r.URL.Path, "/media/")
}
