package directives

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/failure/diag"

	"github.com/google/go-cmp/cmp"
)

// each parses the one input of a step with @for_each.
func each(t *testing.T, value string) Input {
	t.Helper()
	set, faults := read("@for_each file: Inbox/*\n@input " + value)
	if diag.HasErrors(faults) || len(set.Inputs) != 1 {
		t.Fatalf("@input %s: %v", value, faults)
	}
	return set.Inputs[0]
}

func TestResolve_items(t *testing.T) {
	t.Parallel()
	fsys := files("Inbox/b.md", "Inbox/a [1].md", "Inbox/scan.png", "Text/a [1].md", "Text/b.txt", "Text/b.md", "Plans/b/1.md", "Plans/b/2.md", "Plans/scan/1.md")
	all := []string{"Inbox/scan.png", "Inbox/b.md", "Inbox/a [1].md"}
	tests := []struct {
		value   string
		items   []string
		want    string
		target  string
		missing bool
	}{
		{"file: {item}", all, "Inbox/scan.png | Inbox/b.md | Inbox/a [1].md", "{item}", false},
		{"file: {item}", all[1:2], "Inbox/b.md", "Inbox/b.md", false},
		{"file: {item}", nil, "Inbox/b.md", "Inbox/b.md", false}, // Item alone
		{"file: Text/{item-name}", all, "Text/b.md | Text/a [1].md", "Text/{item-name}", false},
		{"file: Plans/{item-name}/* (dir=desc, limit=1)", all, "Plans/scan/1.md | Plans/b/2.md", "Plans/{item-name}/*", false},
		{"file: {item}", []string{"Inbox/b.md", "Inbox/b.md"}, "Inbox/b.md", "{item}", false},
		{"file: {item}.txt", all, "", "{item}.txt", true},
		{"file: Inbox/b", all, "Inbox/b.md", "Inbox/b", false},
		{"file: \"{item}\"", all, "", "{item}", true},
	}
	for _, tt := range tests {
		f := facts()
		f.Item, f.ItemName, f.Batch, f.Items = "Inbox/b.md", "b", 1, tt.items
		got, err := each(t, tt.value).Resolve(t.Context(), ResolveEnv{FS: fsys, Facts: f})
		if err != nil || fileNames(got) != tt.want || got.Target != tt.target || got.Missing != tt.missing {
			t.Errorf("%s of %v: %q, target %q, missing %v, %v; want %q, %q, %v", tt.value, tt.items, fileNames(got), got.Target, got.Missing, err, tt.want, tt.target, tt.missing)
		}
	}
}

// An item that is not there is named, and does not hide those that are.
func TestResolve_itemsThatVanished(t *testing.T) {
	t.Parallel()
	f := facts()
	f.Item, f.Items = "Inbox/b.md", []string{"Inbox/b.md", "Inbox/gone.md"}
	got, err := each(t, "file: {item}").Resolve(t.Context(), ResolveEnv{FS: files("Inbox/b.md"), Facts: f})
	if err != nil || fileNames(got) != "Inbox/b.md" || got.Missing || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Message, "Inbox/gone.md") {
		t.Errorf("%+v, %v", got, err)
	}
	f.Items = []string{"Inbox/b.md", "../secret"}
	if _, err := each(t, "file: {item}").Resolve(t.Context(), ResolveEnv{FS: files("Inbox/b.md"), Facts: f}); err == nil {
		t.Error("an item that leaves the vault was read")
	}
	f.Items = []string{"a.md", "b.md", "c.md"}
	if _, err := each(t, "file: {item}").Resolve(t.Context(), ResolveEnv{FS: files("a.md", "b.md", "c.md"), Facts: f, MaxFiles: 2}); err == nil {
		t.Error("more than the largest selection was taken")
	}
}

func TestForEach_inputKeepsItsSelection(t *testing.T) {
	t.Parallel()
	set, faults := read("@for_each file: Inbox/{pending:2} (as=Note)\n@input file: {item}")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	in := set.ForEach.Input()
	if diff := cmp.Diff(Selection{Pending: true, Limit: 2}, in.Selection); diff != "" || in.Index != ForEachIndex || in.As != "Note" {
		t.Errorf("%+v %s", in, diff)
	}
	got, err := in.Resolve(t.Context(), ResolveEnv{FS: files("Inbox/1.md", "Inbox/2.md", "Inbox/3.md"), Facts: facts()})
	if err != nil || fileNames(got) != "Inbox/1.md | Inbox/2.md" || got.Files[0].SHA256 == "" {
		t.Errorf("%+v, %v", got, err)
	}
}
