package step

import (
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step/steptest"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// No model is paid about a recording in which nothing was heard. What somebody writes into its note is something.
func TestResolve_recordingsWithoutText(t *testing.T) {
	t.Parallel()
	const name, other = "Imported/Memo/Memo.md", "Imported/Talk/Talk.md"
	const block = vault.GeneratedBegin + "\n# Memo\n\nWhat is said in it was not written down.\n" + vault.GeneratedEnd + "\n"
	const front = "---\ntitle: Memo\n---\n"
	digest := vault.PageDigests(block)[0]
	without := `{"version":1,"note":"Memo.md","source":{"name":"Memo.wav","kind":"audio"},"pages":[],"generated":{"Memo.md":{"0":"` + digest + `"}}}`
	quiet := `{"version":1,"note":"Memo.md","source":{"name":"Memo.wav","kind":"audio"},"pages":[{"n":1,"text":{"source":"none"},"status":"done"}]}`
	spoken := `{"version":1,"note":"Memo.md","source":{"name":"Memo.wav","kind":"audio"},"pages":[{"n":1,"text":{"path":"text/page_0001.txt","source":"speech"},"status":"done"}]}`
	for what, c := range map[string]struct {
		step, note, manifest string
		files                []string
		missing              []string
	}{
		"no service":     {"@input trigger\nx", front + block, without, nil, []string{"trigger (" + name + " is a recording without text)"}},
		"nothing heard":  {"@input trigger\nx", front + block, quiet, nil, []string{"trigger (" + name + " is a recording without text)"}},
		"by a pattern":   {"@input file: {trigger}\nx", front + block, quiet, nil, []string{"file: {trigger} (" + name + " is a recording without text)"}},
		"required":       {"@input file: Imported/Memo/*.md (required)\nx", front + block, quiet, nil, []string{"file: Imported/Memo/*.md (" + name + " is a recording without text)"}},
		"a mere input":   {"@input file: Imported/Memo/*.md\nx", front + block, quiet, nil, nil},
		"with tools":     {"@input trigger\n@tools read_file\nx", front + block, quiet, nil, nil},
		"heard":          {"@input trigger\nx", front + block, spoken, nil, nil},
		"own words":      {"@input trigger\nx", front + block + "Buy milk.\n", without, nil, nil},
		"words above":    {"@input trigger\nx", front + "Buy milk.\n" + block, without, nil, nil},
		"words inside":   {"@input trigger\nx", front + vault.GeneratedBegin + "\n# Memo\n\nBuy milk.\n" + vault.GeneratedEnd + "\n", without, nil, nil},
		"another beside": {"@for_each trigger (batch=5)\n@input trigger\nx", front + block, without, []string{name, other}, nil},
	} {
		w := newWorld(t, map[string]string{
			name: c.note, "Imported/Memo/manifest.json": c.manifest, "Imported/Memo/text/page_0001.txt": "0:00 Buy milk.", other: "Words.",
			"Imported/Talk/manifest.json": `{"version":1,"note":"Talk.md","source":{"name":"Talk.txt","kind":"text"},"pages":[]}`,
		}, workflow.Step{})
		w.plan.Steps = steptest.Steps(t, c.step)
		ref := w.ref()
		if ref.Subject = c.files; c.files == nil {
			ref.Subject = []string{name}
		}
		out, err := w.steps().Resolve(t.Context(), engine.ResolveIn{StepRef: ref})
		if err != nil || !slices.Equal(out.Missing, c.missing) {
			t.Errorf("%s: missing %q, %v; want %q", what, out.Missing, err, c.missing)
		}
	}
}
