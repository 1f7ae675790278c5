package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/web/session"
)

// policy is the content security policy of pages: our own files and nothing else, no inline script, no inline style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard keeps out whoever may not come in.
type guard struct{ site *site }

// guard wraps the routes: panics, headers, the Host check against DNS rebinding, requests from other sites.
func (s guard) guard(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bodies(s).drop(w, r)
		s.site.fail(w, r, http.StatusForbidden, "this request came from another site", "")
	}))
	inner := crossOrigin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = s.site.cfg.Proxy.receive(r)
		defer s.recover(w, r)
		defer setBusy(r, false)
		bodies(s).timed(w, r)
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
			bodies(s).drop(w, r)
			s.site.fail(w, r, http.StatusMisdirectedRequest, "the dashboard does not answer under this host name", "add the name to web.hosts in the settings")
			return
		}
		inner.ServeHTTP(w, r)
	})
}

func (s guard) recover(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
		panic(p)
	}
	s.site.cfg.Logger.Error("request panicked", "path", r.URL.Path, "err", p, "stack", string(debug.Stack()))
	s.site.fail(w, r, http.StatusInternalServerError, "something went wrong; see the log", "")
}

// knownHost reports whether the Host header names this server. A site that makes its own name resolve to 127.0.0.1 sends that
// name here; an address cannot be rebound.
func (s guard) knownHost(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(hostOf(host), "."))
	own := hostOf(s.site.cfg.Listen)
	if _, ok := socketPath(s.site.cfg.Listen); ok {
		own = "localhost"
	}
	switch {
	case name == "":
		return false
	case isLoopback(name) || strings.EqualFold(name, own):
		return true
	case slices.ContainsFunc(s.site.cfg.Hosts, func(h string) bool { return strings.EqualFold(h, name) }):
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

// allow lets a request through to a route when whoever sends it has the scope.
func (s guard) allow(r route) http.Handler {
	if r.Needs == nobody {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if bodies(s).gather(w, req, maxLogin) {
				r.Handler(w, req)
			}
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		id, err := s.identify(req)
		switch {
		case err != nil:
			bodies(s).drop(w, req)
			s.refuse(w, req, err)
		case r.Needs != signedIn && !id.Scopes.Has(r.Needs):
			bodies(s).drop(w, req)
			s.site.fail(w, req, http.StatusForbidden, "the scope "+string(r.Needs)+" is missing",
				fmt.Sprintf("you have %s; `vaultflow token create NAME --scope %s` makes a token that may do this", id.Scopes, r.Needs))
		default:
			s.handle(w, req.WithContext(session.With(req.Context(), id)), r)
		}
	})
}

// handle runs the handler of a request that may be made. Its body has arrived, or is an upload that keeps coming.
func (s guard) handle(w http.ResponseWriter, req *http.Request, r route) {
	if r.streams() {
		done, ok := bodies(s).paced(w, req)
		if !ok {
			return
		}
		defer done()
	} else if !bodies(s).gather(w, req, maxForm) {
		return
	}
	setBusy(req, true)
	r.Handler(w, req)
}

// errNobody is returned for a request without credentials.
var errNobody = errors.New("sign in first")

// identify finds out who sends a request: by a bearer token, else by whom a trusted proxy names, else by a session's cookie.
func (s guard) identify(r *http.Request) (session.Identity, error) {
	// Another kind of authorization is for a proxy in front, which passed it on.
	if kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "Bearer") {
		return s.site.cfg.Access.Bearer(strings.TrimSpace(token), clientOf(r))
	}
	if id, ok := byProxy(r); ok {
		return id, nil
	}
	if cookie, err := r.Cookie(s.cookieName()); err == nil {
		if id, ok := s.site.browsers().Session(cookie.Value); ok {
			return id, nil
		}
	}
	return session.Identity{}, errNobody
}

// refuse answers a request whose sender is not known.
func (s guard) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if wait, ok := errors.AsType[*session.WaitError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait.Wait/time.Second)+1))
		s.site.fail(w, r, http.StatusTooManyRequests, wait.Error(), "`vaultflow serve --url` prints a link that signs you in without waiting")
		return
	}
	known := errors.Is(err, errNobody) || errors.Is(err, session.ErrWrong)
	switch {
	case !known:
		s.site.failWith(w, r, err)
	case isPage(r):
		next := url.QueryEscape(s.site.cfg.Root + r.URL.RequestURI()) // of a vault below a front, whose page it is
		http.Redirect(w, r, "/login?next="+next, http.StatusSeeOther)
	default:
		w.Header().Set("WWW-Authenticate", `Bearer realm="vaultflow"`)
		message := "a token is needed"
		if errors.Is(err, session.ErrWrong) {
			message = "the token is not valid"
		}
		s.site.fail(w, r, http.StatusUnauthorized, message, "send `Authorization: Bearer …`; `vaultflow token create` makes a token")
	}
}

// isPage reports whether a browser asks for a page to show.
func isPage(r *http.Request) bool {
	return r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, "/api/") && r.URL.Path != "/live" && !strings.HasPrefix(r.URL.Path, "/media/")
}
