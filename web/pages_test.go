package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/failure/omission"
)

func TestToday_showsTheDay(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	body := get(t, w.server(t, fsys, nil), "/").Body.String()
	for _, want := range []string{
		"Saturday, 21 November", "Daily digest", "cron: 0 8 * * *", "tomorrow 08:00", "(Europe/Oslo)", "done with omissions", "Daily/2026-11-21.md",
		"15,022 tokens", "$0.0548", "sonnet", "scheduled", "2 changed files", "page 121 of 348", `<progress value="121" max="348"`,
		`src="/media/Imported/Linear%20algebra%20workbook/pages/page_0001.png"`, "Imported/Scans/Meeting 2026-11-17", "the document is encrypted",
		"Put the password into", "there is no directive @imput", "did you mean @input?", "paused after 3 failures", "polls: the vault is on a network file system",
		`action="/workflows/run"`, `name="file" required`, `href="/runs/r-4"`, `href="/imports/arrival:Import/holiday%20video.mov"`, `data-live="view=today"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(body, `action="/workflows/run"`); n != 4 {
		t.Errorf("%d Run buttons, want 4: a workflow that cannot run has none", n)
	}
}

func TestToday_emptyVault(t *testing.T) {
	t.Parallel()
	w := &world{}
	got := get(t, w.server(t, fstest.MapFS{}, func(c *Config) { c.Health, c.Dropper, c.Starter, c.Control, c.Blobs = nil, nil, nil, nil, nil }), "/")
	if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "No runs yet") || !strings.Contains(got.Body.String(), `<ul class="bare" id="runs"></ul>`) {
		t.Errorf("%d: %s", got.Code, got.Body)
	}
	if strings.Contains(got.Body.String(), "/upload") {
		t.Error("an upload form without anything that takes files")
	}
}

func TestRun_showsStepsReceiptAndAnswer(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	body := get(t, s, "/runs/r-4").Body.String()
	for _, want := range []string{
		"14,210 tokens in, 812 out", "answered by claude-sonnet-4-5-20250929", "# Friday, in five lines", "4 chunks, 3 references, 1 sent, 1 deferred",
		"longest side 4032 &gt; 2000", "lines 1–9", "line 10", `src="/media/Attachments/whiteboard.png"`, "no file of this name", "max_image_mb",
		"anthropic: overloaded (529), again in 4 s", "c12 Attachments/old scan.png: deferred",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, ">Retry<") || strings.Contains(body, "/cancel") || strings.Count(body, "Rerun from here") != strings.Count(body, `name="step" value=`) {
		t.Error("a run that is done can begin again at a step, and is neither repeated nor cancelled")
	}
	if strings.Contains(body, "old%20scan.png") {
		t.Error("a picture that is gone is asked for")
	}
	if body := get(t, s, "/runs/r-3").Body.String(); !strings.Contains(body, "/runs/r-3/retry") || !strings.Contains(body, "Retry in some minutes") {
		t.Error("a failed run lacks its retry button or its hint")
	}
	if body := get(t, s, "/runs/r-5").Body.String(); !strings.Contains(body, "/runs/r-5/cancel") || !strings.Contains(body, `href="/imports/i-1"`) {
		t.Error("a run at work lacks its cancel button or the import that started it")
	}
}

// The card of a step and its receipt have the cause and the remedy of what was left out, also of what was lost after the receipt was made.
func TestRun_showsCauses(t *testing.T) {
	t.Parallel()
	receipt := strings.Replace(sampleReceipt, `"target":"whiteboard 2.png"`, `"target":"whiteboard 2.png","omission":{"cause":"missing","remedy":"put it there"}`, 1)
	refused := engine.Omit("Attachments/whiteboard.png", omission.Of(omission.Service), "line", "the service refused the request: unsupported_media")
	refused.Note, refused.Line = "Meetings/2026-11-17 Planning.md", 10
	w := &world{blobs: map[string][]byte{"r": []byte(receipt)}}
	work := engine.WorkRecord{Status: engine.DoneWithOmissions, Prompt: "p", Receipt: "r", LeftOut: engine.LeftOutOf([]engine.Omission{refused}), Omitted: engine.OmissionLines([]engine.Omission{refused})}
	w.runs = []engine.RunRecord{{ID: "r-1", Kind: engine.KindWorkflow, Status: engine.DoneWithOmissions, Created: now, Steps: []engine.StepRecord{
		{Step: "Whole", WorkRecord: work}, {Step: "Each", Batches: []engine.BatchRecord{{Batch: 1, WorkRecord: work}}},
	}}}
	body := get(t, w.server(t, fstest.MapFS{}, nil), "/runs/r-1").Body.String()
	for want, count := range map[string]int{
		"<code>missing</code>": 2, "put it there": 2, "<code>service</code>": 4, omission.Of(omission.Service).Remedy(): 4, ">not sent<": 2,
		"Planning.md:10": 2, ">cause<": 4,
	} {
		if n := strings.Count(body, want); n != count {
			t.Errorf("%q is there %d times, want %d", want, n, count)
		}
	}
	if t.Failed() {
		t.Log(body)
	}
}

func TestImport_showsEveryPage(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	body := get(t, s, "/imports/i-1").Body.String()
	if n := strings.Count(body, `alt="Page `); n != 8 {
		t.Errorf("%d page pictures, want 8", n)
	}
	for _, want := range []string{"OCR, 87 % sure", "text, 1,201 characters", "Imported/Linear algebra workbook/index.md"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if body := get(t, s, "/imports/i-2").Body.String(); !strings.Contains(body, "Failed pages: 3") {
		t.Error("failed pages are not named")
	}
	if got := get(t, s, "/imports/arrival:Import/holiday%20video.mov"); got.Code != http.StatusOK || strings.Contains(got.Body.String(), "/cancel") {
		t.Errorf("an arriving file: %d", got.Code)
	}
}

func TestPages_notFoundAndFailures(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	for _, path := range []string{"/runs/none", "/imports/none", "/nothing", "/live?view=run&id=none", "/live?view=other", "/static/none", "/static/..%2fserver.go", "/api/v1/runs/none"} {
		if got := get(t, s, path); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", path, got.Code)
		}
	}
	w.fail = errors.New("read /home/somebody/.local/state/vaultflow/state.db: disk I/O error")
	got := get(t, s, "/")
	if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "somebody") {
		t.Errorf("a failure shows its insides: %d %s", got.Code, got.Body)
	}
}

// Names and texts that want to be something else.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'{{.}}` + "\u2028javascript:alert(3)</textarea></title>"

func TestPages_escapeEverything(t *testing.T) {
	t.Parallel()
	w := &world{blobs: map[string][]byte{"a": []byte(hostile + "\xff\x00"), "r": []byte(`{"chunks":[{"id":"<script>","kind":"image","fate":"<script>","reason":"<script>","name":"<script>.png","target":"<script>","media_type":"image/png","source":{"note":"<script>","variable":"<script>"}},{"id":"c2","kind":"text","text":"<script>"}],"limits":[{"key":"<script>","from":"<script>"}]}`)}}
	cause := &failure.Error{Code: "x", Message: hostile, Hint: hostile}
	run := engine.RunRecord{
		ID: "r<script>", Workflow: hostile, Status: engine.Failed, Reason: hostile, Failure: cause, Warnings: []string{hostile}, Created: now,
		Trigger: engine.Trigger{Kind: "<script>", Files: []string{hostile}, Import: hostile, Parent: hostile}, Outputs: []engine.Output{{Kind: "file", Name: hostile}},
		Steps: []engine.StepRecord{{
			Step: hostile, WorkRecord: engine.WorkRecord{
				Status: engine.Failed, Reason: hostile, Failure: cause, Model: hostile, Answered: hostile + "x", Answer: "a", Receipt: "r", Calls: 1, Sent: engine.Sent{Previewed: now, Differences: []string{hostile}},
				Inputs: []string{hostile}, Omitted: []string{hostile}, Warnings: []string{hostile}, Outputs: []engine.Output{{Kind: "variable", Name: hostile}},
			},
			Batches: []engine.BatchRecord{{
				Batch: 1, Items: []string{hostile}, WorkRecord: engine.WorkRecord{
					Status: engine.Failed, Reason: hostile, Failure: cause, Prompt: "p", Answer: "a", Receipt: "r", Calls: 1, Sent: engine.Sent{Previewed: now, Differences: []string{hostile}},
					Omitted: []string{hostile}, Warnings: []string{hostile}, Outputs: []engine.Output{{Kind: "file", Name: hostile}},
				},
			}},
		}},
	}
	w.runs = []engine.RunRecord{run}
	w.imports = []engine.ImportRecord{{
		ID: "arrival:" + hostile, Source: "Import/" + hostile, State: engine.ImportFailed, Reason: hostile, Error: hostile, Hint: hostile, Bundle: hostile, Note: hostile,
		Kind: hostile, MediaType: hostile, SHA256: hostile, DuplicateOf: hostile, Filed: hostile, Warnings: []string{hostile}, Created: now,
	}}
	w.workflows = []engine.WorkflowStatus{{
		Name: hostile, File: hostile, Description: hostile, Paused: hostile, Valid: true, Triggers: []string{hostile}, Last: &run,
		Diagnostics: []diag.Diagnostic{{File: hostile, Severity: hostile, Message: hostile, Suggestion: hostile}},
	}}
	w.events = []engine.Event{{Seq: 1, Run: "r<script>", Time: now, Kind: hostile, Step: hostile, Name: hostile, Message: hostile, Failure: cause}}
	s := w.server(t, fstest.MapFS{}, func(c *Config) { c.Vault, c.Version = hostile, hostile })
	for _, path := range []string{"/", "/runs/r%3Cscript%3E", importURL("arrival:" + hostile), "/nothing" + importURL(hostile)} {
		got := get(t, s, path)
		body := got.Body.String()
		if path != "/nothing"+importURL(hostile) && got.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, got.Code, body)
		}
		for _, bad := range []string{"<script>", "<img src=x", "</textarea", "\x00"} {
			if strings.Contains(body, bad) {
				i := strings.Index(body, bad)
				t.Errorf("%s holds %q: …%s…", path, bad, body[max(0, i-80):min(len(body), i+80)])
			}
		}
		if strings.Count(body, "<title>") != 1 || strings.Count(body, "</title>") != 1 {
			t.Errorf("%s: the title was closed early", path)
		}
	}
}

func TestRun_batches(t *testing.T) {
	t.Parallel()
	w := &world{blobs: map[string][]byte{"a": []byte("the answer"), "r": []byte(sampleReceipt)}}
	step := engine.StepRecord{Step: "Summaries", WorkRecord: engine.WorkRecord{Status: engine.DoneWithOmissions, Reason: "1 of 300 batches failed", Started: now}}
	for i := 1; i <= 300; i++ {
		b := engine.BatchRecord{Batch: i, Items: []string{fmt.Sprintf("Inbox/note %d.md", i)}, WorkRecord: engine.WorkRecord{Status: engine.Done, Prompt: "p", Answer: "a", Receipt: "r"}}
		if i == 2 {
			b.Status, b.Reason, b.Failure = engine.Failed, "the model refused to answer", &failure.Error{Code: failure.Refusal, Hint: "change the prompt"}
		}
		step.Put(b)
	}
	w.runs = []engine.RunRecord{{ID: "r-1", Kind: engine.KindWorkflow, Workflow: "w", Status: engine.DoneWithOmissions, Created: now, Steps: []engine.StepRecord{step}}}
	got := get(t, w.server(t, fstest.MapFS{}, nil), "/runs/r-1")
	body := got.Body.String()
	for _, want := range []string{"Batch 1: Inbox/note 1.md", "the model refused to answer", "change the prompt", "Batch 200:", "100 more batches are not shown"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(body, "the answer</pre>"); n != 20 {
		t.Errorf("%d answers on the page, want 20", n)
	}
}

// A run's page says of each step and batch whether it was sent as previewed, in the words of the command line.
func TestRun_asPreviewed(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	as := func(differences ...string) engine.WorkRecord {
		return engine.WorkRecord{Status: engine.Done, Calls: 1, Sent: engine.Sent{Previewed: now, Differences: differences}}
	}
	cached := as("note changed: c.md")
	cached.Cached = true
	w.runs = append(w.runs, engine.RunRecord{
		ID: "r-8", Kind: engine.KindWorkflow, Workflow: "Look", Status: engine.Done, Steps: []engine.StepRecord{
			{Step: "A", WorkRecord: as()},
			{Index: 1, Step: "B", WorkRecord: engine.WorkRecord{Status: engine.Done, Calls: 2}, Batches: []engine.BatchRecord{{Batch: 1, WorkRecord: as("note changed: a.md", "picture torn: p.png (ends early)")}}},
			{Index: 2, Step: "C", WorkRecord: cached},
		},
	})
	s := w.server(t, fsys, func(*Config) {})
	body := get(t, s, "/runs/r-8").Body.String()
	head, _ := as().AsPreviewed(now.Location())
	for want, n := range map[string]int{
		`<p class="label">` + head: 1, `<p class="label">differs from the preview of `: 1, "<li>note changed: a.md</li><li>picture torn: p.png (ends early)</li>": 1, "c.md": 0,
	} {
		if got := strings.Count(body, want); got != n {
			t.Errorf("%q is there %d times, want %d", want, got, n)
		}
	}
}

// A run that went on without some of its batches offers to take them up, and says that its workflow has changed since. The
// statuses of bad answers are marked as faults.
func TestRun_retries(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	w.runs = append(w.runs, engine.RunRecord{
		ID: "r-9", Kind: engine.KindWorkflow, Workflow: "Tags", Status: engine.DoneWithOmissions, Steps: []engine.StepRecord{
			{Index: 0, Step: "Mark", WorkRecord: engine.WorkRecord{Status: engine.DoneWithOmissions}, Batches: []engine.BatchRecord{
				{Batch: 1, WorkRecord: engine.WorkRecord{Status: engine.Done}}, {Batch: 2, WorkRecord: engine.WorkRecord{Status: engine.Refused}}, {Batch: 3, WorkRecord: engine.WorkRecord{Status: engine.Skipped}},
			}},
			{Index: 1, Step: "Log", WorkRecord: engine.WorkRecord{Status: engine.Truncated}},
			{Index: 2, Step: "After", WorkRecord: engine.WorkRecord{Status: engine.Skipped}},
		},
	})
	s := w.server(t, fsys, func(c *Config) {
		c.Stale = func(context.Context, engine.RunRecord) string { return "Tags has changed since" }
	})
	body := get(t, s, "/runs/r-9").Body.String()
	for _, want := range []string{
		"Retry 2 batches", "Tags has changed since", `name="step" value="Mark"`, `name="step" value="Log"`,
		`<span class="pill bad"><span aria-hidden="true">✕</span> refused`, `<span class="pill bad"><span aria-hidden="true">✕</span> truncated`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, `value="After"`) {
		t.Error("a step behind one that failed cannot be begun again")
	}
	for want, form := range map[string]url.Values{"again r-9": {"current": {"yes"}}, "retry r-9": {}, "retry r-9 failed": {"failed": {"yes"}}, "retry r-9 Log": {"step": {"Log"}}} {
		headers := map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:8321"}
		if got := post(t, s, "/runs/r-9/retry", form, headers); got.Code != http.StatusSeeOther || w.calls[len(w.calls)-1] != want {
			t.Errorf("%v: %d, %v; want %s", form, got.Code, w.calls, want)
		}
	}
}
