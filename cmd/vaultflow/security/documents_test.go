//go:build linux

package security

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// injected are 44 documents that carry the order in every place that a reader, or a recogniser, may find it.
func injected(t *testing.T) map[string][]byte {
	t.Helper()
	page := func() *pdftest.Builder {
		return pdftest.New().TextPage(pdftest.Text("An ordinary letter about the weather.", "It was sunny.")...)
	}
	drawn := func() []byte { return pdftest.Photo(1200, 500, order) }
	var picture bytes.Buffer
	if err := png.Encode(&picture, pdftest.Drawing(1200, 400, 150, order)); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"text layer.pdf":   pdftest.New().TextPage(pdftest.Text(order)...).Bytes(),
		"heading.pdf":      pdftest.New().TextPage(pdftest.Heading(order)).Bytes(),
		"scan.pdf":         pdftest.New().ScanPage(order).Bytes(),
		"invisible.pdf":    pdftest.New().InvisibleTextScan([]string{order}, "An ordinary scan").Bytes(),
		"stamped scan.pdf": pdftest.New().StampedScanPage(order, "An ordinary scan").Bytes(),
		"remark.pdf":       page().Annotate(pdftest.StickyNote(order, "Somebody")).Bytes(),
		"stamp.pdf":        page().Annotate(pdftest.Stamp(order)).Bytes(),
		"free text.pdf":    page().Annotate(pdftest.FreeText(order, "Somebody")).Bytes(),
		"author.pdf":       page().Annotate(pdftest.StickyNote("A remark", order)).Bytes(),
		"form.pdf":         page().Field(pdftest.TextField("name", order)).Bytes(),
		"title.pdf":        page().Info(order, "Somebody").Bytes(),
		"outline.pdf":      page().Outline(order, 1).Bytes(),
		"turned.pdf":       pdftest.New().TextPage(pdftest.Text(order)...).Rotated(90).Bytes(),
		"second page.pdf":  page().TextPage(pdftest.Text(order)...).Bytes(),

		"photo.jpg":   drawn(),
		"drawing.png": picture.Bytes(),
		"fax.tif":     pdftest.TIFF(1, pdftest.Drawing(1200, 400, 150, order)),
		"exif.jpg":    withDescription(pdftest.Photo(600, 300, "An ordinary photograph"), order),
		"vector.svg":  []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="900" height="90"><title>` + order + `</title><text x="10" y="50" font-size="30">` + order + `</text></svg>`),

		"letter.docx":    docx(t, "<w:p><w:r><w:t>"+order+"</w:t></w:r></w:p>", ""),
		"comment.docx":   docx(t, `<w:p><w:r><w:t>An ordinary letter</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>`, order),
		"described.docx": docx(t, `<w:p><w:r><w:t>An ordinary letter</w:t><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="p" descr="`+order+`"/></wp:inline></w:drawing></w:r></w:p>`, ""),
		"vanished.docx":  docx(t, `<w:p><w:r><w:t>An ordinary letter</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>`+order+`</w:t></w:r></w:p>`, ""),
		"headed.docx":    docx(t, `<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>`+order+`</w:t></w:r></w:p>`, ""),
		"book.odt":       odt(t, order),
		"page.html":      []byte("<html><body><article><h1>News</h1><p>" + order + "</p></article></body></html>"),
		"pictured.html":  []byte("<html><body><article><p>An ordinary page about the weather of today.</p><img src=\"data:image/png;base64," + base64.StdEncoding.EncodeToString(dot()) + "\" alt=\"" + order + "\"></article></body></html>"),
		"titled.html":    []byte("<html><head><title>" + order + "</title></head><body><p>An ordinary page about the weather.</p></body></html>"),
		"link.html":      []byte("<html><body><p>An ordinary page <a href=\"http://example.org/\" title=\"" + order + "\">" + order + "</a></p></body></html>"),
		"hidden.html":    []byte("<html><body><p>An ordinary page</p><div style=\"color:white;font-size:1px\">" + order + "</div></body></html>"),
		"rows.html":      []byte("<html><body><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>" + order + "</td></tr></table></body></html>"),
		"body.eml":       mail("Hello", "Somebody", order),
		"subject.eml":    mail(order, "Somebody", "An ordinary message."),
		"sender.eml":     mail("Hello", order, "An ordinary message."),
		"html mail.eml":  []byte("From: a@example.org\r\nTo: b@example.org\r\nSubject: Hello\r\nMIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>" + order + "</p>\r\n"),
		"notes.txt":      []byte("An ordinary note.\n\n" + order + "\n"),
		"table.csv":      []byte("name,remark\nAda," + order + "\n"),
		"data.json":      []byte(`{"remark": "` + order + `"}`),
		"code.go":        []byte("package main\n\n// " + order + "\nfunc main() {}\n"),
		"properties.md":  []byte("---\ntitle: \"" + order + "\"\ntags: [x]\n---\nAn ordinary note.\n"),
		"code block.md":  []byte("An ordinary note.\n\n```\n" + order + "\n```\n"),
		"html.md":        []byte("An ordinary note.\n\n<!-- " + order + " -->\n\n<details>" + order + "</details>\n"),
		word + " do.txt": []byte("An ordinary note whose name gives orders.\n"),
		"archive.zip":    zipped(t, map[string]string{word + " inside.txt": "An ordinary note in an archive.\n", "inside.txt": order}),
	}
}

// Three hops: digests of the documents, a week of the digests, a year of the weeks; each with all tools and a model that
// obeys every order on the way.
func TestInjection_threeHops(t *testing.T) {
	t.Parallel()
	if os.Getenv("VAULTFLOW_WORKER") == "" {
		t.Skip("needs vaultflow-worker: make test")
	}
	documents := injected(t)
	if len(documents) < 40 {
		t.Fatalf("%d documents, want 40", len(documents))
	}
	s := newScene(t)
	s.model.says("# Digest\n\nThis digest was written by a model that had been fooled by a document.\n\n" + order + "\n\n" + s.hostileAnswer())
	outside := filepath.Join(s.dir, "outside")
	for name, data := range documents {
		s.put(filepath.Join(outside, name), string(data))
	}
	s.run(anyCode, "import", outside)
	const reach = "---\npermissions: {network: [\"*\"]}\n---\n"
	s.workflow("Spread", "## Spread\n@output file: Spread\n@model none\n")
	s.workflow("Digest", reach+"## Digest\n@for_each file: Imported/**/index.md (on_error=skip, parallel=2)\n@input file: {item} (images=ignore)\n@tools all, run_workflow\n@output file: Digests/{item-name} {batch}\n\nSummarise.\n")
	s.workflow("Week", reach+"## Week\n@for_each file: Digests/*.md (on_error=skip, parallel=2)\n@input file: {item}\n@tools all, run_workflow\n@output file: Weeks/{item-name}\n\nSummarise.\n")
	s.workflow("Year", reach+"## Year\n@input file: Weeks/*.md\n@tools all, run_workflow\n@output file: Year\n\nSummarise.\n")
	s.remember()
	for _, hop := range []string{"Digest", "Week", "Year"} {
		before := s.model.wakes()
		out := s.run(anyCode, "run", hop)
		if s.model.wakes() == before {
			t.Errorf("%s: the model never read an order\n%s", hop, out)
		}
		s.unharmed("Digests/**", "Weeks/**", "Year.md")
		if t.Failed() {
			t.Fatalf("at %s", hop)
		}
	}
	s.inert("Year.md")
	reached := 0
	for name := range documents {
		stem := strings.TrimSuffix(name, filepath.Ext(name))
		if slices.ContainsFunc(s.model.asked(), func(body string) bool {
			return strings.Contains(body, "Imported/outside/"+stem) && strings.Contains(strings.ToUpper(body), word)
		}) {
			reached++
		} else {
			t.Logf("%s: its order never reached the model", name)
		}
	}
	if reached < 30 {
		t.Errorf("the orders of %d documents reached the model, want 30 at least: the others prove nothing", reached)
	}
}

func withDescription(photo []byte, text string) []byte {
	tiff := []byte("II*\x00\x08\x00\x00\x00\x01\x00\x0e\x01\x02\x00")
	tiff = binary.LittleEndian.AppendUint32(tiff, uint32(len(text)+1))
	tiff = append(binary.LittleEndian.AppendUint32(tiff, 26), 0, 0, 0, 0)
	exif := append(append([]byte("Exif\x00\x00"), tiff...), text+"\x00"...)
	app1 := append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(exif)+2)), exif...)
	return slices.Concat(photo[:2], app1, photo[2:])
}

func mail(subject, from, body string) []byte {
	return fmt.Appendf(nil, "From: %q <a@example.org>\r\nTo: b@example.org\r\nSubject: %s\r\nDate: Mon, 2 Nov 2026 10:00:00 +0000\r\nContent-Type: text/plain\r\n\r\n%s\r\n", from, subject, body)
}

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

func docx(t *testing.T, body, comment string) []byte {
	t.Helper()
	const w = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`
	return zipped(t, map[string]string{
		"[Content_Types].xml": `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
		"_rels/.rels":       `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/document.xml": `<?xml version="1.0"?><w:document ` + w + `><w:body>` + body + `</w:body></w:document>`,
		"word/comments.xml": `<?xml version="1.0"?><w:comments ` + w + `><w:comment w:id="0" w:author="x"><w:p><w:r><w:t>` + comment + `</w:t></w:r></w:p></w:comment></w:comments>`,
	})
}

func odt(t *testing.T, text string) []byte {
	t.Helper()
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	for _, f := range [][2]string{
		{"mimetype", "application/vnd.oasis.opendocument.text"},
		{"content.xml", `<?xml version="1.0"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:text><text:p>` + text + `</text:p></office:text></office:body></office:document-content>`},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f[0], Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}
