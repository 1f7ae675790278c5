package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Without settings, the dashboard is the owner's: nothing is open but /healthz, the link signs one browser in, once, and
// sessions and tokens outlive serve.
func TestDashboard_isTheOwners(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	d := s.serve()
	if said := d.said(); strings.Contains(said, "#code=") || !strings.Contains(said, "`vaultflow serve --url` prints a link") {
		t.Errorf("serve's log: %s", said)
	}
	var line struct {
		URL, Link string
		Expires   time.Time
	}
	if err := json.Unmarshal([]byte(s.Must("serve", "--url", "--json")), &line); err != nil {
		t.Fatal(err)
	}
	code, ok := strings.CutPrefix(line.Link, line.URL+"/login#code=")
	if left := time.Until(line.Expires); !ok || left <= 0 || left > 10*time.Minute {
		t.Fatalf("link %+v", line)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	status := func(method, path, header, value, body string) (int, []*http.Cookie) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.dashboard()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if header != "" {
			r.Header.Set(header, value)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode, answer.Cookies()
	}
	want := func(what string, got, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	for path, code := range map[string]int{"/healthz": 200, "/": 303, "/api/v1/runs": 401, "/live?view=today": 401, "/media/x.png": 401} {
		got, _ := status("GET", path, "", "", "")
		want(path+" without a token", got, code)
	}
	got, _ := status("POST", "/api/v1/runs", "", "", `{"workflow":"x"}`)
	want("start without a token", got, 401)
	got, cookies := status("POST", "/login", "", "", "token="+code)
	if want("sign in", got, 303); len(cookies) != 1 {
		t.Fatalf("cookies %v", cookies)
	}
	cookie := cookies[0].Name + "=" + cookies[0].Value
	got, _ = status("POST", "/login", "", "", "token="+code)
	want("the same link again", got, 401)
	read := "Bearer " + strings.TrimSpace(s.Must("token", "create", "reader", "--scope", "read"))
	got, _ = status("GET", "/api/v1/runs", "Authorization", read, "")
	want("read with a token for reading", got, 200)
	got, _ = status("POST", "/api/v1/runs", "Authorization", read, `{"workflow":"x"}`)
	want("start with a token for reading", got, 403)

	d.stop()
	s.serve()
	got, _ = status("GET", "/", "Cookie", cookie, "")
	want("the session after a restart", got, 200)
	got, _ = status("GET", "/api/v1/runs", "Authorization", read, "")
	want("the token after a restart", got, 200)
	s.Must("token", "revoke", "reader")
	got, _ = status("GET", "/api/v1/runs", "Authorization", read, "")
	want("the token after its end", got, 401)
	got, _ = status("POST", "/logout", "Cookie", cookie, "")
	want("sign out", got, 303)
	got, _ = status("GET", "/api/v1/runs", "Cookie", cookie, "")
	want("the session after its end", got, 401)

	for _, name := range []string{"web-token", "secret", "sessions.json", "tokens.json"} {
		info, err := os.Stat(filepath.Join(s.State, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
}
