//go:build unix

package stories

import (
	"strings"
	"testing"
)

// What a person wrote since stays when a move is undone, and the report says so; the other links come back.
func TestFiling_undoAfterEdits(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	s := begin(t, "")
	s.workflow("File", `on_import: "*receipt*"`, fenced(strings.Replace(filer, "{answer-year}/{answer-title}", "Filed", 1)))
	s.Write("A.md", []byte("[[receipt 7]]\n"))
	s.Write("B.md", []byte("[[receipt 7]]\n"))
	s.Serve()
	s.drop("receipt 7.pdf", pdf("Receipt", sheets(7, 1, 0, 0)))
	run := s.ran("File", 1)[0]
	s.Write("B.md", []byte("[[Filed]] and mine.\n"))
	note := s.Read("Receipts/Filed/Filed.md") + "\nMine too.\n"
	s.Write("Receipts/Filed/Filed.md", []byte(note))
	out, errs, code := s.CLI("undo", run.ID, "--yes")
	if code != 4 || !strings.Contains(out+errs, "B.md") {
		t.Errorf("undo: %d\n%s%s", code, out, errs)
	}
	if a, b := s.Read("A.md"), s.Read("B.md"); a != "[[receipt 7]]\n" || !strings.HasSuffix(b, " and mine.\n") {
		t.Errorf("the links are %q and %q", a, b)
	}
	if got := s.Read("Imported/receipt 7/receipt 7.md"); got != note {
		t.Errorf("the note is\n%s\nthere are %q, %q", got, s.Files("Imported", ""), s.Files("Receipts", ""))
	}
}

// A place that is refused after the answer leaves the file where it is. retry uses the answer that is kept; the workflow as it is now is
// a new question.
func TestFiling_refusedPlace(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	const narrow, wide = "permissions:\n  read: [\"**\"]\n  write: [\"Receipts/Blue/**\", \"Inbox/**\"]", "permissions:\n  read: [\"**\"]\n  write: [\"Receipts/**\", \"Inbox/**\"]"
	long := "Receipts/{answer-title}" + strings.Repeat("x", 240)
	for name, c := range map[string]struct{ properties, place, hint, mended string }{
		"permissions": {narrow, "Receipts/{answer-title}", "add it to permissions.write", wide},
		"too long":    {"", long, "shorten it", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, "")
			body := fenced(strings.Replace(filer, "Receipts/{answer-year}/{answer-title}", c.place, 1))
			s.workflow("File", c.properties, body)
			text := sentence(3) + "\n"
			s.Write("Inbox/Idea.md", []byte(text))
			asked := func(fails bool, want int, args ...string) {
				t.Helper()
				out, errs, code := s.CLI(args...)
				if asks := len(s.service.asked()); asks != want || (code != 0) != fails || code != 0 && !strings.Contains(out+errs, c.hint) {
					t.Errorf("%q: exit code %d, %d questions, want %d; %s%s", args, code, asks, want, out, errs)
				}
			}
			asked(true, 1, "run", "File", "Inbox/Idea.md")
			run := s.Runs("File")[0].ID
			asked(true, 1, "retry", run)
			if got := s.Read("Inbox/Idea.md"); got != text || len(s.Files("Receipts", ".md")) != 0 {
				t.Errorf("the note is %q, there is %q", got, s.Files("Receipts", ""))
			}
			s.workflow("File", c.mended, strings.ReplaceAll(body, strings.Repeat("x", 240), ""))
			asked(false, 2, "retry", run, "--current")
			if all := s.Files("Receipts", ".md"); len(all) != 1 || s.Read(all[0]) != text {
				t.Errorf("filed: %q", all)
			}
		})
	}
}

// The tool that moves files moves the document whose note it names, and undo moves it back.
func TestFiling_toolMovesADocument(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	s := begin(t, "")
	s.workflow("File", "on_import: \"*receipt*\"\npermissions:\n  read: [\"**\"]\n  write: [\"**\"]", "@tools move_file (untrusted=allow)\n@input trigger (images=ignore)\n\nMove it: it belongs to Projects.")
	s.Write("A.md", []byte("[[receipt 7]]\n"))
	s.Serve()
	s.drop("receipt 7.pdf", pdf("Receipt", sheets(7, 1, 0, 0)))
	run := s.ran("File", 1)[0]
	note := "Projects/" + word(7) + "/" + word(7) + ".md"
	if s.Read("A.md") != "[["+word(7)+"]]\n" || len(s.Files("Imported", "")) != 0 || s.Imports()[0].Note != note {
		t.Errorf("A is %q; there are %q, %q; the import is at %s\n%s", s.Read("A.md"), s.Files("Projects", ""), s.Files("Imported", ""), s.Imports()[0].Note, s.Must("show", run.ID))
	}
	s.Must("undo", run.ID, "--yes")
	if s.Read("A.md") != "[[receipt 7]]\n" || s.Imports()[0].Note != "Imported/receipt 7/receipt 7.md" || len(s.Files("Projects", "")) != 0 {
		t.Errorf("after the undo A is %q; there are %q; the import is at %s", s.Read("A.md"), s.Files("Projects", ""), s.Imports()[0].Note)
	}
}
