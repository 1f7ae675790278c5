package directives

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/failure/diag"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// read reads the lines of a step up to its prompt.
func read(text string) (Set, []diag.Diagnostic) {
	b, faults := Cut(strings.Split(text, "\n"), here)
	list, more := Parse(b.Lines, b.At)
	set, typed := Interpret(list)
	return set, slices.Concat(faults, more, typed)
}

func TestInterpret_directivesOfTheStep(t *testing.T) {
	t.Parallel()
	file := func(path string) Target { return Target{Scheme: SchemeFile, Path: path} }
	variable := func(name string) Target { return Target{Scheme: SchemeVariable, Path: name} }
	tests := []struct {
		text string
		want Set
	}{
		{"@for_each file: Inbox/*", Set{ForEach: &ForEach{Target: file("Inbox/*")}}},
		{
			"@for-each: file: Inbox/{pending:50} (batch=5, as=Note, parallel=2, on_error=skip, order=mtime, dir=desc)",
			Set{ForEach: &ForEach{Target: file("Inbox/{pending:50}"), Selection: Selection{Pending: true, Limit: 50, Order: "mtime", Dir: "desc"}, Batch: 5, As: "Note", Parallel: 2, OnError: "skip"}},
		},
		{"@for_each file: [[Log]] (latest)", Set{ForEach: &ForEach{Target: Target{Scheme: SchemeFile, Path: "Log", Link: true}, Selection: Selection{Latest: true}}}},
		{"@for_each variable: ranges (batch=2, on_error=stop)", Set{ForEach: &ForEach{Target: variable("ranges"), Batch: 2, OnError: "stop"}}},
		{
			"@output file: Plans/{item-name} {batch}\n@for_each variable: list\n@input file: {item}\n@header {item}",
			Set{
				ForEach: &ForEach{Target: variable("list")}, Inputs: []Input{{Target: file("{item}")}},
				Outputs: []Output{{Target: file("Plans/{item-name} {batch}")}}, Header: "{item}",
			},
		},
		{
			"@when exists Plans/{today}\n@when not missing file: a (2024 draft).md\n@when NOT Changed \"a (b).md\"\n@when empty variable:x\n@when: nonempty variable: y\n@when missing [[Plan]]",
			Set{When: []When{
				{Test: "exists", Target: file("Plans/{today}")},
				{Index: 1, Not: true, Test: "missing", Target: file("a (2024 draft).md")},
				{Index: 2, Not: true, Test: "changed", Target: Target{Scheme: SchemeFile, Path: "a (b).md", Literal: true}},
				{Index: 3, Test: "empty", Target: variable("x")},
				{Index: 4, Test: "nonempty", Target: variable("y")},
				{Index: 5, Test: "missing", Target: Target{Scheme: SchemeFile, Path: "Plan", Link: true}},
			}},
		},
		{"@schema file: Schemas/plan.json", Set{Schema: &Schema{Target: new(file("Schemas/plan.json")), Retries: DefaultSchemaRetries}}},
		{"@schema file: [[plan.schema.json]] (retries=0)", Set{Schema: &Schema{Target: &Target{Scheme: SchemeFile, Path: "plan.schema.json", Link: true}}}},
		{"@cache 1d12h", Set{Cache: &Cache{For: 36 * time.Hour}}},
		{"@cache Weekly", Set{Cache: &Cache{Until: CacheWeekly}}},
		{"@cache daily", Set{Cache: &Cache{Until: CacheDaily}}},
		{"@cache forever", Set{Cache: &Cache{Until: CacheForever}}},
		{"@retry 0", Set{Retry: &Retry{}}},
		{"@retry 3 (backoff=10s)", Set{Retry: &Retry{Count: 3, Backoff: 10 * time.Second}}},
		{"@timeout 90s", Set{Timeout: &Timeout{For: 90 * time.Second}}},
		{
			"@budget (max_images=5, max_image_mb=2.5, max_prompt_tokens=100_000, max_cost_usd=0.5, when_exceeded=drop_oldest)",
			Set{Budget: &Budget{Limits: map[string]float64{"max_images": 5, "max_image_mb": 2.5, "max_prompt_tokens": 100000, "max_cost_usd": 0.5}, WhenExceeded: "drop_oldest"}},
		},
		{"@budget(max_pages=0)", Set{Budget: &Budget{Limits: map[string]float64{"max_pages": 0}}}},
		{"@approve outputs", Set{Approve: &Approve{Outputs: true}}},
		{"@approve outputs (retries=3)", Set{Approve: &Approve{Outputs: true, Retries: 3}}},
		{"@approve tools, outputs (timeout=2d)", Set{Approve: &Approve{Outputs: true, Tools: true, Timeout: 48 * time.Hour}}},
		{"@tools none", Set{Tools: &Tools{None: true}}},
		{"@tools all", Set{Tools: &Tools{All: true}}},
		{
			"@tools Read-File, mcp.Find web_fetch (output=variable: page, scope=workflow), search_files (output=file: Log (x), write_mode=section, heading=\"Hits, all\")\n@tools list_files",
			Set{Tools: &Tools{Uses: []ToolUse{
				{Name: "read_file"},
				{Name: "mcp.Find"},
				{Name: "web_fetch", Route: &Route{To: RouteVariable, Target: new(variable("page")), Scope: "workflow"}},
				{Name: "search_files", Route: &Route{To: RouteFile, Target: new(file("Log (x)")), WriteMode: ModeSection, Heading: "Hits, all"}},
				{Name: "list_files"},
			}}},
		},
		{"@tools read_file (output=discard)\n@tools all, read_file", Set{Tools: &Tools{All: true, Uses: []ToolUse{{Name: "read_file"}}}}},
		{"@write_mode frontmatter", Set{WriteMode: WriteMode{Mode: ModeFrontmatter}}},
		{"@write_mode Section (heading=\"## My log\")", Set{WriteMode: WriteMode{Mode: ModeSection, Heading: "## My log"}}},
		{"@write_mode section (heading=Log, merge=Append)", Set{WriteMode: WriteMode{Mode: ModeSection, Heading: "Log", Merge: MergeAppend}}},
		{"@write_mode frontmatter (union=people, places, people)", Set{WriteMode: WriteMode{Mode: ModeFrontmatter, Union: []string{"people", "places"}}}},
		{"@write_mode frontmatter (union=\"a b, c\")", Set{WriteMode: WriteMode{Mode: ModeFrontmatter, Union: []string{"a b", "c"}}}},
		{"@write_mode frontmatter (union=NONE)", Set{WriteMode: WriteMode{Mode: ModeFrontmatter, Union: []string{UnionNone}}}},
		{
			"@input file: a (output=file: b, write_mode=section, heading=Log)\n@input file: c (output=file: b, write_mode=frontmatter)",
			Set{Inputs: []Input{
				{Target: file("a"), Route: &Route{To: RouteFile, Target: new(file("b")), WriteMode: ModeSection, Heading: "Log"}},
				{Index: 1, Target: file("c"), Route: &Route{To: RouteFile, Target: new(file("b")), WriteMode: ModeFrontmatter}},
			}},
		},
	}
	for _, tt := range tests {
		set, faults := read(tt.text)
		if diff := cmp.Diff(tt.want, set, cmpopts.IgnoreTypes(diag.Position{})); diff != "" || len(faults) > 0 {
			t.Errorf("%s: %v (-want +got):\n%s", tt.text, faults, diff)
		}
	}
}

func TestInterpret_faultsOfTheStep(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"@for_each", "1:10 VF142"},
		{"@for_each Inbox/*", "1:11 VF160"},
		{"@for_each file: a\n@for_each file: b", "2:1 VF143"},
		{"@for_each file: a (batch=0)", "1:26 VF152"},
		{"@for_each file: a (parallel=33)", "1:29 VF152"},
		{"@for_each file: a (as=1)", "1:23 VF152"},
		{"@for_each file: a (on_error=ignore)", "1:29 VF152"},
		{"@for_each file: a (head=1)", "1:20 VF150"},
		{"@for_each file: {item}", "1:17 VF178"},
		{"@for_each file: a/* (latest, pending)", "1:22 VF157"},
		{"@for_each variable: x (limit=3)", "1:24 VF158"},
		{"@for_each file: [[a#b]]", "1:19 VF187"},
		{"@for_each file: a (as=X)\n@input file: b (as=X)", "2:1 VF194"},
		{"@input file: {item}", "1:14 VF178"},
		{"@header {batch}", "1:9 VF178"},
		{"@when", "1:6 VF142"},
		{"@when not", "1:10 VF142"},
		{"@when exists", "1:13 VF142"},
		{"@when not empty", "1:16 VF142"},
		{"@input file: a (output=file: {item-name})", "1:30 VF178"},
		{"@for_each file: a/*\n@input file: {item} (output=file: {item-name}/{batch}, limit=0)", "2:62 VF152"},
		{"@output file: [[a#b]]", "1:17 VF187"},
		{"@input file: a (output=file: [[a#b]])", "1:32 VF187"},
		{"@when exist a", "1:7 VF190"},
		{"@when Plans/x", "1:7 VF190"},
		{"@when exists not a", "1:14 VF148"},
		{"@when exists /a", "1:14 VF162"},
		{"@when exists a (limit=3)", "1:17 VF150"},
		{"@when exists a/{latest}", "1:14 VF178"},
		{"@when exists {item}\n@for_each file: a", "1:14 VF178"},
		{"@when exists variable: x", "1:14 VF190"},
		{"@when empty x", "1:13 VF160"},
		{"@when empty file: x", "1:13 VF160"},
		{"@when empty variable: a b", "1:23 VF169"},
		{"@when exists \"a", "1:14 VF153"},
		{"@when exists \"a\" b", "1:18 VF154"},
		{"@when exists [[a]] b", "1:20 VF154"},
		{"@when exists [[a#b]]", "1:16 VF187"},
		{"@schema", "1:8 VF142"},
		{"@schema (retries=1)", "1:20 VF142"},
		{"@schema plan.json", "1:9 VF160"},
		{"@schema variable: x", "1:9 VF190"},
		{"@schema file: a/*.json", "1:17 VF172"},
		{"@schema file: ../a.json", "1:15 VF163"},
		{"@schema file: a (retries=11)", "1:26 VF152"},
		{"@schema file: [[a#b]]", "1:17 VF187"},
		{"@schema file: {latest}", "1:15 VF178"},
		{"@cache", "1:7 VF142"},
		{"@cache monthly", "1:8 VF190"},
		{"@cache 7d (x)", "1:12 VF150"},
		{"@retry", "1:7 VF142"},
		{"@retry many", "1:8 VF190"},
		{"@retry 21", "1:8 VF190"},
		{"@retry 1 (backoff=soon)", "1:19 VF152"},
		{"@retry 1 (backoff)", "1:11 VF152"},
		{"@timeout", "1:9 VF142"},
		{"@timeout never", "1:10 VF190"},
		{"@budget", "1:8 VF142"},
		{"@budget max_images=5", "1:9 VF190"},
		{"@budget (max_image=5)", "1:10 VF150"},
		{"@budget (max_images=-1)", "1:21 VF152"},
		{"@budget (max_images=2.5)", "1:21 VF152"},
		{"@budget (max_images)", "1:10 VF152"},
		{"@budget (when_exceeded=explode)", "1:24 VF152"},
		{"@approve", "1:9 VF142"},
		{"@approve everything", "1:10 VF190"},
		{"@approve outputs (timeout=x)", "1:27 VF152"},
		{"@approve outputs (retries=11)", "1:27 VF152"},
		{"@tools", "1:7 VF142"},
		{"@tools none, read_file", "1:1 VF157"},
		{"@tools read_file\n@tools none", "2:1 VF157"},
		{"@tools read+file", "1:8 VF190"},
		{"@tools (output=discard)", "1:8 VF148"},
		{"@tools read_file (output=discard", "1:18 VF148"},
		{"@tools read_file (outptu=discard)", "1:19 VF150"},
		{"@tools read_file (write_mode=new)", "1:19 VF158"},
		{"@tools read_file (scope=run)", "1:19 VF196"},
		{"@tools all (output=discard)", "1:13 VF158"},
		{"@tools read_file (output=file: ../x)", "1:32 VF163"},
		{"@write_mode section", "1:13 VF159"},
		{"@write_mode section (heading=\"##\")", "1:30 VF152"},
		{"@input file: a (output=file: b, write_mode=section)", "1:44 VF159"},
		{"@input file: a (output=file: b, write_mode=new, heading=x)", "1:49 VF158"},
		{"@input file: a (heading=x)", "1:17 VF158"},
		{"@write_mode replace (merge=tasks)", "1:22 VF158"},
		{"@input variable: a (changes)", "1:21 VF158"},
		{"@input file: a (changes, head=5)", "1:26 VF157"},
		{"@input file: a (changes, refs_only)", "1:26 VF157"},
		{"@input file: [[a#b]] (changes)", "1:16 VF187"},
		{"@for_each file: a/*\n@input file: b (changes)", "2:1 VF157"},
		{"@write_mode section (heading=x, union=a)", "1:33 VF158"},
		{"@write_mode frontmatter (merge=tasks)", "1:26 VF158"},
		{"@write_mode section (heading=x, merge=lines)", "1:39 VF152"},
		{"@write_mode section (merge=tasks)", "1:13 VF159"},
		{"@write_mode frontmatter (union)", "1:26 VF152"},
		{"@write_mode frontmatter (union=a, none)", "1:32 VF152"},
		{"@input file: a (union=a)", "1:17 VF158"},
		// A misspelt or faulty directive is known by its name, so that nothing else complains about its absence.
		{"@foreach file: a\n@input file: {item}", "1:1 VF140"},
		{"@for_each file: a (bacth=2)\n@input file: {item}", "1:20 VF150"},
		{"@shema\n```yaml\ntype: object\n```\n@model a\nPrompt", "1:1 VF140"},
	}
	for _, tt := range tests {
		_, faults := read(tt.text)
		var got []string
		for _, f := range faults {
			got = append(got, strings.TrimPrefix(diag.Position{File: "", Line: f.Line, Column: f.Column}.String(), ":")+" "+f.Code)
		}
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("%q: got %v, want %s\n%v", tt.text, got, tt.want, faults)
		}
	}
}

func TestInterpret_inlineSchema(t *testing.T) {
	t.Parallel()
	const want = `{"type":"object","required":["b","a"],"properties":{"b":{"const":1.5},"a":{"enum":["yes",true,null,"2026-01-01"]},"200":{"maximum":31}}}`
	const text = "type: object\nrequired: [b, a]\nproperties:\n  b: {const: 1.5}\n  a:\n    enum: [yes, true, ~, 2026-01-01]\n  200:\n    maximum: 0x1F\n"
	blocks := map[string]string{
		"yaml":           "@schema (retries=1)\n```yaml\n" + text + "```",
		"no info":        "@schema (retries=1)\n~~~\n" + text + "~~~",
		"colon":          "@schema: (retries=1)\n```schema\n" + text + "```",
		"blank lines":    "@schema (retries=1)\n\n```YAML\n" + text + "```",
		"fenced":         "````directives\n@schema (retries=1)\n```yaml\n" + text + "```\n````",
		"fenced, tildes": "~~~directives\n@schema (retries=1)\n```yaml\n" + text + "```\n~~~",
		"json":           "@schema (retries=1)\n```json\n" + strings.ReplaceAll(want, ",", ",\n\t") + "\n```",
		"json, no info":  "@schema (retries=1)\n```\n\t" + strings.ReplaceAll(want, ",", ",\n\t") + "\n```",
		"indented":       "@schema (retries=1)\n  ```yaml\n  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n  ```",
		"alias":          "@schema (retries=1)\n```yaml\n" + strings.ReplaceAll(strings.ReplaceAll(text, "{const: 1.5}", "&x {const: 1.5}"), "0x1F", "31") + "```",
	}
	for name, block := range blocks {
		text := block + "\n@cache daily\n\nThe prompt."
		if strings.Contains(name, "fenced") {
			text = block + "\n\nThe prompt."
		}
		lines := strings.Split(text, "\n")
		b, _ := Cut(lines, here)
		set, faults := read(text)
		if len(faults) > 0 || set.Schema == nil || string(set.Schema.Inline) != want || set.Schema.Retries != 1 || strings.TrimSpace(strings.Join(lines[b.Rest:], "\n")) != "The prompt." {
			t.Errorf("%s: %v, %+v, rest %q", name, faults, set.Schema, lines[b.Rest:])
		}
		if (set.Cache == nil) == !strings.Contains(name, "fenced") {
			t.Errorf("%s: the directive below the block is lost", name)
		}
	}
}

func TestInterpret_inlineSchemaFaults(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"@schema\n```yaml\n```", "1:1 VF198"},
		{"@schema\n```yaml\n# only a comment\n```", "1:1 VF198"},
		{"@schema\n```yaml\n- a\n```", "3:1 VF198"},
		{"@schema\n```yaml\ntype: object\nproperties:\n  a: {type: [\n```", "5:3 VF198"},
		{"@schema\n```yaml\ntype: object\n  b: 1\n```", "4:3 VF198"},
		{"@schema\n```yaml\ntype: object\n\tb: 1\n```", "4:2 VF198"},
		{"@schema\n```yaml\ntype: a\nö: 1\ntype: b\n```", "5:1 VF198"},
		{"@schema\n```yaml\na: {b: 1, b: 2}\n```", "3:11 VF198"},
		{"@schema\n```yaml\na: &x {b: 1}\nc:\n  <<: *x\n```", "5:3 VF198"},
		{"@schema\n```yaml\nmaximum: .inf\n```", "3:10 VF198"},
		{"@schema\n```yaml\n? [a]\n: 1\n```", "3:3 VF198"},
		{"@schema\n```yaml\na: 1\n---\nb: 1\n```", "4:1 VF198"},
		{"@schema\n```json\n{\"a\": 1,}\n```", "3:9 VF198"},
		{"@schema\n```json\n{\"a\": 1\n```", "3:8 VF198"},
		{"@schema\n```json\n[1]\n```", "3:1 VF198"},
		{"@schema\n```json\n{}\n\nx\n```", "5:1 VF198"},
		{"@schema\n```python\nx\n```", "2:1 VF190"},
		{"@schema\n```yaml\ntype: object", "2:1 VF145"},
		{"```directives\n@schema\n```yaml\ntype: object\n```\n@model a\n```\nPrompt", "1:1 VF145"},
		{"@schema (retries=9, x y)\n```yaml\ntype: object\n```", "1:21 VF155"},
		{"@schema (2024 draft)\n```yaml\ntype: object\n```", "1:9 VF148"},
		{"````directives\n@model a\n```yaml\n@run_on daily\n```\n@run_on x\n````", "3:1 VF146 6:9 VF190"},
	}
	for _, tt := range tests {
		_, faults := read(tt.text)
		var got []string
		for _, f := range diag.Sort(faults) {
			got = append(got, strings.TrimPrefix(diag.Position{File: "", Line: f.Line, Column: f.Column}.String(), ":")+" "+f.Code)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: got %v, want %s\n%v", tt.text, got, tt.want, faults)
		}
	}
}
