package disk

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/vault"
)

type want struct{ link, from, name string }

func checkLocate(t *testing.T, v *Vault, wants []want) {
	t.Helper()
	for _, w := range wants {
		got := v.Locate(w.link, w.from)
		if got.Name != w.name || got.Found != (w.name != "") {
			t.Errorf("[[%s]] from %q: got %+v, want %q", w.link, w.from, got, w.name)
		}
	}
}

// What was observed of Obsidian.
func TestLocate_observed(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Note.md", "zzzz/Note.md", "a/b/Note.md", "x.md", "a/x.md", "y.md", "Ext.md")
	checkLocate(t, v, []want{
		{"Note", "x.md", "Note.md"},
		{"Note", "zzzz/x.md", "Note.md"},
		{"Note", "a/b/x.md", "Note.md"},
		{"../y", "a/x.md", "y.md"},
		{"Ext.MD", "x.md", "Ext.md"},
		{"", "a/x.md", "a/x.md"},
	})
	must(t, os.Remove(filepath.Join(dir, "Note.md")))
	must(t, v.Refresh())
	checkLocate(t, v, []want{
		{"Note", "x.md", "a/b/Note.md"},
		{"Note", "zzzz/x.md", "zzzz/Note.md"},
		{"Note", "a/b/x.md", "a/b/Note.md"},
		{"b/Note", "x.md", "a/b/Note.md"},
	})
	put(t, dir, "b/Note.md", "")
	put(t, dir, "aaaaaaaa/Note.md", "")
	must(t, v.Refresh())
	checkLocate(t, v, []want{
		{"Note", "x.md", "b/Note.md"},
		{"Note", "zzzz/deep/x.md", "b/Note.md"},
		{"Note", "zzzz/x.md", "zzzz/Note.md"},
		{"b/Note", "a/b/x.md", "b/Note.md"},
	})
}

func TestLocate_forms(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "v1.2.md", "Quick switcher.md", "Cafe\u0301.md", "assets/Chart one.png", "a/n.md", "a/c/n2.md",
		".trash/Gone.md", ".obsidian/app.json", "a/Gone too.md", "~$lock.md", "no\u00a0break.md", "sub/deep/pic.png")
	put(t, filepath.Dir(dir), "outside.md", "secret")
	must(t, os.Symlink("../outside.md", filepath.Join(dir, "out.md")))
	must(t, os.Symlink("a/n.md", filepath.Join(dir, "alias.md")))
	must(t, v.Refresh())
	checkLocate(t, v, []want{
		{"v1.2", "", "v1.2.md"},
		{"quick switcher", "", "Quick switcher.md"},
		{" Quick\u00a0switcher ", "", "Quick switcher.md"},
		{"Café", "", "Cafe\u0301.md"},
		{"CAFÉ", "", "Cafe\u0301.md"},
		{"no break", "", "no\u00a0break.md"},
		{"chart ONE.PNG", "a/n.md", "assets/Chart one.png"},
		{`assets\Chart one.png`, "", "assets/Chart one.png"},
		{"/n", "", ""},
		{"/a/n", "", "a/n.md"},
		{"./n", "a/x.md", "a/n.md"},
		{"./n", "x.md", ""},
		{"c/n2", "", "a/c/n2.md"},
		{"/n2", "", ""},
		{"eep/pic.png", "", ""},
		{"deep/pic.png", "", "sub/deep/pic.png"},
		{"a/n/", "", "a/n.md"},
		{"Gone", "", ""},
		{".trash/Gone", "", ""},
		{".obsidian/app.json", "", ""},
		{"~$lock", "", ""},
		{"out", "", ""},
		{"alias", "", "alias.md"},
		{"../../etc/passwd", "a/n.md", ""},
		{"../../../../etc/passwd", "", ""},
		{"/etc/passwd", "", ""},
		{"file:///etc/passwd", "", ""},
		{"a\x00b", "", ""},
		{"..", "", ""},
		{".", "", ""},
		{"https://x.org", "", ""},
		{strings.Repeat("x", 255), "", ""},
		{"", "nowhere.md", ""},
	})
}

// Copies that a program left behind resolve no link and make none ambiguous.
func TestLocate_copies(t *testing.T) {
	t.Parallel()
	v, _ := tempVault(t, "a/shot.png", ".trash/shot.png", ".obsidian/shot.png", "a/.hidden/shot.png", "b/Plan.md",
		"Plan.sync-conflict-20261101-101010-ABCDEFG.md", "Plan (Conflicted copy phone 202611011010).md",
		"Plan (Eva's conflicted copy 2026-11-01).md", "Plan.md~", "~$Plan.md", "b/~syncthing~Plan.md.tmp", "4913")
	for link, want := range map[string]string{
		"shot.png": "a/shot.png", ".trash/shot.png": "", "Plan": "b/Plan.md", "Plan.md": "b/Plan.md",
		"Plan.sync-conflict-20261101-101010-ABCDEFG": "", "Plan (Conflicted copy phone 202611011010)": "", "Plan.md~": "", "4913": "",
	} {
		if got := v.Locate(link, "x.md"); got.Name != want || got.Ambiguous != nil {
			t.Errorf("[[%s]]: got %+v, want %q", link, got, want)
		}
	}
}

// Names as long as a disk allows are found; longer ones, and what no name can be, are not.
func TestLocate_extremes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 126) // 252 bytes, and 255 with its extension
	deep := strings.Repeat("d/", 200)
	v, _ := tempVault(t, long+".md", deep+"leaf.md", "Screenshot 1.00.00\u202fPM.png", "a/b/c.md")
	checkLocate(t, v, []want{
		{long, "", long + ".md"},
		{norm.NFD.String(long), "", long + ".md"},
		{long + "é", "", ""},
		{strings.Repeat("x", 1<<20), "", ""},
		{strings.Repeat("../", 10_000) + "etc/passwd", deep + "leaf.md", ""},
		{"leaf", "", deep + "leaf.md"},
		{deep + "leaf", "", deep + "leaf.md"},
		{"Screenshot 1.00.00 PM.png", "", "Screenshot 1.00.00\u202fPM.png"},
		{"Screenshot 1.00.00\u202fPM.png", "", "Screenshot 1.00.00\u202fPM.png"},
		{"b//c", "", "a/b/c.md"},
		{`a\\b\c`, "", "a/b/c.md"},
		{"//a/b/c//", "", "a/b/c.md"},
		{"a/b/c.md\x00", "", ""},
		{"a/./b/c", "", ""},
		{"a/x/../b/c", "", ""},
		{"./../b/c", "a/b/x.md", "a/b/c.md"},
		{"../b/c", "a/b/x.md", "a/b/c.md"},
		{"../../a/b/c", "a/b/x.md", "a/b/c.md"},
		{"../../../a/b/c", "a/b/x.md", ""},
		{"C:/a/b/c", "", ""},
		{"file:///a/b/c.md", "", ""},
		{"\xff\xfe", "", ""},
	})
}

func TestLocate_ambiguous(t *testing.T) {
	t.Parallel()
	v, _ := tempVault(t, "aa/Twin.md", "bb/Twin.md", "longer/Twin.md", "One.md", "ein/Eins.md", "zwei/Eins.md")
	got := v.Locate("Twin", "x.md")
	if diff := cmp.Diff(vault.Location{Name: "aa/Twin.md", Ambiguous: []string{"aa/Twin.md", "bb/Twin.md"}, Found: true, Longer: true}, got); diff != "" {
		t.Error(diff)
	}
	if got := v.Locate("Eins", "x.md"); got.Ambiguous != nil {
		t.Errorf("the shorter path is no tie: %+v", got)
	}
	if got := v.Locate("Eins", "zwei/x.md"); got.Name != "zwei/Eins.md" || got.Ambiguous != nil {
		t.Errorf("the neighbour: %+v", got)
	}
}

func TestLocate_caseTwins(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "Note.md", "note.md")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) < 2 {
		t.Skip("this disk does not tell case apart")
	}
	checkLocate(t, v, []want{{"Note.md", "", "Note.md"}, {"note.md", "", "note.md"}, {"note", "", "note.md"}})
	if got := v.Locate("NOTE", ""); len(got.Ambiguous) != 2 {
		t.Errorf("got %+v, want both spellings", got)
	}
	put(t, dir, "sub/Note.md", "")
	put(t, dir, "sub/note.md", "")
	must(t, v.Refresh())
	checkLocate(t, v, []want{{"b/../note", "", ""}, {"./note", "sub/x.md", "sub/note.md"}})
	if got := v.Locate("sub/NOTE", "x.md"); len(got.Ambiguous) != 2 {
		t.Errorf("got %+v, want both spellings", got)
	}
}

func TestLocate_near(t *testing.T) {
	t.Parallel()
	v, _ := tempVault(t, "Projects/Shed plan.md", "Shed plans.md", "assets/chart.png", "Home.md", "Deep/Folder/Unique.md")
	for _, tc := range []struct {
		link string
		want []string
	}{
		{"Shed paln", []string{"Projects/Shed plan.md", "Shed plans.md"}},
		{"Shed plan2", []string{"Shed plans.md", "Projects/Shed plan.md"}},
		{"chart.jpg", []string{"assets/chart.png"}},
		{"Other/Unique", []string{"Deep/Folder/Unique.md"}},
		{"Something else", nil},
		{"Hone", []string{"Home.md"}},
	} {
		if diff := cmp.Diff(tc.want, v.Locate(tc.link, "").Near); diff != "" {
			t.Errorf("[[%s]] %s", tc.link, diff)
		}
	}
}

func TestLocate_refreshes(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "a.md", "sub/b.md", "b.md")
	put(t, dir, "late.md", "")
	v.index.mu.Lock()
	v.index.read = v.index.read.Add(-2 * freshFor)
	v.index.mu.Unlock()
	checkLocate(t, v, []want{{"late", "", "late.md"}})
	must(t, os.Remove(filepath.Join(dir, "b.md")))
	checkLocate(t, v, []want{{"b", "", "sub/b.md"}})
	must(t, v.write(t.Context(), "new/own.md", []byte("x"), ""))
	checkLocate(t, v, []want{{"own", "", "new/own.md"}})
}

func TestVersion_growsWithChanges(t *testing.T) {
	t.Parallel()
	v, dir := tempVault(t, "a.md")
	before := v.Version()
	grown := func(what string, want bool) {
		t.Helper()
		if now := v.Version(); (now > before) != want {
			t.Errorf("after %s the version is %d, was %d", what, now, before)
		}
		before = v.Version()
	}
	v.Locate("nothing", "")
	grown("a link", false)
	must(t, v.write(t.Context(), "own.md", []byte("x"), ""))
	grown("a new note", true)
	must(t, v.write(t.Context(), "own.md", []byte("y"), vault.Digest([]byte("x"))))
	grown("a changed note", true)
	must(t, os.Remove(filepath.Join(dir, "own.md")))
	v.Locate("own", "")
	grown("a note that is gone", true)
	v.index.mu.Lock()
	v.index.read = v.index.read.Add(-2 * freshFor)
	v.index.mu.Unlock()
	v.Locate("nothing", "")
	grown("a second without a watcher", true)
}

func FuzzLocate(f *testing.F) {
	v, _ := tempVault(f, "Note.md", "a/b/Note.md", "b/Note.md", "v1.2.md", "Café.md", "a/x.png", "etc/passwd.md")
	inVault := map[string]bool{}
	must(f, fs.WalkDir(v.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		inVault[name] = !d.IsDir()
		return err
	}))
	for _, seed := range []want{
		{"Note", "a/b/x.md", ""},
		{"../../etc/passwd", "a/x.md", ""},
		{"./../Note", "a/x.md", ""},
		{"/Note", "", ""},
		{`..\..\x`, "a", ""},
		{"file:///etc/passwd", "", ""},
		{"a\x00", "\x00", ""},
		{"", "../../x", ""},
		{"b//Note", "/", ""},
	} {
		f.Add(seed.link, seed.from)
	}
	f.Fuzz(func(t *testing.T, link, from string) {
		got := v.Locate(link, from)
		names := append(append([]string{}, got.Ambiguous...), got.Near...)
		if got.Found {
			names = append(names, got.Name)
		} else if got.Name != "" || got.Ambiguous != nil {
			t.Fatalf("[[%q]] from %q: not found and yet %+v", link, from, got)
		}
		for _, name := range names {
			if !inVault[name] {
				t.Fatalf("[[%q]] from %q leads to %q, which is no file of the vault", link, from, name)
			}
		}
	})
}

func BenchmarkLocate_50k(b *testing.B) {
	ix := newIndex()
	var names []string
	for i := range 50_000 {
		names = append(names, fmt.Sprintf("Folder %d/Sub %d/Note number %d.md", i%50, i%7, i))
	}
	ix.replace(names)
	b.Run("found", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !ix.locate("Note number 31337", "Folder 1/x.md").Found {
				b.Fatal("not found")
			}
		}
	})
	b.Run("missing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ix.near("Note nmuber 31337")
		}
	})
}
