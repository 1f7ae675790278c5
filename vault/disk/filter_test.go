package disk

import "testing"

// The filter matrix of the peers' suites (cases 17, 18, 20, 65) and the list of names that their users needed. Where a
// peer takes only known extensions, we take all: the content decides.
func TestFilter_arrival(t *testing.T) {
	t.Parallel()
	f, err := newFilter(Options{ImportDir: "Import", Ignore: []string{"*.bak", "Scans/old", "Private/"}})
	must(t, err)
	for name, want := range map[string]verdict{
		"document.pdf": take, "image.png": take, "photo.jpg": take, "document.PDF": take, "stfolder.pdf": take,
		"my_document.pdf": take, "unknown.xyz": take, "noextension": take, "documents/x.pdf": take, "invoices/x.pdf": take,
		"simple.png.pdf": take, "Failed.pdf": take, "template.tmpl": take,

		".DS_Store": ignore, ".DS_STORE": ignore, "._document.pdf": ignore, "._hidden": ignore, "Thumbs.db": ignore,
		"desktop.ini": ignore, "DESKTOP.INI": ignore, "~$letter.docx": ignore, ".~lock.letter.odt#": ignore, "x.tmp": ignore,
		"x.pdf.part": ignore, "x.partial": ignore, "x.CRDOWNLOAD": ignore, "x.opdownload": ignore, "x.filepart": ignore,
		".x.swp": ignore, "x.swp": ignore, ".nfs0001": ignore, ".fuse_hidden1": ignore, ".syncthing.x.tmp": ignore,
		"~syncthing~x.tmp": ignore, ".goutputstream-X": ignore, ".vaultflow-x.tmp": ignore, "x.pdf.sb-1234": ignore,

		"x.pdf.!qB": ignore, "x.!ut": ignore, "x.pdf.!sync": ignore, "x.pdf.aria2": ignore, "x.bc!": ignore, "x.mp4.part-Frag12": ignore,
		"#x.txt#": ignore, ".#x.txt": ignore, "x.txt~": ignore, ".x.un~": ignore, "x.txt___jb_tmp___": ignore, "a.dwl2": ignore, "a.laccdb": ignore,
		"notes.db-wal": ignore, "notes.sqlite3-journal": ignore, "travel-journal": take, "#1 plan.txt": take, "Wow!.pdf": take, "code.st": take,

		".stfolder/foo.pdf": ignore, ".stversions/x.pdf": ignore, ".trash/x.pdf": ignore, ".obsidian/x.pdf": ignore,
		".git/x.pdf": ignore, "@eaDir/x.pdf": ignore, ".Spotlight-V100/x": ignore, ".Trashes/x": ignore,
		"__MACOSX/x.pdf": ignore, "#recycle/x.pdf": ignore, ".localized/x": ignore, "sub/@eaDir/x.pdf": ignore,
		"._foo/bar.pdf": ignore, "x.download/part.pdf": ignore,

		"Failed/x.pdf": ignore, "failed/x.pdf": ignore, "_import.yaml": ignore, "sub/_import.yaml": ignore,
		"x.pdf.password": ignore, "x.failed.md": ignore,

		"a.bak": ignore, "sub/a.BAK": ignore, "Scans/old": ignore, "Scans/old/a.pdf": ignore, "Scans/new/a.pdf": take,
		"private/a.pdf": ignore, "sub/Private/a.pdf": ignore,

		".report.pdf.icloud": placeholder, "sub/.report.pdf.icloud": placeholder, ".icloud": ignore,
		"x.sync-conflict-20261101-101010-ABC.pdf": conflicted, "x (Conflicted copy Mac 202611011010).md": conflicted,
		"x (Eva's conflicted copy 2026-11-01).pdf": conflicted,
	} {
		if got := f.arrival("Import/" + name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}
