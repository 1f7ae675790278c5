package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

// TestTools_approved lets a model delete and write behind a person's yes: one call is agreed to, the other one is not, the
// model is told, and no answer is bought twice.
func TestTools_approved(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[1], "      capabilities: [text, tools]\n",
		calls("delete_file", `{"path":"old.md"}`, "write_file", `{"path":"new.md","content":"fresh\n"}`), says("Done."))
	b.write("old.md", "old\n")
	b.write("Workflows/Tidy.md", "## Tidy\n@approve tools\n@tools delete_file, write_file\n@output file: Out\n\nTidy up.\n")
	b.run(exitApproval, "run", "Tidy")
	b.holds("old.md", "old\n")
	out, _ := b.run(exitDone, "approvals", "--json")
	var run string
	for line := range strings.Lines(out) {
		var p engine.Proposal
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		run = p.Run
	}
	if shown, _ := b.run(exitDone, "approvals", run); !strings.Contains(shown, "delete old.md (delete_file)") || !strings.Contains(shown, "+fresh") {
		t.Errorf("approvals: %s", shown)
	}
	b.run(exitApproval, "approve", run, "--item", "1")
	b.holds("old.md", "old\n") // the calls of one answer are carried out together
	b.run(exitDone, "approve", run, "--item", "2", "--reject")
	if _, err := os.Stat(filepath.Join(b.dir, "vault", "old.md")); !os.IsNotExist(err) {
		t.Errorf("old.md is there still: %v", err)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "vault", "new.md")); !os.IsNotExist(err) {
		t.Errorf("new.md was written without a yes: %v", err)
	}
	b.holds("Out.md", "Done.\n")
	requests := b.server.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2", len(requests))
	}
	if told := texts(requests[1].Parts); !strings.Contains(told, "deleted old.md") || !strings.Contains(told, "the user rejected this call") {
		t.Errorf("the model was told:\n%s", told)
	}
}

// TestTools_approvalsUnread has a model that looks for the marks of open boxes with every tool that reads.
func TestTools_approvalsUnread(t *testing.T) {
	t.Parallel()
	const dir, secret = "Workflows/_approvals", "^rest-0123456789abcdef0123456789abcdef"
	b := newBench(t, adapters()[1], "      capabilities: [text, tools]\n",
		calls("list_files", `{"path":"Workflows"}`, "list_files", `{"path":"`+dir+`"}`, "read_file", `{"path":"`+dir+`/r1.md"}`,
			"read_file", `{"path":"workflows/_APPROVALS/R1.md"}`, "search_files", `{"query":"rest-"}`, "read_file", `{"path":"[[r1]]"}`,
			"copy_file", `{"from":"`+dir+`/r1.md","to":"copy.md"}`, "move_file", `{"from":"`+dir+`/r1.md","to":"moved.md"}`), says("Done."))
	b.write(dir+"/r1.md", "- [ ] Reject what is not ticked "+secret+"\n")
	b.write("Workflows/Spy.md", "---\nvaultflow: true\npermissions: {write: [\"**\"]}\n---\n## Spy\n@tools all\n@output file: Out\n\nLook around.\n")
	b.run(exitDone, "run", "Spy")
	requests := b.server.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2", len(requests))
	}
	told := texts(requests[1].Parts)
	if strings.Contains(told, secret) || strings.Contains(told, "rest-0") {
		t.Errorf("the model was told:\n%s", told)
	}
	if strings.Count(told, "models may not read settings, keys and the folder of approvals") < 3 {
		t.Errorf("the model is not told why:\n%s", told)
	}
	b.holds(dir+"/r1.md", "- [ ] Reject what is not ticked "+secret+"\n")
}

// TestOutputs_askedAgain rejects an answer with a reason: the model gets it as a person's words, and its next answer is asked
// about anew. With the retries used up, a no ends it.
func TestOutputs_askedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[1], "", says("Dear 2025."), says("Dear 2026."), says("Dear 2027."))
	b.write("Workflows/Letter.md", "## Letter\n@approve outputs (retries=1)\n@output file: Letter\n@write_mode replace\n\nWrite a letter.\n")
	b.run(exitApproval, "run", "Letter")
	out, _ := b.run(exitDone, "runs", "--json")
	var r engine.RunRecord
	if err := json.Unmarshal([]byte(strings.SplitN(out, "\n", 2)[0]), &r); err != nil {
		t.Fatal(err)
	}
	if shown, _ := b.run(exitApproval, "approve", r.ID, "--reject", "--reason", "wrong year"); !strings.Contains(shown, "waits for approval") {
		t.Errorf("approve --reject: %s", shown)
	}
	if shown, _ := b.run(exitDone, "approvals", r.ID); !strings.Contains(shown, "+Dear 2026.") || strings.Contains(shown, "2025") {
		t.Errorf("approvals: %s", shown)
	}
	b.run(exitDone, "approve", r.ID, "--item", "2")
	b.holds("Letter.md", "Dear 2026.\n")
	requests := b.server.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2", len(requests))
	}
	told := texts(requests[1].Parts)
	if !strings.Contains(told, "for these reasons:\n- Letter.md: wrong year\n") {
		t.Errorf("the model was told:\n%s", told)
	}
	if shown, _ := b.run(exitDone, "show", r.ID); !strings.Contains(shown, "rejected by command: wrong year") {
		t.Errorf("the record: %s", shown)
	}

	b.write("Workflows/Once.md", "## Once\n@approve outputs\n@output file: Once\n\nWrite a letter.\n")
	b.run(exitApproval, "run", "Once")
	out, _ = b.run(exitDone, "runs", "Once", "--json")
	if err := json.Unmarshal([]byte(strings.SplitN(out, "\n", 2)[0]), &r); err != nil {
		t.Fatal(err)
	}
	if shown, _ := b.run(exitDone, "approve", r.ID, "--reject", "--reason", "no"); !strings.Contains(shown, "rejected by command: no") || len(b.server.Requests()) != 3 {
		t.Errorf("without retries: %s", shown)
	}
}
