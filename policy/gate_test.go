package policy

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// house is a vault with everything that the gate protects.
var house = fstest.MapFS{
	"settings.yaml": {}, "Plan.md": {}, "Workflows/Flow.md": {}, "Workflows/Other.md": {}, "Workflows/_approvals/r1.md": {},
	".obsidian/app.json": {}, "Import/a.pdf": {}, "Status.md": {},
	"Imported/W/manifest.json": {Data: []byte(`{"version":1,"source":{"name":"W.md","sha256":"00"}}`)}, "Imported/W/index.md": {}, "Imported/W/W.md": {},
	"Imported/W/text/page_0001.md": {}, "Imported/W/pages/page_0001.png": {}, "Imported/Originals/old.md": {},
	"Archive/V/manifest.json": {Data: []byte(`{"version":1,"source":{"name":"V.pdf","sha256":"00"}}`)}, "Archive/V/index.md": {}, "Archive/V/V.pdf": {},
	"Archive/V/text/page_0001.md": {},
	"Plugin/manifest.json":        {Data: []byte(`{"id":"x"}`)}, "Plugin/notes.txt": {},
	"odd~1.md": {},
	"Config":   {Data: []byte(".obsidian"), Mode: fs.ModeSymlink | 0o777},
	"Flows":    {Data: []byte("Workflows"), Mode: fs.ModeSymlink | 0o777},
	"gone.md":  {Data: []byte("nowhere"), Mode: fs.ModeSymlink | 0o777},
	"own.md":   {Data: []byte("settings.yaml"), Mode: fs.ModeSymlink | 0o777},
}

// free is a request that nothing but the place can stop.
func free(who Writer, name string) Request {
	r := Request{
		Writer: who, Action: Create, Place: Look(house, name), Workflow: "Workflows/Flow.md", Permitted: Permitted{Allowed: true}, Recorded: true,
	}
	if r.Place.Exists {
		r.Action = Change
	}
	return r
}

var gate = Gate{StatusNote: "Status.md"}

func TestGate_places(t *testing.T) {
	t.Parallel()
	type row struct {
		name                                              string
		output, tool, undo, imports, status, approve, fix bool
	}
	for _, tt := range []row{
		{name: "Plan.md", output: true, tool: true, undo: true},
		{name: "New/a.md", output: true, tool: true, undo: true},
		{name: "Status.md", status: true},
		{name: "Plugin/notes.txt", output: true, tool: true, undo: true},
		{name: "odd~1.md", output: true, tool: true, undo: true},
		{name: "settings.yaml"},
		{name: "settings.yml"},
		{name: "Settings.YAML"},
		{name: "settings.yaml. ."},
		{name: "settings.yaml::$DATA"},
		{name: "sett\u200bings.yaml"},
		{name: "ſettings.yaml"},
		{name: "SETTIN~1.YAM"},
		{name: "secrets.yaml"},
		{name: ".env"},
		{name: "\u200c.env"},
		{name: ".obsidian/app.json"},
		{name: "a/.trash/b.md"},
		{name: "Config/app.json"},
		{name: "Config/new.md"},
		{name: "config/app.json"},
		{name: "Flows/New.md"},
		{name: "gone.md"},
		{name: "own.md"},
		{name: "../out.md"},
		{name: "/etc/passwd"},
		{name: ""},
		{name: "."},
		{name: "a\\b.md"},
		{name: "a\nb.md"},
		{name: "Workflows", undo: true},
		{name: "Workflows/New.md", undo: true, fix: true},
		{name: "workflows/New.md", undo: true, fix: true},
		{name: "Workflows./New.md", undo: true, fix: true},
		{name: "Workflows/Flow.md", undo: true, fix: true},
		{name: "Workflows/Other.md", undo: true, fix: true},
		{name: "Workflows/_approvals/r1.md", approve: true},
		{name: "workflows/_APPROVALS/new.md", approve: true},
		{name: "Workflows/_approvals/deep/r1.md"},
		{name: "Workflows/_approvals"},
		{name: "Import/new.md", imports: true},
		{name: "import/a.pdf", imports: true},
		{name: "Imported/W/manifest.json", imports: true},
		{name: "Imported/W/Manifest.JSON", imports: true},
		{name: "Imported/W/W.md", imports: true},
		{name: "Imported/W/text/page_0001.md", imports: true},
		{name: "Imported/W/text/new.md", imports: true},
		{name: "Imported/W/pages/page_0001.png", imports: true},
		{name: "Imported/W/index.md", output: true, tool: true, undo: true, imports: true},
		{name: "Imported/W/beside.md", output: true, tool: true, undo: true, imports: true},
		{name: "Imported/Originals/old.md", undo: true, imports: true},
		{name: "Imported/new.md", output: true, undo: true, imports: true},
		{name: "Archive/V/index.md", output: true, tool: true, undo: true},
		{name: "Archive/V/manifest.json", imports: true},
		{name: "Archive/V/text/page_0001.md", imports: true},
		{name: "Archive/V/V.pdf", imports: true},
	} {
		for who, want := range map[Writer]bool{
			ByOutput: tt.output, ByRoute: tt.output, ByTool: tt.tool, ByUndo: tt.undo, ByImport: tt.imports, ByStatus: tt.status, ByApprovals: tt.approve,
			ByDrop: false, Writer(""): false, Writer("somebody"): false,
		} {
			r := free(who, tt.name)
			got := gate.Decide(r)
			if want != (got.Verdict == VerdictAllowed) || !want && got.Reason == "" {
				t.Errorf("%s writes %q: %+v", who, tt.name, got)
			}
			if pass, err := got.Pass(); want == (err != nil) || want && (pass.Name() != r.Place.Name || pass.Action() != r.Action) {
				t.Errorf("%s writes %q: pass %+v, %v", who, tt.name, pass, err)
			}
		}
		r := free(ByFix, tt.name)
		r.Action = Change
		if got := gate.Decide(r); tt.fix != (got.Verdict == VerdictAllowed) {
			t.Errorf("check --fix mends %q: %+v", tt.name, got)
		}
	}
}

func TestGate_runs(t *testing.T) {
	t.Parallel()
	with := func(name string, change func(*Request)) Request {
		r := free(ByOutput, name)
		change(&r)
		return r
	}
	foreign := func(named Named) func(*Request) {
		return func(r *Request) { r.Named, r.NameFrom = named, []string{"file Imported/W/index.md"} }
	}
	for name, tt := range map[string]struct {
		r    Request
		want Verdict
	}{
		"outside permissions.write":  {with("Plan.md", func(r *Request) { r.Permitted = Permitted{} }), VerdictRefused},
		"a workflow that is named":   {with("Workflows/New.md", func(r *Request) { r.Permitted.Explicit = true }), VerdictAllowed},
		"itself, though it is named": {with("workflows/FLOW.md", func(r *Request) { r.Permitted.Explicit = true }), VerdictRefused},
		"settings that are named":    {with("settings.yaml", func(r *Request) { r.Permitted.Explicit = true }), VerdictRefused},
		"undo without a record":      {with("Plan.md", func(r *Request) { r.Writer, r.Recorded = ByUndo, false }), VerdictRefused},
		"a foreign segment, new":     {with("New/a.md", foreign(ForeignSegment)), VerdictAllowed},
		"a foreign segment, taken":   {with("Plan.md", foreign(ForeignSegment)), VerdictNextFree},
		"taken in another spelling":  {with("PLAN.md", foreign(ForeignSegment)), VerdictNextFree},
		"taken, granted":             {with("Plan.md", func(r *Request) { foreign(ForeignSegment)(r); r.Granted, r.Asked = true, true }), VerdictNextFree},
		"its own":                    {with("Plan.md", func(r *Request) { foreign(ForeignSegment)(r); r.Own = true }), VerdictAllowed},
		"a foreign place":            {with("New/a.md", foreign(ForeignPlace)), VerdictNeedsYes},
		"its own place":              {with("Plan.md", func(r *Request) { foreign(ForeignPlace)(r); r.Own = true }), VerdictNeedsYes},
		"a foreign place, asked":     {with("Plan.md", func(r *Request) { foreign(ForeignPlace)(r); r.Asked = true }), VerdictAllowed},
		"a foreign place, granted":   {with("Plan.md", func(r *Request) { foreign(ForeignPlace)(r); r.Granted = true }), VerdictAllowed},
		"settings, granted": {with("settings.yaml", func(r *Request) {
			foreign(ForeignPlace)(r)
			r.Granted, r.Asked, r.Own = true, true, true
		}), VerdictRefused},
		"foreign, among the imports": {with("Imported/new.md", foreign(ForeignSegment)), VerdictRefused},
		"a folder to fill":           {with("New", func(r *Request) { r.Action = Fill }), VerdictRefused},
		"a call on foreign content": {with("Plan.md", func(r *Request) {
			r.Writer, r.Origins, r.Use = ByTool, []string{"web x"}, Use{Tool: "edit_file", Writes: true, Changes: []string{"Plan.md"}}
		}), VerdictRefused},
		"such a call on an output": {with("Plan.md", func(r *Request) {
			r.Writer, r.Origins, r.Use = ByTool, []string{"web x"}, Use{Tool: "edit_file", Writes: true, Changes: []string{"Plan.md"}, Outputs: []string{"Plan.md"}}
		}), VerdictAllowed},
		"such a call, seen by a person": {with("Plan.md", func(r *Request) {
			r.Writer, r.Asked, r.Origins, r.Use = ByTool, true, []string{"web x"}, Use{Tool: "edit_file", Writes: true, Changes: []string{"Plan.md"}}
		}), VerdictAllowed},
	} {
		if got := gate.Decide(tt.r); got.Verdict != tt.want {
			t.Errorf("%s: %+v, want %q", name, got, tt.want)
		}
	}
}

func TestGate_movesAskForBothNames(t *testing.T) {
	t.Parallel()
	move := func(from, to string) Request {
		r := free(ByTool, from)
		r.Action, r.To, r.ToPermitted = Move, Look(house, to), Permitted{Allowed: true}
		return r
	}
	for _, tt := range [][2]string{
		{"Plan.md", "Workflows/Plan.md"},
		{"Workflows/Other.md", "Other.md"},
		{"Plan.md", "settings.yaml"},
		{"settings.yaml", "Plan2.md"},
		{"Plan.md", "Config/x.md"},
		{"Plan.md", "Import/x.md"},
		{"Imported/W/manifest.json", "m.json"},
		{"Plan.md", "Workflows/_approvals/a.md"},
		{"Plan.md", "Imported/W/text/x.md"},
	} {
		if got := gate.Decide(move(tt[0], tt[1])); got.Verdict == VerdictAllowed {
			t.Errorf("%s to %s: allowed", tt[0], tt[1])
		}
	}
	pass, err := gate.Decide(move("Plan.md", "Done/Plan.md")).Pass()
	if err != nil || pass.Name() != "Plan.md" || pass.To() != "Done/Plan.md" {
		t.Errorf("%+v, %v", pass, err)
	}
}

// Every other writer has its own places and actions.
func TestGate_otherWriters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		who     Writer
		action  Action
		name    string
		gate    Gate
		allowed bool
	}{
		{ByInit, Create, "new/settings.yaml", Gate{}, true},
		{ByInit, Create, "settings.yaml", Gate{}, false}, // there already
		{ByInit, Change, "Plan.md", Gate{}, false},
		{ByInit, Create, "Workflows/Welcome.md", Gate{}, true},
		{ByInit, Create, ".obsidian/x", Gate{}, false},
		{ByDrop, Fill, "Import", Gate{}, true},
		{ByDrop, Tidy, "Import/box", Gate{}, true},
		{ByDrop, Fill, "Imported", Gate{}, false},
		{ByDrop, Create, "Import/a.md", Gate{}, false},
		{ByImport, Fill, "Imported", Gate{}, true},
		{ByImport, Fill, "Workflows", Gate{}, false},
		{ByImport, Fill, "Import", Gate{}, false},
		{ByImport, Publish, "Imported/New", Gate{}, true},
		{ByImport, Publish, "Workflows/New", Gate{}, false},
		{ByImport, Publish, "Imported/.hidden", Gate{}, false},
		{ByImport, Publish, "Elsewhere/New", Gate{}, false},
		{ByImport, Publish, "In/New", Gate{ImportedDir: "In/"}, true},
		{ByImport, Publish, "Workflows/New", Gate{ImportedDir: "Workflows"}, false},
		{ByImport, Create, "Workflows/New.md", Gate{ImportDir: "Workflows"}, false},
		{ByImport, Fill, "Workflows", Gate{ImportedDir: "Workflows"}, false},
		{ByDrop, Fill, "Workflows", Gate{ImportDir: "Workflows"}, false},
		{ByStatus, Change, "Status.md", Gate{}, false},
		{ByStatus, Change, "Plan.md", Gate{StatusNote: "Status.md"}, false},
		{ByStatus, Change, "Workflows/Other.md", Gate{StatusNote: "Workflows/Other.md"}, false},
		{ByStatus, Create, "settings.yaml", Gate{StatusNote: "settings.yaml"}, false},
		{ByStatus, Create, ".obsidian/a.md", Gate{StatusNote: ".obsidian/a.md"}, false},
		{ByStatus, Create, "Config/a.md", Gate{StatusNote: "Config/a.md"}, false},
		{ByStatus, Delete, "Status.md", Gate{StatusNote: "Status.md"}, false},
		{ByApprovals, Delete, "Workflows/_approvals/r1.md", Gate{}, true},
		{ByApprovals, Create, "Flow/_approvals/r1.md", Gate{WorkflowsDir: "Flow"}, true},
		{ByApprovals, Create, "Workflows/r1.md", Gate{}, false},
		{ByFix, Create, "Workflows/a.md", Gate{}, false},
		{ByIdentity, Create, IdentityFile, Gate{}, true},
		{ByIdentity, Change, IdentityFile, Gate{}, true},
		{ByIdentity, Delete, IdentityFile, Gate{}, false},
		{ByIdentity, Create, ".vaultflow/x", Gate{}, false},
		{ByIdentity, Create, "Plan.md", Gate{}, false},
		{ByInit, Create, IdentityFile, Gate{}, false},
		{ByImport, Create, IdentityFile, Gate{}, false},
	} {
		got := tt.gate.Decide(Request{Writer: tt.who, Action: tt.action, Place: Look(house, tt.name)})
		if tt.allowed != (got.Verdict == VerdictAllowed) {
			t.Errorf("%s, %s %s: %+v", tt.who, tt.action, tt.name, got)
		}
	}
}

// A pass is for one action on one name, and nobody else makes one.
func TestPass_namesOneThing(t *testing.T) {
	t.Parallel()
	pass, err := gate.Decide(free(ByOutput, "Plan.md")).Pass()
	if err != nil {
		t.Fatal(err)
	}
	if name, err := pass.Of(Create, Change); name != "Plan.md" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	if name, err := pass.Of(Delete, Move); err == nil {
		t.Errorf("another action: %q", name)
	}
	for _, p := range []Pass{{}, gate.Decide(free(ByOutput, "settings.yaml")).pass} {
		if name, err := p.Of(Create, Change, Move, Delete, Fill, Publish, Tidy, ""); err == nil {
			t.Errorf("no permission: %q", name)
		}
	}
	var refused *RefusedError
	if _, err := gate.Decide(free(ByOutput, "settings.yaml")).Pass(); !errors.As(err, &refused) || refused.Advice == "" || !strings.HasPrefix(err.Error(), "settings.yaml holds settings") {
		t.Errorf("%v", err)
	}
}

// FuzzGate: whatever is asked for by whomever, nothing protected is allowed.
func FuzzGate(f *testing.F) {
	writers := []Writer{ByOutput, ByRoute, ByTool, ByUndo, ByImport, ByDrop, ByStatus, ByApprovals, ByInit, ByFix, "", ByIdentity}
	actions := []Action{Create, Change, Move, Delete, Fill, Publish, Tidy, ""}
	nameds := []Named{ByAuthor, ForeignSegment, ForeignPlace}
	for i, name := range []string{
		"settings.yaml", "Workflows/Flow.md", "Workflows/_approvals/r1.md", ".obsidian/app.json", "Config/app.json", "Imported/W/manifest.json", "Import/x",
		"\u200b.env", "SETTINGS.YAML:x", "own.md", "a/../settings.yaml", "Workflows /New.md", "a/b", "Imported/W/text/page_0001.md", "", "….md",
	} {
		f.Add(uint8(i), uint8(i), uint8(i), name, "Plan.md", uint8(255), name)
	}
	f.Fuzz(func(t *testing.T, who, what, how uint8, name, to string, flags uint8, status string) {
		r := Request{
			Writer: writers[int(who)%len(writers)], Action: actions[int(what)%len(actions)], Named: nameds[int(how)%len(nameds)],
			Place: Look(house, name), To: Look(house, to), Workflow: "Workflows/Flow.md",
			Permitted: Permitted{flags&1 > 0, flags&2 > 0}, ToPermitted: Permitted{flags&1 > 0, flags&2 > 0},
			Own: flags&4 > 0, Granted: flags&8 > 0, Asked: flags&16 > 0, Recorded: flags&32 > 0,
		}
		got := Gate{StatusNote: status}.Decide(r)
		pass, err := got.Pass()
		if err != nil {
			return
		}
		names := []string{pass.Name()}
		if r.Action == Move {
			names = append(names, pass.To())
		}
		for _, n := range names {
			lower := strings.ToLower(n)
			run := r.Writer == ByOutput || r.Writer == ByRoute || r.Writer == ByTool
			switch top, _, _ := strings.Cut(lower, "/"); {
			case r.Writer == ByIdentity && n == IdentityFile:
			case !fs.ValidPath(n), n == ".", strings.HasPrefix(n, "."), strings.Contains(n, "/."):
				t.Errorf("%+v: %q", r, n)
			case lower == "settings.yaml" && (r.Writer != ByInit || r.Place.Exists):
				t.Errorf("%+v: settings", r)
			case top == "config", top == "flows", lower == "own.md", lower == "gone.md":
				t.Errorf("%+v: through a link", r)
			case strings.HasPrefix(lower, "workflows/_approvals") != (r.Writer == ByApprovals):
				t.Errorf("%+v: approvals", r)
			case run && lower == "workflows/flow.md", run && top == "workflows" && flags&2 == 0, run && top == "import", run && flags&1 == 0:
				t.Errorf("%+v: a run's write", r)
			case r.Writer != ByImport && (path.Base(lower) == "manifest.json" && top == "imported" && strings.Contains(lower, "/w/") || strings.HasPrefix(lower, "imported/w/text/")) && r.Writer != ByInit && r.Writer != ByFix:
				t.Errorf("%+v: what an import keeps", r)
			case run && r.Named == ForeignPlace && flags&24 == 0:
				t.Errorf("%+v: a place from outside", r)
			case run && r.Named == ForeignSegment && r.Action == Change && r.Place.Exists && !r.Own:
				t.Errorf("%+v: somebody else's file", r)
			case r.Writer == ByUndo && flags&32 == 0:
				t.Errorf("%+v: an undo of what is not on record", r)
			}
		}
	})
}
