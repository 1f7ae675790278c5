//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The cases that other programs with a drop folder are tested with, against the shipped binary. docs/watching.md says
// which number is tested where; an E stands before the numbers of its first table.

// inbox is a folder below the import folder in which one case plays.
type inbox struct {
	t       *testing.T
	dir     string // OS path of the folder
	outside string // OS path of a folder outside of the vault, on the same file system
}

func (in inbox) must(err error) {
	in.t.Helper()
	if err != nil {
		in.t.Fatal(err)
	}
}

func (in inbox) path(name string) string {
	path := filepath.Join(in.dir, filepath.FromSlash(name))
	in.must(os.MkdirAll(filepath.Dir(path), 0o755))
	return path
}

// lay writes a file in place, as `cp` does.
func (in inbox) lay(name, text string) { in.must(os.WriteFile(in.path(name), []byte(text), 0o644)) }

// away gives a file outside of the vault.
func (in inbox) away(name, text string) string {
	path := filepath.Join(in.outside, filepath.FromSlash(name))
	in.must(os.MkdirAll(filepath.Dir(path), 0o755))
	in.must(os.WriteFile(path, []byte(text), 0o644))
	return path
}

// drip writes a file piece by piece with pauses between.
func (in inbox) drip(name, text string, pieces int, every time.Duration) {
	f, err := os.Create(in.path(name))
	in.must(err)
	defer f.Close()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for i := range pieces {
		_, err := f.WriteString(text[len(text)*i/pieces : len(text)*(i+1)/pieces])
		in.must(err)
		<-ticker.C
	}
}

// pause waits for longer than the quiet period of these tests.
func (in inbox) pause() { <-time.After(900 * time.Millisecond) }

// boxed is an archive that holds one file of a text: a format with an end that shows whether all of it is there.
func boxed(text string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("inside.txt")
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err) // it writes to memory
	}
	return b.String()
}

// watchCase is what happens in a folder and what becomes of it: the states of the imports by their sources, and what stays.
type watchCase struct {
	name string // numbers of the cases, and words
	play func(inbox)
	want map[string]string
	left []string
}

// inBox are the imports of an archive that boxed has made and of what is in it.
func inBox(name string) map[string]string {
	return map[string]string{name: "done", strings.TrimSuffix(name, filepath.Ext(name)) + "/inside.txt": "done"}
}

func watchCases() []watchCase {
	return []watchCase{
		{"36 55 a new file", func(in inbox) { in.lay("a.txt", "36") }, map[string]string{"a.txt": "done"}, nil},
		{"E10 37 moved in", func(in inbox) {
			in.must(os.Rename(in.away("37.txt", "37"), in.path("a.txt")))
		}, map[string]string{"a.txt": "done"}, nil},
		{"E11 43 a folder moved in", func(in inbox) {
			in.away("tree/b/c/deep.txt", "43 deep")
			in.away("tree/top.txt", "43 top")
			in.must(os.Rename(filepath.Join(in.outside, "tree"), filepath.Join(in.dir, "tree")))
		}, map[string]string{"tree/b/c/deep.txt": "done", "tree/top.txt": "done"}, nil},
		{"E1 38 58 a slow writer", func(in inbox) {
			in.drip("slow.zip", boxed("38"), 30, 60*time.Millisecond)
		}, inBox("slow.zip"), nil},
		{"E2 a writer that pauses", func(in inbox) {
			in.drip("pausing.zip", boxed("2"), 3, 900*time.Millisecond)
		}, inBox("pausing.zip"), nil},
		{"60 a writer that stops half-way", func(in inbox) {
			in.lay("half.zip", boxed("60")[:40])
		}, map[string]string{"half.zip": "failed"}, nil},
		{"E2 E19 60 a failed file that is whole later", func(in inbox) {
			in.lay("later.zip", boxed("60 later")[:50])
			in.lay("../Failed/"+filepath.Base(in.dir)+"/keep", "") // the folder of failures is there before
			in.must(os.Remove(filepath.Join(in.dir, "../Failed", filepath.Base(in.dir), "keep")))
			in.await(filepath.Join(in.dir, "../Failed", filepath.Base(in.dir), "later.zip.failed.md"))
			in.lay("later.zip", boxed("60 later"))
		}, map[string]string{"later.zip": "done failed", "later/inside.txt": "done"}, nil},
		{"E13 59 another name first", func(in inbox) {
			in.drip("my_file.~df", boxed("59"), 10, 60*time.Millisecond)
			in.must(os.Rename(in.path("my_file.~df"), in.path("my_file.zip")))
		}, inBox("my_file.zip"), nil},
		{"E12 names of downloads", func(in inbox) {
			for _, ext := range []string{".part", ".crdownload", ".tmp", ".partial", ".download", ".opdownload", ".filepart"} {
				in.lay("a"+ext+ext, "12"+ext)
			}
			in.pause()
			for _, ext := range []string{".part", ".crdownload", ".tmp", ".partial", ".download", ".opdownload", ".filepart"} {
				in.must(os.Rename(in.path("a"+ext+ext), in.path("a"+ext+".txt")))
			}
		}, map[string]string{
			"a.part.txt": "done", "a.crdownload.txt": "done", "a.tmp.txt": "done", "a.partial.txt": "done", "a.download.txt": "done",
			"a.opdownload.txt": "done", "a.filepart.txt": "done",
		}, nil},
		{"E14 the extension's case", func(in inbox) {
			in.lay("A.TXT", "14")
			in.lay("B.ZiP", boxed("14 boxed"))
		}, map[string]string{"A.TXT": "done", "B.ZiP": "done", "B/inside.txt": "done"}, nil},
		{"E15 a wrong extension", func(in inbox) { in.lay("box.pdf", boxed("15")) }, inBox("box.pdf"), nil},
		{"56 no extension, an unknown one", func(in inbox) {
			in.lay("noext", "56")
			in.lay("a.xyz", "\x00\x01binary 56")
		}, map[string]string{"noext": "done", "a.xyz": "done"}, nil},
		{"E16 83 the same bytes twice", func(in inbox) {
			in.lay("a.txt", "83")
			in.lay("b.txt", "83")
		}, map[string]string{"a.txt": "done|duplicate", "b.txt": "done|duplicate"}, nil},
		{"E17 the same name, other bytes", func(in inbox) {
			in.lay("one/a.txt", "17 one")
			in.lay("two/a.txt", "17 two")
		}, map[string]string{"one/a.txt": "done", "two/a.txt": "done"}, nil},
		{"E18 50 the same name again", func(in inbox) {
			in.lay("a.txt", "50 first")
			in.awaitGone("a.txt")
			in.lay("a.txt", "50 second")
			in.awaitGone("a.txt")
			in.lay("a.txt", "50 third")
		}, map[string]string{"a.txt": "done done done"}, nil},
		{"104 names that differ in the extension", func(in inbox) {
			in.lay("simple.txt", "104 txt")
			in.lay("simple.csv", "104 md")
			in.lay("simple.txt.csv", "104 txt.md")
		}, map[string]string{"simple.txt": "done", "simple.csv": "done", "simple.txt.csv": "done"}, nil},
		{"E6 45 deleted before it was still", func(in inbox) {
			for range 5 {
				in.lay("a.txt", "45")
				in.must(os.Remove(in.path("a.txt")))
			}
		}, nil, nil},
		{"8 a folder deleted before it was still", func(in inbox) {
			in.lay("tree/a/b.txt", "8")
			in.must(os.RemoveAll(filepath.Join(in.dir, "tree")))
		}, nil, nil},
		{"E5 40 touched while it waits and while it is imported", func(in inbox) {
			in.lay("box.zip", boxed("40"))
			for range 20 {
				if err := os.Chtimes(in.path("box.zip"), time.Now(), time.Now()); err != nil {
					break // it was taken
				}
				<-time.After(60 * time.Millisecond)
			}
		}, inBox("box.zip"), nil},
		{"E40 times in the past and the future", func(in inbox) {
			in.lay("old.txt", "40 old")
			in.lay("new.txt", "40 new")
			in.must(os.Chtimes(in.path("old.txt"), time.Unix(0, 0), time.Unix(0, 0)))
			in.must(os.Chtimes(in.path("new.txt"), time.Now().AddDate(50, 0, 0), time.Now().AddDate(50, 0, 0)))
		}, map[string]string{"old.txt": "done", "new.txt": "done"}, nil},
		{
			"E27 343 links, pipes and sockets", func(in inbox) {
				in.must(os.Symlink(in.away("target.txt", "27"), in.path("link.txt")))
				in.must(os.Symlink(in.outside, in.path("folder")))
				in.must(os.Symlink("nowhere", in.path("broken.txt")))
				in.must(syscall.Mkfifo(in.path("pipe.txt"), 0o644))
				l, err := net.ListenUnix("unix", &net.UnixAddr{Name: in.path("s"), Net: "unix"})
				in.must(err)
				l.SetUnlinkOnClose(false)
				in.must(l.Close())
				in.lay("next.txt", "343")
			},
			map[string]string{"link.txt": "seen", "folder": "seen", "broken.txt": "seen", "pipe.txt": "seen", "s": "seen", "next.txt": "done"},
			[]string{"broken.txt", "folder", "link.txt", "pipe.txt", "s"},
		},
		{"E38 empty, filled later", func(in inbox) {
			in.lay("late.txt", "")
			in.pause()
			in.lay("late.txt", "38 late")
		}, map[string]string{"late.txt": "done"}, nil},
		{"E38 empty for good", func(in inbox) {
			in.lay("empty.txt", "")
			in.lay("empty.pdf", "")
		}, map[string]string{"empty.txt": "done|duplicate", "empty.pdf": "failed|duplicate"}, nil},
		{"39 64 E25 E26 clutter around real files", func(in inbox) {
			for _, name := range []string{
				".DS_Store", ".DS_STORE", "._a.txt", "._hidden", "Thumbs.db", "desktop.ini", "~$a.docx", ".~lock.a.odt#", "a.swp", ".nfs0001", ".fuse_hidden01",
				".syncthing.a.txt.tmp", "~syncthing~a.txt.tmp", ".goutputstream-ABC", "a.txt.sb-1234-abcd", ".stfolder/a.txt", ".stversions/a.txt", "@eaDir/a.txt",
				".Spotlight-V100/a.txt", ".Trashes/a.txt", "__MACOSX/a.txt", ".localized/a.txt", "#recycle/a.txt", ".trash/a.txt", ".obsidian/a.txt", ".git/a.txt",
				"._folder/a.txt", "user.bak", "private/a.txt",
			} {
				in.lay(name, "64 clutter "+name)
			}
			in.lay("a.txt", "64 a")
			in.lay("b.txt", "64 b")
		}, map[string]string{"a.txt": "done", "b.txt": "done"}, []string{
			"#recycle/a.txt", ".DS_STORE", ".DS_Store", "._a.txt", "._folder/a.txt", "._hidden", ".fuse_hidden01", ".git/a.txt", ".goutputstream-ABC", ".localized/a.txt",
			".nfs0001", ".obsidian/a.txt", ".Spotlight-V100/a.txt", ".stfolder/a.txt", ".stversions/a.txt", ".syncthing.a.txt.tmp", ".trash/a.txt", ".Trashes/a.txt",
			".~lock.a.odt#", "@eaDir/a.txt", "Thumbs.db", "__MACOSX/a.txt", "a.swp", "a.txt.sb-1234-abcd", "desktop.ini", "private/a.txt", "user.bak",
			"~$a.docx", "~syncthing~a.txt.tmp",
		}},
		{"17 18 65 names that only look like clutter", func(in inbox) {
			for _, name := range []string{"stfolder.txt", "my_document.txt", "thumbs.txt", "documents/a.txt", "invoices/a.txt", "a.tmp.txt", "git/a.txt", "bak.txt"} {
				in.lay(name, "65 "+name)
			}
		}, map[string]string{
			"stfolder.txt": "done", "my_document.txt": "done", "thumbs.txt": "done", "documents/a.txt": "done", "invoices/a.txt": "done", "a.tmp.txt": "done",
			"git/a.txt": "done", "bak.txt": "done",
		}, nil},
		{
			"E25 not downloaded, two versions", func(in inbox) {
				in.lay(".report.pdf.icloud", "a placeholder")
				in.lay("a.sync-conflict-20261101-101010-ABCDEFG.txt", "25")
			},
			map[string]string{".report.pdf.icloud": "seen", "a.sync-conflict-20261101-101010-ABCDEFG.txt": "seen"},
			[]string{".report.pdf.icloud", "a.sync-conflict-20261101-101010-ABCDEFG.txt"},
		},
	}
}

// await waits for a file to be there, awaitGone for one to have been taken. Before serve runs nothing is waited for.
func (in inbox) await(path string) { in.until(path, func(err error) bool { return err == nil }) }

func (in inbox) awaitGone(name string) {
	in.until(in.path(name), func(err error) bool { return errors.Is(err, fs.ErrNotExist) })
}

func (in inbox) until(path string, holds func(error) bool) {
	in.t.Helper()
	deadline := time.After(2 * patience)
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		_, err := os.Lstat(path)
		if holds(err) {
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			in.t.Fatalf("waited in vain for %s", path)
		}
	}
}

// watchSettings wait longer for the end of a file than a busy machine keeps a writer waiting.
const watchSettings = `vault: {quiet_period: 400ms, hold_period: 0s, stall_period: 4s, rescan_interval: 1s, watch: %s, ignore: ["*.bak", "private/"]}
web: {listen: "127.0.0.1:0"}
`

func TestWatch(t *testing.T) {
	t.Parallel()
	modes := []string{"events"}
	if long() {
		modes = append(modes, "poll", "before the start")
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			watch := "auto"
			if mode == "poll" {
				watch = "poll"
			}
			s.write("settings.yaml", fmt.Sprintf(watchSettings, watch))
			cases := watchCases()
			if mode == "before the start" {
				cases = slices.DeleteFunc(cases, func(c watchCase) bool { return strings.Contains(c.name, "again") || strings.Contains(c.name, "later") })
			} else {
				defer s.serve().alive()
			}
			s.play(cases)
			if mode == "before the start" {
				defer s.serve().alive()
			}
			s.comesTo(cases, "first.txt")
			s.comesTo(cases, "second.txt") // nothing came after it
			if left := s.hidden("Imported"); len(left) != 0 {
				t.Errorf("left hidden in the bundles' folder: %q", left)
			}
			for _, r := range s.Imports() {
				if path.Base(r.Source) == "empty.txt" && r.Note != "" || path.Base(r.Source) == "empty.pdf" && r.Note != "" {
					if note := s.Read(r.Note); !strings.Contains(note, "empty") {
						t.Errorf("the note of an empty file does not say so:\n%s", note)
					}
				}
			}
			for _, c := range cases {
				if left := s.left("Import/" + c.folder()); !slices.Equal(left, slices.Sorted(slices.Values(c.left))) {
					t.Errorf("%s: left in the import folder: %q, want %q", c.name, left, c.left)
				}
			}
		})
	}
}

// folder is where a case plays.
func (c watchCase) folder() string { return strings.ReplaceAll(c.name, ",", "") }

// play lets all cases happen beside each other.
func (s *site) play(cases []watchCase) {
	s.T.Run("play", func(t *testing.T) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				in := inbox{t: t, dir: s.Path("Import/" + c.folder()), outside: filepath.Join(filepath.Dir(s.Vault), "outside", c.folder())}
				in.must(os.MkdirAll(in.dir, 0o755))
				in.must(os.MkdirAll(in.outside, 0o755))
				c.play(in)
			})
		}
	})
}

// comesTo drops one more file and waits until its import has ended, and then for all cases to come out as wanted.
func (s *site) comesTo(cases []watchCase, last string) {
	s.T.Helper()
	s.write("Import/"+last, "The last file, "+last)
	want := map[string]string{"first.txt": "done", "second.txt": "done"}
	if last == "first.txt" {
		delete(want, "second.txt")
	}
	for _, c := range cases {
		for source, state := range c.want {
			want[c.folder()+"/"+source] = state
		}
	}
	slowly := time.NewTicker(300 * time.Millisecond) // asking takes the time of those who work
	defer slowly.Stop()
	s.Wait(2*patience, "the imports to end as wanted", func() (bool, string) {
		<-slowly.C
		got, states := map[string]string{}, map[string][]string{}
		for _, r := range s.Imports() {
			source := strings.TrimPrefix(r.Source, "Import/")
			states[source] = append(states[source], string(r.State))
		}
		for source, list := range states {
			slices.Sort(list)
			got[source] = strings.Join(list, " ")
			if slices.Contains(strings.Split(want[source], "|"), got[source]) {
				got[source] = want[source]
			}
		}
		diff := cmp.Diff(want, got)
		return diff == "", diff
	})
}

// left lists what is in a folder and below, sorted.
func (s *site) left(dir string) (names []string) {
	s.T.Helper()
	err := filepath.WalkDir(s.Path(dir), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(s.Path(dir), path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	slices.Sort(names)
	return names
}
