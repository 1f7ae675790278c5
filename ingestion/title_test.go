package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

func TestImport_genericTitleGivesWay(t *testing.T) {
	t.Parallel()
	for own, want := range map[string]string{"(anonymous)": "Chapter 1", "Microsoft Word - q3.doc": "Chapter 1", "The third quarter": "The third quarter", "": "q3"} {
		b := newBench(t, extract.Document{Pages: 2, Title: own})
		made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
		if note := b.read(made.Note); !strings.Contains(note, "\ntitle: "+want+"\n") || !strings.Contains(note, "\n# "+want+"\n") {
			t.Errorf("%q: the note is called otherwise than %q:\n%s", own, want, note)
		}
	}
	for own, want := range map[string]bool{"anonymous": false, "Mei Lin": true} {
		b := newBench(t, extract.Document{Pages: 1, Author: own})
		made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
		if got := strings.Contains(b.read(made.Note), own); got != want {
			t.Errorf("the author %q is in the note: %v\n%s", own, got, b.read(made.Note))
		}
	}
	b := newBench(t, extract.Document{Pages: 1, Title: "untitled"})
	b.worker.page = func(r extract.PageRequest, _ int) (extract.Page, error) {
		p := goodPage(r)
		if r.Text {
			p.Text = layer("Words without a heading.")
		}
		return p, nil
	}
	made, _ := b.mustRun(b.drop("imp-1", "Import/q3.pdf", pdfBytes))
	if note := b.read(made.Note); !strings.Contains(note, "\n# q3\n") {
		t.Errorf("neither a title nor a heading, and not the name of the file:\n%s", note)
	}
}

// slidesOf is a presentation with a slide for each title.
func slidesOf(t *testing.T, own string, titles ...string) []byte {
	t.Helper()
	list, rels := "", ""
	files := []packedFile{{name: "docProps/core.xml", data: "<core><title>" + own + "</title></core>"}}
	for i, title := range titles {
		n := string(rune('1' + i))
		list += `<p:sldId id="25` + n + `" r:id="r` + n + `"/>`
		rels += `<Relationship Id="r` + n + `" Type="t/slide" Target="slides/slide` + n + `.xml"/>`
		files = append(files, packedFile{name: "ppt/slides/slide" + n + ".xml", data: `<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr>
<p:txBody><a:p><a:r><a:t>` + title + `</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>`})
	}
	return zipFiles(t, append(files,
		packedFile{name: "ppt/presentation.xml", data: `<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst>` + list + `</p:sldIdLst></p:presentation>`},
		packedFile{name: "ppt/_rels/presentation.xml.rels", data: "<Relationships>" + rels + "</Relationships>"})...)
}

func TestImport_slideTitles(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	long := strings.TrimSpace(strings.Repeat("a claim that takes the whole line ", 8))
	made, _ := b.mustRun(b.drop("imp-1", "Import/talk.pptx", slidesOf(t, "PowerPoint Presentation", "Bees in the city", long)))
	note := b.read(made.Note)
	if !strings.Contains(note, "\n# Bees in the city\n") {
		t.Errorf("the note has another title than the first slide:\n%s", note)
	}
	if !strings.Contains(note, long) {
		t.Errorf("the long title is not in the text as a whole:\n%s", note)
	}
}

// A file without a title is called as its first heading says, if that is at the top, and otherwise as the file.
func TestImport_missingTitles(t *testing.T) {
	t.Parallel()
	prose := "<p>" + strings.Repeat("Bees live in the city, too. ", 40) + "</p>"
	word := func(body string) string {
		return string(zipFiles(t, packedFile{name: "word/document.xml", data: `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`},
			packedFile{name: "word/styles.xml", data: `<w:styles xmlns:w="w"><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>`}))
	}
	head, text := `<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Bees in the city</w:t></w:r></w:p>`, `<w:p><w:r><w:t>`+strings.Repeat("They live there, too. ", 40)+`</w:t></w:r></w:p>`
	for _, c := range []struct{ file, data, want string }{
		{"a.html", "<html><body><h1>Bees in <b>the</b> city</h1>" + prose + "</body></html>", "Bees in the city"},
		{"a.html", "<html><body><nav><a href=x>Home</a></nav><article><h1>Bees in the city</h1>" + prose + "</article></body></html>", "Bees in the city"},
		{"a.html", "<html><body>" + prose + "<h2>Sources</h2></body></html>", "a"},
		{"a.docx", word(head + text), "Bees in the city"},
		{"a.docx", word(text + head), "a"},
		{"a.pptx", string(slidesOf(t, "", "Bees in the city", "More")), "Bees in the city"},
		{"a.odt", string(zipFiles(t, packedFile{name: "mimetype", data: "application/vnd.oasis.opendocument.text"}, packedFile{name: "content.xml", data: `<o:document-content xmlns:o="o" xmlns:text="t"><o:body><o:text><text:h text:outline-level="1">Bees in the city</text:h><text:p>They live there.</text:p></o:text></o:body></o:document-content>`})), "Bees in the city"},
		{"a.eml", "From: a@example.org\r\nTo: b@example.org\r\n\r\n# Hello\r\n", "a"},
	} {
		b := newBench(t, extract.Document{})
		made, _ := b.mustRun(b.drop("imp-1", "Import/"+c.file, []byte(c.data)))
		if note := b.read(made.Note); !strings.Contains(note, "\n# "+c.want+"\n") {
			t.Errorf("%s is not called %q:\n%s", c.file, c.want, note)
		}
	}
}
