package step

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/directives"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/step/parts"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/workflow"
)

// partOf is a part that a step has done, with files in these contents.
func partOf(part parts.Part, files map[string]string) engine.PartState {
	state := engine.PartState{Document: "Imported/Book/index.md", ItemPart: engine.ItemPart{Part: part, Called: part.Name}, Files: map[string]string{}}
	for name, text := range files {
		state.Files[name] = sha([]byte(text))
	}
	return state
}

// followed lets outputs follow.
func followed(t *testing.T, w *world, change engine.PartsChange) engine.FollowOut {
	t.Helper()
	out, err := w.steps().Follower.Follow(t.Context(), engine.FollowIn{StepRef: w.ref(), Parts: change})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// followWorld is a vault with a book of nine pages and some outputs.
func followWorld(t *testing.T, files map[string]string, set directives.Set) *world {
	t.Helper()
	w := newWorld(t, bound(t, files, wordsOf(9)), workflow.Step{Name: "Read", Prompt: "x", Set: set})
	w.Record = w.Journal
	w.Links = vault.LinksFunc(func(target, _ string) vault.Location {
		for _, try := range []string{target, target + ".md", "Notes/" + target + ".md", "Imported/Book/" + target, "Imported/Book/" + target + ".md"} {
			if _, err := fs.Stat(w.files, try); err == nil {
				return vault.Location{Name: try, Found: true}
			}
		}
		return vault.Location{}
	})
	return w
}

func text(w *world, name string) string {
	data, _, err := w.vault.Read(name, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "gone"
	}
	return string(data)
}

func TestFollow_retires(t *testing.T) {
	t.Parallel()
	w := followWorld(t, map[string]string{
		"Notes/part 02.md": "two", "Notes/part 03.md": "three, edited", "Notes/part 04.md": "four", "Mine.md": "See [[part 04]].", "Notes/part 05.md": "five",
		"Notes/part 01.md": "one, before [[part 02]]", "Notes/part 07.md": "seven", "Board.canvas": `{"nodes":[{"type":"file","file":"Notes/part 07.md"}]}`,
	}, each("pages", fileTarget("Imported/Book/index.md"), 5, 0))
	var change engine.PartsChange
	for name, was := range map[string]string{"part 01": "one, before [[part 02]]", "part 02": "two", "part 03": "three", "part 04": "four", "part 05": "five", "part 07": "seven"} {
		change.Gone = append(change.Gone, partOf(parts.Part{Kind: "pages", Name: name, Pages: []parts.Page{{N: 6, ID: name}}}, map[string]string{"Notes/" + name + ".md": was}))
	}
	slices.SortFunc(change.Gone, func(a, b engine.PartState) int { return strings.Compare(a.Name, b.Name) })
	change.Gone[4].Files = nil // written by others too
	out := followed(t, w, change)
	for _, name := range []string{"Notes/part 01.md", "Notes/part 02.md"} {
		if got := text(w, name); got != "gone" {
			t.Errorf("the output of a part that is gone is still there: %q", got)
		}
	}
	for _, name := range []string{"Notes/part 03.md", "Notes/part 04.md", "Notes/part 05.md", "Notes/part 07.md"} {
		if text(w, name) == "gone" {
			t.Errorf("%s was removed", name)
		}
	}
	warnings := strings.Join(out.Warnings, "\n")
	if !strings.Contains(warnings, "part 03.md stays") || !strings.Contains(warnings, "it was edited") || !strings.Contains(warnings, "Mine.md links to it") || !strings.Contains(warnings, "Board.canvas links to it") || len(out.Changes) != 2 {
		t.Errorf("warnings %s, changes %+v", warnings, out.Changes)
	}
	// After a crash behind the removal, nothing is done twice.
	again := followed(t, w, change)
	if len(again.Changes) != 2 || again.Changes[1].Name != "Notes/part 02.md" {
		t.Errorf("again: %+v", again.Changes)
	}
}

func TestFollow_renumbers(t *testing.T) {
	t.Parallel()
	const was = "First [[Book.pdf#page=6|p. 6]], then [[Book.pdf#page=8|pp. 8–9]]; `[[Book.pdf#page=6|p. 6]]`, and [[Other.pdf#page=6|p. 6]].\n"
	set := each("pages", fileTarget("Imported/Book/index.md"), 5, 0)
	set.Cite = &directives.Cite{Mode: directives.CitePages}
	w := followWorld(t, map[string]string{
		"Notes/part 02.md": was, "Notes/edited.md": was + "Mine.", "Notes/log.md": "On page 6.", "Imported/Book/Book.pdf": "%PDF-1.7", "Other.pdf": "%PDF-1.7",
	}, set)
	w.vault.Put("Imported/Book/manifest.json", strings.Replace(text(w, "Imported/Book/manifest.json"), `"kind":""`, `"kind":"pdf"`, 1))
	old := parts.Part{Kind: "pages", Name: "part 02", Shape: "5/0"}
	now := old
	for n := 6; n <= 9; n++ {
		old.Pages = append(old.Pages, parts.Page{N: n, ID: string(rune('a' + n))})
		now.Pages = append(now.Pages, parts.Page{N: n + 1, ID: string(rune('a' + n))})
	}
	state := partOf(old, map[string]string{"Notes/part 02.md": was, "Notes/edited.md": was})
	state.Others = []string{"Notes/log.md"}
	change := engine.PartsChange{Moved: []engine.PartMove{{PartState: state, Now: now}}}
	out := followed(t, w, change)
	const want = "First [[Book.pdf#page=7|p. 7]], then [[Book.pdf#page=9|pp. 9–10]]; `[[Book.pdf#page=6|p. 6]]`, and [[Other.pdf#page=6|p. 6]].\n"
	if got := text(w, "Notes/part 02.md"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if text(w, "Notes/edited.md") != was+"Mine." {
		t.Error("an edited output was changed")
	}
	if warnings := strings.Join(out.Warnings, "\n"); !strings.Contains(warnings, "Notes/edited.md were not changed, because it was edited") || !strings.Contains(warnings, "Notes/log.md were not changed, because it is not written as a whole") || len(out.Changes) != 1 {
		t.Errorf("warnings %s, changes %+v", warnings, out.Changes)
	}
	known, err := w.Parts(t.Context(), w.plan.Name, "Read", "Imported/Book/index.md")
	if err != nil || len(known) != 1 || known[0].Label() != "pages 7–10" || known[0].Files["Notes/part 02.md"] != sha([]byte(want)) {
		t.Errorf("on record: %+v, %v", known, err)
	}
}
