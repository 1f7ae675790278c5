//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
)

// TestServe_approvesPrompts: a prompt waits before anything is requested, is sent as it was approved, and the next one is not asked for until
// a note changes. serve is killed in between, and a prompt that changed while it waited is not sent.
func TestServe_approvesPrompts(t *testing.T) {
	t.Parallel()
	s, server := modelSite(t, "First", "Second", "Third")
	s.write("Workflows/Look.md", note("description: look", "@approve prompt\n@input file: Note\n@output file: Out\n@write_mode replace", "What is it?"))
	s.write("Note.md", "One.\n")
	d := s.serve()
	waits := func(requests int, want ...string) (run string) {
		t.Helper()
		out, errs, code := s.CLI("run", "Look")
		run = s.Runs("Look")[0].ID
		if code != exitApproval || len(server.Requests()) != requests {
			t.Fatalf("exit code %d, %d requests; want %d and %d\n%s%s", code, len(server.Requests()), exitApproval, requests, out, errs)
		}
		show := s.Must("show", run)
		for _, line := range want {
			if !strings.Contains(out, line) || !strings.Contains(show, line) {
				t.Errorf("no %q in\n%s\nor\n%s", line, out, show)
			}
		}
		return run
	}
	run := waits(0, "item 1, send the prompt to haiku (lab, test-model): none for these files was approved yet")
	d.Kill()
	s.serve()
	if out := s.Must("approvals", run); !strings.Contains(out, "One.\n") || !strings.Contains(out, "--- user ---") {
		t.Errorf("approvals shows\n%s", out)
	}
	previewed := sitetest.Rows[promptLine](s.Site, "preview", "Look")
	s.Must("approve", run)
	sent := server.Requests()[0].Parts
	for _, p := range sent {
		if text := previewed[len(previewed)-1].Text; p.Text != "" && !strings.Contains(text, strings.TrimSuffix(p.Text, "\n")) {
			t.Errorf("sent %q, previewed\n%s", p.Text, text)
		}
	}
	if s.Read("Out.md") != "First\n" || len(sent) == 0 {
		t.Errorf("Out.md: %q; sent %v", s.Read("Out.md"), sent)
	}
	s.Must("run", "Look")
	if out := s.Must("preview", "Look"); strings.Contains(out, "would wait") {
		t.Errorf("an approved prompt would wait:\n%s", out)
	}

	s.write("Note.md", "Two.\n")
	if out := s.Must("preview", "Look"); !strings.Contains(out, "would wait for your approval of the prompt: differs from the one that was approved last:\n  note changed: Note.md\n") {
		t.Errorf("preview says\n%s", out)
	}
	run = waits(2, "send the prompt to haiku (lab, test-model): differs from the one that was approved last:", "    note changed: Note.md\n")
	s.Must("approvals", run)
	s.write("Note.md", "Three.\n")
	out, errs, code := s.CLI("approve", run)
	if said := "the prompt has changed since it was shown, and was not sent: note changed: Note.md"; code != exitApproval || !strings.Contains(errs, said) || len(server.Requests()) != 2 {
		t.Errorf("exit code %d, %d requests\n%s%s", code, len(server.Requests()), out, errs)
	}
	if _, errs, code := s.CLI("approve", run); code != exitRefused {
		t.Errorf("approved unseen: exit code %d\n%s", code, errs)
	}
	s.Must("approvals", run)
	s.Must("approve", run)
	if all := server.Requests(); len(all) != 3 || !strings.Contains(string(all[2].Body), "Three.") || s.Read("Out.md") != "Third\n" {
		t.Errorf("%d requests, Out.md: %q", len(all), s.Read("Out.md"))
	}
}
