package disk

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/vault"
)

// settle lets the debounce pass and answers all requests with what files holds: name to digest.
func settle(n *notes, files map[string]string, now *time.Time) []vault.Change {
	*now = now.Add(n.debounce)
	for _, q := range n.tick(*now) {
		digest, ok := files[q.name]
		n.checked(finding{request: q, gone: !ok, digest: digest, found: snapshot{size: int64(len(digest))}}, *now)
	}
	return n.take()
}

func TestNotes(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	n := newNotes(time.Second)
	files := map[string]string{"old.md": "1", "dir/a.md": "a"}
	for name := range files {
		n.seed(name, snapshot{size: 1})
	}
	check := func(what string, want ...vault.Change) {
		t.Helper()
		if diff := cmp.Diff(want, settle(n, files, &now)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	check("what was there fires nothing")
	files["new.md"] = "n"
	n.hint("new.md", now)
	check("created", vault.Change{File: vault.File{Name: "new.md", SHA256: "n", Size: 1}, Op: vault.OpCreate})
	files["new.md"] = "nn"
	n.see("new.md", snapshot{size: 2}, now)
	check("changed without an event", vault.Change{File: vault.File{Name: "new.md", SHA256: "nn", Size: 2}, Op: vault.OpModify})
	n.hint("new.md", now)
	check("touched, same content")
	n.see("new.md", snapshot{size: 2}, now)
	check("scanned, nothing new")
	files["old.md"] = "2"
	n.hint("old.md", now)
	check("changed for the first time", vault.Change{File: vault.File{Name: "old.md", SHA256: "2", Size: 1}, Op: vault.OpModify})
	delete(files, "old.md")
	n.missing(map[string]bool{"new.md": true}, []string{"dir"}, now)
	check("gone without an event, and a folder that could not be read", vault.Change{File: vault.File{Name: "old.md"}, Op: vault.OpRemove})
	delete(files, "dir/a.md")
	n.hintBelow("dir", now)
	check("a folder went", vault.Change{File: vault.File{Name: "dir/a.md"}, Op: vault.OpRemove})
	n.hint("brief.md", now)
	check("came and went")
}

func TestNotes_debounce(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	n := newNotes(time.Second)
	for range 10 {
		n.hint("a.md", now)
		now = now.Add(time.Second / 2)
		if got := n.tick(now); got != nil {
			t.Fatalf("looked at %v while it was being typed", got)
		}
	}
	now = now.Add(time.Second / 2)
	asked := n.tick(now)
	if len(asked) != 1 || len(n.tick(now)) != 0 {
		t.Fatalf("asked %v, want one look", asked)
	}
	n.hint("a.md", now) // typing goes on while the file is read
	n.checked(finding{request: asked[0], digest: "half"}, now)
	if got := n.take(); got != nil {
		t.Errorf("reported %v", got)
	}
	if got := settle(n, map[string]string{"a.md": "whole"}, &now); len(got) != 1 || got[0].SHA256 != "whole" {
		t.Errorf("reported %v, want the last content once", got)
	}
	n.hint("b.md", now)
	now = now.Add(time.Second)
	for _, q := range n.tick(now) {
		n.checked(finding{request: q, err: errors.New("busy")}, now)
	}
	n.see("b.md", snapshot{size: 1}, now)
	if got := settle(n, map[string]string{"b.md": "b"}, &now); len(got) != 1 {
		t.Errorf("a file that could not be read for a while: %v", got)
	}
}

func TestQueueChange(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		first, then vault.Op
		want        []vault.Op
	}{
		{vault.OpCreate, vault.OpModify, []vault.Op{vault.OpCreate}},
		{vault.OpCreate, vault.OpRemove, nil},
		{vault.OpModify, vault.OpModify, []vault.Op{vault.OpModify}},
		{vault.OpModify, vault.OpRemove, []vault.Op{vault.OpRemove}},
		{vault.OpRemove, vault.OpCreate, []vault.Op{vault.OpModify}},
	} {
		queue := queueChange(queueChange([]vault.Change{{File: vault.File{Name: "other"}}}, vault.Change{File: vault.File{Name: "a", SHA256: "1"}, Op: tc.first}), vault.Change{File: vault.File{Name: "a", SHA256: "2"}, Op: tc.then})
		var got []vault.Op
		for _, c := range queue[1:] {
			got = append(got, c.Op)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s then %s: %s", tc.first, tc.then, diff)
		}
	}
}
