package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestGuard_headersOnEveryAnswer(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	for _, path := range []string{"/", "/runs/r-4", "/imports/i-1", "/nothing", "/api/v1/runs", "/static/app.js", "/healthz"} {
		h := get(t, s, path).Header()
		if csp := h.Get("Content-Security-Policy"); csp != policy || strings.Contains(csp, "unsafe") || strings.Contains(csp, "*") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Frame-Options") != "DENY" || h.Get("Access-Control-Allow-Origin") != "" ||
			h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
}

func TestGuard_pagesNeedNoInlineCode(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	for _, path := range []string{"/", "/runs/r-4", "/imports/i-1", "/account", "/login"} {
		body := strings.Replace(get(t, s, path).Body.String(), `<a href="`+sourceLink+`"`, "", 1) // nothing is loaded from there
		for _, bad := range []string{" style=", " onclick=", "<style", "http://", "https://", "<script>"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %q", path, bad)
			}
		}
	}
}

func TestGuard_host(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	cases := []struct {
		listen, host string
		known        bool
	}{
		{"127.0.0.1:8321", "127.0.0.1:8321", true},
		{"127.0.0.1:8321", "localhost:8321", true},
		{"127.0.0.1:8321", "LOCALHOST.", true},
		{"127.0.0.1:8321", "[::1]:8321", true},
		{"127.0.0.1:8321", "notes.example:8321", true},
		{"127.0.0.1:8321", "evil.example:8321", false},
		{"127.0.0.1:8321", "localhost.evil.example", false},
		{"127.0.0.1:8321", "127.0.0.1.evil.example", false},
		{"127.0.0.1:8321", "192.168.1.5:8321", false},
		{"127.0.0.1:8321", "", false},
		{"192.168.1.5:8321", "192.168.1.5:8321", true},
		{"192.168.1.5:8321", "192.168.1.6:8321", false},
		{"0.0.0.0:8321", "192.168.1.5:8321", true},
		{":8321", "[fe80::1]:8321", true},
		{"0.0.0.0:8321", "evil.example:8321", false},
	}
	for _, c := range cases {
		s := w.server(t, fsys, func(cfg *Config) {
			cfg.Listen, cfg.Hosts = c.listen, []string{"Notes.example"}
		})
		got := get(t, s, "/healthz", func(r *http.Request) { r.Host = c.host })
		if known := got.Code == http.StatusOK; known != c.known {
			t.Errorf("listening on %s, host %q: %d, want known %v", c.listen, c.host, got.Code, c.known)
		}
	}
}

func post(t *testing.T, s http.Handler, path string, form url.Values, headers map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:8321"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Authorization", "Bearer "+ownerToken)
	for k, v := range headers {
		if k == "peer" {
			r.RemoteAddr = v
			continue
		}
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestGuard_refusesOtherSites(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	form := url.Values{"name": {"Daily digest"}}
	for _, headers := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:9999"},
	} {
		for _, path := range []string{"/workflows/run", "/runs/r-5/cancel", "/upload", "/api/v1/runs", "/login"} {
			if got := post(t, s, path, form, headers); got.Code != http.StatusForbidden {
				t.Errorf("%s with %v: %d, want 403", path, headers, got.Code)
			}
		}
	}
	if len(w.calls) > 0 {
		t.Errorf("something was done all the same: %v", w.calls)
	}
	got := post(t, s, "/workflows/run", form, map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8321"})
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/runs/r-new" || len(w.calls) != 1 || w.calls[0] != "start Daily digest" {
		t.Errorf("our own page: %d %v %v", got.Code, got.Header(), w.calls)
	}
	form.Set("file", " Notes/a.md ")
	post(t, s, "/workflows/run", form, map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8321"})
	if w.calls[1] != "start Daily digest Notes/a.md" {
		t.Errorf("with a file: %q", w.calls)
	}
}

func TestLogin_goesNowhereElse(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/runs/1": "/runs/1", "": "/", "//evil.example": "/", "https://evil.example": "/", `/\evil.example`: "/", "/a\r\nSet-Cookie: x": "/",
	} {
		if got := localPath(next); got != want {
			t.Errorf("localPath(%q) = %q, want %q", next, got, want)
		}
	}
}

func TestNew_needsAccess(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	c := w.config(t, fsys)
	c.Access = nil
	if _, err := New(c); err == nil {
		t.Error("a dashboard that asks nobody")
	}
	if _, err := New(Config{}); err == nil {
		t.Error("a dashboard over nothing")
	}
}
