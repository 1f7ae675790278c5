package directives

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"
)

// files makes a file system; a name may be followed by `@N`, the day of March 2026 on which the file was changed.
func files(names ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i, n := range names {
		name, day, found := strings.Cut(n, "@")
		at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		if found {
			var d int
			fmt.Sscan(day, &d)
			at = at.AddDate(0, 0, d-1)
		}
		fsys[name] = &fstest.MapFile{Data: fmt.Appendf(nil, "content %d", i), ModTime: at}
	}
	return fsys
}

func resolve(t *testing.T, fsys fs.FS, value string, change ...func(*ResolveEnv)) (Resolution, error) {
	t.Helper()
	env := ResolveEnv{FS: fsys, Facts: facts(), From: "Workflows/w.md"}
	for _, c := range change {
		c(&env)
	}
	return input(t, value).Resolve(t.Context(), env)
}

func fileNames(r Resolution) string {
	var names []string
	for _, f := range r.Files {
		names = append(names, f.Name)
	}
	return strings.Join(names, " | ")
}

func TestResolve_paths(t *testing.T) {
	t.Parallel()
	fsys := files("notes/today.md", "notes/Dr. Smith.md", "notes/v1.2.md", "notes/v1.3", "pic.png", "notes/a [1].md", "notes/a 1.md",
		"daily/2026-03-01.md", "notes/plan (required).md", "Makefile", "data.csv", "folder/x.md", "odd{b}.md")
	for value, want := range map[string]string{
		"file: notes/today":                      "notes/today.md",
		"file: notes/today.md":                   "notes/today.md",
		"file: notes/Dr. Smith":                  "notes/Dr. Smith.md",
		"file: notes/v1.2":                       "notes/v1.2.md",
		"file: notes/v1.3":                       "notes/v1.3",
		"file: pic.png":                          "pic.png",
		"file: data.csv":                         "data.csv",
		"file: Makefile":                         "Makefile",
		"file: daily/{today}":                    "daily/2026-03-01.md",
		`file: "notes/plan (required)"`:          "notes/plan (required).md",
		`file: "notes/plan (required)" (head=1)`: "notes/plan (required).md",
		"file: notes/a [1].md":                   "notes/a [1].md",
		"file: notes/a [12].md":                  "notes/a 1.md",
		`file: "notes/a [1]"`:                    "notes/a [1].md",
		"file: odd{{b}}":                         "odd{b}.md",
		"file: folder":                           "",
		"file: nothing":                          "",
		"variable: x":                            "",
	} {
		got, err := resolve(t, fsys, value)
		if err != nil || fileNames(got) != want {
			t.Errorf("%s = %q, %v, want %q", value, fileNames(got), err, want)
		}
	}
}

func TestResolve_missingIsSaid(t *testing.T) {
	t.Parallel()
	fsys := files("notes/Today.md", "notes/other.md")
	got, err := resolve(t, fsys, "file: notes/todya")
	if err != nil || !got.Missing || len(got.Warnings) != 1 || got.Warnings[0].Code != CodeMissing || !cmp.Equal(got.Near, []string{"notes/Today.md"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = resolve(t, fsys, "file: notes")
	if err != nil || !got.Missing || len(got.Warnings) != 2 || got.Warnings[0].Code != CodeFolder {
		t.Errorf("a folder: got %+v, %v", got, err)
	}
}

func TestResolve_globs(t *testing.T) {
	t.Parallel()
	fsys := files("a/page_10.md", "a/page_2.md", "a/Page_1.md", "a/pic.png", "a/pic.jpg", "a/b/deep.md", "a/.obsidian/x.md", ".trash/t.md",
		"top.md", "a/n.sync-conflict-20260101-101010-ABC.md", "a/m (conflicted copy 2026-01-01 101010).md", "v/v1.2.md", "v/v1.3.md")
	for value, want := range map[string]string{
		"file: a/*":              "a/Page_1.md | a/page_2.md | a/page_10.md",
		"file: a/page_?":         "a/page_2.md",
		"file: a/*.{png,jpg}":    "a/pic.jpg | a/pic.png",
		"file: {a,v}/p*":         "a/page_2.md | a/page_10.md",
		"file: **":               "a/Page_1.md | a/b/deep.md | a/page_2.md | a/page_10.md | top.md | v/v1.2.md | v/v1.3.md",
		"file: a/**/*.md":        "a/Page_1.md | a/b/deep.md | a/page_2.md | a/page_10.md",
		"file: */b/*":            "a/b/deep.md",
		"file: v/v[0-9].*":       "v/v1.2.md | v/v1.3.md",
		"file: v*/v1.2":          "v/v1.2.md",
		"file: none/*":           "",
		"file: a/* (limit=2)":    "a/Page_1.md | a/page_2.md",
		"file: a/* (dir=desc)":   "a/page_10.md | a/page_2.md | a/Page_1.md",
		"file: a/p*.* (limit=1)": "a/page_2.md",
	} {
		got, err := resolve(t, fsys, value)
		if value == "file: **" || value == "file: a/**/*.md" {
			sorted := map[string]bool{}
			for _, f := range got.Files {
				sorted[f.Name] = true
			}
			if len(sorted) != strings.Count(want, "|")+1 {
				t.Errorf("%s = %q, want the files of %q", value, fileNames(got), want)
			}
			continue
		}
		if err != nil || fileNames(got) != want {
			t.Errorf("%s = %q, %v, want %q", value, fileNames(got), err, want)
		}
	}
}

func TestResolve_orders(t *testing.T) {
	t.Parallel()
	fsys := files("d/2026-01-05 x.md@3", "d/20260201.md@1", "d/note 2.md@9", "d/2025_12_31.md@5")
	born := func(env *ResolveEnv) {
		env.Born = func(name string) (time.Time, bool) { return time.Unix(int64(len(name)), 0), true }
	}
	for value, want := range map[string]string{
		"file: d/{latest}":                     "d/note 2.md",
		"file: d/{latest:2}":                   "d/note 2.md | d/2025_12_31.md",
		"file: d/* (latest, limit=2)":          "d/note 2.md | d/2025_12_31.md",
		"file: d/* (latest, order=date)":       "d/20260201.md",
		"file: d/* (order=mtime, limit=1)":     "d/20260201.md",
		"file: d/* (order=date)":               "d/2025_12_31.md | d/2026-01-05 x.md | d/20260201.md | d/note 2.md",
		"file: d/* (order=date, dir=desc)":     "d/20260201.md | d/2026-01-05 x.md | d/2025_12_31.md | d/note 2.md",
		"file: d/* (order=ctime, limit=1)":     "d/note 2.md",
		"file: d/* (latest, dir=asc, limit=1)": "d/20260201.md",
	} {
		if got, err := resolve(t, fsys, value, born); err != nil || fileNames(got) != want {
			t.Errorf("%s = %q, %v, want %q", value, fileNames(got), err, want)
		}
	}
	got, err := resolve(t, fsys, "file: d/* (order=ctime)")
	if err != nil || len(got.Warnings) != 1 || got.Warnings[0].Code != CodeNoCreationTimes {
		t.Errorf("order=ctime without creation times: %+v, %v", got, err)
	}
}

// ledger is pending state: what was processed, by name.
type ledger map[string]string

func (l ledger) Done(_ context.Context, key PendingKey, name, sum string) (bool, error) {
	if key != (PendingKey{Workflow: "daily/plan", Step: "A/B: c"}) {
		return false, fmt.Errorf("key %+v", key)
	}
	return l[name] == sum, nil
}

// counting counts the files that are opened.
type counting struct {
	fs.FS
	opened map[string]int
}

func (c counting) Open(name string) (fs.File, error) {
	c.opened[name]++
	return c.FS.Open(name)
}

func (c counting) Stat(name string) (fs.FileInfo, error) { return fs.Stat(c.FS, name) }

func TestResolve_pendingReadsOnlyWhatItNeeds(t *testing.T) {
	t.Parallel()
	fsys := files("p/1.md", "p/2.md", "p/3.md", "p/4.md", "p/5.md")
	sum := sha256.Sum256(fsys["p/1.md"].Data)
	state := ledger{"p/1.md": hex.EncodeToString(sum[:]), "p/2.md": "other content"}
	c := counting{fsys, map[string]int{}}
	got, err := resolve(t, c, "file: p/{pending:2}", func(env *ResolveEnv) { env.Pending = state })
	if err != nil || fileNames(got) != "p/2.md | p/3.md" || got.Considered != 5 {
		t.Fatalf("got %q, %v", fileNames(got), err)
	}
	if got.Files[0].SHA256 == "" || c.opened["p/4.md"]+c.opened["p/5.md"] > 0 {
		t.Errorf("digest %q, opened %v", got.Files[0].SHA256, c.opened)
	}
	for name, f := range fsys {
		s := sha256.Sum256(f.Data)
		state[name] = hex.EncodeToString(s[:])
	}
	got, err = resolve(t, fsys, "file: p/* (pending)", func(env *ResolveEnv) { env.Pending = state })
	if err != nil || len(got.Files) > 0 || got.Missing || len(got.Warnings) > 0 {
		t.Errorf("everything processed: %+v, %v", got, err)
	}
}

func TestResolve_tooManyFiles(t *testing.T) {
	t.Parallel()
	fsys := files("a/1.md", "a/2.md", "a/3.md")
	few := func(env *ResolveEnv) { env.MaxFiles = 2 }
	_, err := resolve(t, fsys, "file: a/*", few)
	var d diag.Diagnostic
	if !errors.As(err, &d) || d.Code != CodeTooMany || d.Line != 1 || d.Column != 14 {
		t.Errorf("got %v", err)
	}
	if _, err := resolve(t, fsys, "file: a/* (limit=2)", few); err != nil {
		t.Errorf("limit=2: %v", err)
	}
}

func TestResolve_links(t *testing.T) {
	t.Parallel()
	fsys := files("deep/Plan.md", "x/Plan.md")
	links := func(env *ResolveEnv) {
		env.Links = vault.LinksFunc(func(link, from string) vault.Location {
			switch link {
			case "Plan":
				return vault.Location{Name: "deep/Plan.md", Ambiguous: []string{"deep/Plan.md", "x/Plan.md"}, Found: true}
			case "Escape":
				return vault.Location{Name: "../Escape.md", Found: true}
			}
			return vault.Location{Near: []string{"near " + from}}
		})
	}
	got, err := resolve(t, fsys, "file: [[Plan#Goals|x]]", links)
	if err != nil || fileNames(got) != "deep/Plan.md" || len(got.Warnings) != 1 || got.Warnings[0].Code != CodeAmbiguousLink {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = resolve(t, fsys, "file: [[Nowhere]]", links)
	if err != nil || !got.Missing || !cmp.Equal(got.Near, []string{"near Workflows/w.md"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err = resolve(t, fsys, "file: [[Escape]]", links); err == nil {
		t.Error("a link out of the vault was followed")
	}
}

func TestResolve_escapingSymlinks(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(outside+"/secret.md", []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/in.md", []byte("in"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"out.md": outside + "/secret.md", "outdir": outside, "ok.md": "in.md", "loop": "."} {
		if err := os.Symlink(target, dir+"/"+link); err != nil {
			t.Skipf("no symlinks: %v", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for _, value := range []string{"file: out.md", "file: out", "file: outdir/secret", `file: "outdir/secret.md"`} {
		var d diag.Diagnostic
		if got, err := resolve(t, root.FS(), value); !errors.As(err, &d) || d.Code != CodeCannotRead {
			t.Errorf("%s = %v, %v; want a refusal", value, got.Files, err)
		}
	}
	got, err := resolve(t, root.FS(), "file: **/*")
	if err != nil || fileNames(got) != "in.md | ok.md" {
		t.Errorf("glob = %q, %v", fileNames(got), err)
	}
	if len(got.Warnings) == 0 || !strings.Contains(got.Warnings[0].Message, "out.md") {
		t.Errorf("no word about out.md: %v", got.Warnings)
	}
}

func TestResolve_stopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := input(t, "file: a/*").Resolve(ctx, ResolveEnv{FS: files("a/1.md"), Facts: facts()})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestOutput_name(t *testing.T) {
	t.Parallel()
	env := OutputEnv{
		Facts:    facts(),
		MayWrite: func(name string) bool { return !strings.HasPrefix(name, "private/") },
		Links: vault.LinksFunc(func(link, _ string) vault.Location {
			return vault.Location{Name: "deep/" + link + ".md", Found: link == "Plan"}
		}),
	}
	tests := []struct{ value, want, code string }{
		{"file: Plans/Workbook {today}", "Plans/Workbook 2026-03-01.md", ""},
		{"file: data.json", "data.json", ""},
		{"file: x.canvas", "x.canvas", ""},
		{"file: Dr. Smith", "Dr. Smith.md", ""},
		{"file: v1.2", "v1.2.md", ""},
		{"file: {step}", "A-B- c.md", ""},
		{"file: {workflow}/{run}", "daily/plan/r1.md", ""},
		{"file: [[Plan|x]]", "deep/Plan.md", ""},
		{`file: "Plan (required)"`, "Plan (required).md", ""},
		{"variable: v", "v", ""},
		{"file: [[Nowhere]]", "", CodeLinkMissing},
		{"file: Import/x", "", CodeImportFolder},
		{"file: import/x", "", CodeImportFolder},
		{"file: private/x", "", CodeNotPermitted},
		{"file: {today:[../]YYYY}", "", CodeParent},
		{"file: a/{today:HH:mm}", "", CodeBadCharacter},
		{"file: " + strings.Repeat("x", 254), "", CodeNameTooLong},
	}
	for _, tt := range tests {
		list, _ := Parse([]string{"@output " + tt.value}, here)
		var r report
		d := list[0]
		target, _ := parseTarget("@output", source{text: d.Text, at: d.TextAt}, &r)
		got, err := Output{At: d.At, Target: target}.Name(env)
		var diag diag.Diagnostic
		if errors.As(err, &diag); got != tt.want || diag.Code != tt.code {
			t.Errorf("%s = %q, %v, want %q %s", tt.value, got, err, tt.want, tt.code)
		}
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "2h30m": 150 * time.Minute, "3d": 72 * time.Hour, "1w": 168 * time.Hour, "1w2d3h": 219 * time.Hour, "1.5d": 36 * time.Hour,
		"": 0, "0s": 0, "-1d": 0, "5": 0, "1d1w": 0, "d": 0, "1e9w": 0, "99999999999w": 0, "NaNd": 0, "1x": 0,
	} {
		got, err := ParseDuration(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}
