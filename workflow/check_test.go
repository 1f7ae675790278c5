package workflow

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

// codesOf gives line, column and code of diagnostics.
func codesOf(list []diag.Diagnostic) string {
	var all []string
	for _, d := range list {
		all = append(all, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Code))
	}
	return strings.Join(all, ", ")
}

// planOf parses a note that must be without error.
func planOf(t *testing.T, src string) *Plan {
	t.Helper()
	p, list := Parse("w", "Workflows/w.md", []byte(src))
	if diag.HasErrors(list) {
		t.Fatal(list)
	}
	return p
}

func TestCheck_toolsApprovalsPermissions(t *testing.T) {
	t.Parallel()
	can := func(alias, capability string) (bool, bool) {
		return (alias != "blind" || capability != "vision") && (alias != "mute" || capability != "tools"), alias != "odd"
	}
	world := World{
		Tools: []string{"read_chunks", "read_file", "write_file"}, Models: []string{"sonnet", "blind", "odd", "mute"}, Default: "blind", ImportDir: "Import", Can: can,
		Changes: func(tool string) bool { return tool == "write_file" },
		Schema: func(name string, text []byte) error {
			if strings.Contains(string(text), "strng") {
				return errors.New("no such type")
			}
			return nil
		},
	}
	tests := map[string]struct{ src, want string }{
		"known tool":                   {"@tools read_chunks\nx", ""},
		"all":                          {"@tools all\nx", ""},
		"none":                         {"@tools none\nx", ""},
		"not available":                {"@tools read_chunks, web_fetch\nx", "1:21 VF141"},
		"unknown":                      {"@tools read_chunk\nx", "1:8 VF197"},
		"routed":                       {"@tools read_chunks (output=discard)\nx", ""},
		"routed to a file":             {"---\npermissions: {write: [Plans/**]}\n---\n@tools read_file (output=file: Logs/x)\nx", "4:32 VF168"},
		"model without tools":          {"@model mute\n@tools read_file\nx", "2:1 VF201"},
		"model without tools, none":    {"@model mute\n@tools none\nx", ""},
		"routed to the model":          {"@tools read_chunks (output=inline)\nx", ""},
		"approve":                      {"@approve outputs, tools\n@output file: a\n@tools write_file\nx", ""},
		"approve a routed input":       {"@approve outputs\n@input file: a (output=file: b)\nx", ""},
		"approve a prompt":             {"@approve prompt, outputs\n@input file: {today:YYYY}/{this-week} (pages=1-2)\n@input file: {run} (output=discard)\n@output file: {today} {run}\nx", ""},
		"approve a prompt anew":        {"@approve prompt\n@for_each file: {today}/*\n@input file: {run}\n@input file: a (pages={today:D})\nx", "2:17 VF320, 3:14 VF320, 4:1 VF320"},
		"approve no prompt":            {"@approve prompt\n@model none\n@input file: a (output=file: b)", "1:1 VF199"},
		"approve no file":              {"@approve outputs\n@output variable: a\nx", "1:1 VF199"},
		"approve retries of tools":     {"@approve tools (retries=1)\n@tools write_file\nx", "1:1 VF199"},
		"approve no tool":              {"@approve tools\nx", "1:1 VF199"},
		"approve reading":              {"@approve tools\n@tools read_chunks\nx", "1:1 VF199"},
		"approve without a model":      {"@approve tools\n@model none\n@input file: a (output=file: b)\n@tools all\nx", "1:1 VF199"},
		"not permitted":                {"---\npermissions: {tools: []}\n---\n@tools read_chunks\nx", "4:8 VF168"},
		"permitted":                    {"---\npermissions: {tools: [Read-Chunks]}\n---\n@tools read_chunks\nx", ""},
		"permissions, unknown":         {"---\npermissions:\n  tools: [read_chunks, raed_file]\n---\nx", "3:24 VF197"},
		"schema":                       {"@schema\n```yaml\ntype: strng\n```\nx", "1:1 VF198"},
		"blind":                        {"@input file: a (images=required)\nx", "1:1 VF201"},
		"sees":                         {"@model sonnet\n@input file: a (images=required)\nx", ""},
		"not known":                    {"@model odd\n@input file: a (images=required)\nx", ""},
		"no model":                     {"@model none\n@input file: a (images=required)\nx", ""},
		"read":                         {"---\npermissions: {read: [Notes/**]}\n---\n@input file: Logs/x\n@input file: Notes/{today}\n@input file: [[x]]\n@input file: {a,Notes}/x\nx", "4:14 VF168"},
		"read a folder":                {"---\npermissions: {read: [Notes, Old/], write: [Plans]}\n---\n@input file: Logs/x\n@input file: Notes/a/b\n@input file: Old/c\n@output file: Plans/d\nx", "4:14 VF168"},
		"read nothing":                 {"---\npermissions: {read: []}\n---\n@input file: Logs/x\n@input variable: y\nx", "4:14 VF168"},
		"item may fit":                 {"---\npermissions: {write: [Plans/2026*.md]}\n---\n@for_each file: a/*\n@output file: Plans/{item-name}\n@output file: Logs/{item-name}\nx", "6:15 VF168"},
		"import folder":                {"@for_each file: a/*\n@output file: Import/{item-name}\nx", "2:15 VF166"},
		"item that is a path":          {"---\npermissions: {write: [Plans/**]}\n---\n@for_each file: Plans/*\n@input file: {item}\n@output file: {item}\nx", ""},
		"schema outside of read":       {"---\npermissions: {read: [Notes/**]}\n---\n@schema file: Schemas/a.json\nx", "4:15 VF168"},
		"items outside of read":        {"---\npermissions: {read: [Notes/**]}\n---\n@for_each file: Inbox/*\n@input file: {item}\nx", "4:17 VF168"},
		"unknown model with an edit":   {"@model sonet\nx", "1:8 VF191"},
		"fallback and model are known": {"@model sonnet (fallback=blind)\nx", ""},
	}
	for name, tt := range tests {
		if got := codesOf(Check(planOf(t, tt.src), world)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestCheck_withoutKnowledgeSaysNothing(t *testing.T) {
	t.Parallel()
	p := planOf(t, "@tools web_fetch, raed_file\n@model x\n@input file: a (images=required)\n@schema\n```\ntype: strng\n```\nx")
	if got := Check(p, World{}); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	if got := Inspect(t.Context(), p, World{}); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

func TestInspect_looksAtTheVault(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{}
	for _, name := range []string{"notes/today.md", "Inbox/a.md", "Schemas/good.json", "Dr. Smith.md", "file"} {
		fsys[name] = &fstest.MapFile{Data: []byte("{}")}
	}
	fsys["Schemas/bad.json"] = &fstest.MapFile{Data: []byte("{")}
	fsys["Schemas/bad.yaml"] = &fstest.MapFile{Data: []byte("a: [")}
	links := vault.LinksFunc(func(link, _ string) vault.Location {
		switch link {
		case "today":
			return vault.Location{Found: true, Name: "notes/today.md"}
		case "twice":
			return vault.Location{Found: true, Name: "a/twice.md", Ambiguous: []string{"a/twice.md", "b/twice.md"}}
		}
		return vault.Location{Near: []string{"notes/today.md"}}
	})
	tests := map[string]struct{ src, want string }{
		"there":             {"@input file: notes/today\n@input file: Dr. Smith\n@input file: [[today]]\nx", ""},
		"missing":           {"@input file: notes/tody\nx", "1:14 VF180"},
		"required, missing": {"@input file: notes/tody (required)\nx", "1:14 VF180"},
		"link":              {"@input file: [[tody]]\nx", "1:16 VF180"},
		"two files":         {"@input file: [[twice]]\nx", "1:16 VF182"},
		"a folder":          {"@input file: notes\nx", "1:14 VF184"},
		"glob":              {"@input file: Inbox/{pending:5}\n@input file: */*\n@input file: Inbox/x*\nx", ""},
		"folder of a glob":  {"@input file: Inbx/{pending:5}\nx", "1:14 VF180"},
		"a file as folder":  {"@input file: file/*\nx", "1:14 VF180"},
		"date":              {"@input file: notes/{today}\nx", ""},
		"folder of a date":  {"@input file: note/{today}\nx", "1:14 VF180"},
		"items":             {"@for_each file: Inbox/*\n@input file: {item}\nx", ""},
		"folder of items":   {"@for_each file: Inbo/*\n@input file: {item}\nx", "1:17 VF180"},
		"written before":    {"## A\n@output file: Plans/x\nx\n## B\n@input file: Plans/x\n@input file: Plans/*\nx", ""},
		"written by itself": {"@input file: State/{today}\n@input file: State/last\n@output file: State/last\nx", ""},
		"variable":          {"@input variable: x\nx", ""},
		"schema":            {"@schema file: Schemas/good.json\nx", ""},
		"schema is missing": {"@schema file: Schemas/god.json\nx", "1:15 VF315"},
		"no JSON":           {"@schema file: Schemas/bad.json\nx", "1:15 VF198"},
		"no YAML":           {"@schema file: Schemas/bad.yaml\nx", "1:15 VF198"},
		"output, link":      {"@output file: [[today]]\nx", ""},
		"output, no note":   {"@output file: [[tody]]\nx", "1:17 VF185"},
		"output, two notes": {"@output file: [[twice]]\nx", "1:17 VF185"},
		"refused by link":   {"---\npermissions: {write: [Plans/**]}\n---\n@output file: [[today]]\nx", "4:17 VF168"},
	}
	for name, tt := range tests {
		got := Inspect(t.Context(), planOf(t, tt.src), World{FS: fsys, Links: links})
		if codesOf(got) != tt.want {
			t.Errorf("%s: got %v, want %q", name, got, tt.want)
		}
		if diag.HasErrors(got) != (strings.Contains(tt.want, "VF198") || strings.Contains(tt.want, "VF315") || strings.Contains(tt.want, "VF168")) {
			t.Errorf("%s: wrong severity: %v", name, got)
		}
	}
	got := Inspect(t.Context(), planOf(t, "@schema file: Schemas/good.json\nx"), World{FS: fsys, Schema: func(name string, text []byte) error { return errors.New(name + string(text)) }})
	if len(got) != 1 || !strings.Contains(got[0].Message, "Schemas/good.json{}") {
		t.Errorf("own check of schemas: %v", got)
	}
}

func TestInspect_linksOfTheFileSystem(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	for _, link := range [][2]string{{outside, "Out"}, {"Plans", "Inside"}, {"nowhere", "Broken"}, {outside + "/x.md", "note.md"}} {
		if err := os.Symlink(link[0], dir+"/"+link[1]); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Mkdir(dir+"/Plans", 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for path, want := range map[string]string{
		"Plans/x": "", "Inside/x": "", "New/x": "", "Out/x": "1:15 VF188", "Out/{today}": "1:15 VF188", "Broken/x": "1:15 VF188", "note": "1:15 VF188",
	} {
		if got := codesOf(Inspect(t.Context(), planOf(t, "@output file: "+path+"\nx"), World{FS: root.FS()})); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// A note that is wrong on every line does not flood its reader, and stays invalid.
func TestLimit_keepsErrors(t *testing.T) {
	t.Parallel()
	warnings := strings.Repeat("@header {today:Kalender}\n", 1) + strings.Repeat("@input file: \"{today}\"\n", 150)
	_, list := Parse("w", "w.md", []byte(warnings+strings.Repeat("@inptu x\n", 120)+"x"))
	if len(list) != MaxDiagnostics+1 || list[MaxDiagnostics].Code != directives.CodeManyMistakes || !diag.HasErrors(list) {
		t.Fatalf("%d diagnostics, the last %v", len(list), list[len(list)-1])
	}
	if !strings.Contains(list[MaxDiagnostics].Message, "171 more") {
		t.Errorf("got %v", list[MaxDiagnostics])
	}
	_, few := Parse("w", "w.md", []byte(strings.Repeat("@inptu x\n", MaxDiagnostics)+"x"))
	if len(few) != MaxDiagnostics {
		t.Errorf("%d diagnostics, want %d", len(few), MaxDiagnostics)
	}
	_, mixed := Parse("w", "w.md", []byte(warnings+strings.Repeat("@inptu x\n", 10)+"x"))
	n := 0
	for _, d := range mixed {
		if d.Severity == diag.SeverityError {
			n++
		}
	}
	if n != 10 || len(mixed) != MaxDiagnostics+1 {
		t.Errorf("%d errors of %d diagnostics", n, len(mixed))
	}
}

// Globs with many ** are compared in no more steps than they have parts.
func TestCheck_manyStars(t *testing.T) {
	t.Parallel()
	stars := strings.Repeat("**/a/", 200)
	p := planOf(t, "---\npermissions: {read: [\""+stars+"b\"]}\n---\n@input file: "+stars+"c.md\n@input file: "+stars+"b\nx")
	if got := codesOf(Check(p, World{})); got != "4:14 VF168" {
		t.Errorf("got %s", got)
	}
}

func TestPermissions_hosts(t *testing.T) {
	t.Parallel()
	p := Permissions{Network: []string{"example.org", "*.example.com"}}
	for host, want := range map[string]bool{"example.org": true, "Example.ORG": true, "a.example.org": false, "a.b.example.com": true, "example.com": false, "badexample.com": false} {
		if p.MayReach(host) != want {
			t.Errorf("%s: want %v", host, want)
		}
	}
	if all := (Permissions{Network: []string{"*"}}); !all.MayReach("example.org") {
		t.Error("* leaves a host out")
	}
	if (Permissions{}).MayReach("example.org") {
		t.Error("network without permission")
	}
}

func TestParse_routedToolResults(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"@tools read_file (output=file: x.csv, write_mode=section, heading=A)\nx":                                      "VF167",
		"@for_each file: a/*\n@tools read_file (output=file: x, write_mode=replace)\n@input file: {item}\nx":           "VF200",
		"@for_each file: a/*\n@tools read_file (output=file: {item-name}, write_mode=replace)\n@input file: {item}\nx": "",
	} {
		_, list := Parse("w", "Workflows/w.md", []byte(src))
		if got := codesOf(list); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %s", src, got, want)
		}
	}
}
