//go:build unix

package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// TestServe_writersOfOneNote lets ten workflows write to one note at once: they get their answers at the same moment. Some
// answers are the same text. Each is in the note as often as it was given.
func TestServe_writersOfOneNote(t *testing.T) {
	t.Parallel()
	const writers = 10
	together := make(chan struct{})
	var asked sync.Mutex
	n := 0
	all := func() {
		asked.Lock()
		if n++; n == writers {
			close(together)
		}
		asked.Unlock()
		select {
		case <-together:
		case <-time.After(patience): // the test fails by what it finds
		}
	}
	var replies []llmtest.Reply
	for i := range writers {
		text := fmt.Sprintf("{\"line%d\": true}", i)
		if i%2 == 0 {
			text = `{"same": true}`
		}
		replies = append(replies, llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{text}, Between: all, Input: 20, Output: 8}})
	}
	server := llmtest.NewServer(t, llmtest.OpenAI{Kind: "openai_compatible"}, replies...)
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, capabilities: [text]}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+server.URL+"/v1\", api_key_env: LAB_KEY, max_concurrency: 10}}\nengine: {max_parallel_runs: 10}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Log.md", "# Log\n\nbefore\n")
	for i := range writers {
		s.write(fmt.Sprintf("Workflows/W%d.md", i), note("description: writer", "@output file: Log", "Give a line."))
	}
	s.serve()
	var runs sync.WaitGroup
	for i := range writers {
		runs.Go(func() {
			if out, errs, code := s.CLI("run", fmt.Sprintf("W%d", i)); code != exitDone {
				t.Errorf("W%d: exit code %d\n%s%s", i, code, out, errs)
			}
		})
	}
	runs.Wait()
	text := s.Read("Log.md")
	for i := range writers {
		line, times := fmt.Sprintf(`{"line%d": true}`, i), 1
		if i%2 == 0 {
			line, times = `{"same": true}`, writers/2
		}
		if got := strings.Count(text, line); got != times {
			t.Errorf("%s stands %d times in the note, want %d:\n%s", line, got, times, text)
		}
	}
	if !strings.HasPrefix(text, "# Log\n\nbefore\n") {
		t.Errorf("what stood there is gone:\n%s", text)
	}
	again := 0
	for _, r := range rows[engine.RunRecord](s, "runs") {
		for _, e := range rows[engine.Event](s, "show", r.ID, "--events") {
			if strings.HasPrefix(e.Message, "another run wrote to it first") {
				again++
			}
		}
	}
	if again == 0 {
		t.Error("no run came late: nothing was proven")
	}
}
