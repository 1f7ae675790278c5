//go:build unix

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// TestServe_killedInNestedRun kills the daemon while a run waits for one that its model has started. Both are resumed, in
// the one place that runs have, and there is no third.
func TestServe_killedInNestedRun(t *testing.T) {
	t.Parallel()
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	begun := make(chan struct{})
	var first sync.Once
	server := httptest.NewServer(llmtest.Whole(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = wire.Read(r.Header, body)
		}
		switch {
		case err != nil:
			t.Error(err)
			wire.Fail(w, http.StatusBadRequest, "bad", "no request")
		case bytes.Contains(body, []byte("Make the tea.")):
			hangs := false
			first.Do(func() { hangs = true })
			if hangs {
				close(begun)
				<-r.Context().Done()
				return
			}
			wire.Answer(w, llmtest.Answer{Deltas: []string{"Tea."}, Input: 20, Output: 8})
		case bytes.Contains(body, []byte(`"role":"tool"`)):
			wire.Answer(w, llmtest.Answer{Deltas: []string{"Done."}, Input: 20, Output: 8})
		default:
			wire.Answer(w, llmtest.Answer{ToolCalls: []llmtest.ToolCall{{Name: "run_workflow", Input: `{"workflow":"Brew"}`}}, Input: 20, Output: 8})
		}
	}))
	t.Cleanup(server.Close)
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, capabilities: [text, tools]}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+server.URL+"/v1\", api_key_env: LAB_KEY}}\nengine: {max_parallel_runs: 1}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Workflows/Work.md", note("description: work", "@tools run_workflow\n@output file: Out", "Have tea made."))
	s.write("Workflows/Brew.md", note("description: brew", "@output file: Tea", "Make the tea."))
	d := s.serve()
	by := s.Command("run", "Work")
	if err := by.Start(); err != nil {
		t.Fatal(err)
	}
	<-begun
	d.Kill()
	by.Process.Kill()
	by.Wait()
	s.serve()
	work, brew := s.ran("Work", 1)[0], s.ran("Brew", 1)[0]
	if work.Status != engine.Done || work.Resumed != 1 || brew.Status != engine.Done || brew.Resumed != 1 || brew.Trigger.Parent != work.ID {
		t.Errorf("Work: %s (%s), resumed %d times; Brew: %s (%s), resumed %d times, of %+v", work.Status, work.Reason, work.Resumed, brew.Status, brew.Reason, brew.Resumed, brew.Trigger)
	}
	if got := s.Read("Tea.md") + s.Read("Out.md"); got != "Tea.\nDone.\n" {
		t.Errorf("wrote %q", got)
	}
}
