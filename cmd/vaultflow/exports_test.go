//go:build unix

package main

import (
	"bytes"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"go.abhg.dev/goldmark/wikilink"

	"github.com/vaultflow/vaultflow/engine"
)

// dropFolder puts a folder into the import folder file by file, as a copy does.
func (s *site) dropFolder(name string, files map[string]string) {
	s.T.Helper()
	for file, data := range files {
		target := s.Path(path.Join("Import", name, file))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			s.T.Fatal(err)
		}
		if err := os.WriteFile(target, []byte(data), 0o644); err != nil {
			s.T.Fatal(err)
		}
	}
}

var notesInMarkdown = goldmark.New(goldmark.WithExtensions(extension.GFM, &wikilink.Extender{}))

// leads calls visit with the destination of each link of a note, as a reader of Markdown finds them.
func leads(note string, visit func(dest string, wiki, embed bool)) {
	if rest, ok := strings.CutPrefix(note, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			note = body
		}
	}
	tree := notesInMarkdown.Parser().Parse(text.NewReader([]byte(note)))
	_ = ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it fails only if the function does
		if entering {
			switch n := n.(type) {
			case *ast.Link:
				visit(string(n.Destination), false, false)
			case *ast.Image:
				visit(string(n.Destination), false, true)
			case *wikilink.Node:
				visit(strings.TrimSuffix(string(n.Target), `\`), true, n.Embed)
			}
		}
		return ast.WalkContinue, nil
	})
}

// wholeTree checks that all pictures and links of the notes of a bundle lead to files of the bundle, and returns the notes that show
// something, once for each time.
func (s *site) wholeTree(bundle string) (shown []string) {
	s.T.Helper()
	v := s.reader()
	for _, name := range s.Files(bundle, ".md") {
		leads(s.Read(name), func(dest string, wiki, embed bool) {
			to := ""
			if wiki {
				to = v.Locate(dest, name).Name
			} else if u, err := url.Parse(dest); err != nil {
				s.T.Errorf("%s: %q: %v", name, dest, err)
			} else if u.IsAbs() || u.Path == "" {
				return // of the web, or of the note itself
			} else {
				to = path.Join(path.Dir(name), u.Path)
			}
			if !strings.HasPrefix(to, bundle+"/") || !s.there(to) {
				s.T.Errorf("%s: %q leads to %q", name, dest, to)
			}
			if embed {
				shown = append(shown, path.Base(name))
			}
		})
	}
	slices.Sort(shown)
	return shown
}

// kept checks that the bundle has each file of a tree: notes with their properties, other files byte for byte.
func (s *site) kept(bundle string, tree map[string]string) {
	s.T.Helper()
	members := map[string]string{}
	for _, m := range s.manifest(bundle).Members {
		members[m.SourceName()] = m.Path
	}
	for name, data := range tree {
		if strings.HasPrefix(name, ".") {
			continue // stays in the import folder
		}
		to, ok := members[name]
		if !ok {
			s.T.Errorf("%s: %s is lost", bundle, name)
			continue
		}
		got := s.Read(bundle + "/" + to)
		front, _, _ := strings.Cut(data, "\n---\n")
		switch isNote := path.Ext(name) == ".md"; {
		case !isNote && got != data:
			s.T.Errorf("%s: %s has other bytes", bundle, name)
		case isNote && strings.HasPrefix(data, "---\n") && !strings.HasPrefix(got, front+"\n---\n"):
			s.T.Errorf("%s: %s has other properties:\n%s", bundle, name, got)
		}
	}
	if len(members) < 2 {
		s.T.Errorf("%s has members %v", bundle, members)
	}
}

const bytesOfPicture = "\x89PNG\r\n\x1a\n a picture"

var obsidianVault = map[string]string{
	"Daily/2026-11-20.md": "---\ntags: [day]\nmood: good\n---\nMet [[Anna]].\n\n![[photo.png|200]]\n\n[plan](../Plan%20B.md)\n",
	"People/Anna.md":      "![](../media/photo.png)\n\n[[2026-11-20]] [[paper.pdf]]\n",
	"Plan B.md":           "| who | what |\n|--|--|\n| [[Anna]] | ![[photo.png]] |\n",
	"Empty.md":            "",
	"chapters/One.md":     "[[Plan B#who]] ^start\n",
	"media/photo.png":     bytesOfPicture, "media/paper.pdf": "%PDF-1.7\n%%EOF\n", "media/song.m4a": "sound",
	".obsidian/app.json": "{}",
}

const home, trip, tasks, row = "Home 0123456789abcdef0123456789abcdef", "Trip fedcba9876543210fedcba9876543210", "Tasks 00112233445566778899aabbccddeeff", "Buy soil ffeeddccbbaa99887766554433221100"

// escapedSpaces writes a name as Notion does in links.
func escapedSpaces(name string) string { return strings.ReplaceAll(name, " ", "%20") }

// Pages with ids in their names, subpages in folders, a database as CSV with a page for each row.
var notion = map[string]string{
	home + ".md":              "# Home\n\n[Trip](" + escapedSpaces(home+"/"+trip) + ".md)\n\n[Tasks](" + escapedSpaces(tasks) + ".csv)\n\n![Plan](" + escapedSpaces(home) + "/Untitled%20(1).png)\n",
	home + "/" + trip + ".md": "# Trip\n\nStatus: Done\n\n![](map.png)\n\n[Home](../" + escapedSpaces(home) + ".md) [soil](../" + escapedSpaces(tasks+"/"+row) + ".md)\n",
	home + "/map.png":         bytesOfPicture + "map", home + "/Untitled (1).png": bytesOfPicture + "plan",
	tasks + ".csv": "\ufeffName,Status\nBuy soil,Done\n", tasks + "_all.csv": "\ufeffName,Status\nBuy soil,Done\n",
	tasks + "/" + row + ".md":          "# Buy soil\n\nStatus: Done\n\n![receipt](" + escapedSpaces(row) + "/receipt.jpg)\n",
	tasks + "/" + row + "/receipt.jpg": bytesOfPicture + "receipt",
}

// "MD - Markdown + Front Matter": pictures in _resources, HTML pictures where a width was set, titles as names.
var joplin = map[string]string{
	"Work/A: first.md":      "---\ntitle: \"A: first\"\nupdated: 2026-11-20 10:00:00Z\nlatitude: 52.0\ntags:\n  - work\n---\n\n![scan](../_resources/scan%201.png) <img src=\"../_resources/scan 1.png\" width=\"20\">\n[B](B.md)\n",
	"Work/B.md":             "[A](A:%20first.md)\n",
	"_resources/scan 1.png": bytesOfPicture,
}

const rawNote, rawOther, rawPicture = "1123456789abcdef0123456789abcdef", "2123456789abcdef0123456789abcdef", "3123456789abcdef0123456789abcdef"

// "RAW - Joplin Export Directory": everything is a note with an id, and links are `:/id`.
var joplinRaw = map[string]string{
	rawNote + ".md":                    "First\n\n![scan](:/" + rawPicture + ")\n[other](:/" + rawOther + "#part)\n\nid: " + rawNote + "\ntype_: 1\n",
	rawOther + ".md":                   "Other\n\n# Part\n\n[first](:/" + rawNote + ")\n\nid: " + rawOther + "\ntype_: 1\n",
	rawPicture + ".md":                 "scan.png\n\nid: " + rawPicture + "\nmime: image/png\ntype_: 4\n",
	"resources/" + rawPicture + ".png": bytesOfPicture + "raw",
}

// As exporters of Apple Notes and Evernote write: a folder for each note, attachments in it, names decomposed and of any length.
var apple = map[string]string{
	"iCloud/Gru\u0308n/Gru\u0308n.md":             "# Gr\u00fcn\n\n![](attachments/Image%201.png)\n![](attachments/IMG_0001.HEIC)\n[Why](../Why%20not%3F/Why%20not%3F.md)\n",
	"iCloud/Gru\u0308n/attachments/Image 1.png":   bytesOfPicture + "green",
	"iCloud/Gru\u0308n/attachments/IMG_0001.HEIC": "heic",
	"iCloud/Why not?/Why not?.md":                 "[[Gr\u00fcn]] [gr](../Gr%C3%BCn/Gr%C3%BCn.md)\n![x](attachments/Image%201.png)\n",
	"iCloud/Why not?/attachments/Image 1.png":     bytesOfPicture + "why",
	"iCloud/README.md":                            "See [the other](readme.md).\n", "iCloud/readme.md": "See [the first](README.md).\n",
}

// TestExports drops exports as people do while serve runs: each is one bundle, in which notes find their pictures and each other.
func TestExports(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("Anna.md", "My own note about Anna.")
	if err := os.MkdirAll(s.Path("Import/Inbox"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.serve()
	s.dropFolder("My Vault", obsidianVault)
	s.dropFolder("Joplin", joplin)
	s.dropFolder("Raw", joplinRaw)
	s.dropFolder("Apple Notes", apple)
	var pages []packedFile
	for _, name := range slices.Sorted(maps.Keys(notion)) {
		pages = append(pages, packedFile{name: name, data: notion[name]})
	}
	s.Write("Import/Notion.zip", []byte(zipped(t, packedFile{name: "Export-1-Part-1.zip", data: zipped(t, pages...)})))
	s.dropFolder("", map[string]string{"Recipe.md": "![[cake.png]] and ![](pics/oven.png)\n", "cake.png": bytesOfPicture + "1", "pics/oven.png": bytesOfPicture + "2", "alone.txt": "Not of a note."})
	s.dropFolder("Inbox", map[string]string{"One.md": "The first clipping.\n", "Two.md": "The second, see [[One]].\n"})
	ended := s.ended(9)
	bundles := map[string]string{}
	for source, r := range ended {
		if r.State != engine.ImportDone {
			t.Errorf("%s: %s, %s", source, r.State, r.Error)
		}
		bundles[source] = r.Bundle
	}
	for source, want := range map[string]string{
		"Import/My Vault.zip": "Imported/My Vault", "Import/Joplin.zip": "Imported/Joplin", "Import/Notion.zip": "Imported/Notion", "Import/Recipe.zip": "Imported/Recipe",
		"Import/alone.txt": "Imported/alone", "Import/Inbox/One.md": "Imported/Inbox/One", "Import/Inbox/Two.md": "Imported/Inbox/Two",
	} {
		if bundles[source] != want {
			t.Errorf("%s is at %q, want %q", source, bundles[source], want)
		}
	}
	for _, c := range []struct {
		bundle string
		tree   map[string]string
		shown  []string
	}{
		{"Imported/My Vault", obsidianVault, []string{"2026-11-20.md", "Anna.md", "Plan B.md"}},
		{"Imported/Joplin", joplin, []string{"A- first.md", "A- first.md"}},
		{"Imported/Raw", joplinRaw, []string{rawNote + ".md"}},
		{"Imported/Apple Notes", apple, []string{"Gr\u00fcn.md", "Gr\u00fcn.md", "Why not-.md"}},
		{"Imported/Notion", notion, []string{row + ".md", home + ".md", trip + ".md"}},
	} {
		if got := s.wholeTree(c.bundle); !slices.Equal(got, c.shown) {
			t.Errorf("%s: pictures are shown in %q, want %q", c.bundle, got, c.shown)
		}
		s.kept(c.bundle, c.tree)
		if !s.there(c.bundle + "/" + path.Base(c.bundle) + ".zip") {
			t.Errorf("%s has no original", c.bundle)
		}
		if note := ended["Import/"+path.Base(c.bundle)+".zip"].Note; note != c.bundle+"/"+path.Base(c.bundle)+".md" {
			t.Errorf("the note is %s", note)
		}
	}
	if text := s.Read("Imported/Apple Notes/iCloud/README.md") + s.Read("Imported/Apple Notes/iCloud/readme (2).md"); !strings.Contains(text, "(./readme%20%282%29.md)") || !strings.Contains(text, "(README.md)") && !strings.Contains(text, "(./README.md)") {
		t.Errorf("names that differ by case:\n%s", text)
	}
	if text := s.Read(ended["Import/Recipe.zip"].Note); !strings.Contains(text, "![[./assets/cake.png]] and ![](./assets/pics/oven.png)") {
		t.Errorf("the note with its pictures:\n%s", text)
	}
	s.wholeTree("Imported/Recipe")
	if got, want := s.Files("Imported/Recipe", ""), []string{"Recipe.md", "Recipe.md.original", "assets/cake.png", "assets/pics/oven.png", "manifest.json", "text/page_0001.txt"}; !slices.Equal(got, below("Imported/Recipe", want)) {
		t.Errorf("the bundle of a note with its pictures has %q", got)
	}
	if manifests := s.Files("Imported/My Vault", "manifest.json"); len(manifests) != 1 {
		t.Errorf("manifests: %v", manifests)
	}
	s.Wait(patience, "the import folder to be empty", func() (bool, string) {
		left := s.Files("Import", "")
		return slices.Equal(left, []string{"Import/My Vault/.obsidian/app.json"}), strings.Join(left, "\n")
	})
	if out, errs, code := s.CLI("undo", ended["Import/My Vault.zip"].ID); code == exitDone {
		t.Errorf("an import can be undone: %s%s", out, errs)
	}

	// The same folder again is a duplicate; one with a change is the next version.
	s.dropFolder("Joplin", map[string]string{"Work/B.md": "[A](A:%20first.md)\n", "Work/New.md": "[B](B.md)", "Work/A: first.md": "Rewritten, see [B](B.md) and ![](../_resources/scan%201.png)", "_resources/scan 1.png": bytesOfPicture})
	s.dropFolder("My Vault", obsidianVault)
	s.Wait(4*patience, "the second versions", func() (bool, string) {
		states := map[engine.ImportState]int{}
		all := s.Imports()
		for _, r := range all {
			states[r.State]++
		}
		return len(all) == 11 && states[engine.ImportDone] == 10 && states[engine.ImportDuplicate] == 1, describe(all)
	})
	s.wholeTree("Imported/Joplin")
	if !s.there("Imported/Joplin/Work/New.md") || !s.there("Imported/Joplin (version 1)/Work/A- first.md") || s.there("Imported/Joplin (version 1)/Work/New.md") {
		t.Error("the second version of Joplin did not take the place of the first")
	}
}

func below(dir string, names []string) (all []string) {
	for _, name := range names {
		all = append(all, path.Join(dir, name))
	}
	return all
}

// TestExports_stoppedWhileRemoving starts serve with what another one left while it removed the files of an imported folder: there is
// nothing to import. What somebody adds is imported.
func TestExports_stoppedWhileRemoving(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	note := map[string]string{"Cake.md": "![[cake.png]]", "cake.png": bytesOfPicture + "1"}
	s.dropFolder("My Vault", obsidianVault)
	s.dropFolder("", note)
	emptied := func() {
		s.Wait(4*patience, "the import folder to be empty", func() (bool, string) {
			left := s.Files("Import", "")
			return slices.Equal(left, []string{"Import/My Vault/.obsidian/app.json"}), strings.Join(left, "\n")
		})
	}
	d := s.serve()
	s.ended(2)
	emptied()
	d.Kill()
	s.dropFolder("My Vault", map[string]string{"Plan B.md": obsidianVault["Plan B.md"], "media/song.m4a": "sound"})
	s.dropFolder("", map[string]string{"Cake.md": note["Cake.md"]})
	d = s.serve()
	emptied()
	if all := s.Imports(); len(all) != 2 || len(s.Files("Imported", "manifest.json")) != 2 {
		t.Errorf("imports:\n%s", describe(all))
	}
	d.Kill()
	s.dropFolder("My Vault", map[string]string{"Plan B.md": obsidianVault["Plan B.md"], "New.md": "[[Plan B]]"})
	s.serve()
	s.ended(3)
	emptied()
	if !s.there("Imported/My Vault/New.md") {
		t.Error("what was added is not in the next version")
	}
}

// TestExports_killed kills serve again and again while it imports a folder of notes: in the end there is one bundle with all of it.
func TestExports_killed(t *testing.T) {
	t.Parallel()
	kills := []time.Duration{700 * time.Millisecond}
	if long() {
		kills = nil
		for at := range 20 {
			kills = append(kills, time.Duration(at+1)*100*time.Millisecond)
		}
	}
	s := newSite(t, "", "")
	files := map[string]string{"Home.md": strings.Repeat("![[p1.png]] [[sub/Page 3]]\n", 3)}
	for _, n := range []string{"1", "2", "3", "4", "5"} {
		files["sub/Page "+n+".md"] = "![](../media/p" + n + ".png)\n"
		files["media/p"+n+".png"] = bytesOfPicture + n + string(bytes.Repeat([]byte{'x'}, 200_000))
	}
	s.dropFolder("Notes", files)
	for _, after := range kills {
		d := s.start()
		<-time.After(after) // any moment will do
		d.Kill()
	}
	s.serve()
	s.Wait(4*patience, "the folder to be imported", func() (bool, string) {
		all := s.Imports()
		done := len(all) > 0
		for _, r := range all {
			done = done && r.State.Finished()
		}
		return done && len(s.Files("Import", "")) == 0, describe(all) + strings.Join(s.Files("Import", ""), "\n")
	})
	if got := s.wholeTree("Imported/Notes"); len(got) != 8 {
		t.Errorf("pictures are shown in %v", got)
	}
	for name, data := range files {
		if got := s.Read("Imported/Notes/" + name); strings.HasSuffix(name, ".png") && got != data {
			t.Errorf("%s has other bytes", name)
		}
	}
	if found := s.Files("Imported", "manifest.json"); len(found) != 1 {
		t.Errorf("bundles: %v", found)
	}
}

// TestExports_command imports a folder of notes by name, without serve and with it.
func TestExports_command(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	dir := filepath.Join(t.TempDir(), "Lab")
	for name, data := range obsidianVault {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "C: caf\xe9\\.txt"), []byte("of a hard name"), 0o644); err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	s.Must("import", dir)
	if runtime.GOOS == "linux" && !s.there("Imported/Lab/C- café-.txt") {
		t.Errorf("the file with a hard name is gone: %v", s.Files("Imported", ""))
	}
	if got := s.wholeTree("Imported/Lab"); len(got) != 3 {
		t.Errorf("pictures are shown in %v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "More.md"), []byte("[[Anna]]"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.serve()
	s.Must("import", dir)
	if !s.there("Imported/Lab/More.md") || s.there("Imported/Lab (version 1)") || len(s.Files("Import", "")) != 0 {
		t.Errorf("after the second import: %v", append(s.Files("Imported", ""), s.Files("Import", "")...))
	}
}

// TestExports_late adds a note to a folder after its import, and drops one that is too large: the first is imported again as a whole,
// the second waits and says why.
func TestExports_late(t *testing.T) {
	if !long() {
		t.Skip("it waits for the periods that a slow copy takes; VAULTFLOW_LONG=1 runs it")
	}
	t.Parallel()
	s := newSite(t, "", "")
	s.write("settings.yaml", strings.Replace(quick, "hold_period: 0s", "hold_period: 3s", 1)+"ingestion: {max_file_size: 1MB}\n")
	s.serve()
	s.dropFolder("Slow", map[string]string{"A.md": "[[B]] ![](p.png)", "p.png": bytesOfPicture, "B.md": "[[A]]"})
	s.dropFolder("Large", map[string]string{"A.md": "![](p.png)", "B.md": "b", "p.png": bytesOfPicture + strings.Repeat("x", 1<<20)})
	s.Wait(4*patience, "the first version", func() (bool, string) { return s.there("Imported/Slow/Slow.zip"), describe(s.Imports()) })
	s.dropFolder("Slow", map[string]string{"C.md": "[[A]]"})
	s.Wait(4*patience, "the second version, and an empty folder", func() (bool, string) {
		return s.there("Imported/Slow/C.md") && s.there("Imported/Slow/A.md") && !s.there("Import/Slow"), describe(s.Imports()) + strings.Join(s.Files("Import", ""), "\n")
	})
	s.wholeTree("Imported/Slow")
	waiting := 0
	for _, r := range s.Imports() {
		if strings.HasPrefix(r.Source, "Import/Large/") && strings.Contains(r.Reason, "raise ingestion.max_file_size") {
			waiting++
		}
	}
	if left := s.Files("Import/Large", ""); waiting != 3 || len(left) != 3 {
		t.Errorf("%d files wait, left are %v\n%s", waiting, left, describe(s.Imports()))
	}
}

// TestExports_changed changes, adds and removes files of a folder within the hold period: the next version is the folder as it is then.
// A file that comes later is in no other bundle.
func TestExports_changed(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.write("settings.yaml", strings.Replace(quick, "hold_period: 0s", "hold_period: 3s", 1))
	s.serve()
	s.dropFolder("Trip", map[string]string{"One.md": "# One\n[[Two]] ![](p.png)", "Two.md": "[[One]]", "p.png": bytesOfPicture, "Old.md": "[[One]]"})
	s.Wait(4*patience, "the first version", func() (bool, string) { return s.there("Imported/Trip/Trip.zip"), describe(s.Imports()) })
	if err := os.Remove(s.Path("Import/Trip/Old.md")); err != nil {
		t.Fatal(err)
	}
	s.dropFolder("Trip", map[string]string{"One.md": "# One\n[[Two]] ![](p.png)\n\nmore", "Two.md": "[[One]]"})
	s.Wait(4*patience, "an empty folder", func() (bool, string) { return !s.there("Import/Trip"), describe(s.Imports()) })
	if one := s.Read("Imported/Trip/One.md"); !strings.Contains(one, "more") || !s.there("Imported/Trip (version 1)") || s.there("Imported/Trip/Old.md") ||
		!s.there("Imported/Trip/Two.md") || !s.there("Imported/Trip/p.png") {
		t.Errorf("%s\n%s\n%v", one, describe(s.Imports()), s.Files("Imported", ""))
	}
	s.dropFolder("Trip", map[string]string{"Two.md": "alone"})
	s.Wait(4*patience, "the note that came later", func() (bool, string) {
		return s.there("Imported/Trip (2)/Two/Two.md"), describe(s.Imports()) + strings.Join(s.Files("Imported", ""), "\n")
	})
	if s.there("Imported/Trip/Two/manifest.json") {
		t.Error("a bundle is in another one")
	}
}
