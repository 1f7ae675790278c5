//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultflow/vaultflow/cmd/vaultflow/sitetest"
	"github.com/vaultflow/vaultflow/engine"
	"github.com/vaultflow/vaultflow/vault"
	"github.com/vaultflow/vaultflow/vault/disk"
)

// hardNames are names that files of this world have and that a vault, a link or another system cannot hold. The keys
// say what is hard about them.
var hardNames = map[string]string{
	"emoji":            "📄🧑‍🔬 lab 👩🏽‍🚀.txt",
	"NFD":              "re\u0301sume\u0301 A\u030angstro\u0308m.txt",
	"NFD of Hangul":    "\u1112\u1161\u11ab.txt",
	"device":           "CON",
	"device with type": "aux.txt",
	"device, twice":    "nul.tar.txt",
	"device, digit":    "LPT¹.txt",
	"trailing dots":    "trailing dots...",
	"trailing space":   "trailing space.txt ",
	"leading space":    "  leading space.txt",
	"only dots in it":  "a..b...c.txt",
	"wiki link":        "[[x]].txt",
	"embed":            "![[x|y]] z.txt",
	"link marks":       "a#b^c|d.txt",
	"block":            "note#^block.txt",
	"page of a PDF":    "q3.pdf#page=2.txt",
	"comment":          "%%comment%%.txt",
	"quotes":           `"quoted" and 'single' “curly”.txt`,
	"backslash":        `a\b\c.txt`,
	"colon, question":  "why: what? <b>*bold*.txt",
	"newline":          "line\nbreak.txt",
	"carriage return":  "line\r\nbreak of Windows.txt",
	"controls":         "bell\a tab\t del\x7f escape\x1b[31m.txt",
	"bidi":             "invoice\u202efdp.txt",
	"zero width":       "zero\u200bwidth\ufeff.txt",
	"no-break space":   "10:32\u202fAM\u00a0shot.txt",
	"dash":             "-rf.txt",
	"two dashes":       "--help",
	"markup":           "<script>alert(1)`code` ~~x~~ $y$.txt",
	"template":         "{{title}} <% tp.date %> ${HOME} $(id).txt",
	"percent":          "100%25 %2e%2e%2f %00.txt",
	"invalid UTF-8":    "latin1 caf\xe9 \xff\xfe.txt",
	"only invalid":     "\xff",
	"surrogate":        "half \xed\xa0\x80 surrogate.txt",
	"long":             strings.Repeat("long name ", 25) + ".txt", // 254 bytes
	"long, wide":       strings.Repeat("長", 83) + ".txt",          // 253 bytes
	"longest":          strings.Repeat("x", 255),
	"index of bundles": "index.md",
	"manifest":         "manifest.json",
	"no extension":     "README",
	"only an ending":   "….txt",
}

// body is what the file of a name holds: no two hold the same.
func body(what string) string { return "This is what the file called " + what + " holds.\n" }

// linkOf finds wikilinks and embeds, as Obsidian reads them: nothing in a link can be escaped.
var linkOf = regexp.MustCompile(`!?\[\[([^\[\]|#^]*)((?:#[^\[\]|]*)?)(?:\|[^\[\]]*)?\]\]`)

// oddLink finds what Obsidian may take for a link and linkOf does not.
var oddLink = regexp.MustCompile(`\[\[[^\n]*\]\]`)

// linkProperty finds properties that are a link: a text that has one within is plain text to Obsidian.
var linkProperty = regexp.MustCompile(`(?m)^(\w+: |  - )["']?\[\[.*\]\]["']?$`)

// resolved checks that every link of a note leads to a file, and gives the files.
func (s *site) resolved(v *disk.Vault, note string) (leads []string) {
	s.T.Helper()
	text := s.Read(note)
	if front, rest, ok := strings.Cut(strings.TrimPrefix(text, "---\n"), "\n---\n"); ok {
		text = rest + strings.Join(linkProperty.FindAllString(front, -1), "\n")
	}
	if odd := oddLink.FindString(linkOf.ReplaceAllString(text, "")); odd != "" {
		s.T.Errorf("%q has %q, which is no good link", note, odd)
	}
	for _, link := range linkOf.FindAllStringSubmatch(text, -1) {
		target := v.Locate(link[1], note)
		if !target.Found || target.Ambiguous != nil {
			s.T.Errorf("%q: link %q leads to %+v", note, link[0], target)
			continue
		}
		leads = append(leads, target.Name)
	}
	return leads
}

// safely checks that an import ended under a name that every system can hold, with its bytes, and that its links resolve.
func (s *site) safely(v *disk.Vault, r engine.ImportRecord, data string) {
	s.T.Helper()
	if r.State != engine.ImportDone {
		s.T.Errorf("%q: %s, %s", r.Source, r.State, r.Error)
		return
	}
	for _, name := range append(s.Files(r.Bundle, ""), r.Bundle, r.Note) {
		if err := vault.ValidName(name); err != nil || !norm.NFC.IsNormalString(name) || strings.ContainsAny(name, "#^[]|") {
			s.T.Errorf("%q was imported as %q: %v", r.Source, name, err)
		}
		for part := range strings.SplitSeq(name, "/") {
			if len(part) > 120 {
				s.T.Errorf("%q was imported as %q, a part has %d bytes", r.Source, name, len(part))
			}
		}
	}
	kept := ""
	for _, name := range s.resolved(v, r.Note) {
		if path.Dir(name) == r.Bundle && s.Read(name) == data {
			kept = name
		}
	}
	if kept == "" {
		s.T.Errorf("%q: no link of its note leads to the original:\n%s", r.Source, s.Read(r.Note))
	}
}

// bySum gives the imports by what they imported.
func bySum(found map[string]engine.ImportRecord) map[string]engine.ImportRecord {
	sums := map[string]engine.ImportRecord{}
	for _, r := range found {
		sums[r.SHA256] = r
	}
	return sums
}

// reader opens the vault to resolve links in it.
func (s *site) reader() *disk.Vault {
	s.T.Helper()
	v, err := disk.Open(s.Vault, disk.Options{})
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { v.Close() })
	return v
}

// layHard puts files of hard names into a folder, each besides into a folder below of a hard name of its own.
func layHard(t *testing.T, dir string) (laid map[string]string) {
	t.Helper()
	laid = map[string]string{}
	for _, what := range slices.Sorted(maps.Keys(hardNames)) {
		err := os.WriteFile(filepath.Join(dir, hardNames[what]), []byte(body(what)), 0o644)
		if errors.Is(err, syscall.EILSEQ) || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENAMETOOLONG) {
			t.Logf("%s: this file system has no such names: %v", what, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		laid[what] = body(what)
	}
	return laid
}

func TestNames_hardOnesDropped(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	laid := layHard(t, s.Path("Import"))
	for _, folder := range []string{"[[x]] #^|", "e\u0301te\u0301\n", "caf\xe9", "AUX.d", "dots..."} {
		what := fmt.Sprintf("in the folder %q", folder)
		if err := os.MkdirAll(s.Path("Import/"+folder+"/deeper "+folder), 0o755); err != nil {
			t.Logf("%s: this file system has no such names: %v", what, err)
			continue
		}
		s.Write("Import/"+folder+"/deeper "+folder+"/"+folder+".txt", []byte(body(what)))
		laid[what] = body(what)
	}
	d := s.serve()
	sums, v := bySum(s.ended(len(laid))), s.reader()
	for what, data := range laid {
		t.Run(what, func(t *testing.T) {
			(&site{&sitetest.Site{T: t, Vault: s.Vault}}).safely(v, sums[vault.Digest([]byte(data))], data)
		})
	}
	if left := s.Files("Import", ""); len(left) != 0 {
		t.Errorf("left in the import folder: %q", left)
	}
	d.alive()
}

func TestNames_hardOnesImported(t *testing.T) {
	t.Parallel()
	for _, serving := range []bool{false, true} {
		t.Run(fmt.Sprint("while serving: ", serving), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, "", "")
			outside := filepath.Join(filepath.Dir(s.Vault), "outside")
			if err := os.Mkdir(outside, 0o755); err != nil {
				t.Fatal(err)
			}
			laid := layHard(t, outside)
			alone := filepath.Join(filepath.Dir(s.Vault), "index.md") // with it, the folder would be an export of notes
			if err := os.Rename(filepath.Join(outside, "index.md"), alone); err != nil {
				t.Fatal(err)
			}
			if serving {
				s.serve()
			}
			s.Must("import", "--", outside, alone)
			if err := os.Rename(alone, filepath.Join(outside, "index.md")); err != nil {
				t.Fatal(err)
			}
			sums, v := bySum(s.ended(len(laid))), s.reader()
			for what, data := range laid {
				s.safely(v, sums[vault.Digest([]byte(data))], data)
				if kept, err := os.ReadFile(filepath.Join(outside, hardNames[what])); err != nil || string(kept) != data {
					t.Errorf("%s: the original is %q, %v", what, kept, err)
				}
			}
		})
	}
}

// tooLong has 300 bytes, which no file system allows.
var tooLong = strings.Repeat("[[A very long name]] ", 15)[:296] + ".txt"

func TestNames_300BytesFromStandardInput(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	s.pipe(body("300"), "import", "-", "--name", tooLong)
	s.pipe(body("no text"), "import", "-", "--name", "caf\xe9 \xff.txt")
	s.pipe(body("climbing"), "import", "-", "--name", `../../..\..//CON/[[x]]|#^.txt`)
	s.pipe(body("nothing"), "import", "-", "--name", "...")
	found, v := bySum(s.ended(4)), s.reader()
	for _, what := range []string{"300", "no text", "climbing", "nothing"} {
		s.safely(v, found[vault.Digest([]byte(body(what)))], body(what))
	}
}

// pipe runs a command that has to succeed with something on standard input.
func (s *site) pipe(stdin string, args ...string) {
	s.T.Helper()
	cmd := s.Command(args...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.T.Fatalf("vaultflow %q: %v\n%s", args, err, out)
	}
}

func TestNames_hardOnesInAnArchive(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", "")
	var box bytes.Buffer
	w := zip.NewWriter(&box)
	laid := map[string]string{}
	for what, name := range map[string]string{
		"300": tooLong, "300 twice": "d/" + tooLong, "emoji": "📄/👩🏽‍🚀.txt", "NFD": "e\u0301.txt", "device": "aux/CON.txt", "wiki link": "[[x]]/#^|.txt",
		"newline": "a\nb.txt", "dots": "trailing... /dots....txt ", "no text": "caf\xe9.txt",
	} {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(body(what))); err != nil {
			t.Fatal(err)
		}
		laid[what] = body(what)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s.Write("Import/[[box]] #1.zip", box.Bytes())
	s.serve()
	sums, v := bySum(s.ended(len(laid)+1)), s.reader()
	for what, data := range laid {
		r, ok := sums[vault.Digest([]byte(data))]
		if !ok {
			t.Errorf("%s: not imported", what)
			continue
		}
		s.safely(v, r, data)
	}
	s.safely(v, sums[vault.Digest(box.Bytes())], box.String())
}

// Documents have more links than texts: pictures, pages, outlines.
func TestNames_linksOfDocuments(t *testing.T) {
	t.Parallel()
	s := newSite(t, worker(t), "ingestion: {pdf: {inline_pages: 2}}\n")
	want := map[string]string{}
	for i, name := range []string{
		"[[x]] #^|.pdf", "\"quoted\"\nnewline.pdf", "re\u0301sume\u0301 👩🏽‍🚀.pdf", "CON.pdf", "caf\xe9.pdf", strings.Repeat("長", 83) + ".pdf", "pages.pdf", "pages",
	} {
		data := longText(i%3 + 1) // three pages are more than stand in a note
		data = append(data, fmt.Sprintf("%%%d\n", i)...)
		s.Write("Import/"+name, data)
		want[vault.Digest(data)] = string(data)
	}
	s.Write("Import/%%[x](y)%%.png", pngPicture(t, "A picture"))
	s.serve()
	found, v := s.ended(len(want)+1), s.reader()
	for _, r := range found {
		data, ok := want[r.SHA256]
		if !ok {
			data = string(pngPicture(t, "A picture"))
		}
		s.safely(v, r, data)
		if n := strings.Count(s.Read(r.Note), "![[./pages/page_"); n != r.Pages || n == 0 {
			t.Errorf("%q: %d embeds for %d pages:\n%s", r.Source, n, r.Pages, s.Read(r.Note))
		}
	}
}
