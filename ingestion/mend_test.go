package ingestion

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/attempts"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

var errEnded = &extract.Error{Code: failure.Crashed, Outside: true, Message: "ended from outside"}

// A worker that is ended from outside costs a page nothing; a page during which this happened twice is put aside, also by the next
// import of the document, until somebody asks for it again.
func TestExtract_workerEndedFromOutside(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 4})
	b.im.Attempts = attempts.New(nil)
	kills := map[int]int{2: 1, 4: 9}
	b.worker.page = func(r extract.PageRequest, n int) (extract.Page, error) {
		if r.Image && n <= kills[r.N] {
			return extract.Page{}, errEnded
		}
		return goodPage(r), nil
	}
	made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	m, _ := b.im.manifest(made.Bundle)
	if p := m.Pages[1]; p.Status != manifest.PageDone || p.Image.DPI != 150 || p.Lacks != "" {
		t.Errorf("page 2 is %+v with %+v, want it in full", p, p.Image)
	}
	if p := m.Pages[3]; p.Status != manifest.PageFailed || !strings.Contains(p.Error, "put aside") || !strings.Contains(p.Error, "vaultflow import --retry") {
		t.Errorf("page 4 is %s: %q", p.Status, p.Error)
	}
	asked := func() (n int) {
		for _, r := range b.worker.requests {
			if r.Image && r.N == 4 {
				n++
			}
		}
		b.worker.requests = nil
		return n
	}
	if n := asked(); n != 2 {
		t.Errorf("page 4 was drawn %d times, want 2", n)
	}
	j := b.drop("imp-2", "Import/again.pdf", pdfBytes)
	j.Again = true
	if b.mustRun(j); asked() != 0 {
		t.Error("a page that is put aside was tried again")
	}
	kills[4] = 0
	if err := b.im.Attempts.Again(t.Context(), "imp-2", j.SHA256); err != nil {
		t.Fatal(err)
	}
	j.Source, b.worker.tries = "Import/more.pdf", nil
	b.vault.Put(j.Source, string(pdfBytes))
	made, _ = b.mustRun(j)
	if m, _ := b.im.manifest(made.Bundle); m.Pages[3].Status != manifest.PageDone {
		t.Errorf("asked for again, page 4 is %+v", m.Pages[3])
	}
}

// This program was ended twice in the middle of an import that had not come further: it is put aside. Progress, or an end of any
// kind, forgets it.
func TestExtract_daemonEndedInIt(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	log := attempts.New(nil)
	for range 2 { // what a killed process leaves: a beginning without an end
		if _, err := attempts.New(log.Book()).Begin(ctx, "imp-1", 0); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, extract.Document{Pages: 2})
	b.im.Attempts = attempts.New(log.Book())
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	_, _, err := b.run(j)
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Transient || !strings.Contains(e.Remedy, "vaultflow import --retry imp-1") || len(b.worker.requests) != 0 {
		t.Fatalf("got %v after %d requests", err, len(b.worker.requests))
	}
	if err := b.im.Attempts.Again(ctx, "imp-1", j.SHA256); err != nil {
		t.Fatal(err)
	}
	b.mustRun(j)
	if n, err := log.Book().Attempts(ctx, "import:imp-1;"); n != 0 || err != nil {
		t.Errorf("after its end, %d attempts are counted, %v", n, err)
	}
}

// halfMade is a bundle with a page at half the resolution and one that failed, in which a person has written.
func halfMade(t *testing.T) (*bench, Job) {
	t.Helper()
	b := newBench(t, extract.Document{Pages: 4})
	b.worker.page = func(r extract.PageRequest, n int) (extract.Page, error) {
		if r.Image && (r.N == 2 && n == 1 || r.N == 4) {
			return extract.Page{}, &extract.Error{Code: failure.Memory, Message: "needed more memory"}
		}
		return goodPage(r), nil
	}
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	j.Settings.Sessions = 1
	made, filed := b.mustRun(j)
	b.vault.Put(made.Note, b.read(made.Note)+"\nMy words.\n")
	b.worker.requests, b.worker.tries, b.worker.page = nil, nil, nil
	j.Where, j.Mend, j.Again = filed.Name, made.Bundle, true
	b.revive(0)
	return b, j
}

// Missing pages are made again and no others; they replace what was in the bundle, and a kill at any moment loses nothing.
func TestMend_makesOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	b, j := halfMade(t)
	if m, _ := b.im.manifest(j.Mend); m.Pages[1].Lacks == "" || m.Pages[1].Status != manifest.PagePartial || m.Pages[3].Status != manifest.PageFailed {
		t.Fatalf("pages %+v", m.Pages)
	}
	hasAll(t, b.read("Imported/q3/q3.md"), "page 2: made at half the resolution (needed more memory)", "page 4 could not be read")
	if err := b.resume(j, &journal{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.worker.requests {
		if r.N != 2 && r.N != 4 {
			t.Errorf("page %d was whole and was asked for again", r.N)
		}
	}
	want, changes := b.tree(), len(b.fuse.ops)
	m, _ := b.im.manifest(j.Mend)
	for _, p := range m.Pages {
		if p.Status != manifest.PageDone || p.Image == nil || p.Image.DPI != 150 || sum([]byte(b.read("Imported/q3/"+p.Image.Path))) != p.Image.SHA256 {
			t.Errorf("page %+v", p)
		}
	}
	note := b.read("Imported/q3/q3.md")
	hasAll(t, note, "![[./pages/page_0004.png]]", "My words.")
	hasNone(t, note, "half the resolution", "could not be read")
	if m.Import.Version != 1 || len(m.Import.Warnings) != 0 || len(m.Import.History) != 1 || m.Import.History[0].Event != "mended" || len(b.hidden()) != 0 {
		t.Errorf("version %d, warnings %q, history %+v, hidden %v", m.Import.Version, m.Import.Warnings, m.Import.History, b.hidden())
	}
	if want["Imported/q3/q3.pdf"] != string(pdfBytes) || changes < 8 {
		t.Fatalf("%d changes left %v", changes, names(want))
	}
	for at := 1; at <= changes; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			b, j := halfMade(t)
			b.revive(at)
			var done journal
			if err := b.resume(j, &done); !errors.Is(err, errKilled) {
				t.Fatalf("the process was not killed: %v", err)
			}
			b.revive(0)
			if err := b.resume(j, &done); err != nil {
				t.Fatal(err)
			}
			got := b.tree()
			if strings.Count(got["Imported/q3/manifest.json"], "mended") > 1 {
				got["Imported/q3/manifest.json"] = want["Imported/q3/manifest.json"] // killed after it was written: mended twice
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("another vault than without the crash (-want +got):\n%s", diff)
			}
		})
	}
}

// What came out worse than it was, and what a person changed, stays.
func TestMend_keepsWhatIsBetter(t *testing.T) {
	t.Parallel()
	b, j := halfMade(t)
	before := b.read("Imported/q3/pages/page_0002.png")
	b.vault.Put("Imported/q3/q3.md", strings.Replace(b.read("Imported/q3/q3.md"), "Text of page 1", "My text of page 1", 1))
	note := b.read("Imported/q3/q3.md")
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		if r.Image && r.N == 2 {
			return extract.Page{}, &extract.Error{Code: failure.Timeout, Message: "took too long"}
		}
		return goodPage(r), nil
	}
	if err := b.resume(j, &journal{}); err != nil {
		t.Fatal(err)
	}
	m, _ := b.im.manifest(j.Mend)
	if m.Pages[1].Lacks == "" || m.Pages[3].Status != manifest.PageDone || b.read("Imported/q3/pages/page_0002.png") != before || b.read("Imported/q3/q3.md") != note {
		t.Errorf("pages %+v, note\n%s", m.Pages, b.read("Imported/q3/q3.md"))
	}
}

// A file that could not be read for want of LibreOffice is read into its bundle once that is there.
func TestMend_fileThatWasNotRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	b.im.NoOffice = "LibreOffice is not started, because this vault is not trusted yet: run vaultflow trust"
	j := b.drop("imp-1", "Import/old.doc", []byte(oldWord))
	made, filed := b.mustRun(j)
	hasAll(t, b.read(made.Note), "not trusted yet: run vaultflow trust, then drop the file again")
	if m := b.manifest(made); m.Import.Lacks == "" || !m.Again() {
		t.Errorf("manifest %+v", m.Import)
	}
	schema, _ := manifestSchema(t)
	conforms(t, schema, "manifest.json", b.read(path.Join(made.Bundle, manifest.File)))
	b.vault.Put(made.Note, b.read(made.Note)+"\nMy words.\n")
	b.im.Office = &fakeOffice{made: map[string]string{"pdf": "%PDF-", "docx": string(docxOf(t))}, most: 9}
	j.Where, j.Mend, j.Again = filed.Name, made.Bundle, true
	if err := b.resume(j, &journal{}); err != nil {
		t.Fatal(err)
	}
	m := b.manifest(made)
	if len(m.Pages) != 1 || len(m.Assets) != 1 || m.Import.Lacks != "" || m.Import.Version != 1 || m.Again() {
		t.Fatalf("manifest %+v", m)
	}
	if sum([]byte(b.read(path.Join(made.Bundle, m.Assets[0].Path)))) != m.Assets[0].SHA256 {
		t.Error("the picture of the text is not in the bundle")
	}
	note := b.read(made.Note)
	hasAll(t, note, "# Report", "My words.", "old.doc")
	hasNone(t, note, "vaultflow trust")
}

// A note that the user deleted is made again from the pages in the bundle. One that has another name now is not missing.
func TestMend_noteThatIsGone(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 2})
	j := b.drop("imp-1", "Import/q3.pdf", pdfBytes)
	made, filed := b.mustRun(j)
	want := b.tree()
	if Lacks(b.vault.FS(), made.Bundle) {
		t.Error("nothing is missing")
	}
	b.vault.Put("Imported/q3/Beans.md", b.read(made.Note))
	b.vault.Delete(made.Note)
	if Lacks(b.vault.FS(), made.Bundle) {
		t.Error("the note is there under another name")
	}
	b.vault.Delete("Imported/q3/Beans.md")
	if !Lacks(b.vault.FS(), made.Bundle) || !NoteGone(b.vault.FS(), made.Bundle) {
		t.Error("the note is gone")
	}
	b.worker.requests = nil
	j.Where, j.Mend, j.Again = filed.Name, made.Bundle, true
	if err := b.resume(j, &journal{}); err != nil {
		t.Fatal(err)
	}
	got := b.tree()
	got["Imported/q3/manifest.json"] = want["Imported/q3/manifest.json"]
	if diff := cmp.Diff(want, got); diff != "" || len(b.worker.requests) != 0 {
		t.Errorf("asked for %v (-want +got):\n%s", b.worker.requests, diff)
	}
}
