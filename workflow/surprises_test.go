package workflow

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

// surprising returns all diagnostics of a note in a vault with the usual folders.
func surprising(t *testing.T, src string) []diag.Diagnostic {
	t.Helper()
	world := brokenWorld()
	world.Tools, world.Can, world.Models = nil, nil, nil
	world.Links = vault.LinksFunc(func(link, _ string) vault.Location {
		if link == "Workbook" {
			return vault.Location{Found: true, Name: "Imported/Workbook/index.md"}
		}
		return vault.Location{Found: true, Name: "Notes/" + link + ".md"}
	})
	plan, list := Parse("w", "w.md", []byte(src))
	list = append(list, Check(plan, world)...)
	list = append(list, Surprises(plan, world)...)
	for _, d := range list {
		if d.Severity == diag.SeverityError {
			t.Errorf("%q: %v", src, d)
		}
	}
	return diag.Sort(list)
}

func TestSurprises(t *testing.T) {
	t.Parallel()
	imported := func(body string) string { return "---\nenabled: false\non_import: \"*.pdf\"\n---\n## A\n" + body }
	watched := func(body string) string { return "---\nenabled: false\nwatch: Notes/*.md\n---\n## A\n" + body }
	daily := func(body string) string {
		return "---\nenabled: false\nschedule: \"cron: 0 8 * * *\"\n---\n## A\n" + body
	}
	for name, tt := range map[string]struct{ src, want string }{
		// the file that started the run
		"import, newest":               {imported("@input file: Imported/*/index.md (latest)\n@output file: Out\nx"), "6:14 VF260"},
		"import, newest by date":       {imported("@input file: Imported/*/index.md (limit=1, order=mtime, dir=desc)\n@output file: Out\nx"), "6:14 VF260"},
		"import, fixed":                {imported("@input file: Imported/Workbook/index.md\n@output file: Out\nx"), "6:14 VF260"},
		"import, fixed link":           {imported("@input file: [[Workbook]]\n@output file: Out\nx"), "6:16 VF260"},
		"import, newest items":         {imported("@for_each file: Imported/*/index.md (latest)\n@input file: {item}\n@output file: Out/{item-name}\nx"), "6:17 VF260"},
		"import, trigger":              {imported("@input trigger\n@output file: Out/{trigger-name}\nx"), ""},
		"import, pattern":              {imported("@input file: {trigger-folder}/manifest.json\n@output file: Out/{trigger-name}\nx"), ""},
		"import, items of the trigger": {imported("@for_each trigger\n@input file: {item}\n@output file: Out/{item-name}\nx"), ""},
		"import, all new":              {imported("@input file: Imported/*/index.md (pending)\n@output file: Out\nx"), ""},
		"import, all":                  {imported("@input file: Imported/*/index.md\n@output file: Out\nx"), ""},
		"import, all and the newest":   {imported("@input file: Imported/*/index.md\n@input file: Imported/*/index.md (latest)\n@output file: Out\nx"), ""},
		"import, a rule":               {imported("@input file: Notes/Rules\n@output file: Out\nx"), ""},
		"import, tools":                {imported("@input file: Imported/*/index.md (latest)\n@tools read_file\n@output file: Out\nx"), ""},
		"import of one document":       {strings.Replace(imported("@input file: [[Workbook]]\n@output file: Out\nx"), "*.pdf", "Workbook.pdf", 1), ""},
		"import and a schedule":        {strings.Replace(imported("@input file: Imported/*/index.md (latest)\n@output file: Out\nx"), "on_import", "schedule: \"cron: 0 8 * * *\"\non_import", 1), ""},
		"watch, newest":                {watched("@input file: Notes/*.md (latest)\n@output file: Out\nx"), "6:14 VF260"},
		"watch, fixed":                 {watched("@input file: Notes/a\n@output file: Out\nx"), "6:14 VF260"},
		"watch, elsewhere":             {watched("@input file: People/*.md (latest)\n@output file: Out\nx"), ""},
		"watch, pending items":         {watched("@for_each file: Notes/*.md (pending)\n@input file: {item}\n@output file: Out/{item-name}\nx"), ""},
		"watch, one file":              {strings.Replace(watched("@input file: Notes/List\n@output file: Out\nx"), "Notes/*.md", "Notes/List.md", 1), ""},

		// outputs that collide over items
		"no part of the item":    {"## A\n@for_each file: Notes/*.md\n@input file: {item}\n@output file: Out\n@write_mode replace\nx", "4:15 VF200"},
		"the same name":          {"## A\n@for_each file: Projects/*/README.md\n@input file: {item}\n@output file: Out/{item-name}\n@write_mode replace\nx", "4:15 VF261"},
		"the same label":         {"## A\n@for_each file: Projects/*/README.md\n@input file: {item}\n@output file: Out/{item-label}\n@write_mode replace\nx", "4:15 VF261"},
		"the same section":       {"## A\n@for_each file: Projects/*/README.md\n@input file: {item}\n@output file: Out/{item-name}\n@write_mode section (heading=A)\nx", "4:15 VF261"},
		"pages of many books":    {"## A\n@for_each file: Imported/*/text/page_*.md\n@input file: {item}\n@output file: Out/{item-name}\n@write_mode replace\nx", "4:15 VF261"},
		"the same folder":        {"## A\n@for_each file: Notes/*.md\n@input file: {item}\n@output file: {item-folder}/Sum\n@write_mode replace\nx", "4:15 VF261"},
		"the same extension":     {"## A\n@for_each file: Notes/*.md\n@input file: {item}\n@output file: Out/x{item-ext}\n@write_mode replace\nx", "4:15 VF261"},
		"routed":                 {"## A\n@for_each file: Projects/*/README.md\n@model none\n@input file: {item} (output=file: Out/{item-name}, write_mode=replace)\n", "4:35 VF261"},
		"a folder each":          {"## A\n@for_each file: Projects/*/README.md\n@input file: {item}\n@output file: {item-folder}/Sum\n@write_mode replace\nx", ""},
		"name and folder":        {"## A\n@for_each file: Projects/*/README.md\n@input file: {item}\n@output file: {item-folder}/Sum {item-name}\n@write_mode replace\nx", ""},
		"documents":              {"## A\n@for_each file: Imported/**/index.md\n@input file: {item}\n@output file: Out/{item-name}\n@write_mode replace\nx", ""},
		"notes anywhere":         {"## A\n@for_each file: Projects/**/*.md\n@input file: {item}\n@output file: Out/{item-name}\n@write_mode replace\nx", ""},
		"appended":               {"## A\n@for_each file: Projects/*/README.md\n@input file: {item}\n@output file: Out/{item-name}\nx", ""},
		"titles":                 {"## A\n@for_each file: Projects/*/README.md\n@input file: {item}\n@output file: Out/{item-title}\n@write_mode replace\nx", ""},
		"a list":                 {"## A\n@for_each variable: v\n@output file: Out/{item-name}\n@write_mode replace\nSay {item}", ""},
		"parts of documents":     {"## A\n@for_each pages of file: Imported/*/index.md (window=5)\n@input file: {item}\n@output file: Out/{item-name}\n@write_mode replace\nx", ""},
		"the same title":         {"## A\n@for_each pages of [[Book]] (window=5)\n@input file: {item}\n@output file: Out/{item-title}\n@write_mode replace\nx", "4:15 VF261"},
		"titles of chapters":     {"## A\n@for_each chapters of [[Book]]\n@input file: {item}\n@output file: Out/{item-title}\n@write_mode replace\nx", ""},
		"parts in a folder":      {"## A\n@for_each chapters of [[Book]]\n@input file: {item}\n@output file: {item-folder}/Sum\n@write_mode replace\nx", "4:15 VF261"},
		"parts of any document":  {"## A\n@for_each pages of trigger (window=5)\n@input file: {item}\n@output file: Out/{item-name}\n@write_mode replace\nx", "4:15 VF261"},
		"chapters of any":        {"## A\n@for_each chapters of trigger\n@input file: {item}\n@output file: Out/{item-name}\n@write_mode replace\nx", "4:15 VF261"},
		"parts with the name":    {"## A\n@for_each pages of trigger (window=5)\n@input file: {item}\n@output file: Out/{trigger-name} {item-name}\n@write_mode replace\nx", ""},
		"parts with the title":   {"## A\n@for_each pages of trigger (window=5)\n@input file: {item}\n@output file: Out/{item-title} {item-name}\n@write_mode replace\nx", ""},
		"parts, appended":        {"## A\n@for_each pages of trigger (window=5)\n@input file: {item}\n@output file: Out/{item-name}\nx", ""},
		"batches, over runs":     {"## A\n@for_each file: Notes/*.md (pending, batch=5)\n@input file: {item}\n@output file: Out/{batch}\n@write_mode replace\nx", "4:15 VF262"},
		"batches with the run":   {"## A\n@for_each file: Notes/*.md (pending, batch=5)\n@input file: {item}\n@output file: Out/{run} {batch}\n@write_mode replace\nx", ""},
		"batches of all":         {"## A\n@for_each file: Notes/*.md (batch=5)\n@input file: {item}\n@output file: Out/{batch}\n@write_mode replace\nx", ""},
		"batches by their first": {"## A\n@for_each file: Notes/*.md (pending, batch=5)\n@input file: {item}\n@output file: Out/{batch} {item-name}\n@write_mode replace\nx", ""},

		// outputs that collide over runs
		"one note for all imports":    {imported("@input trigger\n@output file: Out\n@write_mode replace\nx"), "7:15 VF262"},
		"one note a day":              {imported("@input trigger\n@output file: Out {today}\n@write_mode replace\nx"), "7:15 VF262"},
		"a date without a time":       {imported("@input trigger\n@output file: Out {now:YYYY-MM-DD}\n@write_mode replace\nx"), "7:15 VF262"},
		"one route for all imports":   {imported("@input trigger (output=file: Out, write_mode=section, heading=A)\n@model none"), "6:30 VF262"},
		"a route that appends":        {imported("@input trigger (output=file: Out, write_mode=section, heading=A, merge=append)\n@model none"), ""},
		"one section for all imports": {imported("@input trigger\n@output file: Out\n@write_mode section (heading=A)\nx"), "7:15 VF262"},
		"over a variable":             {imported("@input trigger\n@output variable: v\nx\n## B\n@input variable: v\n@output file: Out\n@write_mode replace\nx"), "11:15 VF262"},
		"watched one by one":          {strings.Replace(watched("@input trigger\n@output file: Out\n@write_mode replace\nx"), "watch", "runs: each\nwatch", 1), "8:15 VF262"},
		"with the time":               {imported("@input trigger\n@output file: Out {now}\n@write_mode replace\nx"), ""},
		"with the run":                {imported("@input trigger\n@output file: Out {run}\n@write_mode replace\nx"), ""},
		"with the folder":             {imported("@input trigger\n@output file: {trigger-folder}/Sum\n@write_mode replace\nx"), ""},
		"appended over runs":          {imported("@input trigger\n@output file: Out\nx"), ""},
		"numbered over runs":          {imported("@input trigger\n@output file: Out\n@write_mode new\nx"), ""},
		"together":                    {strings.Replace(imported("@input trigger\n@output file: Out\n@write_mode replace\nx"), "on_import", "runs: together\non_import", 1), ""},
		"an overview":                 {imported("@input trigger\n@output file: Out/{trigger-name}\nx\n## B\n@input file: Out/*.md\n@output file: All\n@write_mode replace\nx"), ""},

		// several files in one run
		"a watched folder":   {"---\nwatch: Inbox\nenabled: true\n---\n## A\n@for_each trigger\n@input file: {item}\n@output file: Sums/{item-name}\nx", "2:8 VF316"},
		"folders in a list":  {"---\nwatch: [Inbox/*.md, Notes/Dr. Smith, Scans/a.pdf, Data/x.zip]\nenabled: true\n---\n## A\n@for_each trigger\n@input file: {item}\n@output file: Sums/{item-name}\nx", "2:21 VF316"},
		"a hidden folder":    {"---\nwatch: .trash/*.md\nenabled: true\n---\n## A\n@for_each trigger\n@input file: {item}\n@output file: Sums/{item-name}\nx", "2:8 VF316"},
		"a sync":             {"---\nwatch: Inbox/*.md\nenabled: true\n---\n## A\n@input trigger\n@output file: Sums/{trigger-name}\nx", "7:15 VF270"},
		"imports at once":    {"---\non_import: true\nruns: together\nenabled: true\n---\n## A\n@input trigger\n@output file: Sums/{trigger-name}\nx", "8:15 VF270"},
		"a run for each":     {"---\nwatch: Inbox/*.md\nruns: each\nenabled: true\n---\n## A\n@input trigger\n@output file: Sums/{trigger-name}\nx", ""},
		"one file":           {"---\nwatch: Inbox/Today.md\nenabled: true\n---\n## A\n@input trigger\n@output file: Sums/{trigger-name}\nx", ""},
		"an item each":       {"---\nwatch: Inbox/*.md\nenabled: true\n---\n## A\n@for_each trigger\n@input file: {item}\n@output file: Sums/{item-name}\nx", ""},
		"lines under a list": {imported("@input trigger\n@output file: Log\n@write_mode section (heading=Seen, merge=append)\nx"), ""},

		// names from outside
		"a folder of an import's name": {imported("@input trigger\n@output file: Notes/{trigger-name}/Sum\nx"), "7:15 VF202"},
		"no folder":                    {imported("@input trigger\n@output file: {trigger-name}\nx"), "7:15 VF202"},
		"beside the import":            {imported("@input trigger\n@output file: {trigger-folder}/Sum {trigger-name}\nx"), ""},

		// nothing to ask about
		"pending may be empty":   {daily("@input file: Inbox/*.md (pending)\n@output file: Out\nx"), "6:14 VF263"},
		"shorthand":              {daily("@input file: Inbox/{pending:3}\n@output file: Out\nx"), "6:14 VF263"},
		"a glob may be empty":    {daily("@input file: Inbox/*.md\n@output file: Out\nx"), "6:14 VF263"},
		"a date may be missing":  {daily("@input file: Daily/{yesterday}\n@output file: Out\nx"), "6:14 VF263"},
		"both may be empty":      {daily("@input file: Daily/{yesterday}\n@input file: Inbox/*.md\n@output file: Out\nx"), "6:14 VF263"},
		"required":               {daily("@input file: Inbox/*.md (pending, required)\n@output file: Out\nx"), ""},
		"one is required":        {daily("@input file: Inbox/*.md (pending)\n@input file: Daily/{today} (required)\n@output file: Out\nx"), ""},
		"one is there":           {daily("@input file: Inbox/*.md (pending)\n@input file: Tasks\n@output file: Out\nx"), ""},
		"the newest is there":    {daily("@input file: Daily/*.md (latest)\n@output file: Out\nx"), ""},
		"tested":                 {daily("@when exists Inbox/*.md\n@input file: Inbox/*.md\n@output file: Out\nx"), ""},
		"items":                  {daily("@for_each file: Inbox/*.md (pending)\n@input file: {item}\n@output file: Out\nx"), ""},
		"by hand":                {"## A\n@input file: Inbox/*.md (pending)\n@output file: Out\nx", ""},
		"never on a schedule":    {daily("@run_on never\n@input file: Inbox/*.md (pending)\n@output file: Out\nx"), ""},
		"without a model":        {daily("@model none\n@input file: Inbox/*.md (pending)\n@output file: Out\nx"), ""},
		"no input":               {daily("@output file: Out\nx"), ""},
		"input that goes away":   {daily("@input file: Inbox/*.md (output=discard)\n@output file: Out\nx"), ""},
		"tools find what to ask": {daily("@input file: Inbox/*.md\n@tools read_chunks\n@output file: Out\nx"), ""},

		// answers
		"answer lost":           {"## A\nx", "1:1 VF264"},
		"variable unread":       {"## A\n@output variable: v\nx", "2:19 VF264"},
		"variable read before":  {"## A\n@input variable: v\n@output file: Out\nx\n## B\n@output variable: v\nx", "6:19 VF264"},
		"variable read later":   {"## A\n@output variable: v\nx\n## B\n@when nonempty variable: v\n@output file: Out\nx", ""},
		"variable kept":         {"## A\n@output variable: v (scope=workflow)\nx", ""},
		"routed input, no file": {"## A\n@input file: a (output=file: b)\nx", "1:1 VF264"},
		"no model":              {"## A\n@model none\n@input file: a (output=file: b)", ""},

		// pictures
		"png alone":          {"## A\n@for_each file: Imported/Book/pages/page_*.png\n@input file: {item}\n@output file: Out\nx", "2:17 VF269"},
		"jpg alone":          {"## A\n@when changed Imported/Book/pages/*.jpg\n@output file: Out\nx", "2:15 VF269"},
		"both":               {"## A\n@for_each file: Imported/Book/pages/page_*.{png,jpg}\n@input file: {item}\n@output file: Out\nx", ""},
		"one picture":        {"## A\n@input file: Imported/Book/pages/page_0001.png\n@output file: Out\nx", ""},
		"pictures of mine":   {"## A\n@input file: Photos/*.jpg\n@output file: Out\nx", ""},
		"pictures into mine": {"## A\n@for_each file: Imported/Book/text/*.md\n@input file: Imported/Book/pages/{item-name}.png\n@output file: Out\nx", "3:14 VF269"},

		// marks in text
		"template in the prompt": {"## A\n@output file: Out\nPlan of {{date}}.\n\n<% tp.file.title %>", "3:9 VF265, 5:1 VF265"},
		"date in the prompt":     {"## A\n@output file: Out\nPlan of {today:dddd}, not of {{today}}.", "3:9 VF265"},
		"date in instructions":   {"## Instructions\nToday is {today}.\n## A\n@output file: Out\nx", "2:10 VF265"},
		"a place":                {"## A\n@input file: a (as=date)\n@output file: Out\nPlan of {{date}}.", ""},
		"code":                   {"## A\n@output file: Out\nReplace `{today}` in\n```\n{{date}}\n```\n{c1::x} {{c1::x}} {item} {trigger-name}", "7:22 VF265x"},
		"hour of twelve":         {"## A\n@output file: Out {now:hhmm}\nx", "2:24 VF266"},

		// keys
		"cron as a key":      {"---\ncron: 0 8 * * *\nenabled: true\n---\n## A\n@output file: Out\nx", "2:1 VF267"},
		"budget at the top":  {"---\nmax_cost_usd: 1\n---\n## A\n@output file: Out\nx", "2:1 VF267"},
		"output at the top":  {"---\noutput: Out\ntz: UTC\n---\n## A\n@output file: Out\nx", "2:1 VF267, 3:1 VF267"},
		"keys of the author": {"---\ntags: [a]\nread: true\nstatus: x\nauthor: me\n---\n## A\n@output file: Out\nx", ""},

		// directives that are text
		"behind a dash":        {"## A\n- @output file: Out\n- @input file: a\nx", "1:1 VF264, 2:3 VF268, 3:3 VF268"},
		"behind a quote":       {"## A\n> @output file: Out\n\nx", "1:1 VF264, 2:3 VF268"},
		"behind a number":      {"## A\n@output file: Out\n1. @input file: a\n", "3:4 VF268"},
		"below text":           {"## A\n@output file: Out\nx\n* @input file: a", "4:3 VF268"},
		"indented below text":  {"## A\n@output file: Out\nx\n\n    @input file: a", "5:5 VF268"},
		"below inline code":    {"## A\n@output file: Out\n```x``` is code.\nSay {{title}}.", "4:5 VF265"},
		"in a code block":      {"## A\n```yaml\n@output file: Out\n@input file: a\n```\nx", "1:1 VF264, 3:1 VF268"},
		"shown in code":        {"## A\n@output file: Out\nExplain:\n```\n@output file: Out\n```\n", ""},
		"told about":           {"## A\n@output file: Out\nx\n- @input reads files\n- @when you like\n- @john\n- \\@input file: a", ""},
		"code with other text": {"## A\n@output file: Out\n```\n@output file: Out\nand so on\n```\n", ""},
	} {
		want := strings.TrimSuffix(tt.want, "x")
		if want != tt.want {
			want = "" // the positions of what is not said
		}
		if got := codesOf(surprising(t, tt.src)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// A workflow that another one may run returns its last answer.
func TestSurprises_answersForOthers(t *testing.T) {
	t.Parallel()
	plan := planOf(t, "## A\nx\n## B\nx")
	if got := codesOf(Surprises(plan, World{Called: true})); got != "1:1 VF264" {
		t.Errorf("got %q", got)
	}
	if !planOf(t, "@tools run_workflow\nx").RunsOthers() || plan.RunsOthers() {
		t.Error("wrong about who runs others")
	}
}

// What is certain is corrected, once; the rest of the note stays.
func TestFix_surprises(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"---\ncron: 0 8 * * *\nenabled: false\n---\n## A\n@output file: Out\nx":                                         "",
		"---\nevery: 15m\n---\n## A\n@output file: Out\nx":                                                              "",
		"---\ncron: soon\n---\n## A\n@output file: Out\nx":                                                              "",
		"---\ncron: 0 8 * * *\nschedule: \"cron: 0 9 * * *\"\n---\n## A\n@output file: Out\nx":                          "",
		"---\nschedule: \"cron: 0 8 * * *\"\n---\n## A\n@input file: Inbox/*.md (pending, limit=3)\n@output file: O\nx": "---\nschedule: \"cron: 0 8 * * *\"\n---\n## A\n@input file: Inbox/*.md (pending, required, limit=3)\n@output file: O\nx",
		"---\nschedule: \"cron: 0 8 * * *\"\n---\n## A\n@input file: Inbox/*.md\n@output file: O\nx":                    "",
		"## A\n- @output file: Out\n-   @input file: a\n\n> @model local\n\nText.\n- @input file: b":                    "## A\n@output file: Out\n@input file: a\n\n@model local\n\nText.\n- @input file: b",
		"## A\n```\n@output file: Out\n```\nx":                                                                          "## A\n```directives\n@output file: Out\n```\nx",
		"## A\n~~~~ yaml \n@output file: Out\n~~~~\nx":                                                                  "## A\n~~~~directives \n@output file: Out\n~~~~\nx",
		"## A\n@input file: a\n```\n@output file: Out\n```\nx":                                                          "",
		"## A\n@output file: Out\n@for_each file: Imported/Büch/pages/p*.png (batch=2)\n@input file: {item}\nx":         "## A\n@output file: Out\n@for_each file: Imported/Büch/pages/p*.{png,jpg} (batch=2)\n@input file: {item}\nx",
		"## A\n@output file: Out {today:yyyy-MM-dd}\nPlan of {{date}}.":                                                 "## A\n@output file: Out {today:YYYY-MM-DD}\nPlan of {{date}}.",
		"## A\n@output file: Out {nope}\nx":                                                                             "",
	} {
		if want == "" {
			want = src
		}
		more := func(p *Plan) []diag.Diagnostic { return Surprises(p, brokenWorld()) }
		got, _ := Fix("w", "w.md", []byte(src), more)
		if string(got) != want {
			t.Errorf("%q\nbecame %q\nwant   %q", src, got, want)
		}
	}
}

// The workflows that we ship and show have none.
func TestSurprises_noneInExamples(t *testing.T) {
	t.Parallel()
	notes := map[string]string{}
	for _, glob := range []string{"../examples/workflows/*.md", "../examples/*/Workflows/*.md"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files (%v)", glob, err)
		}
		for _, name := range files {
			notes[name] = readText(t, name)
		}
	}
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md") {
		text := readText(t, page)
		for _, fence := range fences {
			for _, m := range fence.FindAllStringSubmatch(text, -1) {
				if body := m[1]; strings.Contains("\n"+body, "\n@") {
					notes[fmt.Sprintf("%s:%d", page, 1+strings.Count(text[:strings.Index(text, body)], "\n"))] = body
				}
			}
			text = fence.ReplaceAllString(text, "")
		}
	}
	if len(notes) < 20 {
		t.Errorf("only %d workflows", len(notes))
	}
	for name, src := range notes {
		plan, list := Parse("w", "w.md", []byte(src))
		if diag.HasErrors(list) && strings.Contains(name, "../docs/") {
			continue // a part of a step
		}
		list = append(list, Surprises(plan, World{Imported: "Imported"})...)
		for _, d := range list {
			if d.Severity != diag.SeverityNote {
				t.Errorf("%s: %v", name, d)
			}
		}
	}
}

// fences find the Markdown in a page, the longer marks first.
var fences = []*regexp.Regexp{regexp.MustCompile("(?ms)^````markdown\n(.*?)^````$"), regexp.MustCompile("(?ms)^```markdown\n(.*?)^```$")}

func readText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
