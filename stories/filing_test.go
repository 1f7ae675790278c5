//go:build unix

package stories

import (
	"maps"
	"path"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
)

// filer names what was dropped after its answer.
const filer = `@input trigger (images=auto)
@schema
~~~yaml
type: object
required: [year, title]
properties:
  year: {type: integer}
  title: {type: string}
~~~
@move trigger to: Receipts/{answer-year}/{answer-title}

What is it?`

// onlyLong skips a story that takes seconds, unless all are wanted.
func onlyLong(t *testing.T) {
	t.Helper()
	if !sitetest.Long() {
		t.Skip("takes seconds: VAULTFLOW_LONG=1")
	}
}

func fenced(text string) string { return strings.ReplaceAll(text, "~", "`") }

// A dropped receipt is read, named and filed: the document moves as one, the links of the daily note follow, the same file is known
// at its new place, and undo brings all back.
func TestFiling_aDroppedDocument(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	s.workflow("File", `on_import: "*receipt*"`, fenced(filer))
	if out, _, code := s.CLI("check", "File"); code != 0 || strings.Contains(out, "[VF") {
		t.Errorf("check: %s", out)
	}
	daily := "Bought it: [[receipt 7]], see ![[receipt 7.pdf#page=1|400]] and [the scan](<../Imported/receipt 7/receipt 7.md#^p1>).\r\n`[[receipt 7]]`"
	s.Write("Daily/2026-11-20.md", []byte(daily))
	s.Write("Board.canvas", []byte(`{"nodes":[{"id":"a","type":"file","file":"Imported/receipt 7/receipt 7.md"}]}`))
	s.Serve()
	data := pdf("Receipt", sheets(7, 2, 0, 0))
	s.drop("receipt 7.pdf", data)
	run := s.ran("File", 1)[0]
	note := s.note("Receipts", "code word")
	dir, name := path.Dir(note), strings.TrimSuffix(path.Base(note), ".md")
	if path.Base(dir) != name || !strings.HasPrefix(dir, "Receipts/") {
		t.Errorf("the note is at %s", note)
	}
	for _, file := range []string{"manifest.json", "receipt 7.pdf", "pages/page_0001.png", "text/page_0001.txt"} {
		if s.Read(dir+"/"+file) == "" && s.Read(strings.Replace(dir+"/"+file, ".png", ".jpg", 1)) == "" {
			t.Errorf("no %s in %s: %q", file, dir, s.Files(dir, ""))
		}
	}
	if !strings.Contains(s.Read(dir+"/manifest.json"), `"note": "`+name+`.md"`) || len(s.Files("Imported", "")) != 0 {
		t.Errorf("the manifest is\n%.200s\nbelow Imported are %q", s.Read(dir+"/manifest.json"), s.Files("Imported", ""))
	}
	want := "Bought it: [[" + name + "]], see ![[receipt 7.pdf#page=1|400]] and [the scan](<../" + note + "#^p1>).\r\n`[[receipt 7]]`"
	if got := s.Read("Daily/2026-11-20.md"); got != want {
		t.Errorf("the daily note is\n%s\nwant\n%s", got, want)
	}
	if got := s.Read("Board.canvas"); !strings.Contains(got, note) {
		t.Errorf("the canvas is %s", got)
	}
	if is := s.Imports()[0]; is.Note != note || is.Bundle != dir {
		t.Errorf("the import is recorded at %s, %s; want %s", is.Bundle, is.Note, note)
	}
	s.drop("again receipt.pdf", data)
	s.Wait(patience(), "the duplicate", func() (bool, string) {
		all := s.Imports()
		return len(all) == 2 && all[0].State.Finished(), ""
	})
	if is := s.Imports()[0]; is.State != engine.ImportDuplicate || is.Bundle != dir {
		t.Errorf("the same bytes again are %s of %q, want a duplicate of %s", is.State, is.Bundle, dir)
	}
	s.quiet()
	if runs := s.Runs("File"); len(runs) != 1 {
		t.Errorf("the move started more runs: %s", describe(runs))
	}
	if out := s.Must("show", run.ID); !strings.Contains(out, note) && !strings.Contains(out, dir) {
		t.Errorf("show does not tell of the move:\n%s", out)
	}
	s.Must("undo", run.ID, "--yes")
	if got := s.Read("Daily/2026-11-20.md"); got != daily {
		t.Errorf("after the undo the daily note is\n%s", got)
	}
	if s.Read("Imported/receipt 7/receipt 7.md") == "" || !strings.Contains(s.Read("Imported/receipt 7/manifest.json"), `"note": "receipt 7.md"`) || len(s.Files("Receipts", "")) != 0 {
		t.Errorf("after the undo: %q, %q", s.Files("Imported", ".md"), s.Files("Receipts", ""))
	}
	if is := s.Imports()[1]; is.Note != "Imported/receipt 7/receipt 7.md" {
		t.Errorf("after the undo the import is recorded at %s", is.Note)
	}
}

// A note is moved once its person agrees; the request says where to and whose links change.
func TestFiling_aNoteWithApproval(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	s := begin(t, "")
	s.workflow("File", "watch: \"Inbox/*.md\"\nruns: each", fenced("@approve outputs\n"+strings.Replace(filer, "{answer-year}/{answer-title}", "{trigger-name} of {answer-year}", 1)))
	s.Write("Index.md", []byte("[[Idea]]\n"))
	s.Serve()
	s.Write("Inbox/Idea.md", []byte(sentence(3)+" See [the index](../Index.md).\n"))
	run := s.waits("File", 1)
	if out := s.Must("approvals", run.ID); !strings.Contains(out, "Receipts/Idea of ") || !strings.Contains(out, "Index.md") {
		t.Errorf("the request is\n%s", out)
	}
	before := s.snapshot()
	s.Must("approve", run.ID, "--all")
	run = s.ran("File", 1)[0]
	note := s.note("Receipts", "Idea of")
	if got := s.Read("Index.md"); got != "[["+strings.TrimSuffix(path.Base(note), ".md")+"]]\n" {
		t.Errorf("the index is %q", got)
	}
	s.Must("undo", run.ID, "--yes")
	if !maps.Equal(before, s.snapshot()) {
		t.Errorf("after the undo: %v", s.snapshot())
	}
	s.quiet()
	if runs := s.ran("File", 1); len(runs) != 1 {
		t.Errorf("it ran again: %s", describe(runs))
	}
}

// Two workflows are about one import: the second one finds the document where the first has moved it.
func TestFiling_anotherRunFindsIt(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	s := begin(t, "engine:\n  max_parallel_runs: 1\n")
	s.workflow("A file", `on_import: "*receipt*"`, fenced(filer))
	s.workflow("B read", `on_import: "*receipt*"`, "@input trigger (required, images=ignore)\n@output file: Notes/{trigger-name}\n\nRead it.")
	s.Serve()
	s.drop("receipt 3.pdf", pdf("Receipt", sheets(3, 1, 0, 0)))
	s.ran("A file", 1)
	s.ran("B read", 1)
	if len(s.Files("Notes", ".md")) != 1 {
		t.Errorf("notes: %q", s.Files("Notes", ".md"))
	}
	for _, name := range []string{"A file", "B read"} {
		if out := s.Must("preview", name, s.note("Receipts", "code word")); name == "A file" && !strings.Contains(out, "/‹year›/‹title›") {
			t.Errorf("preview:\n%s", out)
		}
	}
}

// A file that changed and is dropped again makes a version of its document where that was moved.
func TestFiling_aNewVersion(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	s := begin(t, "")
	s.workflow("File", `on_import: "*receipt*"`, fenced(strings.Replace(filer, "{answer-year}/{answer-title}", "The receipt", 1)))
	s.Serve()
	s.drop("receipt.pdf", pdf("Receipt", sheets(3, 1, 0, 0)))
	s.ran("File", 1)
	const dir = "Receipts/The receipt"
	s.Write(dir+"/The receipt.md", []byte(s.Read(dir+"/The receipt.md")+"\nMine.\n"))
	s.drop("receipt.pdf", pdf("Receipt", sheets(5, 2, 0, 0)))
	s.Wait(patience(), "the version", func() (bool, string) {
		all := s.Imports()
		return len(all) == 2 && all[0].State.Finished(), ""
	})
	if is := s.Imports()[0]; is.State != engine.ImportDone || is.Bundle != dir || is.Note != dir+"/The receipt.md" {
		t.Errorf("the version is %+v", is)
	}
	text := s.Read(dir + "/The receipt.md")
	if !strings.Contains(text, word(5)) || !strings.Contains(text, "Mine.") || s.Read(dir+" (version 1)/manifest.json") == "" || s.Read(dir+"/receipt.pdf") == "" {
		t.Errorf("the note is\n%s\nthere are %q and below Imported %q", text, s.Files("Receipts", ""), s.Files("Imported", ""))
	}
}

// What a workflow wrote stays its own when another one's move changes links in it, and an undo changes them back: the next run replaces
// its lines and those alone, and warns of nothing.
func TestFiling_ownTextWithLinks(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	s.workflow("Section", "", "@model none\n@input file: Source\n@output file: Log\n@write_mode section (heading=Review)")
	s.workflow("Whole", "", "@model none\n@input file: Source\n@output file: Whole\n@write_mode replace")
	s.workflow("Move", "", "@model none\n@input file: Source (output=discard)\n@move file: Idea to: Archive/Other idea")
	s.Write("Idea.md", []byte("An idea.\n"))
	s.Write("Log.md", []byte("# Log\n\n## Review\n\nMine: [[Idea]].\n"))
	write := func(text, log string) {
		t.Helper()
		s.Write("Source.md", []byte(text))
		for _, name := range []string{"Section", "Whole"} {
			if out := s.Must("run", name); strings.Contains(out, "edited") {
				t.Errorf("%s: %s", name, out)
			}
		}
		if got := s.Read("Log.md"); got != log {
			t.Errorf("the log is\n%s\nwant\n%s", got, log)
		}
		if got := s.Read("Whole.md"); strings.TrimSpace(got) != strings.TrimSpace(text) {
			t.Errorf("the whole is\n%s\nwant\n%s", got, text)
		}
	}
	write("- one: [[Idea]]\n- two\n", "# Log\n\n## Review\n\nMine: [[Idea]].\n\n- one: [[Idea]]\n- two\n")
	s.Must("run", "Move")
	if got := s.Read("Log.md"); got != "# Log\n\n## Review\n\nMine: [[Other idea]].\n\n- one: [[Other idea]]\n- two\n" {
		t.Fatalf("the links in the log did not follow:\n%s", got)
	}
	write("- three: [[Other idea]]\n", "# Log\n\n## Review\n\nMine: [[Other idea]].\n\n- three: [[Other idea]]\n")
}

// A note about a file is found again after the file was moved, and after it was moved back.
func TestFiling_notesAboutWhatMoved(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	s := begin(t, "")
	s.workflow("About", "", "@model none\n@input trigger\n@output file: Notes/{trigger-name}\n@write_mode replace")
	s.workflow("Move", "", "@model none\n@input trigger (output=discard)\n@move trigger to: Archive/{trigger-name}")
	s.Write("Inbox/Idea.md", []byte("An idea.\n"))
	s.Must("run", "About", "Inbox/Idea.md")
	s.Must("run", "Move", "Inbox/Idea.md")
	about := func(file, text string) {
		t.Helper()
		s.Write(file, []byte(text))
		s.Must("run", "About", file)
		if all := s.Files("Notes", ".md"); len(all) != 1 || s.Read("Notes/Idea.md") != text {
			t.Errorf("about %s: %q, with %q; want one with %q", file, all, s.Read("Notes/Idea.md"), text)
		}
	}
	about("Archive/Idea.md", "A better idea.\n")
	s.Write("Archive/Idea.md", []byte("An idea.\n"))
	s.Must("undo", s.Runs("Move")[0].ID, "--yes")
	about("Inbox/Idea.md", "The best idea.\n")
}
