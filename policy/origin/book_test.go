package origin_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/policy/origin"
	"github.com/vaultflow/vaultflow/policy/origin/origintest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	origintest.Exercise(t, &origintest.Store{})
}

const (
	imported = "import 01J (report.pdf)"
	report   = "# Report\n\nThe committee decided in March that the harbour is to be closed for two years.\n\n" +
		"Nobody has told the fishermen so far. They will hear of it from the newspapers, as always.\n"
	paragraph = "The committee decided in March that the harbour is to be closed for two years.\n"
	mine      = "# Monday\n\nI went to the market and bought seven apples, a loaf of bread and some cheese.\n"
)

// vault is a vault in memory with a book about it.
type vault struct {
	fstest.MapFS
	book *origin.Book
}

func newVault(files map[string]string) *vault {
	v := &vault{MapFS: fstest.MapFS{}}
	for name, text := range files {
		v.put(name, text)
	}
	v.book = &origin.Book{FS: v, Store: &origintest.Store{}}
	return v
}

func (v *vault) put(name, text string) { v.MapFS[name] = &fstest.MapFile{Data: []byte(text)} }

func (v *vault) move(from, to string) {
	v.MapFS[to] = v.MapFS[from]
	delete(v.MapFS, from)
}

func (v *vault) origins(t *testing.T, name string) (bool, []string) {
	t.Helper()
	f, err := v.book.Of(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return f.Foreign, f.Origins
}

func (v *vault) wantForeign(t *testing.T, name string, want ...string) {
	t.Helper()
	if foreign, origins := v.origins(t, name); !foreign || !slices.Equal(origins, want) {
		t.Errorf("%s: foreign %v from %q, want it from %q", name, foreign, origins, want)
	}
}

func (v *vault) wantOwn(t *testing.T, name string) {
	t.Helper()
	if foreign, origins := v.origins(t, name); foreign {
		t.Errorf("%s comes from %q, want the owner's", name, origins)
	}
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// importReport records an import of a report, with a page, a picture and the original.
func importReport(t *testing.T) *vault {
	t.Helper()
	v := newVault(map[string]string{
		"Imported/report/index.md": report, "Imported/report/pages/1.png": "\x89PNG\x00picture", "Imported/report/report.pdf": "%PDF\x00bytes", "own.md": mine,
	})
	if err := v.book.Imported(t.Context(), "Imported/report", imported); err != nil {
		t.Fatal(err)
	}
	return v
}

// forgetful is a store that cannot keep what it is given a second time.
type forgetful struct {
	origintest.Store
	kept int
}

func (s *forgetful) Keep(ctx context.Context, entries ...origin.Entry) error {
	if s.kept += len(entries); s.kept > 64 {
		return errors.New("the disk is full")
	}
	return s.Store.Keep(ctx, entries...)
}

// A bundle of more files than are recorded at once is recorded whole, or there is an error.
func TestBook_recordsLongBundles(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for n := range 200 {
		files[fmt.Sprintf("Imported/report/pages/%d.png", n)] = fmt.Sprint("\x89PNG\x00picture ", n)
	}
	v := newVault(files)
	if err := v.book.Imported(t.Context(), "Imported/report", imported); err != nil {
		t.Fatal(err)
	}
	for name := range files {
		v.move(name, path.Base(name))
		v.wantForeign(t, path.Base(name), imported)
	}
	v = newVault(files)
	v.book.Store = &forgetful{}
	if err := v.book.Imported(t.Context(), "Imported/report", imported); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("with a store that fails: %v", err)
	}
}

// What was imported stays foreign wherever a person puts it, and whatever becomes of it there.
func TestBook_followsPeople(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do   func(v *vault)
		file string
		own  bool
	}{
		"stays":            {func(*vault) {}, "Imported/report/index.md", false},
		"moved":            {func(v *vault) { v.move("Imported/report/index.md", "Notes/Harbour.md") }, "Notes/Harbour.md", false},
		"picture moved":    {func(v *vault) { v.move("Imported/report/pages/1.png", "Pictures/x.png") }, "Pictures/x.png", false},
		"original moved":   {func(v *vault) { v.move("Imported/report/report.pdf", "a.pdf") }, "a.pdf", false},
		"moved and edited": {func(v *vault) { v.put("Notes/h.md", "My notes.\n\n"+report+"\nSo what?\n") }, "Notes/h.md", false},
		"paragraph":        {func(v *vault) { v.put("own.md", mine+"\n> "+paragraph) }, "own.md", false},
		"list, emphasis": {func(v *vault) {
			v.put("a.md", "- **The committee** decided, in March, that the HARBOUR\u00a0is to be closed for two years\r\n")
		}, "a.md", false},
		"sentence of a line": {func(v *vault) { v.put("a.md", "They said: hear this! "+paragraph+"And so on.") }, "a.md", false},
		"one short sentence": {func(v *vault) { v.put("a.md", "Nobody has told the fishermen so far.\n") }, "a.md", true},
		"two short ones": {func(v *vault) {
			v.put("a.md", "Nobody has told the fishermen so far. They will hear of it from the newspapers, as always.")
		}, "a.md", false},
		"one word changed": {func(v *vault) {
			v.put("a.md", "The committee decided in March that the harbour is to be *shut* for two years.\n")
		}, "a.md", false},
		"in a sentence of one's own": {func(v *vault) {
			v.put("a.md", "They say the committee decided in March that the harbour stays open, which is wrong.\n")
		}, "a.md", false},
		"seven words in a row": {func(v *vault) {
			v.put("a.md", "The road behind our old house is to be closed for two years, says the man at the town hall.\n")
		}, "a.md", true},
		"one word changed, in a long text": {func(v *vault) {
			v.put("a.md", strings.Repeat(mine, 17)+"The committee decided in March that the harbour is to be shut for two years.\n")
		}, "a.md", true},
		"own":    {func(*vault) {}, "own.md", true},
		"waits":  {func(v *vault) { v.put("Import/new.md", "hello") }, "Import/new.md", false},
		"failed": {func(v *vault) { v.put("import/failed/new.md", "hello") }, "import/failed/new.md", false},
		"beside": {func(v *vault) { v.put("Importance.md", "hello") }, "Importance.md", true},
		"empty":  {func(v *vault) { v.put("e.md", " \n") }, "e.md", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := importReport(t)
			tt.do(v)
			if foreign, origins := v.origins(t, tt.file); foreign == tt.own {
				t.Errorf("foreign %v (%q), want %v", foreign, origins, !tt.own)
			}
		})
	}
}

// A name that is known as foreign stays so when its text is changed beyond recognition, and so does the new text at its next
// name; until the watcher says that there is no such file any more.
func TestBook_editsAndNames(t *testing.T) {
	t.Parallel()
	v := importReport(t)
	v.move("Imported/report/index.md", "Notes/Harbour.md")
	v.wantForeign(t, "Notes/Harbour.md", imported)
	v.put("Notes/Harbour.md", "Every word of this was written anew, not one sentence is as it was before.\n")
	v.wantForeign(t, "Notes/Harbour.md", imported)
	v.move("Notes/Harbour.md", "notes/harbour.md")
	v.put("notes/harbour.md", "The same file in another case, with other words in it once more.\n")
	v.wantForeign(t, "notes/harbour.md", imported)
}

func TestBook_watcher(t *testing.T) {
	t.Parallel()
	v := importReport(t)
	edited := "Every word of this was written anew, not one sentence is as it was before.\n"
	v.move("Imported/report/index.md", "Notes/Harbour.md")
	changed := func(name, text string) {
		t.Helper()
		v.put(name, text)
		if err := v.book.Changed(t.Context(), name, hash(text)); err != nil {
			t.Fatal(err)
		}
	}
	changed("Notes/Harbour.md", report) // the watcher sees the move
	changed("Notes/Harbour.md", edited) // and an edit
	v.move("Notes/Harbour.md", "Archive/h.md")
	v.wantForeign(t, "Archive/h.md", imported)
	if err := v.book.Removed(t.Context(), "Notes/Harbour.md"); err != nil {
		t.Fatal(err)
	}
	changed("Notes/Harbour.md", mine)
	v.wantOwn(t, "Notes/Harbour.md")
}

// A run that was shown foreign content leaves it behind in what it writes; the rest of the file, and what undo brings back,
// stays the owner's; and a file that was written anew by a clean step is clean.
func TestBook_writes(t *testing.T) {
	t.Parallel()
	const summary = "Summary of the report: fishermen lose their harbour, and nobody has told them about it yet.\n"
	ctx := context.Background()
	v := importReport(t)
	from := origin.OfRun("01R", "Sum up", []string{"file Imported/report/index.md", imported})
	want := []string{"run 01R (Sum up)", imported}
	if diff := cmp.Diff(want, from); diff != "" {
		t.Fatalf("origins of a run (-want +got):\n%s", diff)
	}
	wrote := func(name, before, after string, origins []string, approved bool) {
		t.Helper()
		w := origin.Write{Name: name, Before: []byte(before), After: []byte(after), Replaces: before != "", Origins: origins, Approved: approved}
		if err := v.book.Wrote(ctx, w); err != nil {
			t.Fatal(err)
		}
		v.put(name, after)
	}
	wrote("own.md", mine, mine+summary, from, false)
	v.wantForeign(t, "own.md", want...)
	f, err := v.book.Explain(ctx, "own.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]origin.Span{{First: 4, Last: 4, Origins: want}}, f.Spans); diff != "" {
		t.Errorf("foreign lines (-want +got):\n%s", diff)
	}
	v.put("quoted.md", "What the machine says: "+summary)
	v.wantForeign(t, "quoted.md", want...)
	v.put("diary.md", mine+"And more of my own, without what the machine had to say.\n")
	v.wantOwn(t, "diary.md")
	v.put("own.md", mine) // an undo
	v.wantOwn(t, "own.md")

	wrote("log.md", "", summary, from, false)
	wrote("log.md", summary, summary+mine, nil, false)
	v.wantForeign(t, "log.md", want...)
	v.move("log.md", "log2.md")
	v.wantForeign(t, "log2.md", want...)
	wrote("log.md", summary+mine, "A clean step has written all of this anew, from the first word to the last.\n", nil, false)
	v.wantOwn(t, "log.md")

	const polite = "Here is what I have made of the text that you gave me, I hope that it helps.\n"
	wrote("foreign.md", "", polite+summary, from, false)
	wrote("plain.md", "", polite+mine, nil, false)
	v.wantOwn(t, "plain.md")
	v.wantForeign(t, "foreign.md", want...)

	const seen = "A person has read this sentence, which a model wrote, and said yes to every word.\n"
	wrote("plan.md", "", seen, from, true)
	v.wantOwn(t, "plan.md")
	v.put("plan.md", seen+"Edited.\n")
	v.wantOwn(t, "plan.md")
	wrote("log3.md", "", summary, from, false)
	wrote("log3.md", summary, summary+seen, from, true) // the yes was to the new sentence only
	v.wantForeign(t, "log3.md", want...)
}

// A sentence of the owner's that a step keeps, or changes a little, leaves nothing behind that would make it foreign elsewhere.
func TestBook_keptSentencesStayOwn(t *testing.T) {
	t.Parallel()
	const question = "What are the three most important things that I want to get done before the evening comes?\n"
	v := newVault(nil)
	long := origin.Write{ // of which a step keeps one sentence
		Name: "Daily/0.md", Before: []byte(strings.Repeat(mine, 17) + question), After: []byte(question + paragraph), Replaces: true, Origins: []string{imported},
	}
	if err := v.book.Wrote(t.Context(), long); err != nil {
		t.Fatal(err)
	}
	v.put("Daily/1.md", question)
	w := origin.Write{
		Name: "Daily/1.md", Before: []byte(question), Replaces: true, Origins: []string{imported},
		After: []byte(question + "What are the three most important things that I want to get done before the harbour is closed?\n"),
	}
	if err := v.book.Wrote(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	v.put("Daily/2.md", question)
	v.wantOwn(t, "Daily/2.md")
	v.put("Daily/3.md", "What are the three most important things that I want to get done on a Sunday at home?\n")
	v.wantOwn(t, "Daily/3.md")
}

// A text without full stops, however long, adds few pieces.
func TestPieces_bounded(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&long, "word%d ", i)
	}
	if n := len(origin.Pieces([]byte(long.String()))); n != 65 {
		t.Errorf("%d pieces of one sentence, want it and 64 runs", n)
	}
	long.Reset()
	for i := range 17 {
		fmt.Fprintf(&long, "This is sentence number %d of a text that has more than a few of them.\n", i)
	}
	if n := len(origin.Pieces([]byte(long.String()))); n != 17 {
		t.Errorf("%d pieces of 17 sentences", n)
	}
}

// A person's word ends it, for this file and for its sentences elsewhere; in a folder of foreign files for the content alone.
func TestBook_clear(t *testing.T) {
	t.Parallel()
	v := importReport(t)
	v.put("Notes/h.md", mine+paragraph)
	v.wantForeign(t, "Notes/h.md", imported)
	clear := func(name string) {
		t.Helper()
		if err := v.book.Clear(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	clear("Notes/h.md")
	v.wantOwn(t, "Notes/h.md")
	v.put("Notes/h.md", mine+paragraph+"An edit.\n")
	v.wantOwn(t, "Notes/h.md")
	v.put("Notes/h.md", mine+report)
	v.wantForeign(t, "Notes/h.md", imported)
	clear("Imported/report/index.md")
	v.wantOwn(t, "Imported/report/index.md")
	v.put("Imported/report/index.md", report+"A new version has other things to say.\n")
	v.wantForeign(t, "Imported/report/index.md")
}

// Rules hold without any record.
func TestBook_rules(t *testing.T) {
	t.Parallel()
	const manifest = `{"version":1,"source":{"name":"report.pdf","sha256":"aa"},"import":{"id":"01J"}}`
	v := newVault(map[string]string{
		"Clippings/a.md": "x", "clippings/Sub/b.md": "x", "Notes/c.md": "x",
		"d.md": "---\ntitle: x\nSource: https://example.org\n---\n", "e.md": "---\nsource:\n---\n", "f.md": "text\n---\nsource: a\n---\n",
		"g.md": "\ufeff---\r\n\"url\":\r\n  - a\r\n---\r\n", "h.md": "---\nurls: a\nnested:\n  url: b\n---\n",
		"Filed/report/manifest.json": manifest, "Filed/report/index.md": "x", "Filed/report/pages/page_1.png": "x",
		"App/manifest.json": `{"version":"1","name":"an app"}`, "App/readme.md": "x",
	})
	v.book.Store = nil
	v.book.Rules = origin.Rules{Globs: []string{"Clippings/**"}, Properties: []string{"source", "url"}}
	var foreign []string
	for name := range v.MapFS {
		if is, _ := v.origins(t, name); is && !strings.HasSuffix(name, ".json") {
			foreign = append(foreign, name)
		}
	}
	slices.Sort(foreign)
	want := []string{"Clippings/a.md", "Filed/report/index.md", "Filed/report/pages/page_1.png", "clippings/Sub/b.md", "d.md", "g.md"}
	if diff := cmp.Diff(want, foreign); diff != "" {
		t.Errorf("foreign (-want +got):\n%s", diff)
	}
	v.wantForeign(t, "Filed/report/index.md", imported)
}

// The list of what something comes from does not grow with every hop, and no name gets lines of its own into a record.
func TestOfRun(t *testing.T) {
	t.Parallel()
	shown := []string{"file Notes/b.md", "run 01A (First)", "web https://example.org/"}
	for range 30 {
		shown = origin.OfRun("01B", "Second\nthird", append([]string{"file a.md"}, shown...))
	}
	if diff := cmp.Diff([]string{"run 01B (Second third)", "web https://example.org/"}, shown); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	got := origin.OfRun("01B", "w", []string{"file Clippings/a.md"})
	if diff := cmp.Diff([]string{"run 01B (w)", "file Clippings/a.md"}, got); diff != "" {
		t.Errorf("nothing but files: -want +got:\n%s", diff)
	}
}

// A picture is read whole only if one of its size is on record: a prompt may ask about hundreds.
func TestBook_readsHeads(t *testing.T) {
	t.Parallel()
	big := func(fill string) string { return "\xff\xd8\x00" + strings.Repeat(fill, 1<<20) }
	v := newVault(map[string]string{"own.jpg": big("a") + "1", "moved.jpg": big("b"), "same size.jpg": big("c")})
	files := &counting{FS: v.MapFS}
	v.book.FS = files
	if err := v.book.Arrived(t.Context(), hash(big("b")), int64(len(big("b"))), imported); err != nil {
		t.Fatal(err)
	}
	v.wantOwn(t, "own.jpg")
	if files.bytes > 64<<10 {
		t.Errorf("%d bytes of a picture were read, and nothing of its size is on record", files.bytes)
	}
	v.wantForeign(t, "moved.jpg", imported)
	v.wantOwn(t, "same size.jpg")
	if err := v.book.Moving(t.Context(), "moved.jpg", "Pictures/b.jpg", hash(big("b"))); err != nil {
		t.Fatal(err)
	}
	files.bytes = 0
	if v.wantOwn(t, "own.jpg"); files.bytes > 64<<10 {
		t.Errorf("after a move %d bytes of a picture were read", files.bytes)
	}
	v.put("Pictures/b.jpg", big("d")+"12")
	v.wantForeign(t, "Pictures/b.jpg", imported) // by its name
	v.put("a.bin", "---\nsource: web\n---\n\x00"+big("e"))
	v.book.Rules.Properties = []string{"source"}
	v.wantForeign(t, "a.bin")
}

// counting counts the bytes that are read.
type counting struct {
	fs.FS
	bytes int
}

func (c *counting) Open(name string) (fs.File, error) {
	f, err := c.FS.Open(name)
	return countedFile{f, c}, err
}

type countedFile struct {
	fs.File
	by *counting
}

func (f countedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.by.bytes += n
	return n, err
}
