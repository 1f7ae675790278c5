package ingestion

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/export"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
)

// exported imports an archive and returns the files of its bundle, but for the archive itself.
func exported(t *testing.T, b *bench, id string, files ...packedFile) (Published, map[string]string) {
	t.Helper()
	made, filed := b.mustRun(b.drop(id, "Import/Export.zip", zipFiles(t, files...)))
	found := b.found(made.Bundle)
	if filed.Name != made.Bundle+"/Export.zip" {
		t.Errorf("the original is at %s", filed.Name)
	}
	delete(found, "Export.zip")
	return made, found
}

func without(files map[string]string, names ...string) map[string]string {
	for _, name := range names {
		delete(files, name)
	}
	return files
}

const (
	nid = " 0123456789abcdef0123456789abcdef"
	sid = "fedcba9876543210fedcba9876543210"
)

// An export of Notion: ids in names, encoded links, a database, all in an archive in the archive.
func TestExport_notion(t *testing.T) {
	t.Parallel()
	inner := zipFiles(t,
		packedFile{name: "Home" + nid + ".md", data: "# Home\n\n[Trip](Home%20" + nid[1:] + "/Trip%20" + sid + ".md)\n[Tasks](Tasks%20x.csv)\n![Map](Home%20" + nid[1:] + "/map%20(1).png)\n"},
		packedFile{name: "Home" + nid + "/Trip " + sid + ".md", data: "# Trip\n\nStatus: Done\n\n![](map%20(1).png)\n\n[Home](../Home%20" + nid[1:] + ".md)\n"},
		packedFile{name: "Home" + nid + "/map (1).png", data: "PNG"}, packedFile{name: "Tasks x.csv", data: "a,b\n"})
	b := newBench(t, extract.Document{})
	_, got := exported(t, b, "imp-1", packedFile{name: "Export-5b0e-Part-1.zip", data: string(inner)})
	hasAll(t, got["Export.md"], "[[./Home"+nid+"|Home"+nid+"]]", "Other files: 2.")
	want := map[string]string{
		"Home" + nid + ".md":                  "# Home\n\n[Trip](./Home%20" + nid[1:] + "/Trip%20" + sid + ".md)\n[Tasks](./Tasks%20x.csv)\n![Map](./Home%20" + nid[1:] + "/map%20%281%29.png)\n",
		"Home" + nid + "/Trip " + sid + ".md": "# Trip\n\nStatus: Done\n\n![](./map%20%281%29.png)\n\n[Home](../Home%20" + nid[1:] + ".md)\n",
		"Home" + nid + "/map (1).png":         "PNG",
		"Tasks x.csv":                         "a,b\n",
	}
	if diff := cmp.Diff(want, without(got, "Export.md", "manifest.json")); diff != "" {
		t.Errorf("the bundle (-want +got):\n%s", diff)
	}
	if len(b.found("Import")) != 0 {
		t.Errorf("in the import folder: %v", b.found("Import"))
	}
}

// A vault of Obsidian: wikilinks by name and by path, embeds, properties, links in properties, hidden folders.
func TestExport_obsidian(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	b.vault.Put("Anna.md", "private")
	b.vault.Put("media/photo.png", "private")
	_, got := exported(t, b, "imp-1",
		packedFile{name: "MyVault/Daily/Monday.md", data: "---\ntags: [day]\nwith: \"[[Anna]]\"\ncover: \"[[photo.png]]\"\n---\nMet [[Anna]] and [[Anna#Work|her]].  \n![[photo.png|200]] ![[Anna]]\n![alt](media/photo.png)\n| a | b |\n|--|--|\n| [[Anna]] | x |\n\n[[Nobody]] ![[secret]] `![[photo.png]]`\ncode:\n```go\n![[photo.png]]\n```\n"},
		packedFile{name: "MyVault/People/Anna.md", data: "[[Monday]] [mon](Daily/Monday.md) ![x](../media/photo.png)"},
		packedFile{name: "MyVault/media/photo.png", data: "PNG"},
		packedFile{name: "MyVault/data.zip", data: string(zipFiles(t, packedFile{name: "x.txt", data: "x"}))},
		packedFile{name: "MyVault/.obsidian/app.json", data: "{}"}, packedFile{name: "MyVault/.obsidian/plugins/x/main.js", data: "evil()"})
	hasAll(t, got["Export.md"], "MyVault/.obsidian with 2 files was left in the archive: it is hidden", "shows secret, which did not come with it")
	if got["MyVault/data.zip"] == "" {
		t.Error("an archive in the vault was unpacked")
	}
	want := map[string]string{
		"MyVault/Daily/Monday.md": "---\ntags: [day]\nwith: \"[[../People/Anna|Anna]]\"\ncover: \"[[../media/photo.png|photo.png]]\"\n---\nMet [[../People/Anna|Anna]] and [[../People/Anna#Work|her]].  \n![[../media/photo.png|200]] ![[../People/Anna]]\n![alt](../media/photo.png)\n| a | b |\n|--|--|\n| [[../People/Anna\\|Anna]] | x |\n\n[[Nobody]] [[secret]] `[[photo.png]]`\ncode:\n\n```go\n![[photo.png]]\n```\n",
		"MyVault/People/Anna.md":  "[[../Daily/Monday|Monday]] [mon](../Daily/Monday.md) ![x](../media/photo.png)\n",
		"MyVault/media/photo.png": "PNG",
	}
	if diff := cmp.Diff(want, without(got, "Export.md", "manifest.json", "MyVault/data.zip")); diff != "" {
		t.Errorf("the bundle (-want +got):\n%s", diff)
	}
}

// An export of Joplin: pictures in one folder, HTML pictures, names that no system accepts.
func TestExport_joplin(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	_, got := exported(t, b, "imp-1",
		packedFile{name: "Work/Why? Because: A.md", data: "---\ntitle: Why\n---\n\n![a|b](../_resources/x%20y.jpg \"Title\") <img src=\"../_resources/z.png\" width=\"300\" alt=\"Z\"/>\n![r][pic]\n\n[pic]: ../_resources/z.png\n"},
		packedFile{name: "Work/Other.md", data: "[why](Why?%20Because:%20A.md) [c](A:%20b.md) [w](<Why? Because: A.md>) [mail](mailto:a@b.c)\n![[Why? Because: A]]\n![web](https://example.org/p.png)\n![gone](../_resources/gone.png)\n"},
		packedFile{name: "Work/A: b.md", data: ""}, packedFile{name: "_resources/x y.jpg", data: "JPG"}, packedFile{name: "_resources/z.png", data: "PNG"}, packedFile{name: "paper.pdf", data: "%PDF-1.7"})
	hasAll(t, got["Export.md"], "Work/Other.md shows ../_resources/gone.png, which did not come with it", "1 picture of the web stay")
	want := map[string]string{
		"Work/Why- Because- A.md": "---\ntitle: Why\n---\n![a|b](../_resources/x%20y.jpg \"Title\") ![Z|300](../_resources/z.png)\n![r][pic]\n\n[pic]: ../_resources/z.png\n",
		"Work/Other.md":           "[why](./Why-%20Because-%20A.md) [c](./A-%20b.md) [w](./Why-%20Because-%20A.md) [mail](mailto:a@b.c)\n![[./Why- Because- A]]\n[web](https://example.org/p.png)\n[gone](../_resources/gone.png)\n",
		"Work/A- b.md":            "", "_resources/x y.jpg": "JPG", "_resources/z.png": "PNG", "paper.pdf": "%PDF-1.7",
	}
	if diff := cmp.Diff(want, without(got, "Export.md", "manifest.json")); diff != "" {
		t.Errorf("the bundle (-want +got):\n%s", diff)
	}
}

// Names that differ in case, that belong to the bundle, or that a folder has too: links lead to the file that they meant.
func TestExport_clashes(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	made, got := exported(t, b, "imp-1",
		packedFile{name: "index.md", data: "[m](manifest.json) [[b?]] [[b*]]"}, packedFile{name: "manifest.json", data: `{"version":1}`}, packedFile{name: "sub/manifest.json", data: `{"version":1}`},
		packedFile{name: "Export.md", data: "[[index]]"}, packedFile{name: "Export.zip/in.md", data: "x"}, packedFile{name: "a", data: "file"}, packedFile{name: "a/in.md", data: "in a"},
		packedFile{name: "b?.md", data: "first"}, packedFile{name: "b*.md", data: "second"}, packedFile{name: "c.markdown", data: "[[b?]]"})
	want := map[string]string{
		"index (2).md": "[m](./manifest%20%282%29.json) [[./b-|b?]] [[./b- (2)|b*]]\n", "manifest (2).json": `{"version":1}`, "sub/manifest (2).json": `{"version":1}`,
		"Export.md": "[[./index (2)|index]]\n", "Export.zip (2)/in.md": "x\n", "a (2)": "file", "a/in.md": "in a\n", "b-.md": "first\n", "b- (2).md": "second\n", "c.md": "[[./b-|b?]]\n",
	}
	if diff := cmp.Diff(want, without(got, "Export (2).md", "manifest.json")); diff != "" {
		t.Errorf("the bundle (-want +got):\n%s", diff)
	}
	if made.Note != "Imported/Export/Export (2).md" || b.manifest(made).Note != "Export (2).md" {
		t.Errorf("the bundle's note is %s", made.Note)
	}
}

// Foreign text stays harmless: nothing outside the tree is embedded, and nothing is executed.
func TestExport_hostile(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	b.vault.Put("Secret.md", "private")
	_, got := exported(t, b, "imp-1",
		packedFile{name: "a.md", data: "---\nx: <% tp.file.delete() %>\ny: \"%% vaultflow:begin %%\"\n---\n![[Secret]] ![[../../Secret]] ![s](../../Secret.md) ![[/Secret]] <script>x</script> <img src=\"http://x/y.png\"> `= dv.x`\n\n```dataviewjs\nx\n```\n\x01[[Secret]]\n"},
		packedFile{name: "../up.md", data: "x"}, packedFile{name: "/etc/abs.md", data: "x"}, packedFile{name: `C:\win.md`, data: "x"}, packedFile{name: "D:/win.md", data: "x"}, packedFile{name: "link.md", data: "/etc/passwd", link: true},
		packedFile{name: "Import/b.md", data: "x"}, packedFile{name: "A: why: b.md", data: "x"})
	text := got["a.md"]
	if strings.Contains(text, "![") || strings.Contains(text, "<script") || strings.Contains(text, "<img") || strings.Contains(text, "<%") || strings.Contains(text, "dataviewjs") || strings.Contains(text, "`=") || strings.Contains(text, "%% vaultflow") {
		t.Errorf("a.md:\n%s", text)
	}
	hasAll(t, got["Export.md"], "up.md was left in the archive: its name leads out", "abs.md was left", "link.md was left in the archive: it is a link")
	if len(without(got, "Export.md", "manifest.json")) != 3 {
		t.Errorf("the bundle has %v", got)
	}
}

func TestExport_bounds(t *testing.T) {
	t.Parallel()
	var many []packedFile
	for i := range maxTree + 1 {
		many = append(many, packedFile{name: strconv.Itoa(i) + ".md"})
	}
	b := newBench(t, extract.Document{})
	_, _, err := b.run(b.drop("imp-1", "Import/many.zip", zipFiles(t, many...)))
	if e, ok := err.(*fault.Error); !ok || e.Code != failure.TooLarge { //nolint:errorlint // returned as it is
		t.Errorf("got %v", err)
	}
	bomb := zipFiles(t, packedFile{name: "a.md", data: "x"}, packedFile{name: "z.bin", data: strings.Repeat("\x00", 80<<20)})
	_, _, err = b.run(b.drop("imp-2", "Import/bomb.zip", bomb))
	if e, ok := err.(*fault.Error); !ok || e.Code != failure.TooLarge { //nolint:errorlint // returned as it is
		t.Errorf("got %v", err)
	}
	if _, err := fs.Stat(b.vault.FS(), "Imported/bomb"); err == nil {
		t.Error("a part of the bomb was imported")
	}
}

// A note that came without its pictures says so.
func TestExport_noteAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	made, _ := b.mustRun(b.drop("imp-1", "Import/a.md", []byte("![[b.png]] ![c](d/c.png) ![web](https://x.y/z.png) [link](other.md)")))
	hasAll(t, b.read(made.Note), "a.md shows b.png, which did not come with it", "a.md shows d/c.png, which")
	if n := len(b.manifest(made).Import.Warnings); n != 2 {
		t.Errorf("%d warnings", n)
	}
}

// A README among documents does not keep them from being read.
func TestExport_readmeAmongDocuments(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	made, _ := b.mustRun(b.drop("imp-1", "Import/box.zip", zipFiles(t, packedFile{name: "README.md", data: "See [a](a.pdf)"}, packedFile{name: "a.pdf", data: "%PDF"}, packedFile{name: "b.pdf", data: "%PDF"}, packedFile{name: "c.pdf", data: "%PDF"})))
	if m := b.manifest(made); len(m.Children) != 4 || len(m.Members) != 0 {
		t.Errorf("children %v, members %v", m.Children, m.Members)
	}
	linked, _ := b.mustRun(b.drop("imp-2", "Import/linked.zip", zipFiles(t, packedFile{name: "README.md", data: "See [a](a.pdf), [[b.pdf]] and c."}, packedFile{name: "a.pdf", data: "%PDF"}, packedFile{name: "b.pdf", data: "%PDF"}, packedFile{name: "c.pdf", data: "%PDF"})))
	if m := b.manifest(linked); len(m.Children) != 0 || len(m.Members) != 4 {
		t.Errorf("children %v, members %v", m.Children, m.Members)
	}
}

// A note of the next version may have the name that the bundle's own had.
func TestExport_takesTheNoteName(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	first, _ := exported(t, b, "imp-1", packedFile{name: "a.md", data: "one"}, packedFile{name: "b.md", data: "two"})
	b.vault.Put(first.Note, b.read(first.Note)+"\nMy own words.\n")
	second, got := exported(t, b, "imp-2", packedFile{name: "a.md", data: "one"}, packedFile{name: "export.md", data: "theirs"})
	if first.Note != "Imported/Export/Export.md" || second.Note != "Imported/Export/Export (2).md" || got["export.md"] != "theirs\n" {
		t.Errorf("notes %s and %s, files %v", first.Note, second.Note, got)
	}
	hasAll(t, got["Export (2).md"], "My own words.", "[[./export|export]]")
}

// A second version replaces the first, which is kept aside; the same bytes again change nothing.
func TestExport_secondVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	first, _ := exported(t, b, "imp-1", packedFile{name: "a.md", data: "one"}, packedFile{name: "old.md", data: "old"})
	second, got := exported(t, b, "imp-2", packedFile{name: "a.md", data: "two"}, packedFile{name: "new.md", data: "[[a]]"})
	if second.Bundle != first.Bundle || got["a.md"] != "two\n" || got["new.md"] != "[[./a|a]]\n" || got["old.md"] != "" {
		t.Errorf("at %s: %v", second.Bundle, got)
	}
	if aside := b.found("Imported/Export (version 1)"); aside["a.md"] != "one\n" || aside["old.md"] != "old\n" {
		t.Errorf("the first version: %v", aside)
	}
}

// A note with the pictures that it shows is a document like any other: its text is in the bundle's note, the pictures are assets.
func TestExport_oneNoteWithItsPictures(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	made, got := exported(t, b, "imp-1",
		packedFile{name: "Trip.md", data: "---\nplace: Oslo\n---\n# Oslo\n\n![[pic 1.png|100]] ![](media/b.png) ![web](https://x.y/z.png) [[Secret]]\n"},
		packedFile{name: "pic 1.png", data: "P1"}, packedFile{name: "media/b.png", data: "P2"})
	hasAll(t, got["Export.md"], "## Oslo", "![[./assets/pic 1.png|100]] ![](./assets/media/b.png) [web](https://x.y/z.png) [[Secret]]", "place: Oslo", "1 picture of the web")
	hasAll(t, got["text/page_0001.txt"], "![[../assets/pic 1.png|100]] ![](../assets/media/b.png)")
	if got["assets/pic 1.png"] != "P1" || got["assets/media/b.png"] != "P2" || len(got) != 5 {
		t.Errorf("the bundle: %v", got)
	}
	if m := b.manifest(made); len(m.Members) != 2 || len(m.Pages) != 1 {
		t.Errorf("members %v, pages %v", m.Members, m.Pages)
	}
}

// An archive that vaultflow made of a dropped note and its pictures is not kept: the note's own file is the original.
func TestExport_packedNote(t *testing.T) {
	t.Parallel()
	packed := func(data []byte) []byte {
		comment := export.PackComment
		return append(append(slices.Clone(data[:len(data)-2]), byte(len(comment)), 0), comment...)
	}
	zipped := packed(zipFiles(t, packedFile{name: "Trip.md", data: "![[p.png]]\r\n"}, packedFile{name: "p.png", data: "P"}))
	b := newBench(t, extract.Document{})
	made, filed := b.mustRun(b.drop("imp-1", "Import/Trip.zip", zipped))
	got := b.found(made.Bundle)
	hasAll(t, got["Trip.md"], "[[./Trip.md.original|Trip.md]]", "![[./assets/p.png]]", "# Trip")
	if got["Trip.md.original"] != "![[p.png]]\r\n" || got["assets/p.png"] != "P" || len(got) != 5 || filed.Name != "" || len(b.found("Import")) != 0 {
		t.Errorf("the bundle %v, filed as %q, left are %v", got, filed.Name, b.found("Import"))
	}
	if m := b.manifest(made); m.Source.Name != "Trip.md.original" || m.Note != "Trip.md" || len(m.Members) != 2 {
		t.Errorf("source %v, note %q, members %v", m.Source, m.Note, m.Members)
	}
	before := b.tree()
	if again, _ := b.mustRun(b.drop("imp-2", "Import/Trip.zip", zipped)); again.Bundle != "" && again.Bundle != made.Bundle {
		t.Errorf("the same again is at %s", again.Bundle)
	}
	after := b.tree()
	delete(before, made.Bundle+"/manifest.json") // its history has a line more
	delete(after, made.Bundle+"/manifest.json")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the same again (-before +after):\n%s", diff)
	}
	next, _ := b.mustRun(b.drop("imp-3", "Import/Trip.zip", packed(zipFiles(t, packedFile{name: "Trip.md", data: "![[q.png]]"}, packedFile{name: "q.png", data: "Q"}))))
	if aside := b.found("Imported/Trip (version 1)"); next.Bundle != made.Bundle || aside["Trip.md.original"] != "![[p.png]]\r\n" || b.read(next.Bundle+"/Trip.md.original") != "![[q.png]]" {
		t.Errorf("the next version is at %s, the one before has %v", next.Bundle, aside)
	}
	other := b.drop("imp-4", "Import/Other.zip", packed(zipFiles(t, packedFile{name: "Other.md", data: "![[p.png]]"}, packedFile{name: "p.png", data: "P"})))
	other.Settings.KeepOriginal = config.KeepInDone
	if _, filed := b.mustRun(other); !strings.HasSuffix(filed.Name, "/Other.zip") {
		t.Errorf("with keep_original: done it is filed as %q", filed.Name)
	}
}
