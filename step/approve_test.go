package step

import (
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step/steptest"
)

func TestApprove_files(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"a.md": "one\n"}, "none")
	d.plan.Steps[0].Approve = &directives.Approve{Tools: true, Outputs: true, Timeout: time.Hour}
	p := &steptest.People{Says: map[string]string{}, By: engine.DecidedCommand}
	d.Approvals = p
	ref := d.ref()
	files := []engine.StagedFile{
		{Name: "a.md", Base: sha([]byte("one\n")), New: d.put("one\ntwo\n")},
		{Name: "n.md", New: d.put("fresh\n"), NameFrom: []string{"import 1"}},
		{Name: "same.md", Base: "d", New: "d"},
	}
	verdicts := func(files ...engine.StagedFile) []engine.Verdict {
		t.Helper()
		out, err := d.steps().Approver.Approve(t.Context(), engine.ApproveIn{StepRef: ref, Files: files})
		if err != nil {
			t.Fatal(err)
		}
		return out.Verdicts
	}
	if got := verdicts(files...); len(got) != 1 || got[0].Name != "same.md" || !got[0].Approved || len(p.Asked) != 2 {
		t.Errorf("unchanged: %+v, asked %v; want a yes for same.md and questions about the others", got, p.Asked)
	}
	_, err := d.steps().Approver.Approve(t.Context(), engine.ApproveIn{StepRef: ref, Files: files[:2]})
	if _, reason, parked := engine.Parked(err); !parked || reason != "waits for approval: write a.md, and 1 more" {
		t.Errorf("nobody has decided: %v", err)
	}
	if text, err := p.Asked[0].Show(t.Context(), d.Get); err != nil || !text.Whole || !strings.Contains(text.Text, " one\n+two\n") {
		t.Errorf("diff %+v, %v", text, err)
	}
	if got := p.Asked[1].NameFrom; len(got) != 1 || got[0] != "import 1" {
		t.Errorf("the name came from %v", got)
	}
	p.Decide(engine.ProposalRejected, "create n.md")
	if got := verdicts(files[:2]...); len(got) != 1 || got[0].Name != "n.md" || got[0].Approved || got[0].By != engine.DecidedCommand {
		t.Errorf("one no: %+v", got)
	}
}
