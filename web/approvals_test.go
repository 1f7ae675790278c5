package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

// asked is what waits for a yes, in memory.
type asked struct {
	list    []engine.Proposal
	decided []string
	kept    []string
}

func (a *asked) Approvals(_ context.Context, run string) ([]engine.Proposal, error) {
	return slices.DeleteFunc(slices.Clone(a.list), func(p engine.Proposal) bool { return run != "" && p.Run != run }), nil
}

func (a *asked) Decide(_ context.Context, d engine.Decision) error {
	text := fmt.Sprint(d.Run, d.Items, d.Approve)
	for _, more := range []string{d.Reason, d.Edited} {
		if more != "" {
			text += " " + more
		}
	}
	a.decided = append(a.decided, text)
	return nil
}

func (a *asked) Keep(_ context.Context, edited []byte) (string, error) {
	a.kept = append(a.kept, string(edited))
	return "kept", nil
}

func (a *asked) Seen(viewer string, p engine.Proposal, page int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %s %d %s %d", viewer, p.Run, p.Item, p.Digest(), page))
	return hex.EncodeToString(sum[:8])
}

func (a *asked) HasSeen(token, viewer string, p engine.Proposal, page int) bool {
	return token == a.Seen(viewer, p, page)
}

var seenField = regexp.MustCompile(`name="seen" value="(\d+):([0-9a-f]+)"`)

// formTokens are those in the forms of a page, by item.
func formTokens(body string) map[string]string {
	found := map[string]string{}
	for _, m := range seenField.FindAllStringSubmatch(body, -1) {
		found[m[1]] = m[1] + ":" + m[2]
	}
	return found
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	w.blobs["before"], w.blobs["after"], w.blobs["input"] = []byte("one\n"), []byte("one\n<script>alert(1)</script>\u202e\n"), []byte(`{"to": "ada"}`)
	a := &asked{list: []engine.Proposal{
		{Run: "r-1", Item: 1, Workflow: "Letters", Step: "Write", Kind: engine.ChangeWrite, Name: "Letters/a.md", Before: "before", After: "after", Created: now},
		{Run: "r-1", Item: 2, Workflow: "Letters", Step: "Write", Batch: 3, Kind: engine.ProposalCall, Tool: "post.send", Input: "input", Created: now, Deadline: now.AddDate(0, 0, 2), Origins: []string{"web https://example.org\u200b"}},
	}}
	s := w.server(t, fsys, func(c *Config) { c.Approvals = a })
	body := get(t, s, "/approvals").Body.String()
	for _, want := range []string{
		`<span class="add">&#43;&lt;script&gt;alert(1)&lt;/script&gt;&lt;U&#43;202E&gt;`, "call post.send", "step Write, batch 3", "web https://example.org&lt;U&#43;200B&gt;", "&#34;to&#34;", "rejected automatically",
		`<span class="at">@@ `, `<span class="notice">! Characters that cannot be seen`, "Approve all", "Reject all",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	seen := formTokens(body)
	if len(seen) != 2 {
		t.Fatalf("tokens %v, want one for each item", seen)
	}
	for _, c := range []struct {
		form url.Values
		want int
	}{
		{url.Values{"item": {"1", "2"}, "decision": {"approve"}, "seen": {seen["1"], seen["2"]}}, http.StatusSeeOther},
		{url.Values{"item": {"2"}, "decision": {"reject"}}, http.StatusSeeOther},
		{url.Values{"item": {"2"}, "decision": {"reject"}, "reason": {" wrong\n year\u202e "}}, http.StatusSeeOther},
		{url.Values{"decision": {"approve"}}, http.StatusBadRequest},
		{url.Values{"item": {"x"}, "decision": {"approve"}}, http.StatusBadRequest},
		{url.Values{"item": {"1"}, "decision": {"maybe"}}, http.StatusBadRequest},
		{url.Values{"item": {"1"}, "decision": {"approve"}}, http.StatusForbidden},
		{url.Values{"item": {"1"}, "decision": {"approve"}, "seen": {strings.Replace(seen["2"], "2:", "1:", 1)}}, http.StatusForbidden},
		{url.Values{"item": {"1", "2"}, "decision": {"approve"}, "seen": {seen["1"]}}, http.StatusForbidden},
		{url.Values{"item": {"9"}, "decision": {"approve"}, "seen": {seen["1"]}}, http.StatusConflict},
		{url.Values{"item": {"2"}, "decision": {"reject"}, "reason": {strings.Repeat("x", 501)}}, http.StatusConflict},
	} {
		if got := post(t, s, "/approvals/r-1", c.form, nil); got.Code != c.want {
			t.Errorf("%v: %d, want %d: %s", c.form, got.Code, c.want, got.Body)
		}
	}
	if got := post(t, s, "/approvals/r-1", url.Values{"item": {"1"}, "decision": {"approve"}, "seen": {seen["1"]}}, map[string]string{"Sec-Fetch-Site": "cross-site"}); got.Code != http.StatusForbidden {
		t.Errorf("from another site: %d, want 403", got.Code)
	}
	if got, want := strings.Join(a.decided, "; "), "r-1[1 2] true; r-1[2] false; r-1[2] false wrong year<U+202E>"; got != want {
		t.Errorf("decided %q, want %q", got, want)
	}
	a.list[0].After = "input" // it is proposed anew: what was shown before counts no more
	if got := post(t, s, "/approvals/r-1", url.Values{"item": {"1"}, "decision": {"approve"}, "seen": {seen["1"]}}, nil); got.Code != http.StatusForbidden {
		t.Errorf("with a token of another content: %d, want 403", got.Code)
	}
	if got := get(t, s, "/api/v1/approvals").Body.String(); strings.Count(got, `"type":"approval"`) != 2 {
		t.Errorf("the API gives %s", got)
	}
	if got := get(t, w.server(t, fsys, nil), "/approvals"); got.Code != http.StatusNotFound {
		t.Errorf("without approvals: %d, want 404", got.Code)
	}
}

// A prompt is shown with what changed since the one that was approved last, and no line of it as one of a diff.
func TestApprovals_prompt(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	w.blobs["input"] = []byte("--- user ---\n- a list\n+ more\n")
	a := &asked{list: []engine.Proposal{
		{Run: "r-1", Item: 1, Workflow: "Look", Step: "Write", Kind: engine.ProposalPrompt, Name: "sonnet", Input: "input", Created: now, Differences: []string{"note changed: a.md"}},
	}}
	s := w.server(t, fsys, func(c *Config) { c.Approvals = a })
	body := get(t, s, "/approvals").Body.String()
	for _, want := range []string{
		"send the prompt to sonnet", "<span>the prompt of Write: differs from the one that was approved last:\n", "<span>  note changed: a.md\n", "<span>--- user ---\n", "<span>- a list\n", "<span>&#43; more\n",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s:\n%s", want, body)
		}
	}
	if token := formTokens(body)["1"]; post(t, s, "/approvals/r-1", url.Values{"item": {"1"}, "decision": {"approve"}, "seen": {token}}, nil).Code != http.StatusSeeOther {
		t.Error("what was shown cannot be approved")
	}
	if got := get(t, s, "/approvals/r-1/1").Body.String(); strings.Contains(got, "<textarea") {
		t.Error("a prompt can be edited")
	}
}

// A long change is approved from its last page alone, by somebody who came there through the pages before.
func TestApprovals_pageByPage(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	w.blobs["after"] = []byte(strings.Repeat("line of a long letter\n", 7000) + "the last line\n")
	a := &asked{list: []engine.Proposal{
		{Run: "r-1", Item: 1, Workflow: "Letters", Step: "Write", Kind: engine.ChangeCreate, Name: "a.md", After: "after", Created: now},
		{Run: "r-1", Item: 2, Workflow: "Letters", Step: "Write", Kind: engine.ChangeCreate, Name: "gone.md", Before: "nowhere", After: "after", Created: now},
		{Run: "r-1", Item: 3, Workflow: "Letters", Step: "Write", Kind: engine.ChangeMove, Name: "a.md", To: "b.md", Created: now},
	}}
	s := w.server(t, fsys, func(c *Config) { c.Approvals = a })
	approve := func(token string) int {
		return post(t, s, "/approvals/r-1", url.Values{"item": {"1"}, "decision": {"approve"}, "seen": {"1:" + token}}, nil).Code
	}
	list := get(t, s, "/approvals").Body.String()
	if found := formTokens(list); len(found) != 1 || found["3"] == "" || strings.Contains(list, "the last line") {
		t.Errorf("the list has tokens %v, want one for the short change alone", found)
	}
	if !strings.Contains(list, "cannot be shown in full") {
		t.Error("the page does not say that a change cannot be shown whole")
	}
	next := regexp.MustCompile(`href="(/approvals/r-1/1\?page=\d+&amp;seen=([0-9a-f]*))"`)
	at, pages := "/approvals/r-1/1", 0
	for {
		body := get(t, s, at).Body.String()
		pages++
		m := next.FindStringSubmatch(body)
		if m == nil {
			break
		}
		if formTokens(body)["1"] != "" {
			t.Errorf("page %d can be approved", pages)
		}
		if got := approve(m[2]); got != http.StatusForbidden {
			t.Errorf("with the token of page %d: %d, want 403", pages, got)
		}
		at = html.UnescapeString(m[1])
	}
	if pages < 3 {
		t.Fatalf("%d pages, want more", pages)
	}
	last := fmt.Sprintf("/approvals/r-1/1?page=%d", pages)
	for _, path := range []string{last, last + "&seen=", last + "&seen=" + a.Seen("", a.list[0], pages-1), last + "&seen=" + a.Seen("\x00", a.list[0], pages-2)} {
		if body := get(t, s, path).Body.String(); len(formTokens(body)) != 0 || !strings.Contains(body, "read it from the first page") || !strings.Contains(body, "the last line") {
			t.Errorf("%s without the pages before: tokens %v", path, formTokens(body))
		}
	}
	if m := next.FindStringSubmatch(get(t, s, "/approvals/r-1/1?page=2").Body.String()); m == nil || m[2] != "" {
		t.Errorf("page 2 without page 1 leads on with %q, want no token", m)
	}
	token := strings.TrimPrefix(formTokens(get(t, s, at).Body.String())["1"], "1:")
	if got := approve(token); got != http.StatusSeeOther || len(a.decided) != 1 {
		t.Errorf("from the last page: %d, decided %v", got, a.decided)
	}
	for page := range pages + 2 {
		form := url.Values{"item": {"2"}, "decision": {"approve"}, "seen": {"2:" + a.Seen("\x00", a.list[1], page)}}
		if got := post(t, s, "/approvals/r-1", form, nil); got.Code != http.StatusForbidden {
			t.Errorf("what cannot be shown whole, with the token of page %d: %d, want 403", page, got.Code)
		}
	}
	if got := get(t, s, "/approvals/r-1/7"); got.Code != http.StatusNotFound {
		t.Errorf("an item that does not wait: %d, want 404", got.Code)
	}
}

// The list has its bound: what is not shown on it is approved on its own page.
func TestApprovals_manyLong(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	w.blobs["after"] = []byte(strings.Repeat("a line of a letter that is rather long\n", 1400))
	a := &asked{}
	for i := range 80 {
		a.list = append(a.list, engine.Proposal{Run: "r-1", Item: i + 1, Workflow: "Letters", Step: "Write", Kind: engine.ChangeCreate, Name: "a.md", After: "after", Created: now})
	}
	s := w.server(t, fsys, func(c *Config) { c.Approvals = a })
	body := get(t, s, "/approvals").Body.String()
	found := formTokens(body)
	if len(body) > 2*maxListed || len(found) == 0 || len(found) == 80 || !strings.Contains(body, fmt.Sprintf("Approve the %d shown in full", len(found))) {
		t.Errorf("%d bytes with %d tokens", len(body), len(found))
	}
	if one := formTokens(get(t, s, "/approvals/r-1/80").Body.String()); one["80"] == "" {
		t.Error("the last item cannot be approved on its page")
	}
}

// What a person writes in the text field is kept byte for byte, with the ends of lines that the text had.
func TestApprovals_edited(t *testing.T) {
	t.Parallel()
	for after, want := range map[string]string{"\none\ntwo\n": "mine\nand mine\n", "one\r\ntwo\r\n": "mine\r\nand mine\r\n"} {
		w, fsys := sample()
		w.blobs["after"] = []byte(after)
		a := &asked{list: []engine.Proposal{{Run: "r-1", Item: 1, Workflow: "Letters", Step: "Write", Kind: engine.ChangeCreate, Name: "a.md", After: "after", Created: now}}}
		s := w.server(t, fsys, func(c *Config) { c.Approvals = a })
		body := get(t, s, "/approvals/r-1/1").Body.String()
		if !strings.Contains(body, "<textarea id=\"content\" name=\"content\" rows=\"20\" spellcheck=\"false\">\n"+after+"</textarea>") {
			t.Errorf("the page lacks the text to edit:\n%s", body)
		}
		form := url.Values{"item": {"1"}, "decision": {"edit"}, "seen": {formTokens(body)["1"]}, "content": {"mine\r\nand mine\r\n"}}
		if got := post(t, s, "/approvals/r-1", form, nil); got.Code != http.StatusSeeOther {
			t.Fatalf("%d: %s", got.Code, got.Body)
		}
		if len(a.kept) != 1 || a.kept[0] != want || a.decided[0] != "r-1[1] true kept" {
			t.Errorf("kept %q, decided %q; want %q", a.kept, a.decided, want)
		}
		form.Del("seen")
		if got := post(t, s, "/approvals/r-1", form, nil); got.Code != http.StatusForbidden || len(a.kept) != 1 {
			t.Errorf("without the token: %d, kept %q", got.Code, a.kept)
		}
	}
}
