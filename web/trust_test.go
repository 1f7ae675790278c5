package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
)

// vaultTrust is what a vault asks for, in memory.
type vaultTrust struct {
	level   string
	answers []engine.TrustAnswer
}

func (v *vaultTrust) Trust(context.Context) (engine.Trust, error) {
	return engine.Trust{
		Level: v.level, Means: "not trusted yet", Vault: "/vault",
		Settings: []engine.TrustSetting{
			{Key: "web_search", Digest: "d1", Says: "Send what models search for to <evil>", Value: "new\u202e", Was: "old"},
			{Key: "providers.lab", Digest: "d2", Says: "Send your notes to lab", Value: "lab", Granted: true},
		},
		Workflows: []engine.TrustWorkflow{
			{Name: "Daily", Digest: "w1", Enabled: true, Reach: []string{"writes to Daily.md"}, New: []string{"writes to Daily.md"}, Gone: []string{"may connect to a.org"}},
			{Name: "Known", Digest: "w2", Granted: true},
		},
	}, nil
}

func (v *vaultTrust) Decide(_ context.Context, a engine.TrustAnswer) (bool, error) {
	if len(a.Settings) > 0 && a.Settings[0] == "gone" {
		return false, failure.New(failure.Conflict, "", "what the vault asks for has changed since it was shown; look at it again")
	}
	v.answers = append(v.answers, a)
	return a.Level != "", nil
}

func TestTrust_page(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	v := &vaultTrust{level: "shared"}
	s := w.server(t, fsys, func(c *Config) { c.Trust = v })
	body := get(t, s, "/trust").Body.String()
	for _, want := range []string{
		"Send what models search for to &lt;evil&gt;", `<span class="del">-old</span><span class="add">+new&lt;U&#43;202E&gt;</span>`,
		`<input type="hidden" name="setting" value="d1">`, `<span class="add">+writes to Daily.md</span>`, `<span class="del">-may connect to a.org</span>`,
		`<input type="hidden" name="workflow" value="Daily w1">`, `name="level" value="own"`, `name="level" value="untrusted"`, `<a href="/trust">Trust</a>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	for _, not := range []string{`value="d2"`, `value="Known w2"`, `value="shared"`} {
		if strings.Contains(body, not) {
			t.Errorf("the page offers %s", not)
		}
	}
	v.level = "untrusted"
	if body := get(t, s, "/trust").Body.String(); strings.Contains(body, `name="workflow"`) || !strings.Contains(body, `value="shared"`) {
		t.Errorf("in an untrusted vault the page offers single grants:\n%s", body)
	}
	if got := get(t, s, "/api/v1/trust").Body.String(); !strings.Contains(got, `"type":"trust","level":"untrusted"`) {
		t.Errorf("the API says %s", got)
	}
	if got := get(t, w.server(t, fsys, nil), "/trust"); got.Code != http.StatusNotFound {
		t.Errorf("without trust: %d", got.Code)
	}
}

func TestTrust_isAMatterOfTheFirstPage(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	show := func(brief *engine.TrustBrief) string {
		s := w.server(t, fsys, func(c *Config) {
			before := c.Overview
			c.Overview = func(ctx context.Context) (engine.Overview, error) {
				o, err := before(ctx)
				o.Trust = brief
				return o, err
			}
		})
		return get(t, s, "/").Body.String()
	}
	if body := show(&engine.TrustBrief{Level: "untrusted", Means: "not trusted yet"}); !strings.Contains(body, "not trusted yet") || !strings.Contains(body, `href="/trust"`) {
		t.Errorf("the first page says nothing of a vault that is not trusted:\n%s", body)
	}
	if body := show(&engine.TrustBrief{Level: "own", Means: "your own", Waiting: 2}); !strings.Contains(body, "waiting for your approval: 2") {
		t.Error("the first page says nothing of what waits")
	}
	if body := show(&engine.TrustBrief{Level: "own", Means: "your own"}); strings.Contains(body, "your own") {
		t.Error("the first page troubles people with nothing")
	}
}

// Only a person who has signed in may answer: not a token of a program, not a page of another site.
func TestTrust_isAPersons(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	v := &vaultTrust{level: "shared"}
	s := w.server(t, fsys, func(c *Config) { c.Trust = v })
	cookie := signInWith(t, s, ownerToken, nil)
	as := func(headers map[string]string) map[string]string {
		headers["Authorization"], headers["Cookie"] = "", fmt.Sprintf("%s=%s", cookie.Name, cookie.Value)
		return headers
	}
	own := url.Values{"level": {"own"}, "setting": {"d1"}}
	for name, c := range map[string]struct {
		form    url.Values
		headers map[string]string
		want    int
	}{
		"a token":      {own, nil, http.StatusForbidden},
		"nobody":       {own, map[string]string{"Authorization": ""}, http.StatusUnauthorized},
		"another site": {own, as(map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}), http.StatusForbidden},
		"nothing":      {url.Values{}, as(map[string]string{}), http.StatusBadRequest},
		"what was not": {url.Values{"setting": {"gone"}}, as(map[string]string{}), http.StatusConflict},
		"a new level":  {own, as(map[string]string{}), http.StatusOK},
		"a workflow":   {url.Values{"workflow": {"Daily w1"}}, as(map[string]string{}), http.StatusSeeOther},
	} {
		before := len(v.answers)
		got := post(t, s, "/trust", c.form, c.headers)
		if got.Code != c.want {
			t.Errorf("%s: %d, want %d: %s", name, got.Code, c.want, got.Body)
		}
		if stored := len(v.answers) > before; stored != (c.want < 400) {
			t.Errorf("%s: an answer was stored: %v", name, stored)
		}
		if refresh := got.Header().Get("Refresh"); (refresh != "") != (name == "a new level") {
			t.Errorf("%s: refresh %q", name, refresh)
		}
	}
}
