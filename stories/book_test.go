//go:build unix

package stories

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
)

// A book is read window by window into a study plan that links to its pages, though the daemon is killed half way. Dropped again
// with a page changed, inserted or removed, only the windows around it are read again.
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
	windows := (len(book)-2)/(window-1) + 1
	reached, killed := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(killed) })
	t.Cleanup(release)
	s.service.beforeAnswers(func(ask) {
		if len(s.service.asked()) == windows/2+1 {
			close(reached)
			<-killed
		}
	})
	d := s.Serve()
	s.drop("Cookbook.pdf", pdf("Cookbook", book))
	select {
	case <-reached:
	case <-time.After(patience()):
		t.Fatalf("%d windows were read", len(s.service.asked()))
	}
	d.Kill()
	s.service.forget()
	release()
	s.Serve()
	s.ran(name, 1)
	s.usable(name, s.imported("Cookbook.pdf"))
	if jpegs, pngs := s.Files("Imported/Cookbook/pages", ".jpg"), s.Files("Imported/Cookbook/pages", ".png"); len(jpegs) == 0 || len(pngs) == 0 {
		t.Errorf("%d pages are JPEG and %d PNG, want some of both", len(jpegs), len(pngs))
	}
	s.inOrder(book, windows)
	s.saw("Imported/Cookbook/", book, "pictures text", 2)
	s.studiable(book)
	asked := len(s.service.asked())
	if s.Must("run", name, "Imported/Cookbook/Cookbook.md"); len(s.service.asked()) != asked {
		t.Error("with nothing new the model was asked again")
	}

	at := (window - 1) * (windows / 2) // the last page of a window, and the first of the next
	changed := slices.Clone(book)
	changed[at] = sheet{n: 1501}
	inserted := slices.Insert(slices.Clone(changed), at+1, sheet{n: 1502})
	removed := slices.Delete(slices.Clone(inserted), 2, 3)
	for i, edit := range []struct {
		what  string
		book  []sheet
		again int // windows that are read again
	}{{"changed", changed, 2}, {"inserted", inserted, 2}, {"removed", removed, 1}} {
		before := len(s.service.about("Imported/Cookbook/"))
		s.drop("Cookbook.pdf", pdf("Cookbook", edit.book))
		s.ran(name, i+3)
		if got := len(s.service.about("Imported/Cookbook/")) - before; got != edit.again {
			t.Errorf("after a page was %s, %d windows were read, want %d", edit.what, got, edit.again)
		}
		s.studiable(edit.book)
	}
	for _, r := range s.Runs(name) {
		s.CLI("undo", r.ID, "--yes")
	}
	s.unchanged(fresh)
}

// inOrder wants the book to be read in so many windows: each shows its pages in order, text and picture, and begins with the last
// page of the one before.
func (s *story) inOrder(book []sheet, windows int) {
	s.T.Helper()
	all := s.service.about("Imported/Cookbook/")
	if len(all) != windows {
		s.T.Errorf("%d pages were read in %d windows, want %d", len(book), len(all), windows)
	}
	first := 0
	for i, a := range all {
		var pictures, words []int
		for _, g := range a.seen {
			if g.word == "" {
				pictures = append(pictures, g.picture)
			} else {
				words = append(words, slices.IndexFunc(book, func(p sheet) bool { return word(p.n) == g.word })+1)
			}
		}
		last := first + len(pictures) - 1
		want := make([]int, 0, len(pictures))
		for _, p := range book[min(first, len(book)):min(last+1, len(book))] {
			want = append(want, p.n)
		}
		if !slices.Equal(pictures, want) || !slices.Equal(words, want) {
			s.T.Errorf("window %d shows the pictures %v and the texts of %v, want both of %v", i+1, pictures, words, want)
		}
		first = last
	}
	if first != len(book)-1 {
		s.T.Errorf("the last window ends with page %d of %d", first+1, len(book))
	}
}

// studiable wants each page of the book in a part and in the plan, and only links to where pages are now.
func (s *story) studiable(book []sheet) {
	s.T.Helper()
	parts := ""
	for _, file := range s.Files("Plans", ".md") {
		if strings.HasPrefix(path.Base(file), "Cookbook part ") {
			parts += s.Read(file)
		}
	}
	plan := s.Read("Plans/Cookbook plan.md")
	if s.Read("Imported/Cookbook/Cookbook.pdf") == "" {
		s.T.Error("the links to the PDF lead nowhere")
	}
	want := map[string]bool{}
	for i, p := range book {
		want[fmt.Sprintf("%s [[Cookbook.pdf#page=%d|p. %d]]", strings.TrimSuffix(sentence(p.n), "."), i+1, i+1)] = true
	}
	for where, text := range map[string]string{"the parts": parts, "the plan": plan} {
		told := map[string]bool{}
		// Where a version is kept, the shortest link to the PDF has its folder.
		for line := range strings.Lines(strings.ReplaceAll(text, "[[Cookbook/Cookbook.pdf#", "[[Cookbook.pdf#")) {
			if says, is := strings.CutPrefix(strings.TrimSpace(line), "- The code word"); is {
				says = "The code word" + says
				told[says] = true
				if !want[says] {
					s.T.Errorf("%s have %q, which is not where that page is now", where, says)
				}
			}
		}
		for says := range want {
			if !told[says] {
				s.T.Errorf("%s have no %q", where, says)
			}
		}
	}
}
