package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
)

// TestTools_runWorkflow lets a model run another workflow of the vault, in the only place that runs have: a run of its own
// with its parent, whose answer the model is told. What is switched off, broken or unknown is not started.
func TestTools_runWorkflow(t *testing.T) {
	t.Parallel()
	b := newBench(t, adapters()[1], "      capabilities: [text, tools]\n",
		calls("run_workflow", `{"workflow":"brew","variables":{"topic":"green tea"}}`, "run_workflow", `{"workflow":"Off"}`,
			"run_workflow", `{"workflow":"Broken"}`, "run_workflow", `{"workflow":"Brewer"}`, "run_workflow", `{"workflow":"Do"}`,
			"run_workflow", `{"workflow":"Brew"}`),
		says("Tea is ready."), says("All done."))
	settings, err := os.ReadFile(filepath.Join(b.dir, "vault", "settings.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	b.write("settings.yaml", string(settings)+"engine: {max_parallel_runs: 1}\n")
	b.write("Workflows/Do.md", "## Do\n@tools run_workflow\n@output file: Out\n\nBrew.\n")
	b.write("Workflows/Brew.md", "---\nmax_runs_per_day: 1\n---\n## Brew\n@input variable: topic\n@output file: Tea\n\nMake it.\n")
	b.write("Workflows/Off.md", "---\nenabled: false\nschedule: \"cron: 0 8 * * *\"\n---\n## Off\n@output file: Off\n\nx\n")
	b.write("Workflows/Broken.md", "## Broken\n@inputt file: x\n@output file: Off\n\nx\n")
	if out, _ := b.run(exitDone, "check", "Do", "--json"); strings.Contains(out, "VF141") {
		t.Errorf("check: %s", out)
	}
	b.run(exitDone, "run", "Do")
	b.holds("Tea.md", "Tea is ready.\n")
	b.holds("Out.md", "All done.\n")
	requests := b.server.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests, want 3: %s", len(requests), texts(requests[len(requests)-1].Parts))
	}
	if asked := texts(requests[1].Parts); !strings.Contains(asked, "green tea") {
		t.Errorf("the nested run was not told its variable:\n%s", asked)
	}
	told := texts(requests[2].Parts)
	for _, want := range []string{
		"of Brew: done\nwrote Tea.md\nits answer:\n\nTea is ready.", `"Off" was not started: it has a trigger and is switched off`,
		`"Broken" was not started: Workflows/Broken.md:2:1`, `"Brewer" was not started: no workflow "Brewer"`, "it already waits for this call (Do > Do)",
		`"Brew" was not started: max_runs_per_day: 1 runs today`,
	} {
		if !strings.Contains(told, want) {
			t.Errorf("the model was not told %q:\n%s", want, told)
		}
	}
	out, _ := b.run(exitDone, "runs", "--json")
	byName := map[string]engine.RunRecord{}
	for line := range strings.Lines(out) {
		var run engine.RunRecord
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Fatal(err)
		}
		byName[run.Workflow] = run
	}
	if brew := byName["Brew"]; len(byName) != 2 || brew.Trigger.Kind != engine.TriggerTool || brew.Trigger.Parent != byName["Do"].ID || brew.Status != engine.Done {
		t.Errorf("runs:\n%s", out)
	}
	if out, _ = b.run(exitDone, "show", byName["Brew"].ID); !strings.Contains(out, "asked for by run "+byName["Do"].ID) {
		t.Errorf("show does not name the parent:\n%s", out)
	}
}
