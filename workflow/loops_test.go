package workflow

import (
	"slices"
	"testing"

	"github.com/vaultflow/vaultflow/failure/diag"
)

func TestLoops(t *testing.T) {
	t.Parallel()
	plan := func(name, trigger, output string) *Plan {
		p, list := Parse(name, name+".md", []byte("---\nenabled: true\n"+trigger+"\n---\n## A\n"+output+"\nx\n"))
		if diag.HasErrors(list) {
			t.Fatal(list)
		}
		return p
	}
	watch := func(name, glob, output string) *Plan {
		return plan(name, "watch: \""+glob+"\"", "@output file: "+output)
	}
	asleep := watch("a", "In/*", "In/x")
	asleep.Meta.Enabled = false
	for name, tt := range map[string]struct {
		plans []*Plan
		want  []string // messages
	}{
		"own folder":       {[]*Plan{watch("a", "In/**", "In/{today}")}, []string{"this output can start the workflow itself again"}},
		"other case":       {[]*Plan{watch("a", "in/*", "In/X")}, []string{"this output can start the workflow itself again"}},
		"an import's case": {[]*Plan{plan("a", "on_import: \"*.TXT\"", "@output file: import/x.txt")}, []string{"this output can start the workflow itself again"}},
		"other folder":     {[]*Plan{watch("a", "In/**", "Out/{today}")}, nil},
		"two":              {[]*Plan{watch("a", "In/*", "Out/x"), watch("b", "Out/*.md", "In/y")}, []string{"this output can start a loop: b → a", "this output can start a loop: a → b"}},
		"chain":            {[]*Plan{watch("a", "In/*", "Out/x"), watch("b", "Out/*.md", "End/y")}, nil},
		"not enabled":      {[]*Plan{asleep}, nil},
		"other extension":  {[]*Plan{watch("a", "In/*.pdf", "In/x")}, nil},
		"wikilink":         {[]*Plan{watch("a", "In/*", "[[Log]]")}, []string{"this output can start the workflow itself again"}},
		"folders in dates": {[]*Plan{watch("a", "In/**/*.md", "In/{today:YYYY/MM}")}, []string{"this output can start the workflow itself again"}},
		"routed input": {
			[]*Plan{plan("a", "watch: In/*", "@input file: B (output=\"file: In/x\")\n@output file: Out/y")}, []string{"this output can start the workflow itself again"},
		},
		"through an import": {
			[]*Plan{plan("a", "on_import: \"*.txt\"", "@output file: Import/x.txt")}, []string{"this output can start the workflow itself again"},
		},
		"an import of another kind":           {[]*Plan{plan("a", "on_import: \"*.pdf\"", "@output file: Import/x.txt")}, nil},
		"any import, but nothing is imported": {[]*Plan{plan("a", "on_import: true", "@output file: Out/x")}, nil},
		"watched imports": {
			[]*Plan{watch("a", "Imported/**/index.md", "Import/x.txt")}, []string{"this output can start the workflow itself again"},
		},
		"back to the file that started it":     {[]*Plan{watch("a", "In/*.md", "{trigger}")}, nil},
		"back to the note of the import":       {[]*Plan{plan("a", "on_import: true", "@output file: {trigger}")}, nil},
		"back to each file that started it":    {[]*Plan{plan("a", "watch: In/*.md", "@for_each trigger\n@output file: {item}")}, nil},
		"back to each file":                    {[]*Plan{plan("a", "watch: In/*.md", "@for_each file: In/*.md\n@output file: {item}")}, nil},
		"beside the file that started it":      {[]*Plan{watch("a", "In/*.md", "{trigger-folder}/x")}, []string{"this output can start the workflow itself again"}},
		"two that write back to the same file": {[]*Plan{watch("a", "In/*.md", "{trigger}"), watch("b", "In/*.md", "{trigger}")}, []string{"this output can start a loop: b → a", "this output can start a loop: a → b"}},
		"back to a file that another watches":  {[]*Plan{watch("a", "In/*.md", "{trigger}"), watch("b", "Out/*.md", "{trigger}")}, nil},
		"import and watch": {
			[]*Plan{plan("a", "on_import: true", "@output file: In/x"), watch("b", "In/*", "Import/Deep/y")},
			[]string{"this output can start a loop: b → a", "this output can start a loop: a → b"},
		},
	} {
		var got []string
		for _, d := range Loops(tt.plans, Folders{Import: "Import", Imported: "Imported"}) {
			got = append(got, d.Message)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
