package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/vault"
)

func TestFiles_thoseThatAWatcherReports(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "a.md", "In/b.md", "In/c.txt", "In/.hidden.md", ".obsidian/d.md", "Import/e.md", "In/f.sync-conflict-20260101-000000-ABCDEFG.md")
	files, unread, err := v.List(func(name string) bool { return strings.HasSuffix(name, ".md") })
	if err != nil || len(unread) > 0 {
		t.Fatal(unread, err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		info, err := os.Stat(filepath.Join(dir, f.Name))
		if err != nil || f.Size != info.Size() || !f.Modified.Equal(info.ModTime()) || f.SHA256 != "" {
			t.Errorf("%+v, want size and time of %+v, %v", f, info, err)
		}
	}
	if got := strings.Join(names, " "); got != "In/b.md a.md" {
		t.Errorf("files %q", got)
	}
}

// A file with its full size waits while another one beside it shows that its download is not finished.
func TestLook_unfinishedDownload(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, data, beside, want string }{
		{"a.pdf", "text", "a.pdf.aria2", "aria2 has not finished downloading it"},
		{"a.pdf", "", "a.pdf.part", "a browser has not finished downloading it"},
		{"a.pdf", "", "a.4vT_jfkd.pdf.part", "a browser has not finished downloading it"},
		{"a.pdf", "text", "a.pdf.part", ""},
		{"a.pdf", "", "b.pdf.part", ""},
	} {
		v, dir := tempVault(t, "In/b.md")
		for name, data := range map[string]string{tc.name: tc.data, tc.beside: "x"} {
			must(t, os.WriteFile(filepath.Join(dir, "In", name), []byte(data), 0o600))
		}
		f := v.look(request{name: "In/" + tc.name, arrival: true, force: true})
		if f.err != nil || f.writers.open != (tc.want != "") || f.writers.open && f.writers.reason() != tc.want {
			t.Errorf("%q beside %s: %+v, want %q", tc.data, tc.beside, f, tc.want)
		}
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "In/b.md")
	if err := os.WriteFile(filepath.Join(dir, "In", "b.md"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := v.Look("In/b.md")
	if err != nil || f.Size != 4 || f.Modified.IsZero() || f.SHA256 != vault.Digest([]byte("text")) {
		t.Errorf("%+v, %v", f, err)
	}
	for _, name := range []string{"In/none.md", "In"} {
		if _, err := v.Look(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want fs.ErrNotExist", name, err)
		}
	}
}
