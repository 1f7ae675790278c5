package assistantmd_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/workflow"
)

var update = flag.Bool("update", false, "rewrite the archives with what the notes become")

// Each archive holds notes as people wrote them for AssistantMD between February and March 2026; each is followed by
// what `check --fix` makes of it and by what there is to say then, which is never an error.
func TestFix_notesOfAssistantMD(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no notes: %v", err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		notes := txtar.Parse(src)
		parts := notes.Files
		for i := 0; i+2 < len(parts); i += 3 {
			file := parts[i].Name
			note := parts[i].Data
			got, _ := workflow.Fix(strings.TrimSuffix(file, ".md"), file, note, nil)
			plan, list := workflow.Parse(strings.TrimSuffix(file, ".md"), file, got)
			left := ""
			for _, d := range list {
				left += d.String() + "\n"
			}
			if diag.HasErrors(list) {
				t.Errorf("%s: %s has errors still:\n%s", name, file, left)
			}
			if *update {
				parts[i+1].Data, parts[i+2].Data = got, []byte(left)
				continue
			}
			if diff := cmp.Diff(string(parts[i+1].Data), string(got)); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, file, diff)
			}
			if diff := cmp.Diff(string(parts[i+2].Data), left); diff != "" {
				t.Errorf("%s: %s, diagnostics (-want +got):\n%s", name, file, diff)
			}
			before, _ := workflow.Parse("w", file, note)
			if diff := cmp.Diff(prompts(before), prompts(plan)); diff != "" {
				t.Errorf("%s: %s: the prompt was changed (-before +after):\n%s", name, file, diff)
			}
		}
		if *update {
			if err := os.WriteFile(name, txtar.Format(notes), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func prompts(p *workflow.Plan) []string {
	list := []string{p.Instructions}
	for _, s := range p.Steps {
		list = append(list, s.Name+": "+s.Prompt)
	}
	return list
}

// Every old spelling of a directive line, with what it becomes. Lines of notes that name no engine come first.
func TestFix_oldLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ engine, before, after string }{
		{"", "@input [[file: notes/a]]", "@input file: [[notes/a]]"},
		{"", "@input: [[File:notes/a]] (required, head=10)", "@input: file: [[notes/a]] (required, head=10)"},
		{"", "@input [[variable: plan]]", "@input variable: plan"},
		{"", "@output [[file: notes/a b]]", "@output file: notes/a b"},
		{"", "@model=sonnet", "@model sonnet"},
		{"", "@input file: a, file: b (c), file:d", "@input file: a\n@input file: b (c)\n@input file:d"},
		{"", "  @input: file: a, FILE: b (required)", "  @input: file: a (required)\n  @input: FILE: b (required)"},
		{"", "@input file: Days/{this-week:3}", "@input file: Days/*.md (order=date, dir=desc, limit=3)"},
		{"", "@input file: Days/{last-week:5} (required, head=9)", "@input file: Days/*.md (required, head=9, order=date, dir=desc, limit=5)"},
		{"", "@input file: {yesterday:7}", "@input file: *.md (order=date, dir=desc, limit=7)"},
		{"", "@input file: [[Days/{yesterday:2}]]", "@input file: Days/*.md (order=date, dir=desc, limit=2)"},
		{"", "@input file: Days/* (order=alphanum)", "@input file: Days/* (order=name)"},
		{"", "@input file: Days/* (latest, order='ALPHANUM', limit=2)", "@input file: Days/* (latest, order=name, limit=2)"},
		{"", `@input file: Days/* (latest, order=filename_dt, dt_pattern="(\d{4}-\d{2}-\d{2})", dt_format="YYYY-MM-DD", limit=2)`, "@input file: Days/* (latest, order=date, limit=2)"},
		{"", `@input file: Days/* (dt_pattern="(\d{8})", dt_format=YYYYMMDD, order=filename_dt)`, "@input file: Days/* (order=date)"},
		{"", "@input variable: x (scope=session)", "@input variable: x (scope=run)"},
		{"", "@output variable: x (scope=session)", "@output variable: x (scope=run)"},
		{"", "@input file: a (output=variable: x, scope=session)", "@input file: a (output=variable: x, scope=run)"},
		{"", "@input file: a (output=context)", "@input file: a"},
		{"", "@input file: a (required, output=context, head=5)", "@input file: a (required, head=5)"},
		{"", "@output context\n@model x", "@model x"},
		{"", "@recent_runs 3\n@model x", "@model x"},
		{"", "@recent-summaries: all\n@model x", "@model x"},
		{"", "@passthrough_runs all\n@model x", "@model x"},
		{"", "@cache session\n@model x", "@model x"},

		{"step", "@input file: tasks/{pending}", "@input file: tasks/*.md (pending, limit=10, order=ctime)"},
		{"step", "@input file: tasks/{pending:5} (required)", "@input file: tasks/*.md (required, pending, limit=5, order=ctime)"},
		{"step", "@input file: {pending:1}", "@input file: *.md (pending, limit=1, order=ctime)"},
		{"step", "@input file: [[tasks/{pending:5}]]", "@input file: tasks/*.md (pending, limit=5, order=ctime)"},
		{"step", "@input [[file: tasks/{pending:5}]]", "@input file: tasks/*.md (pending, limit=5, order=ctime)"},
		{"step", "@inptu file: tasks/{pending:5}", "@input file: tasks/*.md (pending, limit=5, order=ctime)"},
		{"step", "@input file: Days/{latest}, file: Days/{pending:1}", "@input file: Days/*.md (latest, order=date)\n@input file: Days/*.md (pending, limit=1, order=ctime)"},
		{"step", "@input file: Days/{latest}", "@input file: Days/*.md (latest, order=date)"},
		{"step", "@input file: Days/{latest:3}", "@input file: Days/*.md (latest, order=date, limit=3)"},
		{"step", "@input file: Days/{latest}.md", "@input file: Days/*.md (latest, order=date)"},
		{"step", "@input file: Weeks/{latest}/plan.md", "@input file: Weeks/*/plan.md (latest, order=name)"},
		{"step", "@input file: tasks/* (pending)", "@input file: tasks/*.md (pending, limit=10, order=ctime)"},
		{"step", "@input file: tasks/*.md (pending, limit=3)", "@input file: tasks/*.md (pending, limit=3, order=ctime)"},
		{"step", "@input file: notes/*", "@input file: notes/*.md"},
		{"step", "@input file: log_{yesterday:YYYYMMDD}_*", "@input file: log_{yesterday:YYYYMMDD}_*.md"},
		{"step", `@input "file: notes/{today}" (required)`, "@input file: notes/{today} (required)"},
		{"step", "@tools true", "@tools all"},
		{"step", "@tools 1", "@tools all"},
		{"step", "@tools: off", "@tools: none"},
		{"step", "@tools buffer_ops, web_search (output=variable: hits, scope=session) workflow-run", "@tools read_variable, web_search (output=variable: hits, scope=run) run_workflow"},
		{"", "@tools web_search (output=variable: hits, scope=session)", "@tools web_search (output=variable: hits, scope=run)"},
		{"", "@tools buffer_ops", ""},
		{"step", "@tools file_ops_safe", ""},
		{"step", "@output file: out/x.txt", "@output file: out/x.md"},
		{"step", "@output file: [[out/{today}]]", "@output file: out/{today}"},
		{"step", "@output file: out/v1.2", "@output file: out/v1.md"},
		{"step", "@output file: a.b/Log {today:YYYY.MM}.json (scope=run)", "@output file: a.b/Log {today:YYYY.MM}.md (scope=run)"},

		// What both languages understand alike stays, in notes of AssistantMD too.
		{"step", "@input file: notes/a.md (required, head=10, images=ignore)", ""},
		{"step", "@input file: tasks/*.md (pending, limit=3, order=mtime)", ""},
		{"step", "@input file: pages/*.png", ""},
		{"step", "@output file: out/{today}", ""},
		{"step", "@output file: out/x.md", ""},
		{"step", "@run-on mon, fri", ""},
		{"step", "@model sonnet (thinking=true)", ""},
		{"", "@input file: tasks/{pending:5}", ""},
		{"", "@input file: Days/{latest}", ""},
		{"", "@input file: notes/*", ""},
		{"", "@output file: out/x.txt", ""},
		{"", "@output file: [[out]]", ""},
		{"", "@input file: [[a, b]]", ""},
		{"step", "@input file: Drafts/**", ""},
		// What a person must decide is said and left.
		{"", "@input file: Days/{this-week:3} (limit=2)", ""},
		{"", "@input file: Days/* (order=filename_dt, dt_format=DD.MM.YYYY)", ""},
		{"", "@output file: Days/{latest}", ""},
		{"step", "@input file: Weeks/{latest}/", ""},
		{"step", "@input file: __virtual_docs__/guide", ""},
	} {
		meta := "---\nmodel: x\n---\n"
		if tt.engine != "" {
			meta = "---\nworkflow_engine: " + tt.engine + "\nmodel: x\n---\n"
		}
		note := func(line string) string { return "## A\n" + line + "\n@header x\nPrompt {pending} [[file: x]]\n" }
		got, fixed := workflow.Fix("w", "w.md", []byte(meta+note(tt.before)), nil)
		_, body, _ := strings.Cut(string(got), "model: x\n---\n")
		want := note(tt.after)
		if tt.after == "" {
			want = note(tt.before)
		}
		if body != want {
			t.Errorf("%q becomes %q, want %q; %v", tt.before, body, want, fixed)
		}
		again, _ := workflow.Fix("w", "w.md", got, nil)
		if string(again) != string(got) {
			t.Errorf("%q is not stable: %q, then %q", tt.before, got, again)
		}
	}
}

// Every old property, with what it becomes.
func TestFix_oldProperties(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, after string }{
		{"schedule: cron: 0 8 * * *\nenabled: true", "schedule: \"cron: 0 8 * * *\"\nenabled: true"},
		{"schedule: once: 2030-01-02 09:00 # my day\nenabled: yes", "schedule: \"once: 2030-01-02 09:00\" # my day\nenabled: yes"},
		{"schedule:cron: 0 8 * * *\nenabled:true", "schedule: \"cron: 0 8 * * *\"\nenabled: true"},
		{"schedule:cron: 0 8 * * *\nenabled: true", "schedule: \"cron: 0 8 * * *\"\nenabled: true"},
		{"description: Plan: the day\nmodel: x", "description: \"Plan: the day\"\nmodel: x"},
		{"description: @home, *all*", "description: \"@home, *all*\""},
		{"description: @home says \"no\" to it's", "description: '@home says \"no\" to it''s'"},
		{"description: \"C:\\Work\"", "description: 'C:\\Work'"},
		{"mine: {{date}}\ndescription: a: b", "mine: {{date}}\ndescription: \"a: b\""},
		{"week-start-day: sunday", "week_start_day: sunday"},
		{"week_start_day: monday\nweek-start-day: sunday", "week_start_day: monday"},

		{"workflow_engine: step\nmodel: x", "model: x"},
		{"workflow-engine: step\nworkflow_engine: step\nmodel: x", "model: x"},
		{"workflow_engine: step\nschedule: cron: 0 8 * * 0-4\nenabled: true", "schedule: \"cron: 0 8 * * mon-fri\"\nenabled: true"},
		{"workflow_engine: step\nschedule: \"cron: 0 8 * * 1-5\"\nenabled: true", "schedule: \"cron: 0 8 * * tue-sat\"\nenabled: true"},
		{"workflow_engine: step\nschedule: 'cron: 0 8 * * 0,6'\nenabled: true", "schedule: 'cron: 0 8 * * mon,sun'\nenabled: true"},
		{"workflow_engine: step\nschedule: cron: 0 8 * * */2\nenabled: true", "schedule: \"cron: 0 8 * * mon,wed,fri,sun\"\nenabled: true"},
		{"workflow_engine: step\nschedule: cron: 0 8 * * 1-5/2\nenabled: true", "schedule: \"cron: 0 8 * * tue,thu,sat\"\nenabled: true"},
		{"workflow_engine: step\nschedule: cron: 0 8 * * mon-fri\nenabled: true", "schedule: \"cron: 0 8 * * mon-fri\"\nenabled: true"},
		{"workflow_engine: step\nschedule: cron: 0 8 1 * *", "schedule: \"cron: 0 8 1 * *\"\nenabled: true"},
		{"workflow_engine: step\nschedule: cron: 0 8 * * 6\nenabled: false", "schedule: \"cron: 0 8 * * sun\"\nenabled: false"},
		{"workflow_engine: step\ndescription: Task #1 of many", "description: \"Task #1 of many\""},
		{"schedule: \"cron: 0 8 * * 1-5\"\nenabled: true", "schedule: \"cron: 0 8 * * 1-5\"\nenabled: true"},
		{"schedule: \"cron: 0 8 * * *\"", "schedule: \"cron: 0 8 * * *\""},
		{"watch: [a,\n  b]\nschedule: \"cron: 0 8 * * *\"\nenabled: true", "watch: [a,\n  b]\nschedule: \"cron: 0 8 * * *\"\nenabled: true"},
	} {
		body := "---\n## A\nDo: it @home\n"
		got, fixed := workflow.Fix("w", "w.md", []byte("---\n"+tt.before+"\n"+body), nil)
		if want := "---\n" + tt.after + "\n" + body; string(got) != want {
			t.Errorf("%q becomes %q, want %q; %v", tt.before, got, want, fixed)
		}
		if _, list := workflow.Parse("w", "w.md", got); diag.HasErrors(list) {
			t.Errorf("%q: %v", tt.after, list)
		}
	}
}
