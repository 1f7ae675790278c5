package directives

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/vaultflow/vaultflow/failure/diag"

	"github.com/bmatcuk/doublestar/v4"
)

// meter counts what is asked of a file system.
type meter struct {
	fs.FS
	opened map[string]int // files
	listed map[string]int // folders
	stats  int
	bytes  int
}

func newMeter(fsys fs.FS) *meter {
	return &meter{FS: fsys, opened: map[string]int{}, listed: map[string]int{}}
}

func (m *meter) Open(name string) (fs.File, error) {
	m.opened[name]++
	file, err := m.FS.Open(name)
	return metered{file, m}, err
}

func (m *meter) ReadDir(name string) ([]fs.DirEntry, error) {
	m.listed[name]++
	return fs.ReadDir(m.FS, name)
}

func (m *meter) Stat(name string) (fs.FileInfo, error) {
	m.stats++
	return fs.Stat(m.FS, name)
}

type metered struct {
	fs.File
	meter *meter
}

func (f metered) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.meter.bytes += n
	return n, err
}

const noteText = "the text of a note"

// tenThousand are notes in 100 folders, and some elsewhere. Note number n is as old as n is large.
func tenThousand() fstest.MapFS {
	fsys := fstest.MapFS{}
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10_000 {
		name := fmt.Sprintf("Notes/%02d/note %d.md", i/100, i)
		fsys[name] = &fstest.MapFile{Data: []byte(noteText), ModTime: start.Add(-time.Duration(i) * time.Minute)}
	}
	for _, name := range []string{"Other/a/b/c/deep.md", "Other/a/top.md", "root.md"} {
		fsys[name] = &fstest.MapFile{Data: []byte(noteText), ModTime: start}
	}
	return fsys
}

func TestResolve_tenThousandNotes(t *testing.T) {
	t.Parallel()
	fsys := tenThousand()
	sum := sha256.Sum256([]byte(noteText))
	state := ledger{}
	for i := range 4 {
		state[fmt.Sprintf("Notes/00/note %d.md", i)] = hex.EncodeToString(sum[:])
	}
	for _, c := range []struct {
		value, want          string
		opened, stats, first int // files opened, files described, bytes read
	}{
		{"file: Notes/**/*.md (limit=2)", "Notes/00/note 0.md | Notes/00/note 1.md", 0, 2, 0},
		{"file: Notes/** (limit=2, dir=desc)", "Notes/99/note 9999.md | Notes/99/note 9998.md", 0, 1, 0},
		{"file: Notes/** (limit=2, order=mtime)", "Notes/99/note 9999.md | Notes/99/note 9998.md", 0, 10_001, 0},
		{"file: Notes/** (latest)", "Notes/00/note 0.md", 0, 10_001, 0},
		{"file: Notes/** (limit=1, order=date)", "Notes/00/note 0.md", 0, 1, 0},
		{"file: Notes/** (limit=1, order=ctime)", "Notes/99/note 9999.md", 0, 1, 0},
		{"file: Notes/{pending:2}", "", 0, 2, 0},
		{"file: Notes/*/{pending:2}", "Notes/00/note 4.md | Notes/00/note 5.md", 6, 1, 6 * len(noteText)},
		{"file: Notes/** (pending, limit=1, order=mtime)", "Notes/99/note 9999.md", 1, 10_001, len(noteText)},
	} {
		m := newMeter(fsys)
		got, err := resolve(t, m, c.value, func(env *ResolveEnv) {
			env.Pending = state
			env.Born = func(name string) (time.Time, bool) { return fsys[name].ModTime, true }
		})
		if err != nil || fileNames(got) != c.want {
			t.Errorf("%s: got %q, %v", c.value, fileNames(got), err)
		}
		if len(m.opened) != c.opened || m.bytes != c.first || m.stats > c.stats {
			t.Errorf("%s: opened %d files, read %d bytes, described %d, want %d, %d, %d", c.value, len(m.opened), m.bytes, m.stats, c.opened, c.first, c.stats)
		}
		for name, n := range maps.All(m.listed) {
			if n > 1 {
				t.Errorf("%s: listed %s %d times", c.value, name, n)
			}
		}
	}
}

// Folders that can hold nothing that fits are not looked into.
func TestResolve_folders(t *testing.T) {
	t.Parallel()
	fsys := tenThousand()
	for value, want := range map[string]string{
		"file: Notes/07/* (limit=1)":                     "Notes/07",
		"file: Notes/07/** (limit=1)":                    "Notes/07",
		"file: Notes/{07,08}/* (limit=1)":                "Notes Notes/07 Notes/08",
		"file: {Notes/07,Other/a}/* (limit=1)":           ". Notes Notes/07 Other Other/a",
		"file: {Notes/0{7,8},Other/**}/t* (limit=1)":     ". Notes Notes/07 Notes/08 Other Other/a Other/a/b Other/a/b/c",
		"file: Notes/9[0-1]/note*1.md (limit=1)":         "Notes Notes/90 Notes/91",
		"file: Notes/0?/note 70?.md (limit=1)":           "Notes Notes/00 Notes/01 Notes/02 Notes/03 Notes/04 Notes/05 Notes/06 Notes/07 Notes/08 Notes/09",
		"file: *.md (limit=1)":                           ".",
		"file: Other/*/top.md":                           "Other Other/a",
		"file: Other/*/*/c/*":                            "Other Other/a Other/a/b Other/a/b/c",
		"file: Other/**/c/*":                             "Other Other/a Other/a/b Other/a/b/c",
		"file: Nowhere/**":                               "",
		"file: root.md/*":                                "",
		"file: Notes/{07,08}/{note 70?,note 80?}.{md,x}": "Notes Notes/07 Notes/08",
	} {
		m := newMeter(fsys)
		if _, err := resolve(t, m, value); err != nil && !strings.Contains(value, `\`) {
			t.Errorf("%s: %v", value, err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(m.listed)), " "); got != want {
			t.Errorf("%s: listed %s, want %s", value, got, want)
		}
	}
}

// A selection that is too large is known as soon as it is.
func TestResolve_stopsAtTheBound(t *testing.T) {
	t.Parallel()
	m := newMeter(tenThousand())
	_, err := resolve(t, m, "file: Notes/**")
	var d diag.Diagnostic
	if !errors.As(err, &d) || d.Code != CodeTooMany {
		t.Errorf("got %v", err)
	}
	if len(m.listed) > 7 || m.stats > 1 || len(m.opened) > 0 {
		t.Errorf("listed %d folders, described %d files", len(m.listed), m.stats)
	}
	if got, err := resolve(t, m, "file: Notes/0[0-4]/*"); err != nil || len(got.Files) != 500 {
		t.Errorf("500 files: got %d, %v", len(got.Files), err)
	}
}

func TestResolve_leftovers(t *testing.T) {
	t.Parallel()
	fsys := files("a.docx", "~$a.docx", "b.md", "b.md~", "Thumbs.db", "desktop.ini", "c.pdf.part", "d.pdf.crdownload", "~syncthing~b.md.tmp",
		"b.sync-conflict-20261101-101010-ABC.md", "b (Conflicted copy x 202611011010).md", ".DS_Store")
	for value, want := range map[string]string{
		"file: *.*":          "a.docx | b.md",
		"file: *.docx":       "a.docx",
		`file: "~$a.docx"`:   "~$a.docx",
		"file: {a*,b*,~*}.*": "a.docx | b.md",
	} {
		if got, err := resolve(t, fsys, value); err != nil || fileNames(got) != want {
			t.Errorf("%s: got %q, %v", value, fileNames(got), err)
		}
	}
}

// Whatever fits a glob lies in folders that the walk enters.
func FuzzGlobFolders(f *testing.F) {
	for _, seed := range [][2]string{
		{"{a,b}/*.md", "a/x.md"},
		{"a/**/b/{c,d/e}*", "a/x/y/b/d/ef"},
		{"[a{]/b", "a/b"},
		{`\{a,b}/c`, "{a,b}/c"},
		{"{a,{b,c/**}}/d", "c/x/d"},
		{"{,a/}b", "b"},
		{"**", "a/b"},
		{"a**/b", "ab/b"},
		{"[^a]/b", "c/b"},
		{"{a/b,c}", "a/b"},
		{"[a,b]{c,d}/e", "ad/e"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		if !doublestar.ValidatePattern(glob) || !fs.ValidPath(name) || faultOf(unescape(glob)) != nil || !doublestar.MatchUnvalidated(glob, name) {
			return
		}
		base, _ := doublestar.SplitPattern(glob)
		root := unescape(base)
		for dir := path.Dir(name); dir != "." && dir != root; dir = path.Dir(dir) {
			if !foldersOf(glob).hold(dir) {
				t.Errorf("%q fits %q, and %q is not entered", name, glob, dir)
			}
		}
	})
}

// BenchmarkResolve_10000 selects from a vault on disk.
func BenchmarkResolve_10000(b *testing.B) {
	dir := b.TempDir()
	for name, file := range tenThousand() {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(full, file.Data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	for _, params := range []string{"order=name", "order=mtime", "pending"} {
		in := Input{Target: Target{Scheme: SchemeFile, Path: "Notes/**"}, Selection: Selection{Limit: 5}}
		switch params {
		case "order=mtime":
			in.Selection.Order = OrderMtime
		case "pending":
			in.Selection.Pending = true
		}
		b.Run(params, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				got, err := in.Resolve(b.Context(), ResolveEnv{FS: root.FS(), Facts: facts()})
				if err != nil || len(got.Files) != 5 {
					b.Fatal(got, err)
				}
			}
		})
	}
}
