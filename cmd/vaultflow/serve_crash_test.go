//go:build unix

package main

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // a look at the journal that takes no part in it

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// answerText is what the fake model says, once in each note that it was asked for.
const answerText = "The milk was bought on Tuesday."

// fakeModel is a model service that counts what it was asked.
type fakeModel struct {
	url      string
	calls    atomic.Int64
	answered chan struct{} // one for each answer that was sent in full
}

func newFakeModel(t *testing.T) *fakeModel {
	t.Helper()
	f := &fakeModel{answered: make(chan struct{}, 100)}
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	server := httptest.NewServer(llmtest.Whole(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = wire.Read(r.Header, body)
		}
		if err != nil {
			t.Errorf("the model would refuse the request: %v", err)
			wire.Fail(w, http.StatusBadRequest, "bad", err.Error())
			return
		}
		f.calls.Add(1)
		wire.Answer(w, llmtest.Answer{Deltas: []string{answerText[:10], answerText[10:]}, Input: 20, Output: 8})
		f.answered <- struct{}{}
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// askedSite is a vault whose one workflow asks the fake model and appends what it says.
func askedSite(t *testing.T, f *fakeModel) *site {
	t.Helper()
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+f.url+"/v1\", api_key_env: LAB_KEY}}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	s.write("Inbox/A.md", "Buy milk.\n")
	s.write("Out/Log.md", "# Log\n")
	s.write("Workflows/Ask.md", note("description: asks", "@input file: Inbox/A.md (required)\n@output file: Out/Log\n@write_mode append", "What happened?"))
	return s
}

// recorded says whether the journal holds the outcome of an activity. It works beside a process that was stopped.
func (s *site) recorded(activity string) (bool, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.State, "state.db")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		return false, err
	}
	defer db.Close()
	var n int
	err = db.QueryRowContext(s.T.Context(), `SELECT count(*) FROM records WHERE activity = ? AND output IS NOT NULL`, activity).Scan(&n)
	return n > 0, err
}

// finishedOnce checks that after the restart the one run ended well and its output stands once below what was there.
func (s *site) finishedOnce() {
	s.T.Helper()
	run := s.ran("Ask", 1)[0]
	if run.Resumed == 0 {
		s.T.Logf("run %s had ended before the kill", run.ID)
	}
	text := s.Read("Out/Log.md")
	if !strings.HasPrefix(text, "# Log\n") || strings.Count(text, answerText) != 1 {
		s.T.Errorf("the output holds %q, want the answer once below the title", text)
	}
	if left := s.hidden("Out"); len(left) != 0 {
		s.T.Errorf("left hidden beside the output: %q", left)
	}
	if files := s.Files("Out", ""); len(files) != 1 {
		s.T.Errorf("files %q, want the log alone", files)
	}
}

func TestServe_killedSoonAfterTheAnswer(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, 1, 2, 5, 10, 20, 50} {
		t.Run(fmt.Sprintf("%dms", delay), func(t *testing.T) {
			t.Parallel()
			f := newFakeModel(t)
			s := askedSite(t, f)
			d := s.serve()
			by := s.Command("run", "Ask")
			if err := by.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-f.answered:
			case <-time.After(patience):
				t.Fatal("the model was not asked")
			}
			time.Sleep(delay * time.Millisecond) // not to wait for something: to kill at another moment each time
			d.Kill()
			by.Process.Kill()
			by.Wait()
			kept, err := s.recorded(engine.ActivityGenerate)
			if err != nil {
				t.Fatal(err)
			}
			s.serve()
			s.finishedOnce()
			calls := f.calls.Load()
			t.Logf("answer in the journal before the kill: %t, calls: %d", kept, calls)
			if kept && calls != 1 || calls > 2 {
				t.Errorf("the model was asked %d times; the answer was in the journal: %t", calls, kept)
			}
		})
	}
}

func TestServe_killedBetweenAnswerAndWrite(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		f := newFakeModel(t)
		s := askedSite(t, f)
		d := s.serve()
		by := s.Command("run", "Ask")
		if err := by.Start(); err != nil {
			t.Fatal(err)
		}
		s.stopAt(d, engine.ActivityGenerate)
		early := !strings.Contains(s.Read("Out/Log.md"), answerText)
		d.Kill()
		by.Process.Kill()
		by.Wait()
		s.serve()
		s.finishedOnce()
		if calls := f.calls.Load(); calls != 1 {
			t.Errorf("the model was asked %d times, want once", calls)
		}
		if t.Failed() {
			return
		}
		if early {
			t.Logf("round %d: stopped with the answer in the journal and no output", round+1)
			return
		}
	}
	t.Error("the daemon was never stopped between answer and write; this test proves nothing any more")
}

// stopAt halts the daemon as soon as the journal holds the outcome of an activity.
func (s *site) stopAt(d *serving, activity string) {
	s.T.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		d.Signal(syscall.SIGSTOP) // between two looks it runs for less than a millisecond
		done, err := s.recorded(activity)
		if err != nil {
			s.T.Fatal(err)
		}
		if done {
			return
		}
		d.Signal(syscall.SIGCONT)
		time.Sleep(300 * time.Microsecond) // not to wait for something: it must get to run
	}
	s.T.Fatalf("no outcome of %s in the journal", activity)
}
