//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/settings/schemas"
)

// packed is an archive with two files, and one that no import folder takes.
func packed(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"in/one.txt": "one", "in/deep/two.csv": "a,b\n", "half.part": "x"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImport_archiveWithItsFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	outside := filepath.Join(t.TempDir(), "box.zip")
	if err := os.WriteFile(outside, packed(t), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Must("import", outside)
	if all := s.Imports(); len(all) != 3 {
		t.Errorf("not three imports:\n%s", describe(all))
	}
	for _, name := range []string{"box.zip", "in/one/one.txt", "in/deep/two/two.csv"} {
		if s.Read("Imported/box/"+name) == "" {
			t.Errorf("no %s in the archive's bundle", name)
		}
	}
	if entries, err := os.ReadDir(s.Path("Import")); err != nil || len(entries) != 0 {
		t.Errorf("left in the import folder: %v, %v", entries, err)
	}
	if note := s.Read("Imported/box/box.md"); !strings.Contains(note, "half.part was left in the archive") {
		t.Errorf("note:\n%s", note)
	}
}

func TestServe_shadowDoesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "ingestion: {router: shadow}\n")
	d := s.serve()
	s.write("Import/a.txt", "hello")
	s.Wait(patience, "the file to be classified", func() (bool, string) {
		all := s.Imports()
		return len(all) == 1 && all[0].State == engine.ImportSeen && strings.Contains(all[0].Reason, "would be imported as text (text/plain) by text"), describe(all)
	})
	if s.Read("Import/a.txt") != "hello" || len(s.Files("Imported", "")) != 0 {
		t.Error("something was done")
	}
	d.alive()
}

// Settings of a folder that cannot be used let its files wait, with a note; corrected, they are used.
func TestServe_settingsOfAFolder(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Import/Bills/_import.yaml", "tags: [two words]\n")
	d := s.serve()
	s.write("Import/Bills/2026/a.txt", "hello")
	const note = "Import/Bills/_import.yaml.failed.md"
	s.Wait(patience, "the fault to be told", func() (bool, string) {
		all := s.Imports()
		_, err := os.Stat(s.Path(note))
		return err == nil && len(all) == 1 && strings.Contains(all[0].Reason, "is not a tag"), describe(all)
	})
	if text := s.Read(note); !strings.Contains(text, `line 1: tags: "two words" is not a tag`) {
		t.Errorf("note:\n%s", text)
	}
	s.write("Import/Bills/_import.yaml", "tags: [bill]\n")
	r := s.ended(1)["Import/Bills/2026/a.txt"]
	if text := s.Read(r.Note); r.State != engine.ImportDone || !strings.Contains(text, "tags: [imported/text, bill]") {
		t.Errorf("%+v\n%s", r, text)
	}
	s.Wait(patience, "the note to go", func() (bool, string) {
		_, err := os.Stat(s.Path(note))
		return os.IsNotExist(err), "it is there"
	})
	d.alive()
}

// A word that is no code of a language is refused before anything is imported.
func TestImport_refusesWordsForLanguages(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		refuse bool
	}{{"klingon", true}, {"Deutsch", true}, {"de", true}, {"deu", false}, {"chi_sim", false}, {"auto", false}} {
		f := importFlags{}
		f.Languages = []string{test.name}
		if err := f.check([]string{"a.pdf"}); (err != nil) != test.refuse || test.refuse && !strings.Contains(err.Error(), "deu for German") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// What was said to be done about a failure is done; the same import succeeds, and its note goes.
func TestImport_retryUsesTheSettingsOfNow(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "ingestion: {max_file_size: 1KiB}\n")
	s.write("out/big.txt", strings.Repeat("words ", 500))
	if _, _, code := s.CLI("import", s.Path("out/big.txt")); code != exitFailed {
		t.Fatalf("exit code %d", code)
	}
	failed := s.Imports()[0]
	if failed.Code != "too_large" || failed.Filed != "Import/Failed/big.txt" || s.Read(failed.Filed+".failed.md") == "" {
		t.Fatalf("%+v", failed)
	}
	s.write("settings.yaml", quick)
	s.Must("import", "--retry", failed.ID)
	if r := s.Imports()[0]; r.ID != failed.ID || r.State != engine.ImportDone || r.Bundle != "Imported/big" {
		t.Errorf("%+v", r)
	}
	if left := s.Files("Import", ""); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// The user puts a good file in the place of one that failed, keeps its name, and asks for it again. It is imported, its note goes,
// and no failure is listed any more.
func TestImport_retryOfReplacedFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("out/report.docx", "")
	if _, _, code := s.CLI("import", s.Path("out/report.docx")); code != exitFailed {
		t.Fatalf("exit code %d", code)
	}
	failed := s.Imports()[0]
	s.write(failed.Filed, "four ropes\n")
	s.Must("import", "--retry", failed.ID)
	if text := s.Read("Imported/report/report.md"); !strings.Contains(text, "four ropes") {
		t.Error(text)
	}
	if left := s.Files("Import", ""); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if said := s.Must("status"); strings.Contains(said, failed.ID) {
		t.Errorf("still listed:\n%s", said)
	}
	if out, errs, code := s.CLI("import", "--retry", failed.ID); code != exitFailed || !strings.Contains(out, "put it into the import folder") {
		t.Errorf("%d %s%s", code, out, errs)
	}
}

// An old layer of recognised text is kept, unless it is asked for anew.
func TestImport_redoOCR(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "")
	s.Write("out/old.pdf", pdftest.New().InvisibleTextScan([]string{"Tha harbour offlce opens", "at seuen in the morning"}, scanLines...).Bytes())
	decided := func(args ...string) string {
		t.Helper()
		s.Must(append([]string{"import", s.Path("out/old.pdf")}, args...)...)
		return s.manifest("Imported/old").Pages[0].OCR.Reason
	}
	if got := decided(); !strings.HasPrefix(got, "old_ocr_layer: ") {
		t.Errorf("without the flag: %s", got)
	}
	if got := decided("--redo-ocr"); !strings.HasPrefix(got, "redo: ") {
		t.Errorf("with the flag: %s", got)
	}
}

// Every manifest of real imports is as the published schema says.
func TestImport_manifestsOfTheTestVault(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "")
	house := filepath.Join("..", "..", "testdata", "vault")
	var files []string
	for _, dir := range []string{"Documents", "Attachments"} {
		err := fs.WalkDir(os.DirFS(house), dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.Contains(name, "120 pages") && !strings.Contains(name, "Photos/") {
				full, err := filepath.Abs(filepath.Join(house, name))
				files = append(files, full)
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	box := filepath.Join(t.TempDir(), "box.zip")
	if err := os.WriteFile(box, packed(t), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, _ := s.CLI(append([]string{"import", box}, files...)...)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	raw, _ := schemas.Get("manifest")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil {
		err = c.AddResource("schema:manifest", doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema:manifest")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, r := range s.Imports() {
		if r.Bundle == "" || r.State == engine.ImportDuplicate {
			continue
		}
		m, err := jsonschema.UnmarshalJSON(strings.NewReader(s.Read(r.Bundle + "/manifest.json")))
		if err == nil {
			err = schema.Validate(m)
		}
		if err != nil {
			t.Errorf("%s: %v", r.Bundle, err)
		}
		kinds[r.Kind]++
	}
	if kinds["pdf"] < 5 || kinds["image"] < 5 || kinds["archive"] != 1 || kinds["text"] < 2 {
		t.Errorf("manifests by kind: %v of %d files\n%s", kinds, len(files), errs)
	}
	t.Logf("manifests by kind: %v", kinds)
}
