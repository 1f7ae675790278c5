package trust_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/policy/trust"
	"github.com/vaultflow/vaultflow/workflow"
)

func services(alias string) string {
	switch alias {
	case "", "sonnet", "opus":
		return "anthropic (api.anthropic.com)"
	case "offline":
		return ""
	}
	return alias
}

// reach reads a workflow: frontmatter and body.
func reach(t *testing.T, front, body string) trust.Reach {
	t.Helper()
	plan, list := workflow.Parse("w", "Workflows/w.md", []byte("---\n"+front+"\n---\n\n## Step\n\n"+body+"\n\nDo it.\n"))
	for _, d := range list {
		if d.Severity == "error" {
			t.Fatalf("%s", d)
		}
	}
	return trust.ReachOf(plan, services)
}

func TestReach_coversWhatGoesNoFurther(t *testing.T) {
	t.Parallel()
	const front = "enabled: true\nschedule: \"cron: 0 8 * * *\"\npermissions:\n  write: [\"Daily/**\"]\n  network: [\"*.example.org\"]"
	const body = "@model sonnet\n@tools read_file, write_file, web_fetch\n@output file: Daily/{today}.md"
	granted := reach(t, front, body)
	for name, c := range map[string]struct {
		front, body string
		covered     bool
	}{
		"the same":               {front, body, true},
		"other prose":            {front, body + "\n\nBe kind.", true},
		"fewer tools":            {front, "@model sonnet\n@tools read_file\n@output file: Daily/{today}.md", true},
		"a model of the service": {front, strings.Replace(body, "sonnet", "opus", 1), true},
		"the offline model":      {front, strings.Replace(body, "sonnet", "offline", 1), true},
		"not enabled":            {strings.Replace(front, "true", "false", 1), body, true},
		"a narrower folder":      {strings.Replace(front, "Daily/**", "Daily/2026/*.md", 1), body, true},
		"a host below":           {strings.Replace(front, "*.example.org", "a.example.org", 1), body, true},
		"an approval more":       {front, body + "\n@approve outputs", true},
		"another output inside":  {front, strings.Replace(body, "{today}", "plan", 1), true},
		"narrower reading":       {front + "\n  read: [Daily/**]", body, true},

		"another schedule": {strings.Replace(front, "0 8", "* *", 1), body, false},
		"a watch":          {front + "\nwatch: Inbox/**", body, false},
		"on_import":        {front + "\non_import: true", body, false},
		"another tool":     {front, strings.Replace(body, "read_file,", "read_file, list_files,", 1), false},
		"all tools":        {front, strings.Replace(body, "read_file,", "all,", 1), false},
		"a server's tool":  {front, strings.Replace(body, "read_file,", "files.read,", 1), false},
		"an output that foreign content may name": {front, strings.Replace(body, "{today}.md", "{today}.md (untrusted=allow)", 1), false},
		"untrusted=allow":                         {front, strings.Replace(body, "write_file", "write_file (untrusted=allow)", 1), false},
		"trust=trusted":                           {front, body + "\n@input file: Clippings/* (trust=trusted)", false},
		"another host":                            {strings.Replace(front, "*.example.org", "example.com", 1), body, false},
		"every host":                              {strings.Replace(front, "*.example.org", "*", 1), body, false},
		"another service":                         {front, strings.Replace(body, "sonnet", "gpt", 1), false},
		"a fallback":                              {front, strings.Replace(body, "sonnet", "sonnet (fallback=gpt)", 1), false},
		"a wider folder":                          {strings.Replace(front, "Daily/**", "**", 1), body, false},
		"an output outside":                       {front, body + "\n@output file: Notes/x.md", false},
		"a routed result":                         {front, body + "\n@input file: Daily/a.md (output=\"file: Notes/x.md\")", false},
		"no bound on writes":                      {strings.Replace(front, "  write: [\"Daily/**\"]\n", "", 1), body, false},
		"a protected folder":                      {strings.Replace(front, "[\"Daily/**\"", "[\"Daily/**\", \"Workflows/**\"", 1), body, false},
		"run_workflow":                            {front, strings.Replace(body, "read_file,", "read_file, run_workflow,", 1), false},
	} {
		got := granted.Covers(reach(t, c.front, c.body))
		if got != c.covered {
			t.Errorf("%s: covered is %v, want %v; beyond: %v", name, got, c.covered, reach(t, c.front, c.body).Beyond(granted))
		}
	}
	const plain = "@model sonnet\n@output file: Daily/a.md"
	if reach(t, front, plain+"\n@approve outputs").Covers(reach(t, front, plain)) {
		t.Error("an output that was to be approved lost its approval, and is covered all the same")
	}
	wide := reach(t, strings.Replace(front, "Daily/**", "**", 1), body)
	if wide.Covers(reach(t, strings.Replace(front, "[\"Daily/**\"", "[\"**\", \"Workflows/**\"", 1), body)) {
		t.Error("naming the folder of workflows is covered by a wide glob")
	}
	narrow := reach(t, front+"\n  read: [Daily/**]", body)
	if narrow.Covers(granted) {
		t.Error("reading more is covered")
	}
}

func TestReach_allLeavesOutWhatMustBeNamed(t *testing.T) {
	t.Parallel()
	granted := reach(t, "description: x", "@tools all")
	for body, want := range map[string]bool{
		"@tools read_file, write_file, web_fetch": true, "@tools all, delete_file": false, "@tools all, run_workflow": false, "@tools all, notes.read": false,
	} {
		if got := granted.Covers(reach(t, "description: x", body)); got != want {
			t.Errorf("%s: covered is %v, want %v", body, got, want)
		}
	}
}

// pool are values of which random reaches are made.
var pool = map[trust.Kind][]string{
	trust.Schedule: {"cron: 0 8 * * *", "once: 2026-01-01"}, trust.Tool: {"all", "read_file", "run_workflow", "a.b", "delete_file"},
	trust.Unguarded: {"write_file", "edit_file"}, trust.Host: {"*", "*.a.org", "b.a.org", "*.b.a.org", "a.org"}, trust.Service: {"x", "y"},
}

var globs = []string{"**", "*", "a/**", "a/*", "a/b", "**/b", "a/**/b", "*.md", "a/*.md", "a/b.md", "{a,b}/c", "{a/b,c}", "a/?", `a/\*`, "a/**/b/**/c", "b/**", "a/[bc]"}

func random(r *rand.Rand) trust.Item {
	byGlob := []trust.Kind{trust.Watch, trust.Import, trust.Believe, trust.Read, trust.Write, trust.Propose}
	if r.IntN(2) == 0 {
		return trust.Item{Kind: byGlob[r.IntN(len(byGlob))], Value: globs[r.IntN(len(globs))]}
	}
	plain := []trust.Kind{trust.Schedule, trust.Tool, trust.Unguarded, trust.Host, trust.Service}
	kind := plain[r.IntN(len(plain))]
	return trust.Item{Kind: kind, Value: pool[kind][r.IntN(len(pool[kind]))]}
}

func TestReach_coversIsAnOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	some := func() trust.Reach {
		reach := make(trust.Reach, r.IntN(5))
		for i := range reach {
			reach[i] = random(r)
		}
		return reach
	}
	chains := 0
	for range 60_000 {
		a, b, c := some(), some(), some()
		if !a.Covers(a) {
			t.Fatalf("%v does not cover itself", a)
		}
		if a.Covers(b) && b.Covers(c) {
			chains++
			if !a.Covers(c) {
				t.Fatalf("%v covers %v, which covers %v, but not the last", a, b, c)
			}
		}
		more := random(r)
		if beyond := append(a[:len(a):len(a)], more); !a.Covers(trust.Reach{more}) && a.Covers(beyond) {
			t.Fatalf("%v covers itself with %v added", a, more)
		}
	}
	if chains < 1000 {
		t.Errorf("only %d chains were compared", chains)
	}
}

// What a glob covers, its matches are matches of.
func TestReach_globsCoverOnlyWhatTheyMatch(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "a/b", "a/b.md", "x.md", "a/x/b", "a/b/c", "a/x/b/y/c", "b/c", "c", "a/*", "a/c", "b", "a/b/x/c", "x/y/b"}
	write := func(glob string) trust.Reach { return trust.Reach{{Kind: trust.Write, Value: glob}} }
	for _, wide := range globs {
		for _, narrow := range globs {
			if !write(wide).Covers(write(narrow)) {
				continue
			}
			for _, name := range names {
				if doublestar.MatchUnvalidated(narrow, name) && !doublestar.MatchUnvalidated(wide, name) {
					t.Errorf("%s covers %s, but does not match %s", wide, narrow, name)
				}
			}
		}
	}
	hard := strings.Repeat("**/a/", 40)
	start := make(chan bool, 1)
	go func() { start <- write(hard + "b").Covers(write(hard + "c")) }()
	select {
	case <-start:
	case <-time.After(10 * time.Second):
		t.Fatal("comparing globs with many ** does not end")
	}
}

func TestPlain_showsWhatNobodySees(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Daily/ä.md": "Daily/ä.md", "a\x1b[2Jb": "a<U+001B>[2Jb", "a\u202eb": "a<U+202E>b", "a\u200bb": "a<U+200B>b", "\U000e0041": "<U+E0041>", "a\nb": "a<U+000A>b",
	} {
		if got := trust.Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
	if got := trust.Plain(strings.Repeat("a", 10_000)); len(got) > 400 {
		t.Errorf("a long text has %d bytes", len(got))
	}
}

func TestReachOf_links(t *testing.T) {
	t.Parallel()
	plan := &workflow.Plan{Name: "A"}
	before := trust.ReachOf(plan, nil)
	plan.Meta.Permissions.Links = []string{"*.example.org"}
	wide := trust.ReachOf(plan, nil)
	if wide.Digest() == before.Digest() || len(wide.Beyond(before)) != 1 || !strings.Contains(wide.Beyond(before)[0].String(), "pictures and links of *.example.org") {
		t.Errorf("beyond: %v", wide.Beyond(before))
	}
	plan.Meta.Permissions.Links = []string{"a.example.org"}
	if narrow := trust.ReachOf(plan, nil); len(narrow.Beyond(wide)) != 0 {
		t.Errorf("a host below one that is allowed reaches further: %v", narrow.Beyond(wide))
	}
}

// An entry of a list may have folders of its own: what it names is said as far as it can reach.
func TestReachOf_entriesAsPlaces(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{"{item}": "./**", "Data/{item}": "Data/**", "Data/{item}/x": "Data/**", "Data/a {item}": "Data/**"} {
		plan := &workflow.Plan{Name: "A", Steps: []workflow.Step{{Set: directives.Set{
			Model: &directives.Model{None: true}, Outputs: []directives.Output{{Target: directives.Target{Scheme: directives.SchemeFile, Path: written}}},
		}}}}
		reach := trust.ReachOf(plan, nil)
		if !slices.Contains(reach, trust.Item{Kind: trust.Write, Value: want}) {
			t.Errorf("%s: %v, want writes to %s", written, reach, want)
		}
	}
}
