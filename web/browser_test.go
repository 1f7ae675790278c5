package web

import (
	"context"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/vaultflow/vaultflow/engine"
)

var screenshots = flag.String("screenshots", "", "folder for pictures of the pages")

// browser starts a headless Chromium, or skips.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no browser")
	}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium on this machine")
	}
	options := append(
		chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1366, 900),
	)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	limited, stop := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(stop)
	allocator, stop := chromedp.NewExecAllocator(limited, options...)
	t.Cleanup(stop)
	ctx, stop := chromedp.NewContext(allocator)
	t.Cleanup(stop)
	return ctx
}

// complaints collects what the browser says: errors of scripts, refused loads, violations of the policy, and requests to
// other hosts.
type complaints struct {
	mu   sync.Mutex
	list []string
}

func (c *complaints) add(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, s)
}

func (c *complaints) none(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.list) > 0 {
		t.Errorf("the browser complains:\n%s", strings.Join(c.list, "\n"))
	}
}

func listen(ctx context.Context, server string) *complaints {
	c := &complaints{}
	entries, console := chromedp.Events(ctx, cdplog.EntryAdded), chromedp.Events(ctx, runtime.ConsoleAPICalled)
	thrown, requests := chromedp.Events(ctx, runtime.ExceptionThrown), chromedp.Events(ctx, network.RequestWillBeSent)
	go func() {
		for e, err := range entries {
			if err == nil && e.Entry.Level != "verbose" {
				c.add(string(e.Entry.Source) + ": " + e.Entry.Text + " " + e.Entry.URL)
			}
		}
	}()
	go func() {
		for e, err := range console {
			if err == nil && (e.Type == "error" || e.Type == "warning") {
				c.add("console." + string(e.Type))
			}
		}
	}()
	go func() {
		for e, err := range thrown {
			if err == nil {
				c.add("exception: " + e.ExceptionDetails.Text)
			}
		}
	}()
	go func() {
		for e, err := range requests {
			if err == nil && !strings.HasPrefix(e.Request.URL, server) && !strings.HasPrefix(e.Request.URL, "data:") {
				c.add("request to " + e.Request.URL)
			}
		}
	}()
	return c
}

// until waits in the page until an expression is true.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	limited, stop := context.WithTimeout(ctx, 15*time.Second)
	defer stop()
	var err error
	for again := true; again; { // the page may lead on to another while we wait
		_, err = chromedp.Run(limited, chromedp.Evaluate[bool](
			`new Promise(done => { const look = () => (`+expression+`) ? done(true) : setTimeout(look, 20); look(); })`, chromedp.EvalAwaitPromise,
		))
		again = err != nil && limited.Err() == nil && (strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context"))
	}
	if err != nil {
		t.Fatalf("wait until %s: %v", expression, err)
	}
}

func evaluate[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

func open(t *testing.T, ctx context.Context, url string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatalf("open %s: %v", url, err)
	}
}

// shoot takes pictures in light, dark and phone width, for people to look at.
func shoot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	for _, look := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1366}, {"dark", "dark", 1366}, {"phone", "light", 390}, {"phone-dark", "dark", 390}} {
		media := func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}},
			})
			return chromedp.Void{}, err
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(look.width, 900), media); err != nil {
			t.Fatal(err)
		}
		data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*screenshots, name+"-"+look.name+".png"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBrowser_rowsChangeWithoutReload(t *testing.T) {
	ctx := browser(t)
	w, fsys := sample()
	server := httptest.NewServer(ownerOf(w.server(t, fsys, nil)))
	t.Cleanup(server.Close)
	said := listen(ctx, server.URL)
	open(t, ctx, server.URL+"/")
	until(t, ctx, `document.querySelector("#conn span").textContent === "live" && document.querySelectorAll("#runs > li").length === 4`)
	until(t, ctx, `[...document.querySelectorAll("#imports img")].filter(i => i.complete && i.naturalWidth > 0).length === 2`)
	shoot(t, ctx, "today")
	if wide := evaluate[bool](t, ctx, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than the window")
	}
	evaluate[bool](t, ctx, `window.marker = true`)

	w.publish(func() {
		w.runs[0].Status, w.runs[0].Finished = engine.Done, w.runs[0].Started.Add(61*time.Second)
		w.imports[0].Page = 200
	}, engine.Event{Kind: engine.EventRun, Run: "r-5", Subject: "Study/Workbook to study plan", Status: engine.Done})
	w.publish(nil, engine.Event{Kind: engine.EventPage, Run: "i-6", Page: 200, Pages: 348})
	until(t, ctx, `document.querySelector("#runs > li .pill").textContent.includes("done")`)
	until(t, ctx, `document.querySelector("#imports progress").value === 200`)
	until(t, ctx, `document.getElementById("say").textContent.includes("Workbook to study plan: done")`)

	w.publish(func() {
		w.runs = append([]engine.RunRecord{{ID: "r-6", Workflow: "<img src=x onerror=alert(1)>", Status: engine.Queued, Created: now}}, w.runs...)
	}, engine.Event{Kind: engine.EventRun, Run: "r-6", Status: engine.Queued})
	until(t, ctx, `document.querySelector("#runs > li h3").textContent === "<img src=x onerror=alert(1)>"`)
	if n := evaluate[int](t, ctx, `document.querySelectorAll("#runs > li").length`); n != 5 {
		t.Errorf("%d rows, want 5", n)
	}
	if !evaluate[bool](t, ctx, `window.marker === true`) {
		t.Error("the page was loaded again")
	}
	said.none(t)
}

func TestBrowser_detailPages(t *testing.T) {
	ctx := browser(t)
	w, fsys := sample()
	server := httptest.NewServer(ownerOf(w.server(t, fsys, nil)))
	t.Cleanup(server.Close)
	said := listen(ctx, server.URL)

	open(t, ctx, server.URL+"/runs/r-4")
	until(t, ctx, `document.querySelectorAll("#steps .receipt tbody tr").length === 4`)
	evaluate[bool](t, ctx, `document.querySelector(".receipt").open = true`)
	until(t, ctx, `[...document.querySelectorAll(".receipt img")].some(i => i.complete && i.naturalWidth === 400)`)
	shoot(t, ctx, "run")
	w.publish(func() { w.runs[1].Steps[0].Warnings = nil }, engine.Event{Kind: engine.EventStep, Run: "r-4"})
	until(t, ctx, `document.querySelectorAll("#steps .message").length === 0`)
	if !evaluate[bool](t, ctx, `document.querySelector(".receipt").open`) {
		t.Error("an opened receipt was closed by an update")
	}

	open(t, ctx, server.URL+"/runs/r-5")
	until(t, ctx, `document.querySelector("#conn span").textContent === "live"`)
	w.publish(nil, engine.Event{Kind: engine.EventDelta, Run: "r-5", Step: "Chapters", Message: "Chapter 1 <b>begins</b>"})
	until(t, ctx, `document.getElementById("delta").textContent === "Chapter 1 <b>begins</b>"`)

	open(t, ctx, server.URL+"/imports/i-1")
	until(t, ctx, `[...document.querySelectorAll("#pages img")].filter(i => i.complete && i.naturalWidth > 0).length === 8`)
	shoot(t, ctx, "import")
	said.none(t)
}

// The link that serve prints signs the browser in and leaves no code in its history; a token is made and shown once; signing
// out ends it.
func TestBrowser_signsInWithTheLink(t *testing.T) {
	ctx := browser(t)
	w, fsys := sample()
	dashboard := w.server(t, fsys, nil)
	server := httptest.NewServer(dashboard)
	t.Cleanup(server.Close)
	open(t, ctx, server.URL+"/runs/r-4")
	until(t, ctx, `location.pathname === "/login" && document.activeElement.id === "token"`)
	shoot(t, ctx, "login")
	code, _ := dashboard.site.cfg.Access.NewCode()
	open(t, ctx, "about:blank") // as from elsewhere: a change behind the # alone loads nothing
	open(t, ctx, server.URL+"/login#code="+code)
	until(t, ctx, `location.pathname === "/" && document.querySelector(".who form")`)
	said := listen(ctx, server.URL)
	open(t, ctx, server.URL+"/account")
	until(t, ctx, `document.querySelectorAll("#h-sessions").length === 1 && document.querySelector(".card .pill").textContent === "this one"`)
	evaluate[bool](t, ctx, `(document.getElementById("name").value = "phone") && (document.getElementById("days").value = "30") && true`)
	evaluate[bool](t, ctx, `document.querySelector("form.form").requestSubmit() || true`)
	until(t, ctx, `document.querySelector(".made pre") && document.querySelector(".made pre").textContent.startsWith("vft_")`)
	shoot(t, ctx, "account")
	if wide := evaluate[bool](t, ctx, `document.documentElement.scrollWidth > innerWidth`); wide {
		t.Error("the page is wider than the window")
	}
	if evaluate[string](t, ctx, `location.href`) != server.URL+"/account/tokens" {
		t.Error("the form leads elsewhere")
	}
	said.none(t)
	evaluate[bool](t, ctx, `document.querySelector(".who form").requestSubmit() || true`)
	until(t, ctx, `location.pathname === "/login"`)
	open(t, ctx, server.URL+"/")
	until(t, ctx, `location.pathname === "/login"`)
}
