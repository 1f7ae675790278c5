//go:build unix

package stories

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
)

// A: a file is dropped. Its pages are read as pictures, PNG and JPEG, with their text, each once, in the document's own note.
func TestDrop_pictures(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	s.workflow("Read", "on_import: true", "@input trigger (images=auto)\n@output file: Read/{trigger-name}\n\nTell what is on each page.")
	s.Serve()
	scan, slides := sheets(1, 6, 3, 0), sheets(21, 2, 0, 0)
	s.drop("Letter.pdf", pdf("Letter", scan))
	s.drop("Notice.pdf", pdf("Notice", slides))
	s.drop("Harbour.jpg", photo(31, 900, 600, "jpg"))
	s.ran("Read", 3)
	if jpegs, pngs := s.Files("Imported/Letter/pages", ".jpg"), s.Files("Imported/Letter/pages", ".png"); len(jpegs) != 2 || len(pngs) != 4 {
		t.Errorf("the pages are %q and %q, want scans as JPEG and the others as PNG", jpegs, pngs)
	}
	s.saw("Imported/Letter/", scan, "pictures text", 1)
	s.saw("Imported/Notice/", slides, "pictures text", 1)
	s.saw("Imported/Harbour/", []sheet{{n: 31}}, "pictures", 1)
	s.tellsOf("Read/Letter.md", scan, slides...)
	s.tellsOf("Read/Notice.md", slides, scan...)
	if text := s.Read("Read/Harbour.md"); strings.TrimSpace(text) != "- Picture 31." {
		t.Errorf("the note about the photo is %q", text)
	}
}

// A: a file is dropped. Its text is read, each file in a note of its own.
func TestDrop_text(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	s.workflow("Read", "on_import: \"*.{md,txt,html}\"", "@input trigger\n@output file: Read/{trigger-name}\n\nSum it up.")
	s.Serve()
	s.drop("Plain.txt", []byte(sentence(1)+"\n"))
	s.drop("Page.html", []byte("<html><body><article><h1>Page</h1><p>"+sentence(2)+"</p><p>More words follow, so that it is an article of some length.</p></article></body></html>"))
	s.drop("Note.md", []byte("# Note\n\n"+sentence(3)+"\n"))
	s.ran("Read", 3)
	for i, name := range []string{"Plain", "Page", "Note"} {
		own := []sheet{{n: i + 1}}
		s.saw("Imported/"+name+"/", own, "text", 1)
		s.tellsOf("Read/"+name+".md", own, slices.DeleteFunc([]sheet{{n: 1}, {n: 2}, {n: 3}}, func(p sheet) bool { return p.n == i+1 })...)
	}
}

// Five documents arrive at once, and the daemon is killed while the model answers: each is read in a run of its own, and none
// is asked about twice but the one whose answer was on its way.
func TestDrop_fiveAtOnceAndAKill(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	var reached sync.Once
	asked, release := make(chan struct{}), make(chan struct{})
	s.service.beforeAnswers(func(ask) {
		reached.Do(func() {
			close(asked)
			<-release
		})
	})
	s.workflow("Read", "on_import: \"Paper*\"", "@input trigger (images=auto)\n@output file: Read/{trigger-name}\n\nTell what is on each page.")
	d := s.Serve()
	var papers [5][]sheet
	for i := range papers {
		papers[i] = sheets(10*i+1, 2, 0, 0)
		s.drop(fmt.Sprintf("Paper %d.pdf", i), pdf("Paper", papers[i]))
	}
	<-asked
	d.Kill()
	close(release)
	s.Serve()
	runs := s.ran("Read", 5)
	again := 0
	for i, own := range papers {
		name := fmt.Sprintf("Paper %d", i)
		about := s.service.about("Imported/" + name + "/")
		again += len(about) - 1
		s.saw("Imported/"+name+"/", own, "pictures text", 2)
		s.tellsOf("Read/"+name+".md", own, slices.Concat(papers[:i]...)...)
		if n := strings.Count(s.Read("Read/"+name+".md"), word(own[0].n)); n != 1 {
			t.Errorf("%s has its answer %d times", name, n)
		}
	}
	if again > 1 {
		t.Errorf("%d requests were repeated after the kill, want at most the one that was on its way", again)
	}
	subjects := map[string]bool{}
	for _, r := range runs {
		subjects[strings.Join(r.Trigger.Files, " ")] = true
	}
	if len(subjects) != 5 {
		t.Errorf("the runs are about %v", subjects)
	}
}

// B: a schedule finds something new, and the next time nothing: it asks and writes nothing then.
func TestSchedule_newAndNothingNew(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	s.Write("Clippings/Old.md", []byte(sentence(1)+"\n"))
	s.Write("Clippings/Pier.jpg", photo(2, 640, 480, "jpg"))
	collect := func() {
		s.workflow("Collect", soon(), "@input file: Clippings/*.{md,jpg} (pending, required, order=name, images=auto)\n@output file: Collected\n\nSum them up.")
	}
	s.Serve()
	collect()
	s.ran("Collect", 1)
	s.tellsOf("Collected.md", []sheet{{n: 1}})
	if !strings.Contains(s.Read("Collected.md"), "Picture 2.") {
		t.Errorf("the photo is missing: %s", s.Read("Collected.md"))
	}
	written := "My own line.\n" + s.Read("Collected.md")
	s.Write("Collected.md", []byte(written))

	collect()
	runs := s.ran("Collect", 2, engine.Done, engine.Skipped)
	if got := len(s.service.asked()); got != 1 || s.Read("Collected.md") != written {
		t.Errorf("with nothing new the model was asked %d times in all, want once; the note is %q", got, s.Read("Collected.md"))
	}
	if runs[0].Trigger.Kind != engine.TriggerOnce {
		t.Errorf("the second run was started by %s", runs[0].Trigger.Kind)
	}

	s.Write("Clippings/New.md", []byte(sentence(3)+"\n"))
	collect()
	s.ran("Collect", 3, engine.Done, engine.Skipped)
	text := s.Read("Collected.md")
	s.tellsOf("Collected.md", []sheet{{n: 1}, {n: 3}})
	if !strings.HasPrefix(text, "My own line.\n") || strings.Count(text, word(1)) != 1 || strings.Count(text, "Picture 2.") != 1 {
		t.Errorf("want my own line first, and each clipping once:\n%s", text)
	}
}

// C: a note written in Obsidian is read with its pictures when it is first written and when it changes. What the person wrote
// stays, and the answer replaces the one before.
func TestWritten_firstAndChanged(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	s.Write("Attachments/First.png", photo(1, 500, 400, "png"))
	s.Write("Attachments/Second.jpg", photo(2, 500, 400, "jpg"))
	s.Write("Notes/Other.md", []byte(sentence(9)+"\n"))
	s.workflow("Tidy", "watch: \"Notes/*.md\"\nruns: each", "@input trigger (images=auto)\n@output file: {trigger}\n@write_mode section (heading=Summary)\n\nSum it up.")
	s.Serve()
	mine := "# Tour\n\n" + sentence(3) + "\n\n![[First.png]]\n\nMy last words.\n"
	s.Write("Notes/Tour.md", []byte(mine))
	s.ran("Tidy", 1)
	text := s.Read("Notes/Tour.md")
	if !strings.HasPrefix(text, strings.TrimSpace(mine)) || !strings.Contains(text, "## Summary\n") || !strings.Contains(text, "- Picture 1.") {
		t.Errorf("after the first run:\n%s", text)
	}

	changed := strings.Replace(text, "My last words.", "My very last words.\n\n![[Second.jpg]]\n\nI also heard: "+sentence(4), 1)
	s.Write("Notes/Tour.md", []byte(changed))
	s.ran("Tidy", 2)
	s.quiet()
	text = s.Read("Notes/Tour.md")
	mineNow, _, _ := strings.Cut(changed, "## Summary")
	if !strings.HasPrefix(text, strings.TrimSpace(mineNow)) || strings.Count(text, "## Summary") != 1 || strings.Count(text, "- Picture 1.") != 1 || strings.Count(text, "- Picture 2.") != 1 {
		t.Errorf("after the change:\n%s", text)
	}
	s.tellsOf("Notes/Tour.md", []sheet{{n: 3}, {n: 4}}, sheet{n: 9})
	if len(s.Runs("Tidy")) != 2 || s.Read("Notes/Other.md") != sentence(9)+"\n" {
		t.Errorf("what the workflow wrote started it again, or it touched another note: %s", describe(s.Runs("Tidy")))
	}
}

// A document of 45 pages has more pictures than fit: the model reads on, and sees each page once.
func TestDrop_fortyFivePages(t *testing.T) {
	t.Parallel()
	if !sitetest.Long() {
		t.Skip("draws and shows 45 pages: VAULTFLOW_LONG=1")
	}
	s := beginWith(t, 400_000, "")
	s.workflow("Read", "on_import: true", "@budget (when_exceeded=defer)\n@input trigger (images=auto)\n@output file: Read/{trigger-name}\n\nTell what is on each page.")
	s.Serve()
	book := sheets(1, 45, 15, 9)
	s.drop("Book.pdf", pdf("Book", book))
	s.ran("Read", 1)
	s.saw("Imported/Book/", book, "pictures text", 1)
	s.tellsOf("Read/Book.md", book)
}
