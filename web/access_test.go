package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/web/session"
)

// with sends a token in place of the owner's.
func with(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

// bringing sends a cookie and no token.
func bringing(c *http.Cookie) func(*http.Request) {
	return func(r *http.Request) { anonymous(r); r.AddCookie(c) }
}

// ask sends a request of a method to a path that a pattern matches.
func ask(t *testing.T, s http.Handler, pattern string, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	method, path, ok := strings.Cut(pattern, " ")
	if !ok {
		method, path = http.MethodGet, "/no/such/page"
	}
	path = regexp.MustCompile(`\{[a-z]+(\.\.\.)?\}`).ReplaceAllString(strings.TrimSuffix(path, "{$}"), "x")
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:8321"+path, strings.NewReader(""))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	change(r)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestRoutes_eachAsksForItsScope(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, func(c *Config) { c.Approvals, c.Undo = nil, nil })
	tokens := map[session.Scope]string{} // with every scope but one, and with only one
	for _, scope := range session.All() {
		rest := slices.DeleteFunc(session.All(), func(o session.Scope) bool { return o == scope })
		for name, scopes := range map[session.Scope]session.Scopes{"not-" + scope: rest, scope: {scope}} {
			secret, _, err := s.site.cfg.Access.Tokens.Create(string(name), scopes, 0)
			if err != nil {
				t.Fatal(err)
			}
			tokens[name] = secret
		}
	}
	var open []string
	for _, r := range s.table() {
		got := ask(t, s, r.Pattern, anonymous)
		location := got.Header().Get("Location")
		switch {
		case r.Needs == nobody:
			open = append(open, r.Pattern)
			continue
		case got.Code == http.StatusSeeOther && strings.HasPrefix(location, "/login?next="), got.Code == http.StatusUnauthorized:
		default:
			t.Errorf("%s without a token: %d to %q", r.Pattern, got.Code, location)
		}
		if r.Needs == signedIn {
			continue
		}
		if got := ask(t, s, r.Pattern, with(tokens["not-"+r.Needs])); got.Code != http.StatusForbidden || !strings.Contains(got.Body.String(), "the scope "+string(r.Needs)+" is missing") {
			t.Errorf("%s without the scope %s: %d %s", r.Pattern, r.Needs, got.Code, got.Body)
		}
		if strings.HasSuffix(r.Pattern, "/live") || strings.HasSuffix(r.Pattern, "/events") {
			continue // they go on
		}
		if got := ask(t, s, r.Pattern, with(tokens[r.Needs])); got.Code == http.StatusForbidden || got.Code == http.StatusUnauthorized {
			t.Errorf("%s with the scope %s alone: %d %s", r.Pattern, r.Needs, got.Code, got.Body)
		}
	}
	if want := []string{"GET /healthz", "GET /static/{file}", "GET /login", "POST /login"}; !slices.Equal(open, want) {
		t.Errorf("open routes %q, want %q", open, want)
	}
}

func TestRoutes_aRowWithoutAScopeIsRefused(t *testing.T) {
	t.Parallel()
	none := func(http.ResponseWriter, *http.Request) {}
	for _, bad := range []route{
		{"GET /x", "", none}, {"GET /x", "admin", none}, {"POST /x", session.Read, none}, {"/x", session.Read, none}, {"GET /x", session.Read, nil},
	} {
		if bad.check() == nil {
			t.Errorf("%+v is let through", bad)
		}
	}
}

// The way in depends on the route and never on a word in the path.
func TestAccess_noPathIsOpenByItsText(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	open := []string{"static", "login", "healthz", "static/app.js", "static/style.css"}
	paths := []string{
		"/static/../runs/r-4", "/static/%2e%2e/runs/r-4", "/static/..%2fruns%2fr-4", "//static/app.js", "/static//../api/v1/runs", "/static/../../api/v1/runs",
		"/./static/../", "/static/", "/static/../", "/STATIC/app.js", "/static/app.js/../../api/v1/runs", "/login/../", "/healthz/..", "/static;/runs/r-4",
		"/runs/r-4?x=/static/", "/?/static/app.js", "/api/v1/runs?next=/login", "/runs/r-4#/static/", "/media/Attachments/whiteboard.png?/static/",
	}
	for _, word := range open {
		for _, prefix := range []string{"/", "/api/v1/", "/api/v1/runs/", "/api/v1/imports/", "/runs/", "/imports/", "/media/", "/x/", "/media/Attachments/"} {
			paths = append(paths, prefix+word+"/runs", prefix+word+"/", prefix+word+"/../r-4", prefix+word+"/../../runs/r-4", prefix+"x/"+word)
		}
	}
	secrets := []string{"Daily digest", "Linear algebra", "Notes", "PNG"}
	for _, path := range paths {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodOptions} {
			at := path
			for range 5 {
				got := ask(t, s, method+" "+at, anonymous)
				if method != http.MethodHead && slices.ContainsFunc(secrets, func(x string) bool { return strings.Contains(got.Body.String(), x) }) {
					t.Errorf("%s %s shows: %s", method, path, got.Body)
				}
				switch got.Code {
				case http.StatusUnauthorized:
				case http.StatusMovedPermanently, http.StatusTemporaryRedirect: // the router cleans a path
					at = got.Header().Get("Location")
					continue
				case http.StatusSeeOther:
					if !strings.HasPrefix(got.Header().Get("Location"), "/login") {
						t.Errorf("%s %s leads to %s", method, path, got.Header().Get("Location"))
					}
				case http.StatusOK, http.StatusNotFound:
					if clean, _, _ := strings.Cut(at, "?"); !strings.HasPrefix(clean, "/static/") && clean != "/login" && clean != "/healthz" {
						t.Errorf("%s %s is open: %d", method, path, got.Code)
					}
				default:
					t.Errorf("%s %s: %d %s", method, path, got.Code, got.Body)
				}
				break
			}
		}
	}
	if len(w.calls) > 0 || len(w.dropped) > 0 {
		t.Errorf("something was done: %v %v", w.calls, w.dropped)
	}
}

func TestAccess_tokensOfRequests(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	if got := get(t, s, "/runs/r-4", anonymous); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/login?next=%2Fruns%2Fr-4" {
		t.Errorf("a page without token: %d %v", got.Code, got.Header())
	}
	for _, header := range []string{"Bearer wrong", "Bearer ", "Bearer", "Basic " + ownerToken, ownerToken, "bearer  x"} {
		got := get(t, s, "/api/v1/runs", func(r *http.Request) { r.Header.Set("Authorization", header) })
		if got.Code != http.StatusUnauthorized && got.Code != http.StatusTooManyRequests {
			t.Errorf("%q: %d", header, got.Code)
		}
	}
	if got := get(t, s, "/api/v1/runs", with("wrong")); got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" {
		t.Errorf("after many wrong tokens: %d %v", got.Code, got.Header())
	}
	s = w.server(t, fsys, nil)
	if got := post(t, s, "/workflows/run", url.Values{"name": {"x"}}, map[string]string{"Authorization": ""}); got.Code != http.StatusUnauthorized || len(w.calls) > 0 {
		t.Errorf("an action without token: %d %v", got.Code, w.calls)
	}
	if got := get(t, s, "/api/v1/runs", func(r *http.Request) { r.Header.Set("Authorization", "bearer "+ownerToken) }); got.Code != http.StatusOK {
		t.Errorf("with the owner's token: %d", got.Code)
	}
}

// signInWith posts a code or token to the login page and returns the cookie.
func signInWith(t *testing.T, s http.Handler, secret string, headers map[string]string) *http.Cookie {
	t.Helper()
	all := map[string]string{"Authorization": ""}
	for k, v := range headers {
		all[k] = v
	}
	got := post(t, s, "/login", url.Values{"token": {secret}, "next": {"/runs/r-4"}}, all)
	cookies := got.Result().Cookies()
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/runs/r-4" || len(cookies) != 1 {
		t.Fatalf("sign in: %d %v", got.Code, got.Header())
	}
	return cookies[0]
}

func TestLogin_leavesASessionThatEnds(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	if got := post(t, s, "/login", url.Values{"token": {"guess"}}, map[string]string{"Authorization": ""}); got.Code != http.StatusUnauthorized || got.Header().Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: %d %v", got.Code, got.Header())
	}
	c := signInWith(t, s, ownerToken, nil)
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/" || strings.Contains(c.Value, ownerToken) || len(c.Value) < 43 {
		t.Errorf("cookie %v", c)
	}
	if got := get(t, s, "/api/v1/runs", bringing(c), func(r *http.Request) { r.SetBasicAuth("of", "a proxy") }); got.Code != http.StatusOK {
		t.Errorf("with the cookie, and a password of a proxy: %d", got.Code)
	}
	if got := get(t, s, "/", bringing(c)); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "Sign out") {
		t.Errorf("with the cookie: %d", got.Code)
	}
	again := signInWith(t, s, ownerToken, map[string]string{"Cookie": c.Name + "=" + c.Value})
	if got := get(t, s, "/api/v1/runs", bringing(c)); again.Value == c.Value || got.Code != http.StatusUnauthorized {
		t.Errorf("the id from before the sign-in: %d", got.Code)
	}
	out := post(t, s, "/logout", nil, map[string]string{"Authorization": "", "Cookie": again.Name + "=" + again.Value})
	if out.Code != http.StatusSeeOther || out.Header().Get("Location") != "/login" || out.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("sign out: %d %v", out.Code, out.Header())
	}
	if got := get(t, s, "/api/v1/runs", bringing(again)); got.Code != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", got.Code)
	}
}

func TestLogin_withAOneTimeCode(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	code, _ := s.site.cfg.Access.NewCode()
	signInWith(t, s, code, nil)
	if got := post(t, s, "/login", url.Values{"token": {code}}, map[string]string{"Authorization": ""}); got.Code != http.StatusUnauthorized {
		t.Errorf("a second time: %d", got.Code)
	}
	if got := get(t, s, "/login", anonymous).Body.String(); strings.Contains(got, "Notes") {
		t.Error("the login page says which vault this is")
	}
}

func TestAccount_sessionsAndTokens(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	mine, other := signInWith(t, s, ownerToken, nil), signInWith(t, s, ownerToken, map[string]string{"User-Agent": "Mozilla/5.0 (iPhone) Safari/1"})
	as := func(c *http.Cookie) map[string]string {
		return map[string]string{"Authorization": "", "Cookie": c.Name + "=" + c.Value}
	}
	page := get(t, s, "/account", bringing(mine)).Body.String()
	if !strings.Contains(page, "Safari on iPhone") || strings.Count(page, "this one") != 1 || strings.Contains(page, mine.Value) {
		t.Errorf("the page of sessions:\n%s", page)
	}
	made := post(t, s, "/account/tokens", url.Values{"name": {"phone"}, "scope": {"read", "approve"}, "days": {"30"}}, as(mine)).Body.String()
	secret := regexp.MustCompile(`vft_[\w-]{43}`).FindString(made)
	if got := get(t, s, "/api/v1/runs", with(secret)); secret == "" || got.Code != http.StatusOK {
		t.Errorf("the new token %q: %d", secret, got.Code)
	}
	if page = get(t, s, "/account", bringing(mine)).Body.String(); strings.Contains(page, secret) || !strings.Contains(page, "read, approve") {
		t.Error("the list shows the token's secret, or not the token")
	}
	for name, form := range map[string]url.Values{
		"no scope": {"name": {"x"}}, "bad days": {"name": {"x"}, "scope": {"read"}, "days": {"-1"}}, "bad name": {"name": {"a b"}, "scope": {"read"}}, "twice": {"name": {"phone"}, "scope": {"read"}},
	} {
		if got := post(t, s, "/account/tokens", form, as(mine)); got.Code != http.StatusBadRequest || strings.Contains(got.Body.String(), "vft_") {
			t.Errorf("%s: %d", name, got.Code)
		}
	}
	if got := post(t, s, "/account/tokens/phone/revoke", nil, as(mine)); got.Code != http.StatusSeeOther {
		t.Errorf("revoke: %d", got.Code)
	}
	if got := get(t, s, "/api/v1/runs", with(secret)); got.Code != http.StatusUnauthorized {
		t.Errorf("the revoked token: %d", got.Code)
	}
	id, _ := s.site.cfg.Access.Session(other.Value)
	post(t, s, "/account/sessions/"+id.Session+"/end", nil, as(mine))
	if got := get(t, s, "/api/v1/runs", bringing(other)); got.Code != http.StatusUnauthorized {
		t.Errorf("the session that was ended: %d", got.Code)
	}
	post(t, s, "/account/sessions/end", nil, as(mine))
	if got := get(t, s, "/api/v1/runs", bringing(mine)); got.Code != http.StatusUnauthorized {
		t.Errorf("after signing out everywhere: %d", got.Code)
	}
}

// Who may manage tokens makes none that can do more.
func TestAccount_noScopeFromNothing(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	keeper, _, err := s.site.cfg.Access.Tokens.Create("keeper", session.Scopes{session.Read, session.Trust}, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := post(t, s, "/account/tokens", url.Values{"name": {"more"}, "scope": {"read", "run"}}, map[string]string{"Authorization": "Bearer " + keeper})
	if list, err := s.site.cfg.Access.Tokens.List(); got.Code != http.StatusBadRequest || err != nil || len(list) != 1 {
		t.Errorf("%d, tokens %v %v", got.Code, list, err)
	}
}

func TestFoot_linksToSourceAndLicences(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	for _, path := range []string{"/", "/runs/r-4", "/login", "/nothing"} {
		if body := get(t, s, path).Body.String(); !strings.Contains(body, `vaultflow 0.1.0 <a href="`+sourceLink+`"`) {
			t.Errorf("%s does not link to the source of its version", path)
		}
	}
	if got := get(t, s, "/licences"); got.Body.String() != "the licences" || !strings.HasPrefix(got.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("licences: %v", got)
	}
}
