package workflow

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/failure/diag"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the diagnostics that were found into the golden files")

// full uses every part of the language that is in force.
const full = `---
schedule:
  - "cron: 0 8 * * 1-5"
  - "once: 2026-12-24 09:00"
  - "once: 2026-12-24T09:00:00+01:00"
watch: [Inbox/**/*.md, "Scans/*.pdf"]
on_import: "*.pdf"
enabled: yes
timezone: Europe/Oslo
week_start_day: Sunday
model: sonnet
overlap: queue
catch_up: latest
timeout: 1d2h
max_runs_per_day: 5
permissions:
  read: ["**"]
  write: [Plans/**, Logs/**]
  tools: []
  network: ["*.example.org"]
budget: {max_images: 30, max_cost_usd: 0.5, when_exceeded: fail}
description: A plan
tags: [a, b]
mine: {deep: [1, 2]}
---

Notes of the author, not sent.

## My instructions
Be careful.

## Chapter boundaries ##
@input file: Imported/Workbook/index.md (images=required, head=20, tail=5, lines=1-9, pages=1-3, properties=a, b, as=Book)
@input file: Inbox/{pending:3} (output=file: Logs/{today}, write_mode=new)

@output file: Plans/Workbook {today:YYYY-[W]WW}
@output variable: plan (scope=workflow, format=json)
@header Plan of {today:dddd}
@model opus (thinking=high, temperature=0.2, max_output_tokens=500, fallback=sonnet)
@write_mode replace
@run_on monday, Fri

Find the chapters in {{Book}}.

\@input is a word here.

More instructions
-----------------
Be brief.

Last step
---

` + "```directives\n@input variable: plan (required)\n```" + `
\@sonnet, sum it up.
`

// lineOf is the line of full on which a text stands.
func lineOf(text string) int { return strings.Count(full[:strings.Index(full, text)], "\n") + 1 }

func TestParse_planSurvivesJSON(t *testing.T) {
	t.Parallel()
	plan, list := Parse("daily/plan", "Workflows/daily/plan.md", []byte(full))
	if len(list) > 0 {
		t.Fatalf("diagnostics: %v", list)
	}
	data, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	var back Plan
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*plan, back); diff != "" {
		t.Errorf("after JSON (-want +got):\n%s", diff)
	}
}

func TestParse_everything(t *testing.T) {
	t.Parallel()
	plan, _ := Parse("daily/plan", "w.md", []byte(full))
	m := plan.Meta
	if plan.Instructions != "Be careful.\n\nBe brief." {
		t.Errorf("instructions %q", plan.Instructions)
	}
	if !m.Enabled || m.Timeout != 26*time.Hour || m.WeekStartDay() != time.Sunday || m.Overlap != "queue" || m.CatchUp != "latest" || m.MaxRunsPerDay != 5 || len(m.Schedules) != 3 {
		t.Errorf("meta %+v", m)
	}
	if !m.OnImport.Fires("Import/q3.pdf") || !m.OnImport.Fires("Import/Bills/Q3.PDF") || m.OnImport.Fires("q3.png") || !m.Watches("Inbox/a/b.md") || m.Watches("x.md") || !m.Watches("inbox/Photo.MD") || m.Watches("inbox/Photo.jpg") {
		t.Error("triggers do not match as written")
	}
	if p := m.Permissions; !p.MayWrite("Plans/x.md") || p.MayWrite("x.md") || !p.MayRead("x.md") || !p.NoTools {
		t.Errorf("permissions %+v", p)
	}
	if m.Budget.Limits["max_images"] != 30 || m.Budget.WhenExceeded != "fail" {
		t.Errorf("budget %+v", m.Budget)
	}
	if len(plan.Steps) != 2 || plan.Steps[0].Name != "Chapter boundaries" || plan.Steps[1].Name != "Last step" {
		t.Fatalf("steps %+v", plan.Steps)
	}
	first, last := plan.Steps[0], plan.Steps[1]
	if first.Prompt != "Find the chapters in {{Book}}.\n\n@input is a word here." || first.Line != lineOf("## Chapter") || first.PromptLine != lineOf("Find the chapters") {
		t.Errorf("first step: %q, lines %d and %d", first.Prompt, first.Line, first.PromptLine)
	}
	if last.Prompt != "@sonnet, sum it up." || len(last.Inputs) != 1 || last.WriteMode.Mode != "append" {
		t.Errorf("last step: %+v", last)
	}
	if in := first.Inputs[1]; in.Index != 1 || in.At.Line != lineOf("@input file: Inbox") || in.At.Column != 1 || in.Target.At.Column != 14 || !in.Selection.Pending {
		t.Errorf("second input: %+v", in)
	}
	if plan.Alias(first, "std") != "opus" || plan.Alias(last, "std") != "sonnet" {
		t.Error("aliases")
	}
}

func TestParse_lineEndsAndByteOrderMark(t *testing.T) {
	t.Parallel()
	want, _ := Parse("w", "w.md", []byte(full))
	for name, src := range map[string]string{
		"crlf": strings.ReplaceAll(full, "\n", "\r\n"),
		"bom":  "\uFEFF" + full,
		"both": "\uFEFF" + strings.ReplaceAll(full, "\n", "\r\n"),
		"cr":   strings.ReplaceAll(full, "\n", "\r"),
	} {
		got, list := Parse("w", "w.md", []byte(src))
		got.SHA256 = want.SHA256
		if diff := cmp.Diff(want, got); diff != "" || len(list) > 0 {
			t.Errorf("%s: %v\n%s", name, list, diff)
		}
	}
}

func TestParse_sections(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		want string // names and prompts
	}{
		"no heading":           {"@model a\nDo it.", "daily=Do it."},
		"code":                 {"## A\nx\n\n```\n## no\n```\n\n    ## no\n", "A=x\n\n```\n## no\n```\n\n    ## no"},
		"other levels":         {"# T\n\n## A\n### sub\nx\n", "A=### sub\nx"},
		"in quote and comment": {"## A\nx\n> ## q\n\n<!--\n## c\n-->\n", "A=x\n> ## q\n\n<!--\n## c\n-->"},
		"last line":            {"## A\nx\n## B\ny", "A=x|B=y"},
		"setext":               {"A\n---\nx\n\nB *b*\n---\ny", "A=x|B *b*=y"},
		"no space":             {"##A\nx", "daily=##A\nx"},
		"characters":           {"## Ä ö\n\nü", "Ä ö=ü"},
	} {
		plan, list := Parse("x/daily", "w.md", []byte(tt.body))
		var got []string
		for _, s := range plan.Steps {
			got = append(got, s.Name+"="+s.Prompt)
		}
		if diag.HasErrors(list) || strings.Join(got, "|") != tt.want {
			t.Errorf("%s: %q, want %q; %v", name, strings.Join(got, "|"), tt.want, list)
		}
	}
}

func TestParse_leavesTheAuthorsPropertiesAlone(t *testing.T) {
	t.Parallel()
	src := "---\ncreated: {{date}}\ntags: #none\nlink: [[Note]]\nkey with blanks: 1\n42: x\nmodels: [a]\ndue: 2026-03-01T10:00:00\n---\n## A\nx\n"
	if _, list := Parse("w", "w.md", []byte(src)); len(list) > 0 {
		t.Errorf("got %v", list)
	}
}

func TestLoad_oneBadFileStopsNoOther(t *testing.T) {
	t.Parallel()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	fsys := fstest.MapFS{
		"Workflows/b.md": file("## A\nx"), "Workflows/daily/plan.md": file("## A\nx"), "Workflows/bad.md": file("---\nx: [\n---\n"),
		"Workflows/_approvals/x.md": file("x"), "Workflows/_draft.md": file("x"), "Workflows/.hidden/x.md": file("x"), "Workflows/pic.png": file("x"),
		"Workflows/huge.md": file(strings.Repeat("x", MaxSize+1)), "Workflows/binary.md": file("a\xff\x00"), "other.md": file("x"),
	}
	all, err := Load(fsys, "Workflows")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range all {
		name := l.Plan.Name
		if !l.Valid() {
			name += "!"
		}
		got = append(got, name)
	}
	if want := "b bad! binary! huge! daily/plan"; strings.Join(got, " ") != want && strings.Join(got, " ") != "b bad! binary! daily/plan huge!" {
		t.Errorf("got %v, want %s", got, want)
	}
	if all, err := Load(fsys, "None"); err != nil || all != nil {
		t.Errorf("no folder: %v, %v", all, err)
	}
}

func TestCheck_knowsTheWorld(t *testing.T) {
	t.Parallel()
	src := "---\nschedule: \"once: 2026-01-01 09:00\"\nenabled: true\nmodel: sonet\npermissions: {write: [Plans/**]}\n---\n" +
		"## A\n@model opus (fallback=locla)\n@output file: Logs/x\n@output file: Inbox/y\nx\n"
	plan, list := Parse("w", "w.md", []byte(src))
	if len(list) > 0 {
		t.Fatal(list)
	}
	got := Check(plan, World{Now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Zone: time.UTC, Models: []string{"sonnet", "opus", "local"}, ImportDir: "Inbox"})
	var codes []string
	for _, d := range got {
		codes = append(codes, d.Code)
	}
	if want := "VF128 VF191 VF191 VF168 VF166"; strings.Join(codes, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if diag.HasErrors(got[:1]) {
		t.Error("a date that has passed is an error")
	}
}

// Each golden file holds broken notes, each followed by the diagnostics that it must give.
func TestParse_brokenNotes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	mistakes := map[string]bool{}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head, parts := archive(string(src))
		for i := 0; i+1 < len(parts); i += 2 {
			note, want := parts[i], &parts[i+1]
			_, list := Parse(strings.TrimSuffix(note.name, ".md"), note.name, []byte(note.text))
			got := ""
			for _, d := range list {
				got += d.String() + "\n"
				mistakes[note.name+d.String()] = true
			}
			if *update {
				want.text = got
			} else if diff := cmp.Diff(want.text, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, note.name, diff)
			}
			if got == "" {
				t.Errorf("%s: %s gives no diagnostic", name, note.name)
			}
		}
		if *update {
			if err := os.WriteFile(name, []byte(head+format(parts)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(mistakes) < 40 {
		t.Errorf("only %d mistakes are covered", len(mistakes))
	}
}

type part struct{ name, text string }

// archive reads the txtar format: `-- name --` lines begin parts.
func archive(s string) (head string, parts []part) {
	for line := range strings.Lines(s) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- "); ok && strings.HasSuffix(name, " --") {
			parts = append(parts, part{name: strings.TrimSuffix(name, " --")})
		} else if len(parts) == 0 {
			head += line
		} else {
			parts[len(parts)-1].text += line
		}
	}
	return head, parts
}

func format(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString("-- " + p.name + " --\n" + p.text)
	}
	return b.String()
}

// A note of nothing but headings must not cost more per line than any other.
func BenchmarkParse(b *testing.B) {
	for name, src := range map[string]string{
		"headings": strings.Repeat("## a\n", 20000), "prose": full + strings.Repeat("A line of the prompt.\n", 4000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Parse("w", "w.md", []byte(src))
			}
		})
	}
}

// A word in on_import is a word of the name, not letters in it.
func TestOnImport_words(t *testing.T) {
	t.Parallel()
	book := "{,*[!a-z]}{,cook,hand,text,work}book{,[!a-z]*}.pdf"
	for _, tt := range []struct {
		glob, fires, not string
	}{
		{"meeting", "Meeting.pdf|Import/Team meeting.pdf|team-MEETING_3.jpg|TeamMeeting2.png|2024 meeting", "Greeting card.pdf|meetings.pdf|Meeting/scan.pdf|meetingnotes.md|x.pdf"},
		{"paper", "A paper on whales.pdf|paper.pdf", "wallpaper.jpg|newspaper.pdf|Paperwork.pdf"},
		{"board meeting", "Board meeting 3.pdf", "Board 3 meeting.pdf"},
		{"übung", "U\u0308bung 1.pdf|Übung.pdf", "Einübung.pdf"},
		{"*paper*", "wallpaper.jpg", "x.jpg"},
		{"book.pdf", "Book.pdf", "My book.pdf"},
		{book, "Book.pdf|Cookbook.pdf|Cookbook two.pdf|My book (3rd).pdf|Algebra workbook.pdf|Book of tides.pdf", "Hotel booking.pdf|Facebook friends.pdf|book list.md|Bookkeeping.pdf"},
	} {
		o := OnImport{Globs: []string{tt.glob}}
		for _, name := range strings.Split(tt.fires, "|") {
			if !o.Fires(name) {
				t.Errorf("%s: %s does not start it", tt.glob, name)
			}
		}
		for _, name := range strings.Split(tt.not, "|") {
			if o.Fires(name) {
				t.Errorf("%s: %s starts it", tt.glob, name)
			}
		}
	}
}
