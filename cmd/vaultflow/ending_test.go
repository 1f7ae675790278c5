//go:build unix

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// hangingModel answers nothing from its second question on, until it is told to. It counts what it is asked.
type hangingModel struct {
	answers atomic.Bool
	asked   atomic.Int32
	url     string
}

func newHangingModel(t *testing.T) *hangingModel {
	t.Helper()
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	m := &hangingModel{}
	over := make(chan struct{})
	server := httptest.NewServer(llmtest.Whole(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if m.asked.Add(1) > 1 && !m.answers.Load() {
			<-over // also when nobody listens any more
			return
		}
		if bytes.Contains(body, []byte("Have tea made.")) && !bytes.Contains(body, []byte(`"role":"tool"`)) {
			wire.Answer(w, llmtest.Answer{ToolCalls: []llmtest.ToolCall{{Name: "run_workflow", Input: `{"workflow":"Brew"}`}}, Input: 20, Output: 8})
			return
		}
		wire.Answer(w, llmtest.Answer{Deltas: []string{"Tea."}, Input: 20, Output: 8})
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(over) })
	m.url = server.URL
	return m
}

// busySite has a daemon with model calls in flight, one of them of a run that another one waits for, an import in a worker that
// reads and answers nothing, and a browser that listens.
func busySite(t *testing.T) (*site, *hangingModel, *serving) {
	t.Helper()
	m := newHangingModel(t)
	worker := filepath.Join(t.TempDir(), "deaf-worker")
	programtest.Write(t, worker, []byte("#!/bin/sh\n[ -f /dev/fd/3 ] || exit 1\ntrap '' TERM INT HUP\ncat >/dev/null\n"))
	s := newSite(t, worker, "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, capabilities: [text, tools]}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+m.url+"/v1\", api_key_env: LAB_KEY}}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Workflows/Work.md", note("description: work", "@tools run_workflow\n@output file: Out", "Have tea made."))
	s.write("Workflows/Brew.md", note("description: brew", "@output file: Tea", "Make the tea."))
	s.write("Workflows/Other.md", note("description: other", "@for_each variable: list (parallel=2)\n@output file: Other", "Item {{item}}."))
	d := s.serve()
	work := s.Command("run", "Work") // gets its first answer
	if err := work.Start(); err != nil {
		t.Fatal(err)
	}
	s.Wait(patience, "the first answer", func() (bool, string) { return m.asked.Load() >= 1, "" })
	other := s.Command("run", "Other", "--var", `list=["a","b"]`)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, cmd := range []interface{ Wait() error }{work, other} {
			cmd.Wait()
		}
	})
	t.Cleanup(func() {
		work.Process.Kill()
		other.Process.Kill()
	})
	s.write("Import/letter.pdf", "%PDF-1.4\nnothing\n%%EOF\n")
	s.Wait(patience, "an import in the worker", func() (bool, string) {
		all := s.Imports()
		return len(all) == 1 && all[0].State == engine.ImportWorking, describe(all)
	})
	s.Wait(patience, "calls in flight", func() (bool, string) { return m.asked.Load() >= 4, "" })
	listens := s.browse(http.MethodGet, "/live?view=today", nil)
	t.Cleanup(func() { listens.Body.Close() })
	return s, m, d
}

// goesOn starts the daemon again and wants everything to end well.
func (s *site) goesOn(m *hangingModel) {
	s.T.Helper()
	m.answers.Store(true)
	s.serve()
	work, brew, other := s.ran("Work", 1)[0], s.ran("Brew", 1), s.ran("Other", 1)[0]
	for _, r := range append(brew, work, other) {
		if r.Status != engine.Done {
			s.T.Errorf("%s is %s (%s)", r.Workflow, r.Status, r.Reason)
		}
	}
	if got := s.Read("Tea.md") + s.Read("Out.md") + s.Read("Other.md"); got != "Tea.\nTea.\nTea.\n\nTea.\n" {
		s.T.Errorf("wrote %q", got)
	}
}

// TestServe_stopsWhateverIsAtWork: nothing that is under way keeps the daemon longer than 5 s, and nothing of it is lost.
func TestServe_stopsWhateverIsAtWork(t *testing.T) {
	t.Parallel()
	s, m, d := busySite(t)
	if took := d.stop(); took > 5*time.Second {
		t.Errorf("serve took %s to stop", took)
	}
	if code := d.Cmd.ProcessState.ExitCode(); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	s.goesOn(m)
}

// TestServe_askedTwiceToStop: the second request ends the process where it stands.
func TestServe_askedTwiceToStop(t *testing.T) {
	t.Parallel()
	s, m, d := busySite(t)
	d.Signal(syscall.SIGTERM)
	d.Signal(syscall.SIGTERM)
	select {
	case <-d.Done:
	case <-time.After(patience):
		t.Fatal("serve still runs")
	}
	s.goesOn(m)
}

// TestServe_cancelled ends runs whose activities hang, by the command, and takes one up again.
func TestServe_cancelled(t *testing.T) {
	t.Parallel()
	s, m, _ := busySite(t)
	ids := map[string]string{}
	for _, name := range []string{"Work", "Other"} {
		ids[name] = s.Runs(name)[0].ID
		if out := s.Must("cancel", ids[name]); !strings.Contains(out, "cancelled") {
			t.Errorf("cancel says %q", out)
		}
	}
	s.Must("cancel", s.Imports()[0].ID)
	if brew := s.Runs("Brew")[0]; brew.Status != engine.Cancelled {
		t.Errorf("the run that a cancelled one waited for is %s", brew.Status)
	}
	if s.Read("Tea.md")+s.Read("Out.md")+s.Read("Other.md") != "" {
		t.Error("a cancelled run has written")
	}
	m.answers.Store(true)
	s.Must("retry", ids["Other"])
	if got := s.Read("Other.md"); got != "Tea.\n\nTea.\n" {
		t.Errorf("wrote %q", got)
	}
}

// TestRetry_interruptedWithoutServe kills a command in the middle of a run that another run waits for. No serve is there:
// `retry` takes both up, as the same runs.
func TestRetry_interruptedWithoutServe(t *testing.T) {
	t.Parallel()
	m := newHangingModel(t)
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, capabilities: [text, tools]}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+m.url+"/v1\", api_key_env: LAB_KEY}}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Workflows/Work.md", note("description: work", "@tools run_workflow\n@output file: Out", "Have tea made."))
	s.write("Workflows/Brew.md", note("description: brew", "@output file: Tea", "Make the tea."))
	killed := s.Command("run", "Work")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	s.Wait(patience, "the nested run's question", func() (bool, string) { return m.asked.Load() >= 2, "" })
	killed.Process.Kill()
	killed.Wait()
	work, brew := s.Runs("Work")[0], s.Runs("Brew")[0]
	if work.Status != engine.Running || brew.Status != engine.Running {
		t.Fatalf("Work is %s, Brew %s; want both interrupted", work.Status, brew.Status)
	}
	m.answers.Store(true)
	s.Must("retry", work.ID)
	if again := s.ran("Brew", 1)[0]; again.ID != brew.ID || again.Status != engine.Done || s.ran("Work", 1)[0].Status != engine.Done {
		t.Errorf("Brew is %s (%s)", again.Status, again.Reason)
	}
	if got, asked := s.Read("Tea.md")+s.Read("Out.md"), m.asked.Load(); got != "Tea.\nTea.\n" || asked != 4 {
		t.Errorf("wrote %q after %d questions, want 4: one was not answered", got, asked)
	}
}
