package workflow

import (
	"testing"
	"testing/fstest"

	"github.com/vaultflow/vaultflow/failure/diag"
	"github.com/vaultflow/vaultflow/vault"

	"github.com/google/go-cmp/cmp"
)

// Paths of older bundles are written anew where the bundle has no such file; a real file, an older bundle and a glob stay.
func TestFix_formerPaths(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{}
	for name, text := range map[string]string{
		"Imported/My book/manifest.json": `{"version": 1, "note": "My book.md"}`, "Imported/My book/My book.md": "", "Imported/My book/text/page_0001.txt": "",
		"Imported/Old/manifest.json": `{"version": 1}`, "Imported/Old/index.md": "", "Imported/Old/text/page_0001.md": "",
		"Imported/Both/manifest.json": `{"version": 1, "note": "Both.md"}`, "Imported/Both/Both.md": "", "Imported/Both/index.md": "", "Notes/index.md": "",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	links := vault.LinksFunc(func(link, _ string) vault.Location {
		return vault.Location{Found: link == "My book/index", Name: "Imported/My book/My book.md"}
	})
	world := World{FS: fsys, Links: links}
	const before = `## One
@when changed Imported/My book/index.md
@for_each file: Imported/*/index.md
@input file: {item}
@input file: Imported/My book/index.md (pages=1-3)
@input file: "Imported/My book/index"
@input file: [[My book/index|the book]]
@input file: Imported/My book/text/page_0001.md
@input file: Imported/Old/index.md
@input file: Imported/Old/text/page_0001.md
@input file: Imported/Both/index.md
@input file: Notes/index
@output file: Imported/My book/index

Read Imported/My book/index.md.
`
	const after = `## One
@when changed Imported/My book/My book.md
@for_each file: Imported/*/index.md
@input file: {item}
@input file: Imported/My book/My book.md (pages=1-3)
@input file: "Imported/My book/My book.md"
@input file: [[My book/My book|the book]]
@input file: Imported/My book/text/page_0001.txt
@input file: Imported/Old/index.md
@input file: Imported/Old/text/page_0001.md
@input file: Imported/Both/index.md
@input file: Notes/index
@output file: Imported/My book/My book.md

Read Imported/My book/index.md.
`
	inspect := func(p *Plan) []diag.Diagnostic { return Inspect(t.Context(), p, world) }
	got, fixed := Fix("w", "w.md", []byte(before), inspect)
	if diff := cmp.Diff(after, string(got)); diff != "" || len(fixed) != 6 {
		t.Errorf("%d fixed (-want +got):\n%s", len(fixed), diff)
	}
	if left := inspect(planOf(t, after)); len(left) != 0 {
		t.Errorf("afterwards: %v", left)
	}
	if d := fixed[0]; diag.HasErrors([]diag.Diagnostic{d.Diagnostic}) || d.String() != "w.md:2:15: note[VF242]: Imported/My book/index.md is called Imported/My book/My book.md now (write Imported/My book/My book.md)" {
		t.Error(d.String())
	}
}
