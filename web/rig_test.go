package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/web/session"
)

var now = time.Date(2026, 11, 21, 14, 5, 0, 0, time.UTC)

// world is a daemon for tests: lists in memory, events on demand.
type world struct {
	mu        sync.Mutex
	runs      []engine.RunRecord
	imports   []engine.ImportRecord
	workflows []engine.WorkflowStatus
	events    []engine.Event
	blobs     map[string][]byte
	listeners map[chan engine.Event]bool
	calls     []string
	dropped   map[string]string
	fail      error
}

func (w *world) Runs(context.Context, int) ([]engine.RunRecord, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]engine.RunRecord{}, w.runs...), w.fail
}

func (w *world) Run(_ context.Context, id string) (engine.RunRecord, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if r.ID == id {
			return r, w.fail
		}
	}
	return engine.RunRecord{}, fmt.Errorf("run %s: %w", id, engine.ErrNotFound)
}

func (w *world) Events(_ context.Context, run string, after int64, _ int) ([]engine.Event, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []engine.Event
	for _, e := range w.events {
		if (run == "" || e.Run == run) && e.Seq > after {
			list = append(list, e)
		}
	}
	return list, nil
}

func (w *world) Imports(context.Context, int) ([]engine.ImportRecord, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]engine.ImportRecord{}, w.imports...), nil
}

func (w *world) Import(_ context.Context, id string) (engine.ImportRecord, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.imports {
		if r.ID == id {
			return r, nil
		}
	}
	return engine.ImportRecord{}, fmt.Errorf("import %s: %w", id, engine.ErrNotFound)
}

func (w *world) Get(_ context.Context, digest string) ([]byte, error) {
	if data, ok := w.blobs[digest]; ok {
		return data, nil
	}
	return nil, engine.ErrNotFound
}

func (w *world) Subscribe(buffer int) (<-chan engine.Event, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan engine.Event, buffer)
	if w.listeners == nil {
		w.listeners = map[chan engine.Event]bool{}
	}
	w.listeners[c] = true
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.listeners, c)
	}
}

// publish changes the world and tells the listeners.
func (w *world) publish(change func(), e engine.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if change != nil {
		change()
	}
	for c := range w.listeners {
		c <- e
	}
}

func (w *world) listening() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.listeners)
}

func (w *world) called(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, what)
}

func (w *world) StartWorkflow(_ context.Context, name string, files []string) (engine.Started, error) {
	w.called(strings.Join(append([]string{"start", name}, files...), " "))
	if name == "broken" {
		return engine.Started{}, failure.New(failure.InvalidWorkflow, "mend it", "workflow %q cannot run", name)
	}
	return engine.Started{Run: "r-new", Created: true, Status: engine.Triggered}, nil
}

func (w *world) Cancel(_ context.Context, run string) error { w.called("cancel " + run); return nil }

func (w *world) Retry(_ context.Context, run string, from engine.RetryFrom) (string, error) {
	w.called(strings.TrimSpace(fmt.Sprintf("retry %s %s", run, from.Step)) + map[bool]string{true: " failed"}[from.Failed])
	return run, nil
}

func (w *world) Again(_ context.Context, run string) (string, error) {
	w.called("again " + run)
	return "r-new", nil
}

func (w *world) Dismiss(_ context.Context, run string) error { w.called("dismiss " + run); return nil }

func (w *world) Drop(_ context.Context, name string, r io.Reader) (string, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dropped == nil {
		w.dropped = map[string]string{}
	}
	w.dropped[name] = string(data)
	return "Import/" + name, nil
}

func (w *world) health(context.Context) []Check {
	return []Check{
		{Name: "Worker", State: StateOK, Detail: "0.1.0, MuPDF 1.28.1, Tesseract 5.3.0 (eng, deu), confined: landlock, seccomp, rlimits"},
		{Name: "Watcher", State: StateWarning, Detail: "polls: the vault is on a network file system", Fix: "New files take up to a minute to be noticed."},
	}
}

// overview sums up the day of the world's lists.
func (w *world) overview(context.Context) (engine.Overview, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var o engine.Overview
	o.Day.Since = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for _, r := range w.runs {
		if r.Created.Before(o.Day.Since) {
			continue
		}
		o.Day.Runs++
		if r.Status.Failed() {
			o.Day.Failed++
			o.Failures = append(o.Failures, r.Brief())
		}
		s := &o.Day.Spending
		s.Calls, s.Cost.USD, s.Cost.Tokens = s.Calls+1, s.Cost.USD+r.Usage.CostUSD, s.Cost.Tokens+int64(r.Usage.InputTokens+r.Usage.OutputTokens)
	}
	o.Month = o.Day
	for _, i := range w.imports {
		if !i.State.Finished() {
			o.Waiting = append(o.Waiting, engine.FileBrief{Name: i.Source, State: i.State, Reason: i.Reason, Since: i.Created})
		}
	}
	for _, f := range w.workflows {
		if f.Paused != "" {
			o.Paused = append(o.Paused, engine.PauseBrief{Workflow: f.Name, Reason: f.Paused})
		}
		for _, at := range f.Next[:min(1, len(f.Next))] {
			o.Next = append(o.Next, engine.SlotRecord{Workflow: f.Name, Slot: at})
		}
	}
	return o, nil
}

// config is a dashboard over the world.
func (w *world) config(t *testing.T, fsys fs.FS) Config {
	t.Helper()
	return Config{
		Runs: w, Imports: w, Events: w, FS: fsys, Blobs: w, Starter: w, Control: w, Dropper: w, Health: w.health,
		Workflows: func(context.Context) ([]engine.WorkflowStatus, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return append([]engine.WorkflowStatus{}, w.workflows...), nil
		},
		Overview: w.overview,
		Access:   openAccess(t), Instance: "test", Source: sourceLink, Notice: "the licences",
		Vault: "Notes", Version: "0.1.0", Listen: "127.0.0.1:8321", Zone: time.UTC, Now: func() time.Time { return now },
	}
}

// server makes a dashboard; change may alter its configuration.
func (w *world) server(t *testing.T, fsys fs.FS, change func(*Config)) *Server {
	t.Helper()
	c := w.config(t, fsys)
	if change != nil {
		change(&c)
	}
	s, err := New(c)
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return s
}

const sourceLink = "https://github.com/vaultflow/vaultflow/tree/v0.1.0"

// ownerToken is the owner's token of every dashboard in the tests.
const ownerToken = "correct horse battery"

// openAccess returns a dashboard's access with an empty store, at the tests' time.
func openAccess(t *testing.T) *session.Access {
	t.Helper()
	a, err := session.New(session.Config{
		Store: session.Store{Dir: t.TempDir()}, Owner: ownerToken, Chosen: true, Key: []byte("key"), Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ownerOf is a dashboard for clients that know the owner's token: requests that bring no token or session get it.
func ownerOf(s http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" && r.Header.Get("Cookie") == "" {
			r.Header.Set("Authorization", "Bearer "+ownerToken)
		}
		s.ServeHTTP(w, r)
	})
}

// anonymous takes away the token that get and post send.
func anonymous(r *http.Request) { r.Header.Del("Authorization") }

// get asks for a path as the owner's browser on this machine does.
func get(t *testing.T, s http.Handler, path string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8321"+path, nil)
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Authorization", "Bearer "+ownerToken)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// page draws a sheet of paper with grey lines, so that the tests have pictures of their own.
func page(seed, width, height int) []byte {
	m := image.NewGray(image.Rect(0, 0, width, height))
	fill := func(y0, y1, x0, x1 int, grey byte) {
		for y := y0; y < y1; y++ {
			copy(m.Pix[y*m.Stride+x0:y*m.Stride+x1], bytes.Repeat([]byte{grey}, x1-x0))
		}
	}
	fill(0, height, 0, width, 255)
	fill(height/14, height/14+height/40, width/8, width*5/8, 90)
	for y, i := height/7, seed; y < height*9/10; y, i = y+height/28, i+1 {
		fill(y, y+height/90+1, width/8, width*(60+(i*37)%28)/100, 150)
	}
	var b bytes.Buffer
	_ = png.Encode(&b, m) // a buffer never fails
	return b.Bytes()
}

// sheets are pictures of pages, drawn once for all tests.
var sheets = sync.OnceValue(func() (list [3][]byte) {
	for i := range list {
		list[i] = page(i, 210, 297)
	}
	return list
})

// bundleFiles is a bundle of n pages in a vault.
func bundleFiles(fsys fstest.MapFS, bundle string, n int) {
	type m = map[string]any
	var pages []m
	for i := 1; i <= n; i++ {
		name := fmt.Sprintf("pages/page_%04d.png", i)
		fsys[bundle+"/"+name] = &fstest.MapFile{Data: sheets()[i%3], ModTime: now}
		one := m{"n": i, "image": m{"path": name, "width": 210, "height": 297}, "text": m{"chars": 1200 + i, "source": "layer"}, "status": "done"}
		if i == 2 {
			one["text"], one["ocr"] = m{"chars": 800, "source": "ocr"}, m{"confidence": 87.4}
		}
		pages = append(pages, one)
	}
	data, _ := json.Marshal(m{"version": 1, "pages": pages}) // strings and numbers always encode
	fsys[bundle+"/manifest.json"] = &fstest.MapFile{Data: data, ModTime: now}
}

// sample is a day in the life of a vault.
func sample() (*world, fstest.MapFS) {
	fsys := fstest.MapFS{"Attachments/whiteboard.png": {Data: page(9, 400, 300), ModTime: now}}
	bundleFiles(fsys, "Imported/Linear algebra workbook", 8)
	bundleFiles(fsys, "Imported/Scans/Meeting 2026-11-17", 3)
	oslo, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		oslo = time.FixedZone("Europe/Oslo", 3600)
	}
	w := &world{blobs: map[string][]byte{"answer": []byte(sampleAnswer), "receipt": []byte(sampleReceipt)}}
	usage := cost.Usage{InputTokens: 14210, OutputTokens: 812, CostUSD: 0.0548}
	at := func(h, m int) time.Time { return time.Date(2026, 11, 21, h, m, 0, 0, time.UTC) }
	w.runs = []engine.RunRecord{
		{
			ID: "r-5", Kind: engine.KindWorkflow, Workflow: "Study/Workbook to study plan", Status: engine.Running, Trigger: engine.Trigger{Kind: engine.TriggerOnImport, Import: "i-1"},
			Created: at(14, 3), Started: at(14, 3), At: at(14, 3), Steps: []engine.StepRecord{{Run: "r-5", Step: "Chapters", WorkRecord: engine.WorkRecord{Status: engine.Running, Model: "sonnet", Started: at(14, 3)}}},
		},
		{
			ID: "r-4", Kind: engine.KindWorkflow, Workflow: "Daily digest", Status: engine.DoneWithOmissions, Reason: "5 references were left out of the prompts",
			Trigger: engine.Trigger{Kind: engine.TriggerCron, Slot: at(8, 0)}, Created: at(8, 0), Started: at(8, 0), Finished: at(8, 0).Add(34 * time.Second), At: at(8, 0), Usage: usage,
			Outputs: []engine.Output{{Kind: "file", Name: "Daily/2026-11-21.md", After: "x"}},
			Steps: []engine.StepRecord{{
				Run: "r-4", Step: "Digest", WorkRecord: engine.WorkRecord{
					Status: engine.DoneWithOmissions, Model: "sonnet", Answered: "claude-sonnet-4-5-20250929", Usage: usage, Receipt: "receipt", Answer: "answer",
					Started: at(8, 0), Finished: at(8, 0).Add(33 * time.Second), Inputs: []string{"Daily/2026-11-20.md", "Meetings/2026-11-17 Planning.md"},
					Outputs: []engine.Output{{Kind: "file", Name: "Daily/2026-11-21.md", After: "x"}}, Omitted: []string{"c12 Attachments/old scan.png: deferred, max_images 20 (settings)"},
					Warnings: []string{"Meetings/2026-11-17 Planning.md:14: no file fits ![[whiteboard 2.png]]; near: Attachments/whiteboard.png"},
				},
			}},
		},
		{
			ID: "r-3", Kind: engine.KindWorkflow, Workflow: "Meeting scan to notes", Status: engine.Failed, Reason: `step "Summary": anthropic: overloaded (529)`, Trigger: engine.Trigger{Kind: engine.TriggerWatch, Files: []string{"Inbox/a.md", "Inbox/b.md"}},
			Created: at(7, 12), Started: at(7, 12), Finished: at(7, 16), Failure: &failure.Error{Code: failure.Provider, Message: "overloaded", Hint: "Retry in some minutes; what succeeded before is not repeated."},
			Steps: []engine.StepRecord{{Run: "r-3", Step: "Summary", WorkRecord: engine.WorkRecord{Status: engine.Failed, Model: "sonnet"}}},
		},
		{ID: "r-2", Kind: engine.KindWorkflow, Workflow: "Photo tags", Status: engine.Skipped, Reason: "nothing pending in Photos/*.jpg", Trigger: engine.Trigger{Kind: engine.TriggerManual}, Created: at(6, 50).AddDate(0, 0, -1), Started: at(6, 50).AddDate(0, 0, -1), Finished: at(6, 50).AddDate(0, 0, -1)},
	}
	next := time.Date(2026, 11, 22, 8, 0, 0, 0, oslo)
	w.workflows = []engine.WorkflowStatus{
		{Name: "Daily digest", File: "Workflows/Daily digest.md", Description: "Yesterday's notes with their pictures, in five lines", Valid: true, Enabled: true, Triggers: []string{"cron: 0 8 * * *"}, Steps: []string{"Digest"}, Next: []time.Time{next, next.AddDate(0, 0, 1), next.AddDate(0, 0, 2)}, Last: &w.runs[1]},
		{Name: "Meeting scan to notes", File: "Workflows/Meeting scan to notes.md", Valid: true, Enabled: true, Paused: "paused after 3 failures in a row (last: anthropic: overloaded); a successful run by hand ends the pause", Triggers: []string{"watch: Inbox/*.md"}, Last: &w.runs[2]},
		{Name: "Photo tags", File: "Workflows/Photo tags.md", Description: "Tags for new photos", Valid: true, NeedsFile: true, Last: &w.runs[3]},
		{Name: "Study/Workbook to study plan", File: "Workflows/Study/Workbook to study plan.md", Valid: true, Enabled: true, Triggers: []string{"on_import: *.pdf"}, Last: &w.runs[0]},
		{Name: "Weekly review", File: "Workflows/Weekly review.md", Triggers: []string{"cron: 0 17 * * fri"}, Diagnostics: []diag.Diagnostic{{File: "Workflows/Weekly review.md", Line: 12, Column: 1, Severity: "error", Code: "VF102", Message: "there is no directive @imput", Suggestion: "did you mean @input?"}}},
	}
	w.imports = []engine.ImportRecord{
		{ID: "i-6", Source: "Import/History of Norway, volume 2.pdf", State: engine.ImportWorking, Pages: 348, Page: 121, Size: 48 << 20, Kind: "pdf", Created: at(14, 1), Started: at(14, 1)},
		{ID: "arrival:Import/holiday video.mov", Source: "Import/holiday video.mov", State: engine.ImportReceiving, Size: 312 << 20, Created: at(14, 4)},
		{ID: "i-1", Source: "Import/Linear algebra workbook.pdf", State: engine.ImportDone, Bundle: "Imported/Linear algebra workbook", Note: "Imported/Linear algebra workbook/index.md", Pages: 8, Page: 8, Size: 1800000, Kind: "pdf", MediaType: "application/pdf", SHA256: strings.Repeat("3f9a", 16), Created: at(13, 58), Started: at(13, 58), Finished: at(13, 58).Add(9 * time.Second)},
		{ID: "i-2", Source: "Import/Scans/Meeting 2026-11-17.pdf", State: engine.ImportPartial, Reason: "1 of 3 pages failed", Bundle: "Imported/Scans/Meeting 2026-11-17", Pages: 3, Page: 3, FailedPages: []int{3}, Size: 900000, Kind: "pdf", Created: at(7, 10), Started: at(7, 10), Finished: at(7, 11)},
		{ID: "i-3", Source: "Import/Contract.pdf", State: engine.ImportNeedsPassword, Error: "the document is encrypted", Hint: "Put the password into Contract.pdf.password beside it, or save the document without one.", Size: 220000, Kind: "pdf", Created: at(6, 30)},
	}
	w.events = []engine.Event{
		{Seq: 1, Time: at(8, 0), Run: "r-4", Kind: engine.EventRun, Status: engine.Running},
		{Seq: 2, Time: at(8, 0).Add(time.Second), Run: "r-4", Kind: engine.EventActivity, Step: "Digest", Name: "assemble", Status: engine.Done},
		{Seq: 3, Time: at(8, 0).Add(2 * time.Second), Run: "r-4", Kind: engine.EventRetry, Step: "Digest", Name: "generate", Message: "anthropic: overloaded (529), again in 4 s"},
		{Seq: 4, Time: at(8, 0).Add(34 * time.Second), Run: "r-4", Kind: engine.EventRun, Status: engine.DoneWithOmissions},
	}
	return w, fsys
}

const sampleAnswer = "# Friday, in five lines\n\n- The planning meeting chose the smaller shed (whiteboard, image 1).\n- Mei sends the drawings on Monday.\n- Bread: 78 % water was too much.\n"

const sampleReceipt = `{"type":"receipt","workflow":"Daily digest","step":"Digest","model":"sonnet","prompt_format":1,"chunks":[
{"id":"c1","kind":"text","fate":"sent","source":{"note":"Meetings/2026-11-17 Planning.md","lines":[1,9],"bytes":[0,412]},"text":"## Planning\nPresent: Ingrid, Mei, Tomas. The shed is to be built before the frost, and the drawings are not there yet.","tokens":103},
{"id":"c2","kind":"image","fate":"resized","reason":"longest side 4032 > 2000","source":{"note":"Meetings/2026-11-17 Planning.md","lines":[10,10]},"target":"whiteboard.png","name":"Attachments/whiteboard.png","media_type":"image/png","width":4032,"height":3024,"size":3100245,"sha256":"aa","tokens":1600,"alt":""},
{"id":"c3","kind":"image","fate":"missing","reason":"no file of this name","source":{"note":"Meetings/2026-11-17 Planning.md","lines":[14,14]},"target":"whiteboard 2.png","tokens":12},
{"id":"c12","kind":"image","fate":"deferred","reason":"max_images 20 (settings)","source":{"note":"Daily/2026-11-20.md","lines":[31,31]},"target":"old scan.png","name":"Attachments/old scan.png","media_type":"image/png","width":1200,"height":900,"size":400000,"tokens":20}],
"totals":{"chunks":4,"references":3,"sent":1,"deferred":1,"tokens":14210,"image_bytes":910233,"cost_usd":0.042},
"limits":[{"key":"max_images","value":20,"used":1,"from":"settings"},{"key":"max_image_mb","value":3.75,"used":0.868,"from":"anthropic"}],"warnings":[]}`
