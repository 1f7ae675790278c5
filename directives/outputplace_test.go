package directives

import (
	"path"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPlace_foreignItem(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pattern, item, name, named string }{
		{"Summaries/{item}", "Plan", "Summaries/Plan.md", NamedInSegment},
		{"Summaries/{item}", "../../settings.yaml", "Summaries/settings.md", NamedInSegment},
		{"Summaries/{item}", "Workflows/Evil.md", "Summaries/Workflows Evil.md", NamedInSegment},
		{"Summaries/{item}", ".obsidian/app.json", "Summaries/obsidian app.md", NamedInSegment},
		{"Summaries/{item}", "a.json.md", "Summaries/a.md", NamedInSegment},
		{"Summaries/{item}", "x\u202egnp.exe\u200b", "Summaries/xgnp.exe.md", NamedInSegment},
		{"Summaries/{item}", " \n ... ", "Summaries/item.md", NamedInSegment},
		{"Summaries/{item}", "con", "Summaries/con_.md", NamedInSegment},
		{"Summaries/{item}", "settings.yaml:$DATA", "Summaries/settings.yaml $DATA.md", NamedInSegment},
		{"Summaries/{item}", "SETTIN~1", "Summaries/SETTIN 1.md", NamedInSegment},
		{"Summaries/{item}.json", "a.md", "Summaries/a.json", NamedInSegment},
		{"Summaries/x.{item}", "yaml", "Summaries/x.yaml.md", NamedInSegment},
		{"{today:YYYY}/{item} by {step}.md", "a/b", "2026/a b by Step.md", NamedInSegment},
		{"Summaries/{item-name}", "Notes/b.md", "Summaries/b.md", NamedInSegment},
		{"{item}", "settings.yaml", "settings.yaml", NamedByForeign},
		{"{item}", "Workflows/Evil", "Workflows/Evil.md", NamedByForeign},
		{"{item}.md", "a", "a.md", NamedByForeign},
		{"Work{item}", "flows/a", "Workflows/a.md", NamedByForeign},
		{"{item}/notes", "Workflows", "Workflows/notes.md", NamedByForeign},
		{"A/{item}/{item}", "b", "A/b/b.md", NamedByForeign},
		{"Summaries/{batch}", "a", "Summaries/1.md", NamedByAuthor},
		{"Summaries/today", "a", "Summaries/today.md", NamedByAuthor},
	} {
		f := facts()
		f.Item, f.ItemName, f.Batch, f.Step, f.Foreign = tt.item, NameOf(tt.item), 1, "Step", true
		out := Output{Target: Target{Scheme: SchemeFile, Path: tt.pattern}}
		got, err := out.Place(OutputEnv{Facts: f})
		if err != nil || got.Name != tt.name || got.Named != tt.named {
			t.Errorf("%s with %q: %+v, %v; want %q, %q", tt.pattern, tt.item, got, err, tt.name, tt.named)
		}
		f.Foreign = false
		if own, err := out.Place(OutputEnv{Facts: f}); err == nil && own.Named != NamedByAuthor {
			t.Errorf("%s with an item of the owner: %+v", tt.pattern, own)
		}
	}
}

// A step may write back to the file that its @for_each selects, whoever named it.
func TestPlace_itemItself(t *testing.T) {
	t.Parallel()
	for pattern, named := range map[string]string{"{item}": NamedByAuthor, "Imported/{item-name}": NamedByAuthor, "Done/{item-name}": NamedInSegment} {
		f := facts()
		f.Item, f.ItemName, f.Foreign, f.FromGlob = "Imported/a.md", "a", true, true
		got, err := Output{Target: Target{Scheme: SchemeFile, Path: pattern}}.Place(OutputEnv{Facts: f})
		if err != nil || got.Named != named {
			t.Errorf("%s: %+v, %v; want %q", pattern, got, err, named)
		}
	}
}

func FuzzCleanSegment(f *testing.F) {
	for _, s := range []string{"", "a", "../b", "\u202e\u2066x", "con.md", strings.Repeat("ü", 300), "a.md.md", "\xff", "…", "~$x", "a\u00a0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := CleanSegment(text)
		bad := strings.ContainsFunc(got, func(c rune) bool {
			return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || strings.ContainsRune(`/\:*?"<>|#^[]{}~`, c)
		})
		switch {
		case got == "" || bad || !utf8.ValidString(got) || len(got) > maxSegmentBytes+1 || got[0] == '.' || strings.TrimSpace(got) != got:
			t.Errorf("%q became %q", text, got)
		case path.Base("F/"+got+".md") != got+".md" || outputFault("F/"+got+".md") != nil:
			t.Errorf("%q became %q, which no file can be called", text, got)
		}
	})
}

func TestOutput_subject(t *testing.T) {
	t.Parallel()
	started := Facts{Files: []string{"a/Meeting.pdf"}}
	item := Facts{Files: started.Files, Item: "Docs/Book.md", ItemName: "Book"}
	part := Facts{Item: "Docs/Book.md", ItemName: "part 02"}
	entry := Facts{Item: "x: y", ItemName: "x y", ItemValue: true}
	for _, tt := range []struct {
		path  string
		facts Facts
		want  string
	}{
		{"Out/{trigger-name}", started, "=a/Meeting.pdf"},
		{"Out/{today} {trigger-title}", started, "=a/Meeting.pdf"},
		{"{trigger-folder}/{trigger-name}", started, "=a/Meeting.pdf"},
		{"{trigger-folder}/Sum", started, "a/"},
		{"Out/{trigger-ext}", started, ""},
		{"Out/{today}", started, ""},
		{"Out/{answer-title}", started, "=a/Meeting.pdf"},
		{"Out/{answer-title}", item, "=Docs/Book.md"},
		{"Out/{answer-title}", Facts{}, ""},
		{"Out/{item-label}", item, "=Docs/Book.md"},
		{"Out/{trigger-name} {item-name}", item, "=a/Meeting.pdf, =Docs/Book.md"},
		{"Out/{trigger-name}", item, "=a/Meeting.pdf"},
		{"Out/{item-title}", part, "=Docs/Book.md, part 02"},
		{"Out/{item}", entry, "x: y"},
		{"Out/{batch}", item, ""},
		{"Out/{trigger-name}", Facts{Files: []string{"a", "b"}}, ""},
	} {
		out := Output{Target: Target{Scheme: SchemeFile, Path: tt.path}}
		if got := strings.Join(out.Subject(tt.facts, func(name string) string { return "=" + name }), ", "); got != tt.want {
			t.Errorf("%s is about %q, want %q", tt.path, got, tt.want)
		}
	}
}
