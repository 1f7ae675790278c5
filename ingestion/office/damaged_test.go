package office

import (
	"archive/zip"
	"io"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestRead_partsThatAreCutOff cuts each part with content of the files that other programs wrote, in the middle and to nothing. The
// archive around it is whole, as after a program died while it saved the file.
func TestRead_partsThatAreCutOff(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/made/*.*")
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for _, name := range names {
		z, err := zip.OpenReader(name)
		if err != nil {
			continue
		}
		var parts []txtar.File
		for _, f := range z.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, txtar.File{Name: f.Name, Data: data})
		}
		z.Close()
		for i, p := range parts {
			if !holdsText(p.Name) {
				continue
			}
			for _, keep := range []int{0, len(p.Data) / 2, len(p.Data) * 9 / 10} {
				cut++
				broken := append([]txtar.File(nil), parts...)
				broken[i].Data = p.Data[:keep]
				doc, err := read(packed(t, broken), Limits{})
				if err == nil && !doc.Damaged {
					t.Errorf("%s with %d of %d bytes of %s: not damaged, warnings %q", name, keep, len(p.Data), p.Name, doc.Warnings)
				}
				if err == nil && !strings.Contains(strings.Join(doc.Warnings, "\n"), path.Base(p.Name)) {
					t.Errorf("%s without the end of %s: warnings %q", name, p.Name, doc.Warnings)
				}
			}
		}
	}
	if cut < 60 {
		t.Errorf("only %d parts were cut", cut)
	}
}

// holdsText reports whether a part holds text that readers see.
func holdsText(name string) bool {
	dir, base := path.Split(name)
	switch {
	case base == "nav.xhtml": // the table of contents, which no chapter is
		return false
	case strings.HasSuffix(base, "html"):
		return true
	case base == "document.xml", base == "content.xml", base == "sharedStrings.xml", base == "presentation.xml", base == "workbook.xml", base == "footnotes.xml":
		return true
	}
	return strings.HasSuffix(base, ".xml") && (dir == "ppt/slides/" || dir == "xl/worksheets/")
}

// TestRead_packagesWithoutTheirParts reads packages whose parts do not fit together: words, and no fault of Go.
func TestRead_packagesWithoutTheirParts(t *testing.T) {
	t.Parallel()
	pages := `<Pages><Page ID="0" Name="Plan"></Page></Pages>`
	for want, parts := range map[string][]string{
		"page 1 is missing":                      {"visio/document.xml", "<a/>", "visio/pages/pages.xml", pages},
		"a part that it needs is not named":      {"META-INF/container.xml", "<container/>"},
		"xl/workbook.xml: the XML is broken":     {"xl/workbook.xml", ""},
		"the spreadsheet cannot be read":         {"xl/workbook.xml", `<workbook><sheets><sheet name="A" sheetId="1" id="rId1"/></sheets></workbook>`},
		"word/document.xml is damaged":           {"word/document.xml", "<a/>"},
		"word/document.xml: the XML is broken":   {"word/document.xml", ""},
		"content.xml is damaged: it has no body": {"content.xml", "<a/>"},
		"it has no page or sheet":                {"content.xml", "<d><body><spreadsheet/></body></d>"},
		"the lists of its pages are missing":     {"a.fdseq", "<FixedDocumentSequence/>"},
		"slide 1 is missing":                     {"ppt/presentation.xml", "<p><sldIdLst><sldId id='1'/></sldIdLst></p>"},
	} {
		var b []txtar.File
		for i := 0; i < len(parts); i += 2 {
			b = append(b, txtar.File{Name: parts[i], Data: []byte(parts[i+1])})
		}
		if _, err := read(packed(t, b), Limits{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", parts, err, want)
		}
	}
}

// TestRead_wrongTags reads documents whose elements end with other names, and ones without their relationships: all text is there, and
// they are damaged.
func TestRead_wrongTags(t *testing.T) {
	t.Parallel()
	for body, wrong := range map[string]bool{
		"<p><r><t>One</t></r></p><p><r><t>Two</t></r></p>": false, "<p><r><t>One</t></x></r></p><p><r><t>Two</t></r></p>": true, "<p><r><t>One</r></p><p><r><t>Two</t></r></p>": true,
		"<p><r><t>One</t></r></p><p><r><t>Two</t></r><hyperlink r:id='rId9'><r><t>!</t></r></hyperlink></p>": true,
	} {
		doc, err := read(packed(t, []txtar.File{{Name: "word/document.xml", Data: []byte("<document><body>" + body + "</body></document>")}}), Limits{})
		if err != nil || doc.Damaged != wrong {
			t.Errorf("%s: %v, %+v", body, err, doc)
			continue
		}
		if text := doc.Markdown(func(int, string) string { return "" }); !strings.Contains(text, "One") || !strings.Contains(text, "Two") {
			t.Errorf("%s: %q", body, text)
		}
	}
}

// TestRead_chapterThatIsNoXML reads a chapter with the faults that programs leave in whole ones.
func TestRead_chapterThatIsNoXML(t *testing.T) {
	t.Parallel()
	for source, whole := range map[string]bool{
		"<?xml version='1.0'?><html><body><p>1 < 2 & more<br>end</body></HTML>\n": true,
		"<html><body><p>cut": false, "": false, "<html/>": true, "<svg></svg>": true, "<html": false,
	} {
		if ends([]byte(source)) != whole {
			t.Errorf("%q: whole %t", source, !whole)
		}
	}
}
