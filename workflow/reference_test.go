package workflow

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/directives/moment"
	"github.com/vaultflow/vaultflow/failure/omission"
	"github.com/vaultflow/vaultflow/policy"
)

// referencePage is the page of the language. Its prose is written by hand; the tables between its markers are made of
// the tables in code: go test ./workflow -run Reference -update.
const referencePage = "../docs/language.md"

// aboutProperties says what a property of the frontmatter takes, and what holds without it.
var aboutProperties = map[string][2]string{
	"schedule":         {"`\"cron: 0 8 * * 1-5\"` (five fields, names, `@daily`, `@every 15m`), `\"once: 2026-12-24 09:00\"`, or a list", "by hand only"},
	"watch":            {"glob or list, in any letter case: run when a matching file is created or changed", "none"},
	"on_import":        {"`true`, or a word, a glob or a list of them that the names of imported files fit, in any letter case", "false"},
	"enabled":          {"whether the three above fire; a run by hand always works", "false"},
	"timezone":         {"IANA name", "`engine.timezone`, else the machine's"},
	"week_start_day":   {"day name", "monday"},
	"model":            {"alias for steps without `@model`", "`models.default`"},
	"overlap":          {"`skip`, `queue` or `replace` while a run is going", "skip"},
	"catch_up":         {"`none`, `latest` or `all` (at most 24) for runs missed while off; with `latest` and `all` also for watched files that changed meanwhile", "none"},
	"runs":             {"`each` or `together`: whether files that arrive together start one run each, or one run about all of them", "each for `on_import`, together for `watch`"},
	"timeout":          {"duration of the whole run", "`engine.run_timeout`"},
	"max_runs_per_day": {"number", "none"},
	"permissions":      {"`read`, `write`: lists of globs and folders (`Inbox` means `Inbox/**`); `tools`: list of names; `network`, `links`: lists of hosts", "everything in the vault, no network, no links to hosts that the step was not shown"},
	"budget":           {"keys of the section on budgets", "settings"},
	"description":      {"text", "none"},
}

// aboutLimits says what each limit of a budget counts.
var aboutLimits = map[string]string{
	"max_images": "attached pictures of a prompt", "max_image_mb": "each, after scaling", "max_total_mb": "all of a prompt",
	"max_image_pixels": "longest side; larger ones are scaled down", "min_image_side": "longest side; smaller ones stay references",
	"max_decode_pixels": "refused from the header", "max_pages": "document pages of a prompt", "max_prompt_tokens": "text and media of a prompt",
	"max_tool_images": "pictures of one tool result", "max_step_images": "pictures of all calls of a step", "max_cost_usd": "what the calls of a step may cost, with the runs that it starts; in the frontmatter, of a run",
	"max_total_tokens":     "tokens of all calls of a step, input and output, likewise; in the frontmatter, of a run",
	"max_cost_usd_per_day": "frontmatter only: of all runs of the workflow on a day of its zone", "max_total_tokens_per_day": "the same in tokens",
	"when_exceeded": "what happens to the rest", "min_page_dpi": "of a page that `ladder` makes smaller; a picture counts as a page of A4",
	"max_fallback_tokens": "of the texts that replace pictures in a prompt, with `ladder`",
}

func TestReference(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(src)
	for name, table := range map[string]func(*testing.T) string{
		"properties": propertyTable, "directives": directiveTable, "examples": exampleList, "kinds": kindTable, "budgets": budgetTable,
		"patterns": patternTable, "tokens": tokenTable, "tools": toolList, "codes": codeTable, "causes": causeTable,
	} {
		page = fill(t, page, name, table(t))
	}
	if *update {
		if err := os.WriteFile(referencePage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(src), page); diff != "" {
		t.Errorf("%s is stale; go test ./workflow -run Reference -update makes it anew (-page +code):\n%s", referencePage, diff)
	}
}

// fill puts a text between the markers of a name.
func fill(t *testing.T, page, name, text string) string {
	t.Helper()
	begin, end := "<!-- made from code: "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, found := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("the page has no place for %s", name)
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after
}

// cell makes a text fit for a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func propertyTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| key | value | default |\n|---|---|---|\n")
	for _, key := range keyNames {
		a, ok := aboutProperties[key]
		if !ok {
			t.Errorf("nothing is said about the property %s", key)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, cell(a[0]), cell(a[1]))
	}
	if len(aboutProperties) != len(keyNames) || len(keys) != len(keyNames) {
		t.Errorf("%d properties, %d in the reference", len(keys), len(aboutProperties))
	}
	return b.String()
}

func directiveTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| directive | value | parameters | meaning |\n|---|---|---|---|\n")
	for _, f := range directives.Forms() {
		if f.Meaning == "" || f.Example == "" {
			t.Errorf("nothing is said about @%s", f.Name)
		}
		params := ""
		if len(f.Params) > 0 {
			params = "`" + strings.Join(f.Params, "` `") + "`"
		}
		fmt.Fprintf(&b, "| `@%s` | %s | %s | %s |\n", f.Name, cell(f.Value), params, cell(f.Meaning))
	}
	return b.String()
}

// exampleList shows one example of each directive, after it was parsed, checked and found to do what it is there for.
func exampleList(t *testing.T) string {
	var b strings.Builder
	for _, f := range directives.Forms() {
		note := "## Step\n" + f.Example + "\n"
		plan, list := Parse("example", "example.md", []byte(note))
		list = append(append(list, Check(plan, brokenWorld())...), Surprises(plan, brokenWorld())...)
		if len(list) > 0 {
			t.Errorf("the example of @%s: %v", f.Name, list)
		}
		if len(plan.Steps) != 1 || !says(t, plan.Steps[0], f.Name) || plan.Steps[0].Prompt == "" {
			t.Errorf("the example of @%s does not have it: %+v", f.Name, plan.Steps)
		}
		fmt.Fprintf(&b, "`@%s`: %s.\n\n````markdown\n%s````\n\n", f.Name, f.Meaning, strings.TrimPrefix(note, "## Step\n"))
	}
	return b.String()
}

// says tells whether a step has a directive.
func says(t *testing.T, s Step, name string) bool {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	switch name {
	case "input", "output":
		name += "s"
	case "write_mode":
		return s.WriteMode.At.Line > 0
	}
	return fields[name] != nil
}

func kindTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| kind | extensions |\n|---|---|\n")
	for _, k := range directives.Kinds() {
		fmt.Fprintf(&b, "| %s | %s |\n", k.Name, strings.Join(k.Extensions, " "))
	}
	return b.String()
}

func causeTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| cause | reason, where nothing more exact is known | what to do |\n|---|---|---|\n")
	for _, r := range omission.Table {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.Cause, r.Words, r.Remedy)
	}
	return b.String()
}

func budgetTable(t *testing.T) string {
	data, err := json.Marshal(policy.DefaultBudget())
	if err != nil {
		t.Fatal(err)
	}
	var standard map[string]any
	if err := json.Unmarshal(data, &standard); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| key | default | |\n|---|---|---|\n")
	for _, key := range directives.WorkflowBudgetKeys() {
		if aboutLimits[key] == "" {
			t.Errorf("nothing is said about the limit %s", key)
		}
		value := "none"
		switch v := standard[key].(type) {
		case float64:
			if v == 0 {
				break // no limit
			}
			value = strconv.FormatFloat(v, 'f', -1, 64)
		case string:
			value = "`" + v + "`, or `" + strings.Join(directives.WhenExceeded()[1:], "`, `") + "`"
		}
		if key == "max_prompt_tokens" {
			value = "80 % of the model's window"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", key, value, aboutLimits[key])
	}
	return b.String()
}

// momentOfTables is that of the tables of patterns and tokens: a Sunday.
var momentOfTables = time.Date(2026, 3, 1, 16, 5, 6, 789_000_000, time.FixedZone("CET", 3600))

func patternTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| pattern | on Sunday 1 March 2026 at 16:05, in batch 2 of an `@for_each`, after an import |\n|---|---|\n")
	facts := directives.Facts{
		Now: momentOfTables, WeekStart: time.Monday, Workflow: "daily/plan", Step: "Chapters", Run: "20260301-1605-x",
		Item: "Inbox/a.md", ItemName: "a", Batch: 2,
		Files: []string{"Imported/Stand-up/Stand-up.md"}, Title: func(string) string { return "Stand-up of Monday" },
	}
	for _, name := range directives.PatternNames() {
		value := "the newest file; `{latest:3}` the newest three"
		switch name {
		case "pending":
			value = "files that the step has not processed in their current content; `{pending:5}` at most five"
		case "latest":
		default:
			text, err := directives.Expand("{"+name+"}", facts)
			if err != nil {
				t.Errorf("{%s}: %v", name, err)
			}
			value = "`" + text + "`"
		}
		fmt.Fprintf(&b, "| `{%s}` | %s |\n", name, value)
	}
	return b.String()
}

func tokenTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| token | result |\n|---|---|\n")
	for _, token := range moment.Tokens() {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", token, moment.Format(momentOfTables, token))
	}
	return b.String()
}

func toolList(*testing.T) string {
	names := directives.ToolNames()
	slices.Sort(names)
	return "`" + strings.Join(names, "` `") + "`"
}

func codeTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| code | severity | meaning | what to do |\n|---|---|---|---|\n")
	for _, c := range directives.Codes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Code, c.Severity, cell(c.Meaning), cell(c.Fix))
	}
	return b.String()
}
