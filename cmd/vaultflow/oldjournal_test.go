//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/engine/journal"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// oldJournal holds a vault and a state directory as commit 9d17fae left them when it was killed: the last one whose journal,
// executor and activities were single types. To write it anew, build that commit and run
// VAULTFLOW_OLD_BINARY=/path/to/vaultflow go test ./cmd/vaultflow -run TestOldJournal_write.
const oldJournal = "testdata/old/9d17fae.tar.gz"

// oldModel answers the workflows of oldJournal.
type oldModel struct {
	url string

	mu    sync.Mutex
	calls map[string]int // by what was asked. Guarded by mu
}

// newOldModel starts the model. As it was in the old version it refuses one question and never answers another one: reached
// is called then.
func newOldModel(t *testing.T, reached func()) *oldModel {
	t.Helper()
	m := &oldModel{calls: map[string]int{}}
	wire := llmtest.OpenAI{Kind: "openai_compatible"}
	server := httptest.NewServer(llmtest.Whole(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			_, err = wire.Read(r.Header, body)
		}
		if err != nil {
			t.Error(err)
		}
		asked := ""
		for _, word := range []string{"tidy the vault", "refused at first", "Page number 1.", "Page number 2.", "Page number 3.", "write a letter"} {
			if bytes.Contains(body, []byte(word)) {
				asked = word
			}
		}
		m.mu.Lock()
		m.calls[asked]++
		m.mu.Unlock()
		answer := llmtest.Answer{Deltas: []string{"Answer to: " + asked}, Input: 20, Output: 8}
		switch {
		case reached != nil && asked == "refused at first":
			wire.Fail(w, http.StatusBadRequest, "bad", "no")
			return
		case reached != nil && asked == "Page number 2.":
			reached()
			<-r.Context().Done()
			return
		case asked == "tidy the vault" && !bytes.Contains(body, []byte(`"role":"tool"`)):
			answer = llmtest.Answer{Input: 20, Output: 8, ToolCalls: []llmtest.ToolCall{
				{Name: "write_file", Input: `{"path":"Made.md","content":"made\n"}`},
				{Name: "append_file", Input: `{"path":"Log.md","content":"first\n"}`},
				{Name: "move_file", Input: `{"from":"Inbox/a.md","to":"Done/a.md"}`},
				{Name: "delete_file", Input: `{"path":"Old.md"}`},
			}}
		}
		wire.Answer(w, answer)
	}))
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

func (m *oldModel) asked() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.calls)
}

// oldSite is a site whose settings name the model.
func oldSite(t *testing.T, m *oldModel) (s *site, settings string) {
	t.Helper()
	settings = "web: {listen: \"127.0.0.1:0\"}\nmodels: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, capabilities: [text, tools]}}}\n" +
		"providers: {lab: {kind: openai_compatible, base_url: \"" + m.url + "/v1\", api_key_env: LAB_KEY}}\n"
	s = newSite(t, "", "")
	s.write("settings.yaml", settings) // without what the old version does not know
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	return s, settings
}

// TestOldJournal resumes, answers, retries and takes back what an earlier version left.
func TestOldJournal(t *testing.T) {
	t.Parallel()
	m := newOldModel(t, nil)
	s, settings := oldSite(t, m)
	unpack(t, oldJournal, filepath.Dir(s.Vault))
	s.write("settings.yaml", settings)
	j, err := journal.Open(t.Context(), s.State) // as serve brings an older schema up to date, without resuming runs
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	s.Must("trust", "--own") // the vault lies in another folder now
	run := func(workflow string) engine.RunRecord {
		t.Helper()
		return rows[engine.RunRecord](s, "show", s.Runs(workflow)[0].ID)[0]
	}
	wantRun := func(workflow string, status engine.Status) {
		t.Helper()
		s.Wait(patience, workflow+" to be "+string(status), func() (bool, string) {
			r := run(workflow)
			return r.Status == status, string(r.Status) + " " + r.Reason
		})
	}
	if got := run("Pages"); got.Status != engine.Running || len(got.Steps) != 1 || len(got.Steps[0].Batches) == 0 {
		t.Fatalf("Pages as it was left: %s, %d steps", got.Status, len(got.Steps))
	}
	s.serve()
	wantRun("Pages", engine.Done)
	if got := s.Read("Out/Pages.md"); got != "Answer to: Page number 1.\n\nAnswer to: Page number 2.\n\nAnswer to: Page number 3.\n" {
		t.Errorf("Out/Pages.md: %q", got)
	}
	if diff := cmp.Diff(map[string]int{"Page number 2.": 1, "Page number 3.": 1}, m.asked()); diff != "" {
		t.Errorf("questions after the restart (-want +got):\n%s", diff)
	}

	wantRun("Letter", engine.AwaitingApproval)
	letter := run("Letter").ID
	s.Must("approvals", letter)
	s.Must("approve", letter)
	wantRun("Letter", engine.Done)
	if got := s.Read("Out/Letter.md"); got != "Answer to: write a letter\n" {
		t.Errorf("Out/Letter.md: %q", got)
	}

	if got := run("Refused"); got.Status != engine.Failed || got.Failure == nil {
		t.Fatalf("Refused as it was left: %s, %+v", got.Status, got.Failure)
	}
	s.Must("retry", run("Refused").ID)
	wantRun("Refused", engine.Done)

	tidied := run("Tidy")
	if len(tidied.Changes) != 5 || tidied.Usage.InputTokens != 40 || tidied.Usage.CostUSD != 0 {
		t.Errorf("Tidy as it was left: %d changes, %+v", len(tidied.Changes), tidied.Usage)
	}
	s.Must("undo", tidied.ID)
	for name, want := range map[string]string{"Log.md": "# Log\n", "Inbox/a.md": "a\n", "Old.md": "old\n", "Made.md": "", "Done/a.md": "", "Out/Tidy.md": ""} {
		if got := s.Read(name); got != want {
			t.Errorf("%s after the undo: %q, want %q", name, got, want)
		}
	}
	if got := run("Tidy"); got.Kind != engine.KindUndo || got.Status != engine.Done {
		t.Errorf("the undo: %s, %s (%s)", got.Kind, got.Status, got.Reason)
	}
	if out := s.Must("run", "Tidy"); !strings.Contains(out, "done") { // its input is pending again
		t.Errorf("Tidy again: %s", out)
	}
}

// TestOldJournal_write makes the fixture with the version that VAULTFLOW_OLD_BINARY names.
func TestOldJournal_write(t *testing.T) {
	old := os.Getenv("VAULTFLOW_OLD_BINARY")
	if old == "" {
		t.Skip("VAULTFLOW_OLD_BINARY names no binary")
	}
	reached := make(chan struct{})
	m := newOldModel(t, sync.OnceFunc(func() { close(reached) }))
	s, _ := oldSite(t, m)
	s.Binary = old
	for name, text := range map[string]string{
		"Log.md": "# Log\n", "Inbox/a.md": "a\n", "Old.md": "old\n", "In.md": "to do\n", "New.md": "New.\n",
		"Pages/1.md": "Page number 1.\n", "Pages/2.md": "Page number 2.\n", "Pages/3.md": "Page number 3.\n",
		"Workflows/Tidy.md": note("description: tidy\npermissions: {tools: [write_file, append_file, move_file, delete_file]}",
			"@tools write_file, append_file, move_file, delete_file\n@input file: In (pending)\n@output file: Out/Tidy", "tidy the vault"),
		"Workflows/Pages.md":   note("description: pages", "@for_each file: Pages/*.md\n@input file: {item}\n@output file: Out/Pages\n@write_mode append", "Say what is in it."),
		"Workflows/Letter.md":  note("description: letter", "@approve outputs\n@input file: New\n@output file: Out/Letter", "write a letter"),
		"Workflows/Free.md":    note("description: free", "@model none\n@input file: New (output=file: Out/Free)", "x"),
		"Workflows/Refused.md": note("description: refused", "@output file: Out/Refused", "refused at first"),
	} {
		s.write(name, text)
	}
	d := s.serve()
	s.Must("run", "Tidy")
	if _, errs, code := s.CLI("run", "Refused"); code != exitProvider {
		t.Fatalf("run Refused: exit code %d\n%s", code, errs)
	}
	if _, errs, code := s.CLI("run", "Letter"); code != exitApproval {
		t.Fatalf("run Letter: exit code %d\n%s", code, errs)
	}
	pages := s.Command("run", "Pages")
	if err := pages.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-reached:
	case <-time.After(patience):
		t.Fatal("nobody asked about the second page")
	}
	d.Kill()
	_ = pages.Process.Kill() // it would wait for the next daemon
	_ = pages.Wait()
	s.Must("run", "Free") // its end moves the log of the database into the database
	pack(t, oldJournal, filepath.Dir(s.Vault), "vault", "state")
}

// pack writes the files below folders to a compressed archive. Its times and owners say nothing.
func pack(t *testing.T, archive, dir string, folders ...string) {
	t.Helper()
	var buf bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	out := tar.NewWriter(compressed)
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || slices.Contains([]string{"state.db-shm", "settings.yaml", "lock", "secret", "web-token"}, d.Name()) {
				return err
			}
			data, err := os.ReadFile(path)
			name, relErr := filepath.Rel(dir, path)
			if err := errors.Join(err, relErr, out.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(data))})); err != nil {
				return err
			}
			_, err = out.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), compressed.Close(), os.MkdirAll(filepath.Dir(archive), 0o755), os.WriteFile(archive, buf.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// unpack writes the files of an archive below a folder.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	compressed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(compressed); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		var data []byte
		if err == nil {
			data, err = io.ReadAll(in)
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}
