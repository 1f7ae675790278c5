//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// countingModel answers with the page that it was asked about, and holds its answer to one of them back until the test
// ends or its client goes away.
type countingModel struct {
	url     string
	reached chan struct{} // closed when the page held back is asked for
	mu      sync.Mutex
	calls   map[string]int // guarded by mu
}

var pageNumber = regexp.MustCompile(`Page number (\d+)\.`)

func newCountingModel(t *testing.T, held string) *countingModel {
	t.Helper()
	m := &countingModel{reached: make(chan struct{}), calls: map[string]int{}}
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	server := httptest.NewServer(llmtest.Whole(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = wire.Read(r.Header, body)
		}
		found := pageNumber.FindSubmatch(body)
		if err != nil || found == nil {
			t.Errorf("a request for no page: %v", err)
			wire.Fail(w, http.StatusBadRequest, "bad", "no page")
			return
		}
		page := string(found[1])
		m.mu.Lock()
		m.calls[page]++
		first := m.calls[page] == 1
		m.mu.Unlock()
		if page == held && first {
			close(m.reached)
			<-r.Context().Done() // the process that asked was killed
			return
		}
		wire.Answer(w, llmtest.Answer{Deltas: []string{"Answer " + page + "."}, Input: 20, Output: 8})
	}))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// TestServe_killedAmongBatches kills the daemon in the middle of an @for_each: the batches that were written stay as they
// are and are not paid for again, and the others follow.
func TestServe_killedAmongBatches(t *testing.T) {
	t.Parallel()
	for _, parameters := range []string{"pending", "pending, parallel=2"} {
		t.Run(parameters, func(t *testing.T) {
			t.Parallel()
			m := newCountingModel(t, "4")
			s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1}}}\n"+
				"providers: {lab: {kind: openai_compatible, base_url: \""+m.url+"/v1\", api_key_env: LAB_KEY}}\n")
			s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
			for i := range 6 {
				s.write(fmt.Sprintf("Pages/p%d.md", i+1), fmt.Sprintf("Page number %d.\n", i+1))
			}
			s.write("Out/Log.md", "# Log\n")
			s.write("Workflows/Each.md", note("description: each", "@for_each file: Pages/*.md ("+parameters+")\n@input file: {item}\n@output file: Out/Log\n@write_mode append", "What is on the page?"))
			d := s.serve()
			by := s.Command("run", "Each")
			if err := by.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-m.reached:
			case <-time.After(patience):
				t.Fatal("the model was not asked for page 4")
			}
			d.Kill()
			by.Process.Kill()
			by.Wait()
			s.serve()
			if run := s.ran("Each", 1)[0]; run.Resumed == 0 {
				t.Errorf("run %s was not resumed", run.ID)
			}
			want := "# Log\n"
			for i := range 6 {
				want += fmt.Sprintf("\nAnswer %d.\n", i+1)
			}
			if got := s.Read("Out/Log.md"); got != want {
				t.Errorf("the log holds %q, want each answer once and in order: %q", got, want)
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			for page, calls := range m.calls {
				most := 1
				if page == "4" || strings.Contains(parameters, "parallel") && (page == "3" || page == "5") {
					most = 2 // its answer was on its way
				}
				if calls > most {
					t.Errorf("page %s was asked for %d times", page, calls)
				}
			}
		})
	}
}
