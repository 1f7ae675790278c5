package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
)

// message is one server-sent event.
type message struct{ id, event, data string }

// connect opens a stream and gives its messages; the stream ends with the test.
func connect(t *testing.T, url string, headers map[string]string) <-chan message {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+ownerToken)
	for k, v := range headers {
		r.Header.Set(k, v)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("%s: %d %v", url, answer.StatusCode, answer.Header)
	}
	messages := make(chan message)
	go func() {
		defer answer.Body.Close()
		defer close(messages)
		var m message
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), ": ")
			switch key {
			case "id":
				m.id = value
			case "event":
				m.event = value
			case "data":
				m.data = value
			case "":
				if lines.Text() == "" && m.event != "" {
					select {
					case messages <- m:
					case <-t.Context().Done():
						return
					}
				}
				m = message{}
			}
		}
	}()
	return messages
}

func next(t *testing.T, messages <-chan message) message {
	t.Helper()
	select {
	case m, open := <-messages:
		if !open {
			t.Fatal("the stream ended")
		}
		return m
	case <-time.After(time.Minute):
		t.Fatal("no message came")
	}
	return message{}
}

func nextChange(t *testing.T, messages <-chan message) change {
	t.Helper()
	for {
		m := next(t, messages)
		if m.event != "group" {
			continue
		}
		var c change
		if err := json.Unmarshal([]byte(m.data), &c); err != nil {
			t.Fatalf("%s: %v", m.data, err)
		}
		return c
	}
}

// changeOf waits for a change of a group; others may come before it.
func changeOf(t *testing.T, messages <-chan message, name string) change {
	t.Helper()
	for {
		if c := nextChange(t, messages); c.Name == name {
			return c
		}
	}
}

func TestLive_sendsWhatDiffers(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	server := httptest.NewServer(ownerOf(w.server(t, fsys, nil)))
	t.Cleanup(server.Close)
	messages := connect(t, server.URL+"/live?view=today", nil)
	var names []string
	var before change
	for range 5 {
		c := nextChange(t, messages)
		names = append(names, c.Name)
		if len(c.HTML) != len(c.Order) {
			t.Errorf("%s: a stream begins with everything, got %d of %d", c.Name, len(c.HTML), len(c.Order))
		}
		if c.Name == "runs" {
			before = c
		}
	}
	if diff := cmp.Diff([]string{"health", "totals", "workflows", "runs", "imports"}, names); diff != "" {
		t.Fatal(diff)
	}
	w.publish(func() {
		w.runs[0].Status = engine.Failed
		w.runs = append([]engine.RunRecord{{ID: "r-9", Workflow: "New", Status: engine.Queued, Created: now}}, w.runs...)
	}, engine.Event{Kind: engine.EventStep, Run: "r-5"})
	c := changeOf(t, messages, "runs")
	if len(c.HTML) != 2 || len(c.Order) != 5 || !strings.Contains(c.HTML[c.Order[0]], "New") || !strings.Contains(c.HTML[before.Order[0]], "failed") {
		t.Errorf("change %+v", c)
	}
	if diff := cmp.Diff(before.Order, c.Order[1:]); diff != "" {
		t.Error(diff)
	}
	w.publish(func() { w.imports[0].Page = 300 }, engine.Event{Kind: engine.EventPage, Run: "i-6"})
	if c := changeOf(t, messages, "imports"); len(c.HTML) != 1 {
		t.Errorf("change %+v", c)
	}
	w.publish(func() { w.runs = w.runs[:2] }, engine.Event{Kind: engine.EventLost, Lost: 3})
	if c := changeOf(t, messages, "runs"); len(c.HTML) != 0 || len(c.Order) != 2 {
		t.Errorf("change %+v", c)
	}
}

func TestAPI_eventsGoOnWhereTheClientStopped(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	server := httptest.NewServer(ownerOf(w.server(t, fsys, nil)))
	t.Cleanup(server.Close)
	messages := connect(t, server.URL+"/api/v1/events?run=r-4", map[string]string{"Last-Event-ID": "2"})
	for _, want := range []string{"3", "4"} {
		if m := next(t, messages); m.id != want || !strings.Contains(m.data, `"type":"event"`) {
			t.Errorf("message %+v, want id %s", m, want)
		}
	}
	w.publish(nil, engine.Event{Seq: 4, Kind: engine.EventRun, Run: "r-4"}) // was sent already
	w.publish(nil, engine.Event{Seq: 5, Kind: engine.EventRun, Run: "other"})
	w.publish(nil, engine.Event{Seq: 6, Kind: engine.EventInfo, Run: "r-4", Message: "new"})
	if m := next(t, messages); m.id != "6" || m.event != "info" {
		t.Errorf("message %+v", m)
	}
}

func TestAPI_lists(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	for path, want := range map[string]string{
		"/api/v1/runs": `{"runs":[{"type":"run","id":"r-5"`, "/api/v1/imports?limit=2": `{"imports":[{"type":"import","id":"i-6"`,
		"/api/v1/workflows": `{"workflows":[{"type":"workflow","name":"Daily digest"`, "/api/v1/runs/r-4": `{"type":"run","id":"r-4"`,
		"/api/v1/imports/i-1": `{"type":"import","id":"i-1"`, "/api/v1/health": `{"checks":[{"name":"Worker","state":"ok"`,
	} {
		got := get(t, s, path)
		if got.Code != http.StatusOK || !strings.HasPrefix(got.Body.String(), want) || got.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %.80s", path, got.Code, got.Body)
		}
	}
	empty := (&world{}).server(t, fsys, nil)
	if got := get(t, empty, "/api/v1/runs").Body.String(); got != "{\"runs\":[]}\n" {
		t.Errorf("no runs: %s", got)
	}
}

func TestAPI_start(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	ask := func(body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/api/v1/runs", strings.NewReader(body))
		rec := httptest.NewRecorder()
		ownerOf(s).ServeHTTP(rec, r)
		return rec
	}
	if got := ask(`{"workflow":"Daily digest"}`); got.Code != http.StatusAccepted || !strings.Contains(got.Body.String(), `"run":"r-new"`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if got := ask(`{"workflow":"broken"}`); got.Code != http.StatusConflict || !strings.Contains(got.Body.String(), `"hint":"mend it"`) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	for _, body := range []string{``, `{}`, `[]`, `{"workflow":"x","shell":"rm"}`, strings.Repeat("x", 70<<10)} {
		if got := ask(body); got.Code != http.StatusBadRequest {
			t.Errorf("body %.20q: %d", body, got.Code)
		}
	}
}

func TestActions_controlARun(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, nil)
	post(t, s, "/runs/r-5/cancel", nil, nil)
	if got := post(t, s, "/runs/i-2/retry", map[string][]string{"back": {"import"}}, nil); got.Header().Get("Location") != "/imports/i-2" {
		t.Errorf("location %v", got.Header())
	}
	if got := post(t, s, "/runs/r-3/dismiss", map[string][]string{"back": {"today"}}, nil); got.Header().Get("Location") != "/" {
		t.Errorf("location %v", got.Header())
	}
	if diff := cmp.Diff([]string{"cancel r-5", "retry i-2", "dismiss r-3"}, w.calls); diff != "" {
		t.Error(diff)
	}
}

func TestUpload_streamsIntoTheImportFolder(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, func(c *Config) { c.MaxUpload = 10_000 })
	send := func(content string) *httptest.ResponseRecorder {
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		for _, name := range []string{"a.pdf", "../../etc/b.pdf"} {
			p, err := form.CreateFormFile("file", name)
			if err == nil {
				_, err = p.Write([]byte(content))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := form.Close(); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/upload", &b)
		r.Header.Set("Content-Type", form.FormDataContentType())
		rec := httptest.NewRecorder()
		ownerOf(s).ServeHTTP(rec, r)
		return rec
	}
	if got := send("%PDF-1.7"); got.Code != http.StatusAccepted {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
	if diff := cmp.Diff(map[string]string{"a.pdf": "%PDF-1.7", "b.pdf": "%PDF-1.7"}, w.dropped); diff != "" {
		t.Error(diff)
	}
	if got := send(strings.Repeat("x", 20_000)); got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d %s", got.Code, got.Body)
	}
}

func TestServe_stopsWithOpenStreams(t *testing.T) {
	t.Parallel()
	w, fsys := sample()
	s := w.server(t, fsys, func(c *Config) { c.Listen = "127.0.0.1:0" })
	l, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	messages := connect(t, "http://"+l.Addr().String()+"/live?view=today", nil)
	nextChange(t, messages)
	began := time.Now()
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Serve does not end")
	}
	if took := time.Since(began); took > grace {
		t.Errorf("an open stream held the server for %v", took)
	}
	for range messages { //nolint:revive // the stream ends: the channel is closed
	}
	if n := w.listening(); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
}
