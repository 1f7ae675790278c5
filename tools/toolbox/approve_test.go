package toolbox

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/workflow"
)

// asking is a desk whose step asks before calls.
func asking(t *testing.T, files map[string]string, use string) (*world, *steptest.People) {
	t.Helper()
	d := newDesk(t, files, use)
	d.plan.Steps[0].Approve = &directives.Approve{Tools: true, Outputs: true, Timeout: time.Hour}
	p := &steptest.People{Says: map[string]string{}, By: engine.DecidedCommand}
	d.Approvals = p
	return d, p
}

// ask asks about a turn's calls.
func (d *world) ask(turn engine.UseToolsIn) ([]engine.Verdict, error) {
	out, err := d.steps().Approver.Approve(d.t.Context(), engine.ApproveIn{StepRef: turn.StepRef, Tools: &turn})
	return out.Verdicts, err
}

func TestApprove_calls(t *testing.T) {
	t.Parallel()
	d, p := asking(t, map[string]string{"a.md": "one\n", "b.md": "bee\n", "c.md": "sea\n"}, "all")
	turn := d.turn(
		tool("append_file", in{"path": "a.md", "content": "two"}), tool("append_file", in{"path": "a.md", "content": "three"}),
		tool("delete_file", in{"path": "b.md"}), tool("move_file", in{"from": "c.md", "to": "Done/c.md"}),
		tool("write_file", in{"path": "new.md", "content": "fresh\n"}), tool("read_file", in{"path": "b.md"}),
		tool("edit_file", in{"path": "none.md", "old_text": "x", "new_text": "y"}),
	)
	before := d.vault.Texts()
	_, err := d.ask(turn)
	if _, reason, parked := engine.Parked(err); !parked || reason != "waits for approval: write a.md (append_file), and 4 more" {
		t.Fatalf("nobody has decided: %v", err)
	}
	if !maps.Equal(before, d.vault.Texts()) || len(d.Intents) != 0 {
		t.Errorf("asking has changed the vault: %v, %v", d.vault.Texts(), d.Intents)
	}
	var said, diffs []string
	for _, q := range p.Asked {
		shown, err := q.Show(t.Context(), d.Get)
		text := shown.Text
		if err != nil || !shown.Whole || q.Deadline != noon.Add(time.Hour) {
			t.Errorf("%s: deadline %v, %v", q, q.Deadline, err)
		}
		said, diffs = append(said, q.String()), append(diffs, text)
	}
	if diff := cmp.Diff([]string{
		"write a.md (append_file)", "write a.md (append_file)", "delete b.md (delete_file)", "move c.md to Done/c.md (move_file)", "create new.md (write_file)",
	}, said); diff != "" {
		t.Fatalf("proposed (-want +got):\n%s", diff)
	}
	if !strings.Contains(diffs[1], "+two\n+three") || !strings.Contains(diffs[2], "-bee") {
		t.Errorf("diffs:\n%s", strings.Join(diffs, "\n"))
	}

	p.Decide(engine.ProposalApproved, "write a.md (append_file)", "move c.md to Done/c.md (move_file)", "create new.md (write_file)")
	if _, err := d.ask(turn); !errors.Is(err, engine.ErrParked) {
		t.Errorf("one is left: %v, want parked", err)
	}
	p.Decide(engine.ProposalRejected, "delete b.md (delete_file)")
	if turn.Verdicts, err = d.ask(turn); err != nil || len(turn.Verdicts) != 5 {
		t.Fatalf("%d verdicts, %v", len(turn.Verdicts), err)
	}
	out, err := d.box().Use(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Undone) != 0 {
		t.Errorf("not done: %q; a rejected call is none", out.Undone)
	}
	results := d.results(out)
	for i, want := range []string{"appended to a.md", "appended to a.md", "the user rejected this call", "moved c.md", "created new.md", "bee", "none.md"} {
		if got := results[i].Text(); !strings.Contains(got, want) {
			t.Errorf("result %d: %q, want %q", i, got, want)
		}
	}
	want := map[string]string{"a.md": "one\ntwo\nthree", "b.md": "bee\n", "Done/c.md": "sea\n", "new.md": "fresh\n"}
	if diff := cmp.Diff(want, d.vault.Texts()); diff != "" {
		t.Errorf("vault (-want +got):\n%s", diff)
	}
}

// A yes is to what the person saw. Somebody who edits the file in between makes it void.
func TestApprove_changedSince(t *testing.T) {
	t.Parallel()
	d, p := asking(t, map[string]string{"a.md": "one\n"}, "all")
	turn := d.turn(tool("append_file", in{"path": "a.md", "content": "two"}))
	p.Decide(engine.ProposalApproved, "write a.md (append_file)")
	var err error
	if turn.Verdicts, err = d.ask(turn); err != nil {
		t.Fatal(err)
	}
	first := p.Asked[0].Key
	d.files["a.md"] = &fstest.MapFile{Data: []byte("a person's\n"), ModTime: noon}
	out, err := d.box().Use(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	if said := d.results(out)[0].Text(); !strings.Contains(said, "differs from what was submitted for approval") || d.vault.Texts()["a.md"] != "a person's\n" {
		t.Errorf("%q, a.md holds %q", said, d.vault.Texts()["a.md"])
	}
	if len(out.Undone) != 1 || !strings.HasPrefix(out.Undone[0], "write a.md (append_file): ") || !strings.Contains(out.Undone[0], "differs from") {
		t.Errorf("approved, and not done: %q", out.Undone)
	}
	p.Says = map[string]string{}
	if _, err := d.ask(turn); !errors.Is(err, engine.ErrParked) || p.Asked[0].Key == first {
		t.Errorf("asked again: %v, key %s; want parked with a key of its own", err, p.Asked[0].Key)
	}
}

// Nothing with an effect happens without a verdict, whatever the answer of a model or a journal holds.
func TestApprove_noVerdict(t *testing.T) {
	t.Parallel()
	d, h := nesting(t, "run_workflow, write_file, delete_file, read_file")
	d.plan.Steps[0].Approve, d.Approvals = &directives.Approve{Tools: true}, &steptest.People{}
	before := d.vault.Texts()
	_, results := d.use(tool("run_workflow", in{"workflow": "other"}), tool("write_file", in{"path": "n.md", "content": "x"}), tool("delete_file", in{"path": "a.md"}), tool("read_file", in{"path": "a.md"}))
	for i, r := range results {
		if asked := strings.Contains(r.Text(), "not submitted for approval"); asked != (i < 3) {
			t.Errorf("call %d: %q", i, r.Text())
		}
	}
	if !maps.Equal(before, d.vault.Texts()) || len(h.asked) != 0 {
		t.Errorf("done without a yes: %v, runs %v", d.vault.Texts(), h.asked)
	}
}

// What the model was shown from outside is told to the person, whose yes to this very call counts more than the guard.
func TestApprove_origins(t *testing.T) {
	t.Parallel()
	for decision, want := range map[string]string{engine.ProposalApproved: "created n.md", engine.ProposalRejected: "this call was not approved in time"} {
		d, p := asking(t, map[string]string{}, "all")
		p.By = engine.DecidedTimeout
		turn := d.turn(tool("write_file", in{"path": "n.md", "content": "x"}))
		turn.Origins = []string{"web https://example.org"}
		p.Decide(decision, "create n.md (write_file)")
		var err error
		if turn.Verdicts, err = d.ask(turn); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(turn.Origins, p.Asked[0].Origins); diff != "" {
			t.Errorf("origins (-shown +told):\n%s", diff)
		}
		out, err := d.box().Use(t.Context(), turn)
		if err != nil {
			t.Fatal(err)
		}
		if said := d.results(out)[0].Text(); !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", decision, said, want)
		}
	}
}

// The folder in which people approve is closed to everything that a model has a hand in, whatever is permitted.
func TestApprove_itsFolder(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.md": "a"}, "all")
	d.plan.Meta.Permissions = workflow.Permissions{Write: []string{"**"}}
	for _, call := range []content.ToolCall{
		tool("append_file", in{"path": "Workflows/_approvals/r1.md", "content": "- [x] yes"}), tool("append_file", in{"path": "workflows/_APPROVALS/r1.md", "content": "x"}),
		tool("move_file", in{"from": "a.md", "to": "Workflows/_approvals/r1.md"}),
	} {
		if _, results := d.use(call); results[0].Success || !strings.Contains(results[0].Text(), "where a person approves") {
			t.Errorf("%s: %q", call.Input, results[0].Text())
		}
	}
	d.plan.Steps[0].Outputs = []directives.Output{{Target: fileTarget("Workflows/_Approvals/r1.md")}}
	if out, err := d.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: d.ref(), Answer: d.put("- [x] yes")}); code(err) != failure.Permission {
		t.Errorf("staged %+v, %v; want it refused", out.Files, err)
	}
}

// A person writes something else in place of what a model proposed: that is what is done, and the model hears of it. The reason
// of a no reaches the model too.
func TestApprove_editedAndReason(t *testing.T) {
	t.Parallel()
	d, p := asking(t, map[string]string{"a.md": "one\n"}, "all")
	turn := d.turn(tool("write_file", in{"path": "n.md", "content": "model's\n"}), tool("append_file", in{"path": "a.md", "content": "two"}))
	p.Decide(engine.ProposalApproved, "create n.md (write_file)")
	p.Decide(engine.ProposalRejected, "write a.md (append_file)")
	p.Edited, p.Reason = map[string]string{"create n.md (write_file)": d.put("person's \u202e own ![](http://example.org/x.png)\r\n")}, "wrong year"
	turn.Origins = []string{"web https://example.org"} // the exit filter is for the model's words, not for the person's
	var err error
	if turn.Verdicts, err = d.ask(turn); err != nil {
		t.Fatal(err)
	}
	out, err := d.box().Use(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	results := d.results(out)
	if got := d.vault.Texts()["n.md"]; got != "person's \u202e own ![](http://example.org/x.png)\r\n" || !strings.Contains(results[0].Text(), "the file has the edited content") {
		t.Errorf("n.md holds %q, the model was told %q", got, results[0].Text())
	}
	if got := results[1].Text(); !strings.Contains(got, "The reason: wrong year") || d.vault.Texts()["a.md"] != "one\n" {
		t.Errorf("the model was told %q, a.md holds %q", got, d.vault.Texts()["a.md"])
	}
}
