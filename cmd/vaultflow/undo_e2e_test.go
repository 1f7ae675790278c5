//go:build unix

package main

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// toolSite is a site whose model answers the request that holds a word with the calls of that word, once, and every other
// one with "Done.".
func toolSite(t *testing.T, calls map[string][]llmtest.ToolCall) *site {
	t.Helper()
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
		if !bytes.Contains(body, []byte(`"role":"tool"`)) {
			for word, list := range calls {
				if bytes.Contains(body, []byte(word)) {
					wire.Answer(w, llmtest.Answer{ToolCalls: list, Input: 20, Output: 8})
					return
				}
			}
		}
		wire.Answer(w, llmtest.Answer{Deltas: []string{"Done."}, Input: 20, Output: 8})
	}))
	t.Cleanup(server.Close)
	s := newSite(t, "", "models: {default: fake, aliases: {fake: {provider: lab, model: gpt-test-1, capabilities: [text, tools]}}}\n"+
		"providers: {lab: {kind: openai_compatible, base_url: \""+server.URL+"/v1\", api_key_env: LAB_KEY}}\n")
	s.Env = append(s.Env, "LAB_KEY="+llmtest.Key)
	return s
}

// TestUndo_afterRestart lets a model and the workflow that it starts make, change, move and delete files, ends the daemon,
// and takes the run back with the next one: what nobody has touched is as before, what somebody edited is kept and reported.
// Then the undo is taken back, and the edit is kept again.
func TestUndo_afterRestart(t *testing.T) {
	t.Parallel()
	s := toolSite(t, map[string][]llmtest.ToolCall{
		"tidy the vault": {
			{Name: "write_file", Input: `{"path":"Made.md","content":"made\n"}`},
			{Name: "append_file", Input: `{"path":"Made.md","content":"and more\n"}`},
			{Name: "append_file", Input: `{"path":"Log.md","content":"first\n"}`},
			{Name: "append_file", Input: `{"path":"Edited.md","content":"machine\n"}`},
			{Name: "move_file", Input: `{"from":"Inbox/a.md","to":"Done/a.md"}`},
			{Name: "move_file", Input: `{"from":"Inbox/b.md","to":"Done/b.md"}`},
			{Name: "append_file", Input: `{"path":"Done/b.md","content":"done\n"}`},
			{Name: "delete_file", Input: `{"path":"Old.md"}`},
			{Name: "run_workflow", Input: `{"workflow":"Inner"}`},
			{Name: "append_file", Input: `{"path":"Log.md","content":"last\n"}`},
		},
		"the inner work": {{Name: "append_file", Input: `{"path":"Log.md","content":"inner\n"}`}},
	})
	for name, text := range map[string]string{
		"Log.md": "# Log\n", "Edited.md": "mine\n", "Inbox/a.md": "a\n", "Inbox/b.md": "b\n", "Old.md": "old\r\nbytes\x00\xff", "In.md": "to do\n", "Over.md": "before\n",
	} {
		s.write(name, text)
	}
	s.write("Workflows/Outer.md", note("description: outer\npermissions: {tools: [write_file, append_file, move_file, delete_file, run_workflow]}",
		"@tools write_file, append_file, move_file, delete_file, run_workflow\n@input file: In (pending)\n@output file: Out\n@output file: Over\n@write_mode replace", "tidy the vault"))
	s.write("Workflows/Inner.md", note("description: inner", "@tools append_file\n@output file: Inner", "the inner work"))
	before := treeOf(t, s.Vault)
	d := s.serve()
	s.Must("run", "Outer")
	after := treeOf(t, s.Vault)
	if after["Log.md"] != "# Log\nfirst\ninner\nlast\n" || after["Over.md"] != "Done.\n" || after["Inner.md"] == "" || after["Done/b.md"] != "b\ndone\n" {
		t.Fatalf("the run left %q", after)
	}
	run := s.Runs("Outer")[0]
	d.stop()
	edited := after["Edited.md"] + "mine again\n"
	s.write("Edited.md", edited)
	d = s.serve() // and the command asks it
	out, errs, code := s.CLI("undo", run.ID)
	if code != exitOmissions || !strings.Contains(out, "keep Edited.md: somebody has changed it since") || !strings.Contains(out, "move Done/a.md back to Inbox/a.md") ||
		!strings.Contains(out, "In.md is pending again") {
		t.Errorf("undo: exit code %d\n%s%s", code, out, errs)
	}
	want := maps.Clone(before)
	want["Edited.md"] = edited
	if diff := cmp.Diff(want, treeOf(t, s.Vault)); diff != "" {
		t.Errorf("after the undo (-want +got):\n%s", diff)
	}
	undo := s.Runs("Outer")[0]
	if undo.Kind != engine.KindUndo || undo.Status != engine.DoneWithOmissions || len(undo.Changes) != 11 {
		t.Errorf("the undo's record: %s, %s, %d changes: %v", undo.Kind, undo.Status, len(undo.Changes), undo.Changes)
	}
	undone := treeOf(t, s.Vault)
	d.Kill()
	s.Must("undo", undo.ID) // without a daemon
	want = maps.Clone(after)
	want["Edited.md"] = edited
	if diff := cmp.Diff(want, treeOf(t, s.Vault)); diff != "" {
		t.Errorf("after the undo of the undo (-want +got):\n%s", diff)
	}
	s.serve() // and the dashboard takes that back
	page := s.dashboard() + "/runs/" + s.Runs("Outer")[0].ID
	for path, want := range map[string]string{"/changes": "made Made.md", "/undo": "Undo this run"} {
		if body := s.fetch(http.MethodGet, page+path); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, body)
		}
	}
	s.fetch(http.MethodPost, page+"/undo")
	s.Wait(patience, "the undo that the dashboard was asked for", func() (bool, string) {
		diff := cmp.Diff(undone, treeOf(t, s.Vault))
		return diff == "", diff
	})
}

// fetch asks the dashboard, which may lead on to another page.
func (s *site) fetch(method, url string) string {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), method, url, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Authorization", "Bearer "+s.token())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		s.T.Fatalf("%s %s: %s, %v\n%s", method, url, answer.Status, err, body)
	}
	return string(body)
}
