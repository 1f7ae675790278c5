//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

const sesame = "open-sesame-7391"

// withPassword runs a command with the password on its standard input.
func (s *site) withPassword(password string, args ...string) (errs string, code int) {
	s.T.Helper()
	cmd := s.Command(args...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(password+"\n"), &said
	if err := cmd.Run(); cmd.ProcessState == nil {
		s.T.Fatal(err)
	}
	return said.String(), cmd.ProcessState.ExitCode()
}

// keepsNot looks for the password in everything that was written.
func (s *site) keepsNot(password string) {
	s.T.Helper()
	for _, dir := range []string{s.Vault, s.State} {
		eachFile(s.T, os.DirFS(dir), func(name string, data []byte) {
			if bytes.Contains(data, []byte(password)) {
				s.T.Errorf("%s holds the password", filepath.Join(dir, name))
			}
		})
	}
}

func TestImport_passwordFromStandardInput(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{false, true} {
		s := newSite(t, worker(t), "")
		s.Write("out/locked.pdf", pdftest.New().TextPage(pdftest.Text("Hidden words on this page")...).UserPassword(sesame).Bytes())
		if running {
			s.serve()
		}
		_, code := s.withPassword("wrong", "import", "--password-stdin", s.Path("out/locked.pdf"))
		failed := s.Imports()[0]
		if code == exitDone || failed.State != engine.ImportNeedsPassword {
			t.Errorf("a wrong one: exit code %d, %+v", code, failed)
		}
		if said, code := s.withPassword(sesame, "import", "--password-stdin", "--retry", failed.ID); code != exitDone {
			t.Fatalf("serve running %v: exit code %d, %s", running, code, said)
		}
		made := s.Imports()[0]
		if text := s.Read(made.Note); !strings.Contains(text, "Hidden words on this page") {
			t.Errorf("the note says %s", text)
		}
		s.keepsNot(sesame)
	}
}

func TestImport_passwordThatIsNone(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("a.txt", "text")
	for _, args := range [][]string{{"import", "--password-stdin"}, {"import", "--password-stdin", "-"}} {
		if said, code := s.withPassword(sesame, args...); code != exitUsage || !strings.Contains(said, "--password-stdin") {
			t.Errorf("%v: exit code %d, %s", args, code, said)
		}
	}
	if said, code := s.withPassword("", "import", "--password-stdin", s.Path("a.txt")); code != exitUsage || !strings.Contains(said, "no password") {
		t.Errorf("an empty one: exit code %d, %s", code, said)
	}
}
