//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultflow/vaultflow/engine"
)

// Cases E28, 20, 30, 62, 63 and 340: settings that cannot work.
func TestWatch_badFolders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ settings, want string }{
		"E28 340 bundles below the import folder": {"vault: {imported_dir: Import/Done}\n", "overlap"},
		"E28 the import folder below the bundles": {"vault: {import_dir: Imported/In}\n", "overlap"},
		"30 63 no import folder":                  {"vault: {import_dir: \"\"}\n", "import_dir"},
		"62 an import folder outside":             {"vault: {import_dir: ../elsewhere}\n", "import_dir"},
		"20 a bad pattern":                        {"vault: {ignore: [\"a[\"]}\n", "ignore"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			s.write("settings.yaml", c.settings)
			if _, errs, code := s.CLI("serve", "--no-web"); code == exitDone || !strings.Contains(errs, c.want) {
				t.Errorf("exit code %d, %q, want a word about %s", code, errs, c.want)
			}
		})
	}
	t.Run("E28 340 a link makes the circle", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "", "")
		if err := os.MkdirAll(s.Path("Import/deep"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("Import/deep", s.Path("Imported")); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := s.CLI("serve", "--no-web"); code == exitDone || !strings.Contains(errs, "imported again") {
			t.Errorf("exit code %d, %q", code, errs)
		}
	})
}

// Case 31: an import folder that is not there yet is no error in a vault; it is watched when it appears.
func TestWatch_importFolderAppears(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	if err := os.Remove(s.Path("Import")); err != nil {
		t.Fatal(err)
	}
	s.serve()
	s.write("Import/a.txt", "a")
	if r := s.ended(1)["Import/a.txt"]; r.State != engine.ImportDone {
		t.Errorf("got %+v", r)
	}
}

// The file that a command copied in is taken before the watcher would take it; the next one of that name is another.
func TestWatch_nameOfAnImportThatACommandAskedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.serve()
	outside := filepath.Join(filepath.Dir(s.Vault), "a.txt")
	if err := os.WriteFile(outside, []byte("first"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Must("import", outside)
	s.write("Import/a.txt", "second")
	s.Wait(patience, "both imports to end", func() (bool, string) {
		all := s.Imports()
		return len(all) == 2 && all[0].State == engine.ImportDone && all[1].State == engine.ImportDone, describe(all)
	})
	if left := s.Files("Import", ""); len(left) != 0 {
		t.Errorf("left in the import folder: %q", left)
	}
}

// Case E39: 500 files at once are one bundle each; broken ones among them keep nobody.
func TestWatch_manyFilesAtOnce(t *testing.T) {
	t.Parallel()
	many, broken := 100, 5
	if long() {
		many = 500
	}
	s := newSite(t, "", "")
	staged := filepath.Join(filepath.Dir(s.Vault), "many")
	if err := os.Mkdir(staged, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range many {
		if err := os.WriteFile(filepath.Join(staged, fmt.Sprintf("File %03d.txt", i)), fmt.Appendf(nil, "This is file number %d.\n", i), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range broken {
		s.write(fmt.Sprintf("Import/Broken %d.zip", i), fmt.Sprintf("PK\x03\x04 broken %d", i))
	}
	d := s.serve()
	if err := os.Rename(staged, s.Path("Import/many")); err != nil {
		t.Fatal(err)
	}
	slowly := time.NewTicker(time.Second)
	defer slowly.Stop()
	s.Wait(4*patience, "all imports to end", func() (bool, string) {
		<-slowly.C
		all := rows[engine.ImportRecord](s, "import", "--status", "-n", "1000")
		done, failed := 0, 0
		for _, r := range all {
			switch r.State {
			case engine.ImportDone:
				done++
			case engine.ImportFailed:
				failed++
			}
		}
		return len(all) == many+broken && done == many && failed == broken, fmt.Sprintf("%d imports, %d done, %d failed", len(all), done, failed)
	})
	for i := range many {
		bundle := fmt.Sprintf("Imported/many/File %03d", i)
		if want := fmt.Sprintf("This is file number %d.", i); !strings.Contains(s.Read(bundle+"/"+filepath.Base(bundle)+".md"), want) || s.Read(bundle+"/"+filepath.Base(bundle)+".txt") != want+"\n" {
			t.Errorf("%s is not what was dropped", bundle)
		}
	}
	if entries, err := os.ReadDir(s.Path("Imported/many")); err != nil || len(entries) != many {
		t.Errorf("%d bundles, %v", len(entries), err)
	}
	if left := s.Files("Import/many", ""); len(left) != 0 {
		t.Errorf("left in the import folder: %q", left)
	}
	d.alive()
}

// putsOff checks that an import waits for something to pass, shows it, and ends well when it has passed, as the same
// import.
func (s *site) putsOff(name, says string, passes func()) {
	s.T.Helper()
	id := ""
	s.Wait(patience, "the import to be put off", func() (bool, string) {
		all := s.Imports()
		for _, r := range all {
			if r.State == engine.ImportFailed {
				s.T.Fatalf("an import that is tried again shows as failed: %s", describe(all))
			}
		}
		if len(all) == 1 && all[0].State == engine.ImportWaiting && !all[0].Again.IsZero() {
			if id = all[0].ID; !strings.Contains(all[0].Error, says) || !strings.Contains(all[0].Hint, "by itself") {
				s.T.Fatalf("got %q, hint %q; want something of %q", all[0].Error, all[0].Hint, says)
			}
		}
		return id != "", describe(all)
	})
	for _, command := range [][]string{{"status"}, {"import", "--status"}} {
		s.Wait(patience, fmt.Sprintf("%q to show the wait, between two attempts", command), func() (bool, string) {
			got := s.Must(command...)
			return strings.Contains(got, "waiting") && strings.Contains(got, "tries again"), got
		})
	}
	if len(s.Files("Import/Failed", "")) != 0 || s.Read(name) == "" {
		s.T.Error("the original did not stay where it was")
	}
	passes()
	s.Wait(patience, "the import to end well", func() (bool, string) {
		all := s.Imports()
		return len(all) == 1 && all[0].ID == id && all[0].State == engine.ImportDone, describe(all)
	})
	if left := s.Files("Import", ""); len(left) != 0 {
		s.T.Errorf("left in the import folder: %q", left)
	}
}

// Cases E20, E21, 66 and 92: storing fails, and is tried again until it does not.
func TestWatch_faultsThatPass(t *testing.T) {
	t.Parallel()
	t.Run("E20 92 something is in the way of the bundles", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "", "")
		s.write("Imported", "a file, not a folder")
		s.serve()
		s.write("Import/a.txt", "a")
		s.putsOff("Import/a.txt", "Imported", func() {
			if err := os.Remove(s.Path("Imported")); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("E20 and the daemon is started again", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "", "")
		s.write("Imported", "a file, not a folder")
		d := s.serve()
		s.write("Import/a.txt", "a")
		s.putsOff("Import/a.txt", "Imported", func() {
			d.stop()
			if err := os.Remove(s.Path("Imported")); err != nil {
				t.Fatal(err)
			}
			s.serve()
		})
	})
	t.Run("E21 the disk is full", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, "", "")
		if err := os.Mkdir(s.Path("Imported"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := mountSmall(s.Path("Imported"), 256<<10); err != nil {
			t.Skipf("needs a small file system; mounting one: %v", err)
		}
		t.Cleanup(func() {
			if err := unmount(s.Path("Imported")); err != nil {
				t.Errorf("unmount: %v", err)
			}
		})
		ballast := s.Path("Imported/Ballast.bin")
		err := os.WriteFile(ballast, make([]byte, 1<<20), 0o644)
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the small file system has room for 1 MB: %v", err)
		}
		d := s.serve()
		s.write("Import/a.txt", strings.Repeat("This needs room. ", 1000))
		s.putsOff("Import/a.txt", "no space left", func() {
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
		})
		if left := s.hidden("Imported"); len(left) != 0 {
			t.Errorf("left hidden in the bundles' folder: %q", left)
		}
		d.stop() // or the file system is busy
	})
}

// unprivileged lets the site's commands run as a user whom permissions bind.
func (s *site) unprivileged() {
	s.T.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	root := filepath.Dir(s.Vault)
	for dir := root; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			s.T.Fatal(err)
		}
	}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	})
	if err != nil {
		s.T.Fatal(err)
	}
	s.As = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// Cases E8, 14, 25, 61 and 66: a file that may not be read waits, visibly, and keeps nobody else.
func TestWatch_fileThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Import/locked.txt", "locked")
	if err := os.Chmod(s.Path("Import/locked.txt"), 0); err != nil {
		t.Fatal(err)
	}
	s.unprivileged()
	if err := os.Chmod(s.Path("Import"), 0o777); err != nil {
		t.Fatal(err)
	}
	d := s.serve()
	s.write("Import/next.txt", "next")
	s.Wait(patience, "the one to wait and the other to be imported", func() (bool, string) {
		all := s.Imports()
		states := map[string]engine.ImportRecord{}
		for _, r := range all {
			states[r.Source] = r
		}
		locked := states["Import/locked.txt"]
		return states["Import/next.txt"].State == engine.ImportDone && locked.State == engine.ImportSeen && strings.Contains(locked.Reason, "may not be read"), describe(all)
	})
	if err := os.Chmod(s.Path("Import/locked.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	found := s.ended(2)
	if r := found["Import/locked.txt"]; r.State != engine.ImportDone {
		t.Errorf("got %+v", r)
	}
	d.alive()
}

// Cases E33 and 41: a stop hands the work back. The next start goes on, and nothing is made twice.
func TestWatch_stopInTheMiddleOfAnImport(t *testing.T) {
	t.Parallel()
	const pages = 60
	s := newSite(t, worker(t), slowPages)
	d := s.serve()
	s.Write("Import/Report.pdf", longText(pages))
	page := 0
	s.Wait(2*patience, "some pages to be finished", func() (bool, string) {
		all := s.Imports()
		if len(all) == 1 {
			page = all[0].Page
		}
		return page >= 5, describe(all)
	})
	if took := d.stop(); took > 10*time.Second {
		t.Errorf("serve took %s to stop", took)
	}
	before := s.Imports()
	if len(before) != 1 || before[0].State.Finished() {
		t.Fatalf("after the stop: %s", describe(before))
	}
	staged := ""
	for _, name := range s.hidden("Imported") {
		if !strings.HasSuffix(name, "-work") {
			staged = "Imported/" + name
		}
	}
	finished := s.pageFiles(staged + "/pages")
	s.serve()
	r := s.ended(1)["Import/Report.pdf"]
	if r.State != engine.ImportDone || r.ID != before[0].ID || r.Pages != pages {
		t.Errorf("after the restart: %+v", r)
	}
	after, again := s.pageFiles(r.Bundle+"/pages"), 0
	for name, file := range finished {
		if after[name] != file {
			again++
		}
	}
	if again > 4 || len(after) != pages { // those under way, on as many workers as there are processors
		t.Errorf("%d of %d finished pages were made again, %d in the bundle", again, len(finished), len(after))
	}
}

// Case 46: what cannot be asked for keeps the watcher and the next file from nothing.
func TestWatch_badFilesBetweenGoodOnes(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	d := s.serve()
	for i := range 3 {
		s.write(fmt.Sprintf("Import/%d bad.zip", i), fmt.Sprintf("PK\x03\x04 %d", i))
		s.write(fmt.Sprintf("Import/%d bad.docx", i), fmt.Sprintf("PK\x03\x04 docx %d", i))
		s.write(fmt.Sprintf("Import/%d good.txt", i), fmt.Sprint("good ", i))
	}
	for source, r := range s.ended(9) {
		want := engine.ImportFailed
		if strings.HasSuffix(source, "good.txt") {
			want = engine.ImportDone
		}
		if r.State != want {
			t.Errorf("%s: %s %s", source, r.State, r.Error)
		}
		if want == engine.ImportFailed && (s.Read(r.Filed) == "" || !strings.Contains(s.Read(r.Filed+".failed.md"), r.Error)) {
			t.Errorf("%s: filed as %q, with the note %q", source, r.Filed, s.Read(r.Filed+".failed.md"))
		}
	}
	d.alive()
}
