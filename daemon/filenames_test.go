package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/daemon/control"
	"github.com/vaultflow/vaultflow/workflow"
)

// fill writes the files of a vault, by name.
func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A person names a file in any way that means one file; anything else is refused with what to write.
func TestFileNamed(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "scan.pdf")
	fill(t, dir, map[string]string{
		"Note.md": "---\naliases: [My Alias]\n---\n", "N/a.md": "a", "N/both.md": "b", "both.md": "b", "One/twin.md": "1", "Two/twin.md": "2", "N/N.txt": "x",
		"Imported/Book/Book.md": "x", "Imported/Book/Book.pdf": "x", "Imported/Book/manifest.json": `{"version": 1, "note": "Book.md"}`,
		"Imported/Old/index.md": "x", "Imported/Old/manifest.json": `{"version": 1}`, "Plain.md": "p", "Plain/x.md": "x",
		"Imported/Paper/Paper.md": "x", "Imported/Paper/manifest.json": `{"version": 1, "note": "Paper.md"}`,
		"Imported/Paper (version 1)/Paper.md": "x", "Imported/Paper (version 1)/manifest.json": `{"version": 1, "note": "Paper.md"}`,
		"Imported/Tide/Tide.md": "x", "Tides/Tide.md": "what a workflow wrote about it",
	})
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := openTest(t, Options{Dir: dir, StateDir: t.TempDir()})
	sub := filepath.Join(dir, "N")
	for _, tt := range []struct{ written, cwd, want, fault string }{
		{"Note.md", "", "Note.md", ""},
		{" Note ", "", "Note.md", ""},
		{"./Note.md", "", "Note.md", ""},
		{"/Note.md", "", "Note.md", ""},
		{"note.md", "", "Note.md", ""},
		{"[[Note]]", "", "Note.md", ""},
		{"![[Note#Part|shown]]", "", "Note.md", ""},
		{"My Alias", "", "Note.md", ""},
		{"[[my alias]]", "", "Note.md", ""},
		{"Imported/Book", "", "Imported/Book/Book.md", ""},
		{"Imported/Book/", "", "Imported/Book/Book.md", ""},
		{"Imported/Book/index.md", "", "Imported/Book/Book.md", ""},
		{"Imported/Book/Book.pdf", "", "Imported/Book/Book.pdf", ""},
		{"Imported/Old", "", "Imported/Old/index.md", ""},
		{"Book", "", "Imported/Book/Book.md", ""},
		{"Plain", "", "Plain.md", ""},
		{`N\a.md`, "", "N/a.md", ""},
		{"N//a.md", "", "N/a.md", ""},
		{filepath.Join(dir, "N", "a.md"), "", "N/a.md", ""},
		{"file://" + filepath.ToSlash(filepath.Join(dir, "My%20x", "..", "N", "a.md")), "", "N/a.md", ""},
		{"a.md", sub, "N/a.md", ""},
		{"./a", sub, "N/a.md", ""},
		{"../Note.md", sub, "Note.md", ""},
		{"../" + filepath.Base(dir) + "/Note.md", filepath.Dir(filepath.Join(dir, "x")), "Note.md", ""},
		{"N/a.md", sub, "N/a.md", ""},
		{"./both.md", sub, "N/both.md", ""},
		{"../both.md", sub, "both.md", ""},
		{"Note.md", sub, "Note.md", ""},
		{"both.md", sub, "", `"both.md" means both.md in the vault, and N/both.md from this folder`},
		{"twin", "", "", "fits several files: write One/twin.md or Two/twin.md"},
		{"Paper", "", "Imported/Paper/Paper.md", ""},
		{"Tide", "", "", "fits several files: write Imported/Tide/Tide.md or Tides/Tide.md"},
		{"[[tide]]", "", "", "fits several files: write"},
		{"Tide/Tide", "", "Imported/Tide/Tide.md", ""},
		{"N", "", "", `"N" is a folder; name a file, such as N/N.txt, N/a.md or N/both.md`},
		{"N/*.md", "", "", "names no single file"},
		{"Noet.md", "", "", "did you mean Note.md"},
		{"", "", "", "the file's name is empty"},
		{"../../x.md", "", "", "there is no file"},
		{outside, "", "", "there is no file"},
		{outside, dir, "", "bring it in with `vaultflow import "},
		{filepath.Join(dir, "none.md"), dir, "", "there is no file"},
	} {
		got, err := a.Workflows.FileNamed(tt.written, tt.cwd)
		if got != tt.want || (err == nil) != (tt.fault == "") {
			t.Errorf("%q from %q: %q, %v; want %q", tt.written, tt.cwd, got, err, tt.want)
			continue
		}
		if err != nil && (!strings.Contains(err.Error(), tt.fault) || control.ClassOf(err) != control.Usage) {
			t.Errorf("%q from %q: %v; want %s", tt.written, tt.cwd, err, tt.fault)
		}
	}
}

// No run is about what models may not read.
func TestFiles_closed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fill(t, dir, map[string]string{"settings.yaml": "{}\n", "secrets.yaml": "{}\n", "Notes/settings.yaml": "x", "Workflows/_Approvals/r1.md": "x", "Workflows/A.md": "## A\n@input trigger\n@output file: B\nx\n"})
	a := openTest(t, Options{Dir: dir, StateDir: t.TempDir()})
	plan, _ := workflow.Parse("A", "Workflows/A.md", []byte("## A\n@input trigger\n@output file: B\nx\n"))
	for name, want := range map[string]bool{"settings.yaml": false, "secrets.yaml": false, "Workflows/_Approvals/r1.md": false, "Notes/settings.yaml": true} {
		if _, err := a.Workflows.Files(plan, nil, []string{name}); (err == nil) != want || err != nil && control.ClassOf(err) != control.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A workflow is named by its name, its file or a link.
func TestWorkflows_is(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := &Workflows{dir: dir}
	plan := &workflow.Plan{Name: "daily/Plan", File: "Workflows/daily/Plan.md"}
	for name, want := range map[string]bool{
		"daily/Plan": true, "DAILY/plan.md": true, "Workflows/daily/Plan": true, "./Workflows/daily/plan.md": true, "[[daily/Plan]]": true,
		filepath.Join(dir, "Workflows", "daily", "Plan.md"): true, "Plan": false, "x/Workflows/daily/Plan.md": false, "": false,
	} {
		if got := w.Is(plan, name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
