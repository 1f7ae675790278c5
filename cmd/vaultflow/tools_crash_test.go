//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// busyCalls is what a model does to a vault in one answer, and what the vault holds then.
func busyCalls(n int) (calls []llmtest.ToolCall, want map[string]string) {
	want = map[string]string{"Log.md": "# Log\n", "Counter.md": fmt.Sprintf("n=%d.\n", n)}
	call := func(name, format string, args ...any) {
		calls = append(calls, llmtest.ToolCall{Name: name, Input: fmt.Sprintf(format, args...)})
	}
	for i := range n {
		call("append_file", `{"path":"Log.md","content":"line %d\n"}`, i)
		call("move_file", `{"from":"Inbox/%d.md","to":"Done/"}`, i)
		call("edit_file", `{"path":"Counter.md","old_text":"n=%d.","new_text":"n=%d."}`, i, i+1)
		call("write_file", `{"path":"New/%d.md","content":"new %d\n"}`, i, i)
		want["Log.md"] += fmt.Sprintf("line %d\n", i)
		want[fmt.Sprintf("Done/%d.md", i)] = fmt.Sprintf("note %d\n", i)
		want[fmt.Sprintf("New/%d.md", i)] = fmt.Sprintf("new %d\n", i)
	}
	return calls, want
}

// TestServe_killedAmongTools kills the daemon while one answer's tools change files, in the long tier three times: in the
// end every change was made once.
func TestServe_killedAmongTools(t *testing.T) {
	t.Parallel()
	n, kills := 4, []int{1}
	if long() {
		n, kills = 15, []int{1, 6, 11}
	}
	calls, want := busyCalls(n)
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	server := httptest.NewServer(llmtest.Whole(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = wire.Read(r.Header, body)
		}
		if err != nil {
			t.Error(err)
			wire.Fail(w, http.StatusBadRequest, "bad", "no request")
			return
		}
		if bytes.Contains(body, []byte(`"role":"tool"`)) {
			wire.Answer(w, llmtest.Answer{Deltas: []string{"Done."}, Input: 20, Output: 8})
			return
		}
		wire.Answer(w, llmtest.Answer{ToolCalls: calls, Input: 20, Output: 8})
	}))
	t.Cleanup(server.Close)
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, capabilities: [text, tools]}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+server.URL+"/v1\", api_key_env: LAB_KEY}}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Log.md", "# Log\n")
	s.write("Counter.md", "n=0.\n")
	for i := range n {
		s.write(fmt.Sprintf("Inbox/%d.md", i), fmt.Sprintf("note %d\n", i))
	}
	s.write("Workflows/Work.md", note("description: work", "@tools append_file, move_file, edit_file, write_file\n@output file: Out", "Work."))
	d := s.serve()
	by := s.Command("run", "Work")
	if err := by.Start(); err != nil {
		t.Fatal(err)
	}
	for _, line := range kills {
		s.untilHolds("Log.md", fmt.Sprintf("line %d\n", line))
		d.Kill()
		d = s.serve()
	}
	by.Process.Kill()
	by.Wait()
	run := s.ran("Work", 1)[0]
	if run.Resumed == 0 || len(run.Changes) != len(calls) {
		t.Errorf("resumed %d times, %d changes in the record, want %d: %s %s", run.Resumed, len(run.Changes), len(calls), run.Status, run.Reason)
	}
	for name, text := range want {
		if got := s.Read(name); got != text {
			t.Errorf("%s holds %q, want %q", name, got, text)
		}
	}
	for i := range n {
		if _, err := os.Stat(s.Path(fmt.Sprintf("Inbox/%d.md", i))); err == nil {
			t.Errorf("Inbox/%d.md is there still", i)
		}
	}
}

// untilHolds waits until a file holds a text. It looks often, since what is waited for is in the middle of other things.
func (s *site) untilHolds(name, text string) {
	s.T.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if data, err := os.ReadFile(s.Path(name)); err == nil && strings.Contains(string(data), text) {
			return
		}
	}
	s.T.Fatalf("%s never held %q", name, text)
}
