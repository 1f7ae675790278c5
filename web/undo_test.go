package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vaultflow/vaultflow/engine"
)

// undone is what runs did to files, in memory.
type undone struct {
	changed []engine.ChangeDiff
	preview engine.UndoPreview
	err     error
	undone  []string
}

func (u *undone) Changed(_ context.Context, _ string, limit int) ([]engine.ChangeDiff, int, error) {
	return u.changed[:min(limit, len(u.changed))], max(0, len(u.changed)-limit), u.err
}

func (u *undone) PreviewUndo(context.Context, string) (engine.UndoPreview, error) {
	return u.preview, u.err
}

func (u *undone) Undo(_ context.Context, run string) (engine.Started, error) {
	u.undone = append(u.undone, run)
	return engine.Started{Run: "r-5"}, u.err
}

// undoWorld is a run that has changed files, and its undo.
func undoWorld() (*world, *undone) {
	w, _ := sample()
	w.runs[1].Changes = []engine.Change{{Kind: engine.ChangeCreate, Name: "Daily/2026-11-21.md", After: "x"}}
	way := func(kind, name, to, fate, reason, diff string) engine.UndoFile {
		return engine.UndoFile{WayBack: engine.WayBack{Run: "r-4", Change: engine.Change{Kind: kind, Name: name, To: to}, Fate: fate, Reason: reason}, Diff: diff}
	}
	u := &undone{
		changed: []engine.ChangeDiff{
			{RunChange: engine.RunChange{Run: "r-4", Change: w.runs[1].Changes[0]}, Diff: "--- /dev/null\n+++ Daily/2026-11-21.md\n@@ -0,0 +1 @@\n+<script>alert(1)</script>\n"},
			{RunChange: engine.RunChange{Run: "r-3", Change: engine.Change{Kind: engine.ChangeWrite, Name: "Long.md"}}, Diff: strings.Repeat("+ä\n", shownDiff/2)},
		},
		preview: engine.UndoPreview{
			Files: []engine.UndoFile{
				way(engine.ChangeDelete, "Daily/2026-11-21.md", "", "", "", "--- Daily/2026-11-21.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-<b>new</b>\n"),
				way(engine.ChangeMove, "Done/a.md", "Inbox/a.md", "", "", ""),
				way(engine.ChangeWrite, "Log.md", "", engine.FateKept, "somebody has changed it since", ""),
			},
			Memories: []engine.Memory{{Name: "In.md", After: "1"}},
		},
	}
	return w, u
}

func TestUndo_pages(t *testing.T) {
	t.Parallel()
	w, u := undoWorld()
	_, fsys := sample()
	s := w.server(t, fsys, func(c *Config) { c.Undo = u })
	for path, wants := range map[string][]string{
		"/runs/r-4":         {`href="/runs/r-4/undo"`, `href="/runs/r-4/changes"`, "1 file change"},
		"/runs/r-4/changes": {"made Daily/2026-11-21.md", `<span class="add">&#43;&lt;script&gt;`, `href="/runs/r-3"`, "more bytes are not shown", `href="/runs/r-4/undo"`},
		"/runs/r-4/undo": {
			"remove Daily/2026-11-21.md", `<span class="del">-&lt;b&gt;new`, "move Done/a.md back to Inbox/a.md", "keep Log.md", "somebody has changed it since", "Then In.md is pending again.",
			`<form method="post" action="/runs/r-4/undo"`,
		},
	} {
		body := get(t, s, path).Body.String()
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s:\n%s", path, want, body)
			}
		}
	}
	if got := post(t, s, "/runs/r-4/undo", nil, nil); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/runs/r-5" || strings.Join(u.undone, " ") != "r-4" {
		t.Errorf("undo: %d to %q, %v", got.Code, got.Header().Get("Location"), u.undone)
	}
	if got := post(t, s, "/runs/r-4/undo", nil, map[string]string{"Sec-Fetch-Site": "cross-site"}); got.Code != http.StatusForbidden || len(u.undone) != 1 {
		t.Errorf("from another site: %d, want 403", got.Code)
	}
	u.preview = engine.UndoPreview{}
	if body := get(t, s, "/runs/r-4/undo").Body.String(); strings.Contains(body, "<form method") || !strings.Contains(body, "Nothing in this run can be undone") {
		t.Errorf("with nothing to be done:\n%s", body)
	}
	u.err = engine.CheckUndo(engine.RunRecord{ID: "r-4", Kind: engine.KindImport, Status: engine.Done})
	for _, path := range []string{"/runs/r-4/undo", "/runs/r-4/changes"} {
		if got := get(t, s, path); got.Code != http.StatusConflict || !strings.Contains(got.Body.String(), "by hand") {
			t.Errorf("%s of an import: %d %s", path, got.Code, got.Body)
		}
	}
	if got := get(t, s, "/runs/nosuch/undo"); got.Code != http.StatusNotFound {
		t.Errorf("no such run: %d", got.Code)
	}
	if got := get(t, w.server(t, fsys, nil), "/runs/r-4/undo"); got.Code != http.StatusNotFound {
		t.Errorf("without undo: %d, want 404", got.Code)
	}
	if body := get(t, s, "/runs/r-5").Body.String(); strings.Contains(body, "/undo") {
		t.Error("a run that is at work offers to be undone")
	}
}

func TestBrowser_undo(t *testing.T) {
	ctx := browser(t)
	w, u := undoWorld()
	_, fsys := sample()
	server := httptest.NewServer(ownerOf(w.server(t, fsys, func(c *Config) { c.Undo = u })))
	t.Cleanup(server.Close)
	said := listen(ctx, server.URL)
	open(t, ctx, server.URL+"/runs/r-4")
	click := func(selector, arrives string) {
		t.Helper()
		if err := chromedp.Do(ctx, chromedp.Click(selector)); err != nil {
			t.Fatalf("click %s: %v", selector, err)
		}
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); <-tick.C {
			path, err := chromedp.Run(ctx, chromedp.Evaluate[string]("location.pathname"))
			if err == nil && path == arrives { // an error on the way from page to page
				return
			}
		}
		t.Fatalf("click %s: the browser never came to %s", selector, arrives)
	}
	click(`a[href="/runs/r-4/undo"]`, "/runs/r-4/undo")
	until(t, ctx, `document.querySelectorAll("article .diff .del").length === 1 && document.querySelectorAll("article").length === 3`)
	if wide := evaluate[bool](t, ctx, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than the window")
	}
	shoot(t, ctx, "undo")
	click(`form[action="/runs/r-4/undo"] button`, "/runs/r-5")
	until(t, ctx, `document.querySelector("h1") !== null`)
	if strings.Join(u.undone, " ") != "r-4" {
		t.Errorf("undone %v, want r-4", u.undone)
	}
	said.none(t)
}
