package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// badAnswer is an answer that must not be written.
type badAnswer struct {
	status  engine.Status
	code    failure.Code
	exit    int
	demands string // directives that make it bad
	good    string // the answer that would do
	replies []llmtest.Reply
}

func badAnswers() []badAnswer {
	bad := func(a llmtest.Answer) []llmtest.Reply {
		a.Input = 20000
		return []llmtest.Reply{{Answer: a}}
	}
	blind := says("There is a cat.")
	blind.Answer.Input = 1
	const schema = "@schema (retries=1)\n```json\n{\"type\":\"object\",\"required\":[\"found\"]}\n```\n"
	return []badAnswer{
		{engine.Refused, failure.Refusal, exitModelRefused, "", `{"found": 1}`, bad(llmtest.Answer{Refusal: "I will not.", Stop: llm.StopRefusal})},
		{engine.Empty, failure.EmptyAnswer, exitEmpty, "", `{"found": 1}`, bad(llmtest.Answer{Text: " \n"})},
		{engine.Truncated, failure.CutOff, exitTruncated, "", `{"found": 1}`, bad(llmtest.Answer{Text: `{"found": 1, "ha`, Stop: llm.StopLength})},
		{engine.Invalid, failure.InvalidAnswer, exitInvalidAnswer, schema, `{"found": 1}`, append(bad(llmtest.Answer{Text: "A cat."}), bad(llmtest.Answer{Text: "[1]"})...)},
		{engine.Unseen, failure.Unseen, exitUnseen, "", `{"found": 1}`, []llmtest.Reply{blind, {Status: 400, Code: "invalid_request_error", Message: "not so"}}},
	}
}

var writeModes = []string{"append", "replace", "new", "frontmatter", "section (heading=Today)"}

// outcomeForms are the shapes of the step that gets the bad answer. The replies before are what it gets first.
var outcomeForms = []struct {
	name, lines string
	before      func(good string) []llmtest.Reply
}{
	{"plain", "@output file: Kept/b\n", func(string) []llmtest.Reply { return nil }},
	{"tools", "@tools list_files\n@output file: Kept/b\n", func(string) []llmtest.Reply { return []llmtest.Reply{calls("list_files", `{"dir":"Items"}`)} }},
	{"for_each", "@for_each file: Items/*.md\n@output file: Kept/{item-name}\n", func(good string) []llmtest.Reply { return []llmtest.Reply{says(good)} }},
	{"beside each other", "@for_each file: Items/b.md (parallel=2)\n@output file: Kept/{item-name}\n", func(string) []llmtest.Reply { return nil }},
}

// TestOutcomes gets each kind of bad answer in each write mode, in a step of each form: it has a status and an exit code of
// its own, nothing is written, what stood there is the same byte for byte, and a retry asks again and writes. In `make test`
// each pair of answer and form has one mode.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	n := 0
	for _, bad := range badAnswers() {
		for _, form := range outcomeForms {
			n++
			for m, mode := range writeModes {
				if m != n%len(writeModes) && !long() {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%.7s", bad.status, form.name, mode), func(t *testing.T) {
					t.Parallel()
					o := outcome{badAnswer: bad, bench: newBench(t, adapters()[1], seeing, append(append(form.before(bad.good), bad.replies...), says(bad.good))...)}
					o.noise("p.png", 300, 200)
					for _, name := range []string{"a", "b"} {
						o.write("Items/"+name+".md", "Item "+name+".\n")
						o.write("Kept/"+name+".md", "---\r\nof: "+name+"\n---\n# Today\nBefore.  \n\n# Later\nNo line end")
					}
					o.write("Workflows/Look.md", "## Look\n@input file: p.png\n"+form.lines+"@write_mode "+mode+"\n"+bad.demands+"\nWhat is there?\n\n## After\n@model none\n@output file: After\n\nMore.\n")
					o.check(form.name == "for_each")
				})
			}
		}
	}
}

type outcome struct {
	badAnswer
	*bench
}

// files are the vault's, with their content.
func (b *bench) files() map[string]string {
	b.t.Helper()
	return treeOf(b.t, filepath.Join(b.dir, "vault"))
}

// ended is the record of the run that a command has printed last.
func ended(t *testing.T, out string) engine.RunRecord {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var r engine.RunRecord
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return r
}

func (o outcome) check(firstIsGood bool) {
	o.t.Helper()
	before := o.files()
	out, _ := o.run(o.exit, "run", "Look", "--json")
	r := ended(o.t, out)
	step := r.Steps[0]
	if r.Status != o.status || step.Status != o.status || r.Failure == nil || r.Failure.Code != o.code || r.Failure.Hint == "" || r.Steps[1].Status != engine.Skipped {
		o.t.Errorf("run %s, step %s, %s, failure %+v; want %s, %s", r.Status, step.Status, r.Steps[1].Status, r.Failure, o.status, o.code)
	}
	if b := step.Works()[len(step.Works())-1]; b.Status != o.status || b.Answer == "" || b.Calls == 0 || len(b.Outputs) > 0 {
		o.t.Errorf("the batch is %s, with answer %q, %d calls, outputs %v", b.Status, b.Answer, b.Calls, b.Outputs)
	}
	after := o.files()
	if firstIsGood { // its own file was written, whatever it is called
		for name := range after {
			if strings.HasPrefix(name, "Kept/a") {
				delete(after, name)
				delete(before, name)
			}
		}
	}
	if diff := cmp.Diff(before, after); diff != "" {
		o.t.Errorf("the vault (-before +after):\n%s", diff)
	}
	asked := len(o.server.Requests())
	out, _ = o.run(exitDone, "retry", r.ID, "--json")
	if again := ended(o.t, out); again.Status != engine.Done || len(again.Outputs) == 0 || len(o.server.Requests()) != asked+1 || !o.has("After.md") {
		o.t.Errorf("retry: %s, outputs %v, %d requests more", again.Status, again.Outputs, len(o.server.Requests())-asked)
	}
	o.finish()
}

// TestOutcomes_unseenCallsTools: a model that has not seen the picture does not get to change files.
func TestOutcomes_unseenCallsTools(t *testing.T) {
	t.Parallel()
	blind := calls("write_file", `{"path":"Made.md","content":"A cat."}`)
	blind.Answer.Input = 1
	b := newBench(t, adapters()[1], seeing, blind, llmtest.Reply{Status: 400, Code: "invalid_request_error", Message: "not so"})
	b.noise("p.png", 300, 200)
	b.write("Workflows/Look.md", "## Look\n@input file: p.png\n@tools write_file\n@output file: Out\n\nWhat is there?\n")
	before := b.files()
	if r := ended(t, first(b.run(exitUnseen, "run", "Look", "--json"))); r.Status != engine.Unseen || !strings.Contains(r.Reason, "p.png") {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	if diff := cmp.Diff(before, b.files()); diff != "" {
		t.Errorf("the vault (-before +after):\n%s", diff)
	}
	b.finish()
}

func first(a, _ string) string { return a }
