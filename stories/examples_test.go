//go:build unix

package stories

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/llm/llmtest"
)

// played are the shipped examples that a story plays.
var played = []string{
	"Book to study plan", "Clippings digest", "Inbox filing", "Lecture slides to cards", "Meeting scan to notes", "Paper reading notes",
	"Photo archive", "Receipts to a table", "Voice memo to tasks", "Weekly review",
}

func TestExamples_areAllPlayed(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("../examples/workflows")
	if err != nil {
		t.Fatal(err)
	}
	var shipped []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".md"); ok {
			shipped = append(shipped, name)
		}
	}
	if !slices.Equal(shipped, played) {
		t.Errorf("shipped are %q, played %q: give each a story", shipped, played)
	}
}

// usable checks a workflow and previews it, about a file where it needs one: no warning, nothing sent, nothing written.
func (s *story) usable(workflow string, file ...string) {
	s.T.Helper()
	if out, errs, code := s.CLI("check", workflow); code != 0 || strings.Contains(out, "warning[") || strings.Contains(out, "error[") {
		s.T.Errorf("check %q: exit code %d\n%s%s", workflow, code, out, errs)
	}
	before, asked := s.snapshot(), len(s.service.Requests())
	if out := s.Must(append([]string{"preview", workflow}, file...)...); !strings.Contains(out, "--- user ---") {
		s.T.Errorf("preview %q shows no prompt:\n%s", workflow, out)
	}
	if len(s.service.Requests()) != asked || !maps.Equal(before, s.snapshot()) {
		s.T.Errorf("preview %q sent or wrote something", workflow)
	}
}

// imported waits until an import is done, and returns its note.
func (s *story) imported(source string) string {
	s.T.Helper()
	var found engine.ImportRecord
	s.Wait(patience(), "the import of "+source, func() (bool, string) {
		all := s.Imports()
		for _, r := range all {
			if r.Source == "Import/"+source {
				found = r
			}
		}
		return found.State.Finished(), fmt.Sprintf("%+v", all)
	})
	if found.Note == "" {
		s.T.Fatalf("the import of %s is %+v", source, found)
	}
	return found.Note
}

// plainly are the examples about one dropped document that write one note: where it is, and a text that shows the links.
var plainly = []struct{ workflow, name, output, links string }{
	{"Meeting scan to notes", "Team meeting", "Meetings/", ""},
	{"Lecture slides to cards", "Lecture on tides", "Cards/", "[[Lecture on tides.pdf#page=%d|p. %d]]"},
	{"Paper reading notes", "Paper on whales", "Papers/", "[[Paper on whales.pdf#page=%d|p. %d]]"},
	{"Book to study plan", "Cookbook", "Plans/", "[[Cookbook.pdf#page=%d|p. %d]]"},
}

// Each example about a document: the first is read when it is dropped, page by page; dropped again it starts nothing; another is
// read alone, in a note of its own; both runs are undone.
func TestExamples_aboutADocument(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	for _, e := range plainly {
		s.example(e.workflow)
	}
	s.Serve()
	fresh := s.snapshot()
	first, second := map[string][]sheet{}, map[string][]sheet{}
	for i, e := range plainly {
		first[e.name] = sheets(100*i+1, 3, 3*(1-min(i, 1)), 0)
		s.drop(e.name+".pdf", pdf(e.name, first[e.name]))
	}
	for _, e := range plainly {
		s.ran(e.workflow, 1)
		s.usable(e.workflow, s.imported(e.name+".pdf"))
	}
	for i, e := range plainly {
		s.drop(e.name+".pdf", pdf(e.name, first[e.name])) // the same again
		second[e.name] = sheets(100*i+51, 2, 0, 0)
		s.drop(e.name+" two.pdf", pdf(e.name+" two", second[e.name]))
	}
	for _, e := range plainly {
		s.imported(e.name + " two.pdf")
	}
	s.quiet()
	for _, e := range plainly {
		runs := s.ran(e.workflow, 2)
		s.saw("Imported/"+e.name+"/", first[e.name], "pictures text", 1)
		s.saw("Imported/"+e.name+" two/", second[e.name], "pictures text", 1)
		for name, own := range map[string][]sheet{e.name: first[e.name], e.name + " two": second[e.name]} {
			others := first[e.name]
			if name == e.name {
				others = second[e.name]
			}
			for _, file := range s.about(e.output, name) {
				s.tellsOf(file, own, others...)
				for i := range own {
					if link := strings.ReplaceAll(fmt.Sprintf(e.links, i+1, i+1), e.name, name); e.links != "" && !strings.Contains(s.Read(file), link) {
						s.T.Errorf("%s has no link %s:\n%s", file, link, s.Read(file))
					}
				}
			}
		}
		for _, r := range runs {
			s.Must("undo", r.ID, "--yes")
		}
	}
	s.unchanged(fresh)
}

// about lists the notes of a folder that are named after a document, at least one.
func (s *story) about(dir, name string) []string {
	s.T.Helper()
	var found []string
	for _, file := range s.Files(strings.TrimSuffix(dir, "/"), ".md") {
		if strings.Contains(file, name) && strings.Contains(file, " two") == strings.HasSuffix(name, " two") {
			found = append(found, file)
		}
	}
	if len(found) == 0 {
		s.T.Errorf("no note in %s is named after %s: %q", dir, name, s.Files(dir, ".md"))
	}
	return found
}

// The clippings digest asks about new clippings alone, and not at all without any.
func TestExamples_clippingsDigest(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	one := func(n int) string {
		return fmt.Sprintf("---\nsource: https://example.org/%d\n---\n# Article %d\n\n%s\n", n, n, sentence(n))
	}
	s.Write("Clippings/Pier.md", []byte(one(1)))
	s.Write("Clippings/Sea/Storm.md", []byte(one(2)+"\n![[storm.jpg]]\n"))
	s.Write("Clippings/Sea/storm.jpg", photo(3, 640, 480, "jpg"))
	const name, daily = "Clippings digest", `schedule: "cron: 0 7 * * *"`
	s.example(name)
	s.usable(name)
	fresh := s.snapshot()
	s.Serve()
	s.example(name, daily, soon())
	runs := s.ran(name, 1)
	digest := s.note("Digests", "")
	s.tellsOf(digest, []sheet{{n: 1}, {n: 2}})
	s.saw("Clippings/", []sheet{{n: 1}, {n: 2}, {n: 3}}, "", 1)
	mine := s.Read(digest) + "\nMine.\n"
	s.Write(digest, []byte(mine))
	if out := s.Must("run", name); len(s.service.asked()) != 1 || s.Read(digest) != mine {
		t.Errorf("without new clippings: %d requests, %s\n%s", len(s.service.asked()), out, s.Read(digest))
	}
	s.Write("Clippings/New.md", []byte(one(4)))
	fresh["Clippings/New.md"] = one(4)
	s.Must("run", name)
	if asked := s.service.asked(); len(asked) != 2 || !slices.Equal(asked[1].words(), []string{word(4)}) || !strings.HasPrefix(s.Read(digest), mine) {
		t.Errorf("with one new clipping the model was asked %d times, the last time about %q; the digest:\n%s", len(asked), asked[len(asked)-1].words(), s.Read(digest))
	}
	s.Must("undo", s.Runs(name)[0].ID, "--yes")
	if s.Read(digest) != mine {
		t.Errorf("after the undo the digest is\n%s", s.Read(digest))
	}
	if out, _, code := s.CLI("undo", runs[0].ID, "--yes"); code != 4 || s.Read(digest) != mine {
		t.Errorf("the undo of a note that was edited since: exit code %d, %s", code, out)
	}
}

// The weekly review reads the seven newest notes with their pictures, keeps what the person wrote in it, and is not repeated
// while no note changes.
func TestExamples_weeklyReview(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	for day := 1; day <= 8; day++ {
		s.Write(fmt.Sprintf("Daily/2026-11-%02d.md", day), fmt.Appendf(nil, "# Day %d\n\n%s\n\n![[day %d.png]]\n", day, sentence(day), day))
		s.Write(fmt.Sprintf("Daily/day %d.png", day), photo(20+day, 400, 300, "png"))
	}
	const name = "Weekly review"
	s.example(name)
	s.usable(name)
	fresh := s.snapshot()
	s.Serve()
	s.example(name, `schedule: "cron: 0 18 * * 0"`, soon())
	s.ran(name, 1)
	review := s.note("Reviews", "")
	week := sheets(2, 7, 0, 0)
	s.tellsOf(review, week, sheet{n: 1})
	if pictures := s.service.asked()[0].pictures(); len(pictures) != 7 || slices.Contains(pictures, 21) {
		t.Errorf("the model saw the pictures %v, want those of the last seven days", pictures)
	}
	if out := s.Must("run", name); len(s.service.asked()) != 1 {
		t.Errorf("without a change the model was asked again: %s", out)
	}
	mine := "# My week\n\nIt rained.\n\n" + s.Read(review)
	s.Write(review, []byte(mine))
	s.Write("Daily/2026-11-09.md", []byte(sentence(9)+"\n"))
	s.Must("run", name)
	text := s.Read(review)
	s.tellsOf(review, sheets(3, 7, 0, 0), sheet{n: 2})
	if !strings.HasPrefix(text, "# My week\n\nIt rained.\n") || strings.Count(text, "## Looking back") != 1 {
		t.Errorf("the review is\n%s", text)
	}
	s.Must("undo", s.Runs(name)[0].ID, "--yes")
	if s.Read(review) != mine {
		t.Errorf("after the undo the review is\n%s", s.Read(review))
	}
	fresh["Daily/2026-11-09.md"] = sentence(9) + "\n"
	fresh[review] = mine
	s.unchanged(fresh)
}

// A note in the inbox is moved where the model says, once the person agrees, and back when the run is undone.
func TestExamples_inboxFiling(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	s.Write("Recipes/Bread.md", []byte("Knead.\n"))
	s.Write("Projects/Shed.md", []byte("Build.\n"))
	s.Write("Inbox/Old.md", []byte("It belongs to Projects. "+sentence(1)+"\n"))
	const name = "Inbox filing"
	s.example(name)
	s.usable(name, "Inbox/Old.md")
	fresh := s.snapshot()
	s.Serve()
	note := "It belongs to Recipes. " + sentence(2) + "\n"
	s.Write("Inbox/Untitled.md", []byte(note))
	run := s.waits(name, 1)
	if s.Read("Inbox/Untitled.md") != note {
		t.Error("the note was moved before the person agreed")
	}
	s.Must("approvals", run.ID)
	s.Must("approve", run.ID, "--all")
	s.ran(name, 1)
	filed := "Recipes/" + word(2) + ".md"
	if s.Read(filed) != note || s.Read("Inbox/Untitled.md") != "" || s.Read("Inbox/Old.md") == "" {
		t.Errorf("after the approval there are %q", s.Files(".", ".md"))
	}
	s.quiet()
	if runs := s.Runs(name); len(runs) != 1 {
		t.Errorf("the move started more runs: %s", describe(runs))
	}
	s.Write("Inbox/Second.md", []byte("It belongs to Projects. "+sentence(3)+"\n"))
	run2 := s.waits(name, 2)
	s.Must("approvals", run2.ID)
	s.Must("approve", run2.ID, "--all", "--reject")
	s.ran(name, 2, engine.Done, engine.DoneWithOmissions, engine.Skipped)
	if s.Read("Inbox/Second.md") == "" {
		t.Error("a rejected move was made")
	}
	s.Must("undo", run.ID, "--yes")
	fresh["Inbox/Untitled.md"], fresh["Inbox/Second.md"] = note, "It belongs to Projects. "+sentence(3)+"\n"
	s.unchanged(fresh)
}

// waits returns a workflow's newest run when it is the count-th and awaits approval.
func (s *story) waits(workflow string, count int) engine.RunRecord {
	s.T.Helper()
	var runs []engine.RunRecord
	s.Wait(patience(), workflow+" to ask", func() (bool, string) {
		runs = s.Runs(workflow)
		return len(runs) == count && runs[0].Status == engine.AwaitingApproval, describe(runs)
	})
	return runs[0]
}

// The photo archive describes each photo once, in a note of its own. Tags and words of the person stay.
func TestExamples_photoArchive(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	const name, folder = "Photo archive", "Attachments/Photos/"
	s.Write(folder+"Old.png", photo(1, 400, 300, "png"))
	mine := "---\ntags:\n  - family # mine\nrating: 5\n---\nAt the lake with Ada.\n"
	s.Write("Photos/Lake.md", []byte(mine))
	s.example(name)
	s.usable(name)
	fresh := s.snapshot()
	s.Serve()
	s.Write(folder+"Lake.jpg", photo(2, 900, 600, "jpg"))
	first := s.ran(name, 1)[0]
	lake := s.Read("Photos/Lake.md")
	for _, want := range []string{"- family # mine\n", "- picture-2\n", "rating: 5\n", "At the lake with Ada.\n", "shows: Picture 2"} {
		if !strings.Contains(lake, want) {
			t.Errorf("no %q in\n%s", want, lake)
		}
	}
	if old := s.Read("Photos/Old.md"); !strings.Contains(old, "picture-1") || strings.Contains(old, "picture-2") {
		t.Errorf("the note of the older photo is\n%s", old)
	}
	s.Write(folder+"Pier.webp.png", photo(3, 500, 400, "png"))
	second := s.ran(name, 2)[0]
	if out := s.Must("run", name); len(s.service.asked()) != 3 {
		t.Errorf("three photos were asked about %d times: %s", len(s.service.asked()), out)
	}
	for _, a := range s.service.asked() {
		if len(a.pictures()) != 1 {
			t.Errorf("one request shows the pictures %v", a.pictures())
		}
	}
	if s.Read("Photos/Lake.md") != lake {
		t.Errorf("a second run changed the first note:\n%s", s.Read("Photos/Lake.md"))
	}
	for _, r := range []engine.RunRecord{second, first} {
		s.Must("undo", r.ID, "--yes")
	}
	s.unchanged(fresh, folder+"Lake.jpg", folder+"Pier.webp.png")
}

// Each receipt has its own row: a note with its properties, in which the words of the person stay.
func TestExamples_receipts(t *testing.T) {
	t.Parallel()
	s := begin(t, "")
	const name, mine = "Receipts to a table", "---\npaid: cash\n---\nRefund by Friday.\n"
	s.Write("Money/Receipts/My receipt.md", []byte(mine))
	s.example(name)
	fresh := s.snapshot()
	s.Serve()
	s.drop("Receipt market.jpg", photo(1, 600, 900, "jpg"))
	s.drop("My receipt.png", photo(2, 600, 900, "png"))
	runs := s.ran(name, 2)
	s.usable(name, s.imported("My receipt.png"))
	s.saw("Imported/", []sheet{{n: 1}, {n: 2}}, "pictures", 1)
	for i, title := range []string{"Receipt market", "My receipt (2)"} { // a note of the person is never touched for a name from outside
		text := s.Read("Money/Receipts/" + title + ".md")
		for _, want := range []string{"date: 2026-11-02\n", fmt.Sprintf("shop: Picture %d\n", i+1), fmt.Sprintf("total: %d\n", i+1)} {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q:\n%s", title, want, text)
			}
		}
	}
	table := s.Read("Money/Receipts table.md")
	if strings.Count(table, "| Date | Shop | Total |") != 1 || !strings.Contains(table, "| --- | --- | ---: |\n| 2026-11-02 | Picture ") ||
		!strings.Contains(table, "| Picture 1 | 1 |\n") || !strings.Contains(table, "| Picture 2 | 2 |\n") {
		t.Errorf("the table is\n%s", table)
	}
	if text := s.Read("Money/Receipts/My receipt.md"); text != mine {
		t.Errorf("the person's words are gone:\n%s", text)
	}
	s.drop("Receipt market.jpg", photo(1, 600, 900, "jpg")) // the same again
	s.quiet()
	if got := s.Runs(name); len(got) != 2 {
		t.Errorf("the same receipt again: %s", describe(got))
	}
	for _, r := range runs {
		s.Must("undo", r.ID, "--yes")
	}
	s.unchanged(fresh)
}

// Tasks of voice memos are collected in one list, below what is there.
func TestExamples_voiceMemo(t *testing.T) {
	t.Parallel()
	speech := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, err := llmtest.ReadTranscription(r, "")
		if err != nil {
			t.Error(err)
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"text": heard(got.Data)}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(speech.Close)
	s := begin(t, fmt.Sprintf("  ear: {kind: openai_compatible, base_url: %q}\ningestion: {audio: {provider: ear, model: whisper-1}}\n", speech.URL+"/v1"))
	const name, list = "Voice memo to tasks", "Tasks.md"
	s.example(name)
	mine := "# Tasks\n\n## From voice memos\n\n- [x] The code word is " + word(2) + ".\n- [ ] Mine.\n"
	s.Write(list, []byte(mine))
	fresh := s.snapshot()
	s.Serve()
	s.drop("Memo.wav", spoken(sentence(1)+" "+sentence(2)))
	s.ran(name, 1)
	s.usable(name, s.imported("Memo.wav"))
	s.drop("Walk.wav", spoken(sentence(1)+" "+sentence(3)))
	runs := s.ran(name, 2)
	want := []string{"- [x] " + sentence(2), "- [ ] Mine.", "- [ ] " + sentence(1), "- [ ] " + sentence(2), "- [ ] " + sentence(1), "- [ ] " + sentence(3)}
	if got := slices.DeleteFunc(strings.Split(s.Read(list), "\n"), func(l string) bool { return !strings.HasPrefix(l, "- ") }); !slices.Equal(got, want) {
		t.Errorf("the list is %q, want %q", got, want)
	}
	for _, r := range runs {
		s.Must("undo", r.ID, "--yes")
	}
	s.unchanged(fresh)
}

// spoken is a recording in which something is said: a WAV whose samples are the letters.
func spoken(text string) []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"), 0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0)
	samples := make([]byte, 8000)
	copy(samples, text)
	b = append(binary.LittleEndian.AppendUint32(append(b, "data"...), uint32(len(samples))), samples...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// heard is what is said in a recording.
func heard(recording []byte) string {
	_, samples, _ := bytes.Cut(recording, []byte("data"))
	return strings.Trim(string(samples[min(4, len(samples)):]), "\x00")
}

// unchanged wants the vault as in a snapshot, but for files that the person added since.
func (s *story) unchanged(before map[string]string, added ...string) {
	s.T.Helper()
	after := s.snapshot()
	for _, name := range added {
		delete(after, name)
	}
	for name, text := range after {
		if was, ok := before[name]; !ok || was != text {
			s.T.Errorf("%s is not as it was (was there: %v):\n%.600s", name, ok, text)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			s.T.Errorf("%s is gone", name)
		}
	}
}
