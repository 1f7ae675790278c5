package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/web/session"
)

// from gives a request a peer, takes its token away and sets headers.
func from(peer string, headers ...string) func(*http.Request) {
	return func(r *http.Request) {
		anonymous(r)
		r.RemoteAddr = peer
		for i := 0; i < len(headers); i += 2 {
			r.Header.Add(headers[i], headers[i+1])
		}
	}
}

func behindProxy(c *Config) {
	c.Hosts = []string{"notes.example"}
	c.Proxy = Proxy{Trust: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}, UserHeader: "Remote-User"}
}

func TestProxy_onlyATrustedOneNamesUsers(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, behindProxy)
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"the proxy":           {from("10.0.0.7:1", "Remote-User", "ingrid"), http.StatusOK},
		"without a user":      {from("10.0.0.7:1"), http.StatusUnauthorized},
		"an empty user":       {from("10.0.0.7:1", "Remote-User", ""), http.StatusUnauthorized},
		"two users":           {from("10.0.0.7:1", "Remote-User", "ingrid", "Remote-User", "mallory"), http.StatusUnauthorized},
		"a strange user":      {from("10.0.0.7:1", "Remote-User", "a\u202eb"), http.StatusUnauthorized},
		"a long user":         {from("10.0.0.7:1", "Remote-User", strings.Repeat("x", 65)), http.StatusUnauthorized},
		"somebody else":       {from("10.0.1.7:1", "Remote-User", "ingrid"), http.StatusUnauthorized},
		"this machine":        {from("127.0.0.1:1", "Remote-User", "ingrid"), http.StatusUnauthorized},
		"a socket":            {from("@", "Remote-User", "ingrid"), http.StatusUnauthorized},
		"claiming to be it":   {from("127.0.0.1:1", "Remote-User", "ingrid", "X-Forwarded-For", "10.0.0.7", "X-Real-Ip", "10.0.0.7"), http.StatusUnauthorized},
		"mapped into IPv6":    {from("[::ffff:10.0.0.7]:1", "Remote-User", "ingrid"), http.StatusOK},
		"another spelling":    {from("127.0.0.1:1", "REMOTE-USER", "ingrid"), http.StatusUnauthorized},
		"a wrong token as it": {from("10.0.0.7:1", "Remote-User", "ingrid", "Authorization", "Bearer wrong"), http.StatusUnauthorized},
	} {
		if got := get(t, s, "/api/v1/runs", c.change); got.Code != c.status {
			t.Errorf("%s: %d, want %d", name, got.Code, c.status)
		}
	}
	none := w.server(t, fsys, func(c *Config) { behindProxy(c); c.Proxy.UserHeader = "" })
	if got := get(t, none, "/api/v1/runs", from("10.0.0.7:1", "Remote-User", "ingrid")); got.Code != http.StatusUnauthorized {
		t.Errorf("a header that the settings do not name: %d", got.Code)
	}
	body := get(t, s, "/", from("10.0.0.7:1", "Remote-User", "ingrid")).Body.String()
	if !strings.Contains(body, "<span>ingrid</span>") || strings.Contains(body, "Sign out") {
		t.Error("the page does not name the user, or offers to end a session that is not ours")
	}
}

func TestProxy_unixSocket(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, func(c *Config) { c.Listen, c.Proxy = "unix:/x", Proxy{TrustUnix: true, UserHeader: "Remote-User"} })
	for peer, want := range map[string]int{"@": 200, "": 200, "127.0.0.1:1": 401} {
		if got := get(t, s, "/api/v1/runs", from(peer, "Remote-User", "ingrid")); got.Code != want {
			t.Errorf("%q: %d, want %d", peer, got.Code, want)
		}
	}
	if got := get(t, s, "/healthz", func(r *http.Request) { r.Host = "evil.example" }); got.Code != http.StatusMisdirectedRequest {
		t.Errorf("another host: %d", got.Code)
	}
}

func TestProxy_hostAndProtocol(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, behindProxy)
	through := func(peer string) *httptest.ResponseRecorder {
		return post(t, s, "/login", url.Values{"token": {ownerToken}}, map[string]string{
			"Authorization": "", "peer": peer, "X-Forwarded-Host": "notes.example", "X-Forwarded-Proto": "https", "Origin": "https://notes.example",
		})
	}
	got := through("10.0.0.7:1")
	if cookies := got.Result().Cookies(); got.Code != http.StatusSeeOther || len(cookies) != 1 || !cookies[0].Secure {
		t.Errorf("through the proxy: %d %v", got.Code, cookies)
	}
	if got := through("10.9.9.9:1"); got.Code != http.StatusForbidden {
		t.Errorf("from somebody else, who is another site: %d", got.Code)
	}
	if got := get(t, s, "/healthz", from("10.0.0.7:1", "X-Forwarded-Host", "evil.example")); got.Code != http.StatusMisdirectedRequest {
		t.Errorf("a host that is not ours: %d", got.Code)
	}
}

func TestProxy_client(t *testing.T) {
	t.Parallel()
	p := Proxy{Trust: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}}
	for name, c := range map[string]struct {
		peer string
		list []string
		want string
	}{
		"one":             {"10.0.0.7:1", []string{"192.0.2.1"}, "192.0.2.1"},
		"invented before": {"10.0.0.7:1", []string{"127.0.0.1, 192.0.2.1"}, "192.0.2.1"},
		"two lines":       {"10.0.0.7:1", []string{"127.0.0.1", "192.0.2.1, 10.0.0.9"}, "192.0.2.1"},
		"nonsense":        {"10.0.0.7:1", []string{"unknown"}, "10.0.0.7"},
		"no proxy":        {"192.0.2.9:1", []string{"127.0.0.1"}, "192.0.2.9"},
		"nothing":         {"10.0.0.7:1", nil, "10.0.0.7"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr = c.peer
		r.Header["X-Forwarded-For"] = c.list
		if got := clientOf(p.receive(r)).String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Names of people and tokens reach whoever records a decision.
func TestProxy_nameReachesTheDecision(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, behindProxy)
	var who session.Identity
	h := guard{s.site}.guard(guard{s.site}.allow(route{"POST /x", session.Approve, func(_ http.ResponseWriter, r *http.Request) { who = session.From(r.Context()) }}))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://notes.example/x", nil)
	r.RemoteAddr = "10.0.0.7:1"
	r.Header.Set("Remote-User", "ingrid")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if who.Name != "ingrid" || !who.Scopes.Has(session.Approve) {
		t.Errorf("the handler is told %+v", who)
	}
}
