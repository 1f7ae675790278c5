//go:build unix

package stories

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
)

// killWhen kills the daemon as soon as something is seen in the vault. It looks while the daemon is stopped.
func (s *story) killWhen(d *sitetest.Serving, what string, seen func() bool) {
	s.T.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience()); time.Now().Before(deadline); <-tick.C {
		d.Signal(syscall.SIGSTOP) // between two looks it runs for a millisecond
		if seen() {
			d.Kill()
			return
		}
		d.Signal(syscall.SIGCONT)
	}
	s.T.Fatalf("%s was not seen", what)
}

// serve is killed in the middle of a step that writes a note and moves a document: after the restart the move is made once, each link
// leads there, and the model is not asked again.
func TestFiling_killed(t *testing.T) {
	onlyLong(t)
	t.Parallel()
	s := begin(t, "")
	s.workflow("File", `on_import: "*receipt*"`, fenced(strings.Replace(filer, "@move trigger to: Receipts/{answer-year}/{answer-title}",
		"@output file: Notes/{trigger-name} read\n@move trigger to: Receipts/{answer-year}/{trigger-name} filed", 1)))
	const links = 40
	there := func(name string) bool { _, err := os.Stat(s.Path(name)); return err == nil }
	for i, point := range []string{"output", "folder", "note", "manifest", "first link", "half of the links", "last link"} {
		n := i + 3
		name := fmt.Sprintf("receipt %d", n)
		link := func(k int) string { return fmt.Sprintf("Links/%d/%02d.md", n, k) }
		for k := range links {
			s.Write(link(k), []byte("[["+name+"]]\n"))
		}
		dir := func() string {
			for _, file := range s.Files("Receipts", "manifest.json") {
				if strings.Contains(file, "/"+name+" filed/") {
					return strings.TrimSuffix(file, "/manifest.json")
				}
			}
			return ""
		}
		followed := func(k int) bool { return strings.Contains(s.Read(link(k)), "filed") }
		seen := map[string]func() bool{
			"output": func() bool { return there("Notes/" + name + " read.md") },
			"folder": func() bool { return dir() != "" },
			"note":   func() bool { return there(dir() + "/" + name + " filed.md") },
			"manifest": func() bool {
				return dir() != "" && strings.Contains(s.Read(dir()+"/manifest.json"), `"note": "`+name+" filed.md")
			},
			"first link":        func() bool { return followed(0) },
			"half of the links": func() bool { return followed(links / 2) },
			"last link":         func() bool { return followed(links - 1) },
		}[point]
		d := s.Serve()
		s.drop(name+".pdf", pdf("Receipt", sheets(n, 1, 0, 0)))
		s.killWhen(d, point, seen)
		t.Logf("killed at %s: note %t, link %t, %t", point, there(dir()+"/"+name+" filed.md"), followed(0), followed(links-1))
		d = s.Serve()
		s.ran("File", i+1)
		want := dir() + "/" + name + " filed.md"
		if !there(want) || !there(dir()+"/"+name+".pdf") || len(s.Files("Imported", "")) != 0 || len(s.Files("Receipts", "manifest.json")) != i+1 {
			t.Errorf("killed at %s: %q, below Imported %q", point, s.Files("Receipts", ""), s.Files("Imported", ""))
		}
		if is := s.Imports()[0]; is.Note != want || is.Bundle != dir() {
			t.Errorf("killed at %s: the import is recorded at %s, %s", point, is.Bundle, is.Note)
		}
		for k := range links {
			if got := s.Read(link(k)); got != "[["+name+" filed]]\n" {
				t.Errorf("killed at %s: %s is %q", point, link(k), got)
			}
		}
		if asks := len(s.service.asked()); asks != i+1 {
			t.Errorf("killed at %s: %d questions, want %d", point, asks, i+1)
		}
		if all := s.Files("Notes", ".md"); len(all) != i+1 {
			t.Errorf("killed at %s: notes %q", point, all)
		}
		s.quiet()
		d.Kill()
	}
}
