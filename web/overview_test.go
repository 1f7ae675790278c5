package web

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
)

// What a person should see to stands above everything else, with a way to it; a quiet day has no such list.
func TestToday_matters(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	var o engine.Overview
	server := w.server(t, fsys, func(c *Config) {
		c.Overview = func(context.Context) (engine.Overview, error) { return o, nil }
	})
	if body := get(t, server, "/").Body.String(); strings.Contains(body, "matters") {
		t.Error("a list of nothing")
	}
	o.Day.Since, o.Day.Runs, o.Day.Failed, o.Day.Skipped = now.Truncate(24*time.Hour), 1234, 2, 3
	o.Day.Spending = cost.Spending{Calls: 5, Cost: cost.Amount{USD: 0.05, Tokens: 5000}, Presumed: cost.Amount{USD: 0.01, Tokens: 1000}}
	o.Month.Spending = cost.Spending{Calls: 50, Cost: cost.Amount{USD: 12.345}}
	o.Month.Limit.USD = 20
	o.Next = []engine.SlotRecord{{Workflow: "Nightly", Slot: now.Add(2 * time.Hour)}}
	o.Approvals = []engine.RunBrief{{Run: "r-a", Subject: "Plan", Status: engine.AwaitingApproval, Reason: "2 files <b>", Since: now}}
	o.Waiting = []engine.FileBrief{{Name: "Import/locked.pdf", State: engine.ImportNeedsPassword}, {Name: "Import/growing.pdf", State: engine.ImportReceiving}}
	o.Paused = []engine.PauseBrief{{Workflow: "Digest", Reason: "paused after 3 failures in a row"}}
	o.Failures = []engine.RunBrief{
		{Run: "r-f", Kind: engine.KindWorkflow, Subject: "Digest", Status: engine.Refused, Reason: "it would not", Since: now.Add(-time.Hour), Files: []string{"a", "b", "c", "d"}},
		{Run: "i-f", Kind: engine.KindImport, Subject: "Import/x.pdf", Status: engine.Failed, Reason: "no PDF", Since: now},
	}
	o.Omissions = []engine.RunBrief{{Run: "r-o", Kind: engine.KindWorkflow, Subject: "Plan", Status: engine.DoneWithOmissions, Reason: "pages 21-600: not shown", Since: now}}
	o.Trouble = "2 runs wait: no space <left>"
	o.Reload = engine.Reload{Files: []string{".env", "settings.yaml"}, Faults: []string{"settings.yaml:3: bad"}}
	body := get(t, server, "/").Body.String()
	for _, want := range []string{
		"<dt>runs</dt><dd>1234</dd>", "<dt>failed</dt><dd>2</dd>", "<dt>skipped</dt><dd>3</dd>", "<dt>files waiting</dt><dd>2</dd>", "4,000 tokens, at most 5,000",
		"at most $0.0500", "<dt>this month</dt><dd>$12.3", " of $20.00</dd>", "today 16:05</time> Nightly", `<a href="/approvals#h-r-a">Plan</a> <span>2 files &lt;b&gt;</span>`,
		"<b>This vault</b> <span>2 runs wait: no space &lt;left&gt;", "<b>Changed settings</b> <span>.env, settings.yaml: changed, and serve continues with the former settings: settings.yaml:3: bad", "<b>Import/locked.pdf</b>", "<b>Digest</b> <span>paused after 3 failures", `<a href="/runs/r-f">Digest, about a, b, c and 1 more</a> <span>it would not</span>`, `action="/runs/r-f/dismiss"`, `action="/runs/r-o/dismiss"`,
		`<a href="/imports/i-f">Import/x.pdf</a> <span>no PDF</span>`, `<a href="/runs/r-o">Plan</a> <span>pages 21-600: not shown</span>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, "/runs/i-f/dismiss") {
		t.Error("an import can be dismissed")
	}
	if strings.Contains(body, "<b>Import/growing.pdf</b>") {
		t.Error("a file that only arrives is nothing to see to")
	}
	var got struct {
		Type string `json:"type"`
		Day  struct{ Runs int }
	}
	if err := json.Unmarshal(get(t, server, "/api/v1/status").Body.Bytes(), &got); err != nil || got.Type != "status" || got.Day.Runs != 1234 {
		t.Errorf("/api/v1/status: %+v, %v", got, err)
	}
}
