package statusnote

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/cost"
	"github.com/vaultflow/vaultflow/engine"
)

func TestRenewNote(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CET", 3600)
	at := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	var o engine.Overview
	o.Day.Runs, o.Day.Failed = 4, 1
	o.Month.Spending = cost.Spending{Calls: 9, Cost: cost.Amount{USD: 1.23456, Tokens: 5000}}
	o.Next = []engine.SlotRecord{{Workflow: "daily/plan", Slot: at.Add(24 * time.Hour)}}
	o.Failures = []engine.RunBrief{{Run: "r1", Kind: engine.KindWorkflow, Subject: "daily/plan", Status: engine.Refused, Reason: "said: ![[secret]]\n# %% vaultflow: end %%; `vaultflow retry r1`, `$= x`", Since: at}}
	o.Omissions = []engine.RunBrief{{Run: "r2", Kind: engine.KindWorkflow, Subject: "Plan", Status: engine.DoneWithOmissions, Reason: "the model got less than was written: Book.md, pages 21-600: not shown", Since: at}}
	o.Waiting = []engine.FileBrief{{Name: "Import/a [x].pdf", State: engine.ImportNeedsPassword}}
	p := propertiesOf(o, zone)
	section := writeNote(o, zone, "Workflows")
	made, err := renewNote(nil, p, section)
	if err != nil {
		t.Fatal(err)
	}
	want := `---
next_run: 2026-11-22T08:00:00
next_workflow: daily/plan
runs_today: 4
failed_today: 1
cost_today_usd: 0
cost_month_usd: 1.2346
tokens_month: 5000
files_waiting: 1
approvals: 0
failures: 1
paused: []
invalid_workflows: 0
---
` + Begins + `
Today: 4 runs, 1 failed.
This month: 0 runs; $1.23, 5000 tokens.

### Files waiting

- Import/a \[x\].pdf: needs password

### Failed

- [[Workflows/daily/plan|daily/plan]]: refused: said: \!\[\[secret\]\] \# \%\% vaultflow: end \%\%; ` + "`vaultflow retry r1`" + `, \` + "`" + `\$\= x\` + "`" + ` (run r1, Sat 2026-11-21 08:00)

### Done, with something left out

- [[Workflows/Plan|Plan]]: the model got less than was written: Book.md, pages 21-600: not shown (run r2, Sat 2026-11-21 08:00)

### Next

- Sun 2026-11-22 08:00 [[Workflows/daily/plan|daily/plan]]
` + Ends + "\n"
	if diff := cmp.Diff(want, string(made)); diff != "" {
		t.Errorf("a new note (-want +got):\n%s", diff)
	}
	again := func(note string, p noteProperties) string {
		t.Helper()
		renewed, err := renewNote([]byte(note), p, section)
		if err != nil {
			t.Fatal(err)
		}
		return string(renewed)
	}
	if diff := cmp.Diff(want, again(want, p)); diff != "" {
		t.Errorf("written twice (-want +got):\n%s", diff)
	}
	dated := strings.Replace(want, "invalid_workflows: 0\n", "invalid_workflows: 0\nupdated: 2026-11-21T08:00:00\n", 1)
	if diff := cmp.Diff(dated, again(dated, p)); diff != "" {
		t.Errorf("nothing but the time had changed (-want +got):\n%s", diff)
	}
	// What a person wrote stays where it is.
	edited := "---\n# mine\ncolour: blue\n" + strings.TrimPrefix(want, "---\n") + "\nMy own words.\n"
	edited = strings.Replace(edited, Begins, "# Status\n\n"+Begins, 1)
	o.Next, p.NextRun, p.NextWorkflow = nil, nil, nil
	section = writeNote(o, zone, "Workflows")
	got := again(edited, p)
	for _, stays := range []string{"---\n# mine\ncolour: blue\nruns_today: 4\n", "# Status\n\n" + Begins, Ends + "\n\nMy own words.\n"} {
		if !strings.Contains(got, stays) {
			t.Errorf("it lacks %q:\n%s", stays, got)
		}
	}
	if strings.Contains(got, "next_run") || strings.Contains(got, "### Next") {
		t.Errorf("what is not there any more still stands:\n%s", got)
	}
	old := strings.Replace(edited, Begins, "%% vaultflow: what stands up to the next mark is written anew when something changes %%", 1)
	if diff := cmp.Diff(got, again(old, p)); diff != "" {
		t.Errorf("a note with the former mark (-want +got):\n%s", diff)
	}
	// A note that is not ours gets a section, and nothing of it goes; a mark without the other one is a person's text.
	for _, theirs := range []string{"some words", "words\n" + Begins + "\nmore\n", Ends + "\n" + Begins + "\n"} {
		got := again(theirs, p)
		if !strings.Contains(got, theirs) || strings.Count(got, section) != 1 {
			t.Errorf("%q became\n%s", theirs, got)
		}
	}
	if _, err := renewNote([]byte("---\nopen: [\n---\n"), p, section); err == nil {
		t.Error("frontmatter that cannot be read was written over")
	}
}

// TestSaysUnserved: the reason is one line at the head of what is ours, and takes the place of an earlier one.
func TestSaysUnserved(t *testing.T) {
	t.Parallel()
	note := []byte("---\nruns_today: 3\n---\nMine.\n" + Begins + "\nToday: 3 runs.\n" + Ends + "\nMine too.\n")
	for _, why := range []string{"no *disk*\nat all", "locked"} {
		note = saysUnserved(note, errors.New(why))
	}
	want := "---\nruns_today: 3\n---\nMine.\n" + Begins + "\nNot served, and tried again: locked. What follows is from before.\nToday: 3 runs.\n" + Ends + "\nMine too.\n"
	if string(note) != want {
		t.Errorf("the note is %q, want %q", note, want)
	}
	if got := saysUnserved([]byte("Mine.\n"), errors.New("locked")); string(got) != "Mine.\n" {
		t.Errorf("a note of the user's became %q", got)
	}
}
