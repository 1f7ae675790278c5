//go:build unix

package stories

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
)

// A book is read window by window into a study plan that links to its pages. Dropped again with a page changed, inserted or
// removed, only the windows around it are read again.
func TestExamples_bookToStudyPlan(t *testing.T) {
	t.Parallel()
	t.Run("12 pages", func(t *testing.T) {
		t.Parallel()
		studied(t, sheets(1, 12, 6, 4), 5)
	})
	for pages, chapter := range map[int]int{45: 9, 600: 20} {
		t.Run(fmt.Sprintf("%d pages", pages), func(t *testing.T) {
			t.Parallel()
			if !sitetest.Long() {
				t.Skip("draws and shows many pages: VAULTFLOW_LONG=1")
			}
			studied(t, sheets(1, pages, 5, chapter), 20)
		})
	}
}

func studied(t *testing.T, book []sheet, window int) {
	s := begin(t, "")
	const name = "Book to study plan"
	s.example(name, "window=20", fmt.Sprintf("window=%d", window))
	fresh := s.snapshot()
	s.Serve()
	s.drop("Cookbook.pdf", pdf("Cookbook", book))
	s.ran(name, 1)
	s.usable(name, s.imported("Cookbook.pdf"))
	windows := (len(book)-2)/(window-1) + 1
	if got := len(s.service.about("Imported/Cookbook/")); got != windows {
		t.Errorf("%d pages were read in %d windows, want %d", len(book), got, windows)
	}
	s.saw("Imported/Cookbook/", book, "pictures text", 2)
	s.studiable(book)
	asked := len(s.service.asked())
	if s.Must("run", name, "Imported/Cookbook/Cookbook.md"); len(s.service.asked()) != asked {
		t.Error("with nothing new the model was asked again")
	}

	at := len(book)/2 + 1
	changed := slices.Clone(book)
	changed[at] = sheet{n: 1501}
	inserted := slices.Insert(slices.Clone(changed), at+1, sheet{n: 1502})
	removed := slices.Delete(slices.Clone(inserted), 2, 3)
	for i, edit := range []struct {
		what string
		book []sheet
		most int // windows that are read again
	}{{"changed", changed, 2}, {"inserted", inserted, 3}, {"removed", removed, 3}} {
		before := len(s.service.about("Imported/Cookbook/"))
		s.drop("Cookbook.pdf", pdf("Cookbook", edit.book))
		s.ran(name, i+3)
		if got := len(s.service.about("Imported/Cookbook/")) - before; got < 1 || got > edit.most {
			t.Errorf("after a page was %s, %d windows were read, want 1 to %d", edit.what, got, edit.most)
		}
		s.studiable(edit.book)
	}
	for _, r := range s.Runs(name) {
		s.CLI("undo", r.ID, "--yes")
	}
	s.unchanged(fresh)
}

// studiable wants each page of the book in a part and in the plan, with a link to where it is now.
func (s *story) studiable(book []sheet) {
	s.T.Helper()
	parts := ""
	for _, file := range s.Files("Plans", ".md") {
		if strings.HasPrefix(path.Base(file), "Cookbook part ") {
			parts += s.Read(file)
		}
	}
	plan := s.Read("Plans/Cookbook plan.md")
	for i, p := range book {
		says := strings.TrimSuffix(sighting{word: word(p.n), picture: -1}.String(), ".")
		link := fmt.Sprintf("%s [[Cookbook.pdf#page=%d|p. %d]]", says, i+1, i+1)
		for where, text := range map[string]string{"the parts": parts, "the plan": plan} {
			// Where a version is kept, the shortest link to the PDF has its folder.
			if !strings.Contains(strings.ReplaceAll(text, "[[Cookbook/Cookbook.pdf#", "[[Cookbook.pdf#"), link) {
				at := strings.Index(text, says)
				if at < 0 {
					at = len(text)
				}
				s.T.Errorf("%s have no %q; there is %q", where, link, text[at:min(at+120, len(text))])
			}
		}
	}
	for _, gone := range []int{1501, 1502, 3} {
		if !slices.ContainsFunc(book, func(p sheet) bool { return p.n == gone }) && (strings.Contains(parts, word(gone)) || strings.Contains(plan, word(gone))) {
			s.T.Errorf("what is not in the book is still told: %s", word(gone))
		}
	}
}
