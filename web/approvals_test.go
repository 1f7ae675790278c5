package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

// asked is what waits for a yes, in memory.
type asked struct {
	list    []engine.Proposal
	decided []string
}

func (a *asked) Approvals(context.Context, string) ([]engine.Proposal, error) { return a.list, nil }

func (a *asked) Decide(_ context.Context, run string, items []int, approve bool) error {
	if items[0] == 9 {
		return engine.Fail(engine.CodeInput, "reload the page", "item 9 of run %s was approved already", run)
	}
	a.decided = append(a.decided, fmt.Sprint(run, items, approve))
	return nil
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	w.blobs["before"], w.blobs["after"], w.blobs["input"] = []byte("one\n"), []byte("one\n<script>alert(1)</script>\n"), []byte(`{"to": "ada"}`)
	a := &asked{list: []engine.Proposal{
		{Run: "r-1", Item: 1, Workflow: "Letters", Step: "Write", Kind: engine.ChangeWrite, Name: "Letters/a.md", Before: "before", After: "after", Created: now},
		{Run: "r-1", Item: 2, Workflow: "Letters", Step: "Write", Batch: 3, Kind: engine.ProposalCall, Tool: "post.send", Input: "input", Created: now, Deadline: now.AddDate(0, 0, 2), Origins: []string{"web https://example.org"}},
	}}
	s := w.server(t, fsys, func(c *Config) { c.Approvals = a })
	body := get(t, s, "/approvals").Body.String()
	for _, want := range []string{
		`<span class="add">&#43;&lt;script&gt;alert(1)&lt;/script&gt;`, "call post.send", "step Write, batch 3", "web https://example.org", "&#34;to&#34;", "rejected by itself",
		`<form method="post" action="/approvals/r-1" class="end"><input type="hidden" name="item" value="1"><input type="hidden" name="item" value="2">`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	for _, c := range []struct {
		form url.Values
		want int
	}{
		{url.Values{"item": {"1", "2"}, "decision": {"approve"}}, http.StatusSeeOther},
		{url.Values{"item": {"2"}, "decision": {"reject"}}, http.StatusSeeOther},
		{url.Values{"decision": {"approve"}}, http.StatusBadRequest},
		{url.Values{"item": {"x"}, "decision": {"approve"}}, http.StatusBadRequest},
		{url.Values{"item": {"1"}, "decision": {"maybe"}}, http.StatusBadRequest},
		{url.Values{"item": {"9"}, "decision": {"approve"}}, http.StatusConflict},
	} {
		if got := post(t, s, "/approvals/r-1", c.form, nil); got.Code != c.want {
			t.Errorf("%v: %d, want %d: %s", c.form, got.Code, c.want, got.Body)
		}
	}
	if got := post(t, s, "/approvals/r-1", url.Values{"item": {"1"}, "decision": {"approve"}}, map[string]string{"Sec-Fetch-Site": "cross-site"}); got.Code != http.StatusForbidden {
		t.Errorf("from another site: %d, want 403", got.Code)
	}
	if got, want := strings.Join(a.decided, "; "), "r-1[1 2] true; r-1[2] false"; got != want {
		t.Errorf("decided %q, want %q", got, want)
	}
	if got := get(t, s, "/api/v1/approvals").Body.String(); strings.Count(got, `"type":"approval"`) != 2 {
		t.Errorf("the API gives %s", got)
	}
	if got := get(t, w.server(t, fsys, nil), "/approvals"); got.Code != http.StatusNotFound {
		t.Errorf("without approvals: %d, want 404", got.Code)
	}
}
