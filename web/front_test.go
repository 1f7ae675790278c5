package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestFront: one sign-in is for all vaults, each page leads to others of its vault, and a stranger learns nothing.
func TestFront(t *testing.T) {
	t.Parallel()
	front := openAccess(t)
	w, fsys := sample()
	below := w.server(t, fsys, func(c *Config) { c.Front, c.Root, c.Instance = front, "/vaults/notes", "all" })
	f, err := NewFront(Config{Access: front, Instance: "all"}, func() []Listed {
		return []Listed{{Name: "notes", Dir: "/home/me/notes", Dashboard: below}, {Name: "gone", Dir: "/media/gone", Problem: "no such disk"}, {Name: "new", Dir: "/new"}, {Name: "full", Dir: "/full", Dashboard: below, Problem: "1 run waits: no space left"}}
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, cookie string, form string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://127.0.0.1:8321"+path, strings.NewReader(form))
		r.Header.Set("Accept", "text/html")
		if form != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if cookie != "" {
			r.Header.Set("Cookie", cookie)
		}
		answer := httptest.NewRecorder()
		f.ServeHTTP(answer, r)
		return answer
	}
	for path, want := range map[string]string{
		"/": "/login?next=%2F", "/vaults/notes/": "/login?next=%2Fvaults%2Fnotes%2F", "/vaults/notes/runs/1": "/login?next=%2Fvaults%2Fnotes%2Fruns%2F1",
		"/vaults/gone/": "/login?next=%2Fvaults%2Fgone%2F", "/vaults/other/": "/login?next=%2Fvaults%2Fother%2F",
	} {
		if got := ask(http.MethodGet, path, "", ""); got.Code != http.StatusSeeOther || got.Header().Get("Location") != want || strings.Contains(got.Body.String(), "home") {
			t.Errorf("%s, a stranger: %d %q", path, got.Code, got.Header().Get("Location"))
		}
	}
	code, _ := front.NewCode()
	signed := ask(http.MethodPost, "/login", "", "token="+code+"&next=/vaults/notes/")
	cookie, _, _ := strings.Cut(signed.Header().Get("Set-Cookie"), ";")
	if signed.Code != http.StatusSeeOther || signed.Header().Get("Location") != "/vaults/notes/" || cookie == "" {
		t.Fatalf("sign-in: %d %v", signed.Code, signed.Header())
	}
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/":              {200, `<a href="/vaults/notes/">notes</a>`},
		"/?":             {200, `/full: 1 run waits: no space left</p>`},
		"/vaults/full/":  {200, `data-root`},
		"/vaults/notes/": {200, `data-root="/vaults/notes"`},
		"/vaults/notes":  {303, ""},
		"/vaults/gone/":  {503, "no such disk"},
		"/vaults/new/x":  {503, "starting"},
		"/vaults/other/": {404, "nothing here"},
		"/runs/1":        {404, "nothing here"},
	} {
		if got := ask(http.MethodGet, path, cookie, ""); got.Code != want.code || !strings.Contains(got.Body.String(), want.text) {
			t.Errorf("%s: %d, want %d with %q\n%s", path, got.Code, want.code, want.text, got.Body.String())
		}
	}
	page := ask(http.MethodGet, "/vaults/notes/", cookie, "").Body.String()
	for _, attribute := range []string{`href="/`, `action="/`, `src="/`} {
		for _, rest := range strings.Split(page, attribute)[1:] {
			if !strings.HasPrefix(rest, "vaults/notes/") && !strings.HasPrefix(rest, `"`) { // the second: the list of vaults
				t.Errorf("a link leads out of the vault: %s%.40s", attribute, rest)
			}
		}
	}
	if got := ask(http.MethodPost, "/vaults/notes/workflows/run", cookie, "name=Tidy"); got.Code != http.StatusSeeOther || !strings.HasPrefix(got.Header().Get("Location"), "/vaults/notes/runs/") {
		t.Errorf("start: %d %s", got.Code, got.Header().Get("Location"))
	}
}
