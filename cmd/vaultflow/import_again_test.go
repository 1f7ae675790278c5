//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"os"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/testdata/programtest"
)

// fakeOffice writes a program that makes a letter of every file, as soffice would.
func (s *site) fakeOffice() string {
	s.T.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("word/document.xml")
	if err == nil {
		_, err = w.Write([]byte(`<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>The letter about the roof</w:t></w:r></w:p></w:body></w:document>`))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		s.T.Fatal(err)
	}
	script := "#!/bin/bash\n[[ \"$*\" == *docx* ]] && echo " + base64.StdEncoding.EncodeToString(b.Bytes()) + " | base64 -d >out/document.docx\n"
	programtest.Write(s.T, s.Path("soffice.sh"), []byte(script))
	return s.Path("soffice.sh")
}

// office is the setting of LibreOffice from now on.
func (s *site) office(setting string) {
	s.Env = append(s.Env, "VAULTFLOW_INGESTION_OFFICE_LIBREOFFICE="+setting)
}

// What the note of a file that was not read says is done, to the end: then the file is read, wherever its bundle is.
func TestImport_whatIsSaidAboutLibreOffice(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "")
	s.office("no/soffice")
	s.write("out/letter.doc", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and the rest")
	again := func(says string, want int) {
		t.Helper()
		_, _, code := s.CLI("import", s.Path("out/letter.doc"))
		if code != want && code != exitDone {
			t.Errorf("exit code %d", code)
		}
		if text := s.Read("Imported/letter/letter.md"); !strings.Contains(text, says) {
			t.Errorf("no %q in\n%s", says, text)
		}
	}
	s.Must("trust", "--revoke")
	again("not trusted yet: run vaultflow trust, then drop the file again", exitOmissions)
	if r := s.Imports()[0]; r.State != engine.ImportPartial || !strings.Contains(r.Reason, "the file was not read: LibreOffice is not started") {
		t.Errorf("%+v", r)
	}
	s.Must("trust", "--own")
	again("correct this setting, or set it to auto, then drop the file again", exitOmissions)
	s.office("off")
	again("set ingestion.office.libreoffice to auto, then drop the file again", exitOmissions)
	s.office(s.fakeOffice())
	s.write("Imported/letter/letter.md", s.Read("Imported/letter/letter.md")+"\nMy words.\n")
	again("The letter about the roof", exitDone)
	again("My words.", exitDone) // a duplicate
	if all := s.Imports(); len(s.Files("Imported", ".doc")) != 1 || len(s.Files("Import", "")) != 0 || all[len(all)-1].State != engine.ImportDone || all[0].State != engine.ImportDuplicate {
		t.Errorf("%q %+v", s.Files("", ""), all)
	}
}

// The command that is shown does the same as dropping the file again.
func TestImport_retryOfFileThatWasNotRead(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "")
	s.write("out/letter.doc", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and the rest")
	said, _, _ := s.CLI("import", s.Path("out/letter.doc"))
	id := s.Imports()[0].ID
	if !strings.Contains(said, "vaultflow import --retry "+id) {
		t.Errorf("said %s", said)
	}
	s.office(s.fakeOffice())
	s.Must("import", "--retry", id)
	if text := s.Read("Imported/letter/letter.md"); !strings.Contains(text, "The letter about the roof") {
		t.Error(text)
	}
}

// A note that the user deleted comes back when the file is dropped again, and nothing else changes.
func TestImport_droppedAgainWithoutItsNote(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("out/list.txt", "four ropes\n")
	s.Must("import", s.Path("out/list.txt"))
	was := s.Read("Imported/list/list.md")
	s.write("Imported/list/mine.md", "my own note\n")
	if err := os.Remove(s.Path("Imported/list/list.md")); err != nil {
		t.Fatal(err)
	}
	s.Must("import", s.Path("out/list.txt"))
	if left := s.Files("Import", ""); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if got := s.Read("Imported/list/list.md"); got != was || s.Read("Imported/list/mine.md") != "my own note\n" {
		t.Errorf("note:\n%s\nwas:\n%s", got, was)
	}
	if all := s.Files("Imported", ""); len(all) != 5 {
		t.Errorf("%q", all)
	}
	if err := os.Remove(s.Path("Imported/list/list.md")); err != nil {
		t.Fatal(err)
	}
	s.write("out/other.txt", "four ropes\n")
	s.Must("import", s.Path("out/other.txt"))
	if r := s.Imports()[0]; r.State != engine.ImportDuplicate || r.Bundle != "Imported/list" || s.Read("Imported/list/list.md") != was {
		t.Errorf("%+v", r)
	}
}

// An import that was killed is continued by the same command. Whoever followed it, or looks for it meanwhile, learns that nobody works on it.
func TestImport_againAfterKill(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "")
	deaf := s.Path("deaf-worker")
	programtest.Write(t, deaf, []byte("#!/bin/sh\n[ -f /dev/fd/3 ] || exit 1\ncat >/dev/null\n"))
	hearing := s.Env
	s.Env = append(s.Env[:len(s.Env):len(s.Env)], "VAULTFLOW_INGESTION_WORKER="+deaf)
	s.Write("out/letter.pdf", pdftest.New().TextPage(pdftest.Text("The letter about the roof")...).Bytes())
	d := s.serve()
	follows := s.Command("import", s.Path("out/letter.pdf"))
	var said bytes.Buffer
	follows.Stderr = &said
	if err := follows.Start(); err != nil {
		t.Fatal(err)
	}
	s.Wait(patience, "an import in the worker", func() (bool, string) {
		all := s.Imports()
		return len(all) == 1 && all[0].State == engine.ImportWorking && all[0].Reason == "", describe(all)
	})
	d.Kill()
	if err := follows.Wait(); err == nil || !strings.Contains(said.String(), "`vaultflow import --retry "+s.Imports()[0].ID+"`, or the next serve, continues it") {
		t.Errorf("ended with %v: %s", err, said.String())
	}
	if r := s.Imports()[0]; !strings.Contains(r.Reason, "interrupted") || !strings.Contains(r.Reason, "--retry "+r.ID) {
		t.Errorf("%+v", r)
	}
	s.Env = hearing
	s.Must("import", s.Path("out/letter.pdf"))
	if all := s.Imports(); len(all) != 1 || all[0].State != engine.ImportDone || !strings.Contains(s.Read("Imported/letter/letter.md"), "about the roof") {
		t.Errorf("%s", describe(all))
	}
}
