package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// costly is an answer of a thousand tokens, which cost ten cents with the prices of `priced`.
func costly(text string) llmtest.Reply {
	return llmtest.Reply{Answer: llmtest.Answer{Deltas: []string{text}, Input: 20, Output: 1000}}
}

// configure puts more settings behind those of the bench.
func (b *bench) configure(more string) {
	b.t.Helper()
	before, err := os.ReadFile(filepath.Join(b.dir, "vault", "settings.yaml"))
	if err != nil {
		b.t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(before), "policy:")
	b.write("settings.yaml", text+more)
}

func (b *bench) runsOf(workflow string) []engine.RunRecord {
	b.t.Helper()
	out, _ := b.run(exitDone, "runs", workflow, "--json")
	var list []engine.RunRecord
	for line := range strings.Lines(out) {
		var run engine.RunRecord
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			b.t.Fatal(err)
		}
		list = append(list, run)
	}
	return list
}

// TestBudgets_dayAndMonth: what earlier runs have spent counts, preview says what is left, and a cap of the settings that is
// raised lets a refused run go on.
func TestBudgets_dayAndMonth(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[1], seeing+priced, costly("One."), costly("Two."), costly("Three."))
	b.configure("policy: {budget: {max_cost_usd_per_month: 0.25}}\n")
	b.write("Workflows/Day.md", "---\nbudget: {max_cost_usd_per_day: 0.15}\n---\n## Look\n@output file: Day\n\nWhat is there?\n")
	b.write("Workflows/Other.md", "## Look\n@output file: Other\n\nWhat is there?\n")
	b.run(exitDone, "run", "Day")
	out, errs := b.run(exitRefused, "run", "Day")
	if said := out + errs; !strings.Contains(said, "with $0.1 spent before, the day of the workflow Day would pass its max_cost_usd_per_day of $0.15") || !strings.Contains(said, "wait for the next day") {
		t.Errorf("refused with\n%s", said)
	}
	out, _ = b.run(exitDone, "preview", "Day")
	for _, want := range []string{"would be refused: the call may cost up to $0.1", "max_cost_usd_per_day of the day is $0.15; $0.1 spent; $0.04998 left", "max_cost_usd_per_month of the month is $0.25; $0.1 spent; $0.15 left"} {
		if !strings.Contains(out, want) {
			t.Errorf("the preview does not say %q:\n%s", want, out)
		}
	}
	b.run(exitDone, "run", "Other")
	out, errs = b.run(exitRefused, "run", "Other", "--json")
	if !strings.Contains(out+errs, "the vault's month would pass its max_cost_usd_per_month of $0.25") || len(b.server.Requests()) != 2 {
		t.Errorf("refused with\n%s%s", out, errs)
	}
	refused := b.runsOf("Other")[0]
	b.configure("policy: {budget: {max_cost_usd_per_month: 0.35}}\n")
	b.run(exitDone, "retry", refused.ID)
	if n := len(b.server.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	if out, _ = b.run(exitDone, "show", refused.ID); !strings.Contains(out, "counted in budgets: $0.10, 1020 tokens in 1 request") {
		t.Errorf("show:\n%s", out)
	}
	if out, _ = b.run(exitDone, "runs"); !strings.Contains(out, "COST") || strings.Count(out, "  $0.10  ") != 3 {
		t.Errorf("runs:\n%s", out)
	}
}

// TestBudgets_nested: a run that a model starts spends its asker's money too.
func TestBudgets_nested(t *testing.T) {
	t.Parallel()
	call := calls("run_workflow", `{"workflow":"Brew"}`)
	call.Answer.Input, call.Answer.Output = 20, 1000
	b := newBench(t, adapters()[1], "      capabilities: [text, tools]\n"+priced, call, costly("Tea."), costly("Done."))
	b.write("Workflows/Do.md", "---\nbudget: {max_cost_usd: 0.25}\n---\n## Do\n@tools run_workflow\n@output file: Out\n\nBrew.\n")
	b.write("Workflows/Brew.md", "## Brew\n@output file: Tea\n\nMake it.\n")
	out, errs := b.run(exitRefused, "run", "Do")
	if said := out + errs; !strings.Contains(said, "with $0.2 spent before, the run would pass its max_cost_usd of $0.25") {
		t.Errorf("refused with\n%s", said)
	}
	if brew := b.runsOf("Brew"); len(brew) != 1 || brew[0].Status != engine.Done || len(b.server.Requests()) != 2 {
		t.Errorf("%d requests, nested runs %+v", len(b.server.Requests()), brew)
	}

	b = newBench(t, adapters()[1], "      capabilities: [text, tools]\n"+priced, call, costly("Done."))
	b.write("Workflows/Do.md", "## Do\n@budget (max_total_tokens=1900)\n@tools run_workflow\n@output file: Out\n\nBrew.\n")
	b.write("Workflows/Brew.md", "## Brew\n@output file: Tea\n\nMake it.\n")
	b.run(exitRefused, "run", "Do")
	brew, do := b.runsOf("Brew")[0], b.runsOf("Do")[0]
	if brew.Failure == nil || brew.Failure.Code != failure.Budget || !strings.Contains(brew.Failure.Message, "the step that waits for it (run "+do.ID+") would pass its max_total_tokens of 1900 tokens") {
		t.Errorf("the nested run: %s, %+v", brew.Status, brew.Failure)
	}
}
