package filetype

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/charset"
)

func zipOf(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		content := "x"
		if name == "mimetype" {
			content = "application/vnd.oasis.opendocument.text"
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestClassify(t *testing.T) {
	t.Parallel()
	const (
		docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
		pptx = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
		xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	)
	late := []string{"[Content_Types].xml"}
	for range 200 {
		late = append(late, "customXml/"+strings.Repeat("y", 40)+".xml")
	}
	cases := []struct {
		name, declared, file, data string
		kind                       Kind
		mediaType, by              string
	}{
		{"pdf", "", "a.pdf", "%PDF-1.7\n\x00\x01", KindPDF, "application/pdf", "magic"},
		{"pdf declared as text", "text/plain", "a.txt", "%PDF-1.7\n", KindPDF, "application/pdf", "magic"},
		{"pdf declared", "application/pdf; x=y", "a", "%PDF-1.7\n", KindPDF, "application/pdf", "declared"},
		{"pdf behind junk, by its name", "", "a.PDF", "HTTP/1.1 200 OK\r\n\r\n%PDF-1.7\n", KindPDF, "application/pdf", "magic"},
		{"pdf behind the head of an answer", "", "a.txt", "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n%PDF-1.7\n", KindPDF, "application/pdf", "magic"},
		{"text about the head of an answer", "", "a.txt", "HTTP/1.1 200 OK\r\n\r\nHere %PDF-1.7 begins", KindText, "text/plain", "magic"},
		{"text about pdf", "", "a.txt", "A file begins with %PDF-1.7 then.", KindText, "text/plain", "magic"},
		{"declared pdf, is text", "application/pdf", "a.pdf", "hello there", KindText, "text/plain", "magic"},
		{"declared pdf, is html", "application/pdf", "a.pdf", "<!DOCTYPE html><html></html>", KindHTML, "text/html", "magic"},
		{"pdf by its name alone", "", "a.pdf", "\x01\x02\x03\x00\x00", KindPDF, "application/pdf", "extension"},
		{"empty", "", "a.pdf", "", KindPDF, "application/pdf", "extension"},
		{"empty without a name", "", "a", "", KindUnknown, "application/octet-stream", "fallback"},
		{"text", "", "a", "hello\n", KindText, "text/plain", "magic"},
		{"flat text document", "", "a.xml", `<?xml version="1.0"?><office:document xmlns:office="urn:x" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text"><office:body/>`, KindOffice, "application/vnd.oasis.opendocument.text-flat-xml", "magic"},
		{"text about a flat document", "", "a.xml", `<?xml version="1.0"?><note>office:mimetype="application/vnd.oasis.opendocument.text"</note>`, KindText, "application/xml", "extension"},
		{"markdown", "text/plain", "a.md", "# hello\n", KindText, "text/markdown", "extension"},
		{"markdown declared", "text/markdown", "a", "# hello\n", KindText, "text/markdown", "declared"},
		{"csv", "", "a.csv", "a,b\n1,2\n3,4\n", KindText, "text/csv", "extension"},
		{"json", "", "a.json", `{"a": 1}`, KindText, "application/json", "extension"},
		{"json without a name", "", "a", `{"a": 1}`, KindText, "application/json", "magic"},
		{"source", "", "a.go", "package a\n", KindText, "text/x-go", "extension"},
		{"NUL is never text", "text/plain", "a.txt", "hello\x00there", KindUnknown, "application/octet-stream", "fallback"},
		{"NUL is never text, declared", "text/csv", "a.csv", "a,b\x00\n", KindUnknown, "application/octet-stream", "fallback"},
		{"UTF-16 is text", "", "a.txt", "\xff\xfeh\x00i\x00", KindText, "text/plain", "magic"},
		{"UTF-16 csv", "", "a.csv", "\xfe\xff\x00h\x00i", KindText, "text/csv", "extension"},
		{"Latin-1 is text", "", "a.txt", "bl\xe5b\xe6r og fl\xf8te", KindText, "text/plain", "magic"},
		{"html", "", "a.txt", "<!DOCTYPE html><html><body>x</body></html>", KindHTML, "text/html", "magic"},
		{"png named jpg", "image/jpeg", "a.jpg", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", KindImage, "image/png", "magic"},
		{"svg", "", "a.svg", `<svg xmlns="http://www.w3.org/2000/svg"></svg>`, KindImage, "image/svg+xml", "magic"},
		{"gif", "application/octet-stream", "a", "GIF89a\x01\x00\x01\x00", KindImage, "image/gif", "magic"},
		{"docx", "", "a.zip", string(zipOf(t, "[Content_Types].xml", "word/document.xml")), KindOffice, docx, "magic"},
		{"docx declared, is a plain zip", docx, "a.docx", string(zipOf(t, "a.txt")), KindArchive, "application/zip", "magic"},
		{"pptx, late in the directory", "", "a", string(zipOf(t, append(late, "ppt/presentation.xml")...)), KindOffice, pptx, "magic"},
		{"xlsx declared", xlsx, "a", string(zipOf(t, "xl/workbook.xml")), KindOffice, xlsx, "declared"},
		{"odt", "", "a", string(zipOf(t, "mimetype", "content.xml")), KindOffice, "application/vnd.oasis.opendocument.text", "magic"},
		{"epub", "", "a", string(zipOf(t, "META-INF/container.xml")), KindOffice, "application/epub+zip", "magic"},
		{"archive", "", "a.docx", string(zipOf(t, "holiday/a.jpg")), KindArchive, "application/zip", "magic"},
		{"archive with a folder called word", "", "a.zip", string(zipOf(t, "word/list.txt", "xl/sizes.txt")), KindArchive, "application/zip", "magic"},
		{"docx with another main part", "", "a", string(zipOf(t, "word/document2.xml", "[Content_Types].xml")), KindOffice, docx, "magic"},
		{"jar", "", "a.zip", string(zipOf(t, "META-INF/MANIFEST.MF", "A.class")), KindPackage, "application/java-archive", "magic"},
		{"archive without a name", "", "download", string(zipOf(t, "document.json")), KindArchive, "application/zip", "magic"},
		{"archive, no extension", "", "version 1.2026", string(zipOf(t, "document.json")), KindArchive, "application/zip", "magic"},
		{"archive, misnamed", "", "a.jpg", string(zipOf(t, "document.json")), KindArchive, "application/zip", "magic"},
		{"package of a new program", "", "a.newprogram", string(zipOf(t, "document.json")), KindPackage, ZippedPackage, "magic"},
		{"package by its name", "", "a.sketch", string(zipOf(t, "document.json")), KindPackage, "application/x-sketch", "magic"},
		{"keynote", "", "a.key", string(zipOf(t, "Index/Document.iwa")), KindOffice, "application/vnd.apple.keynote", "magic"},
		{"pages kept as a folder", "", "a.pages", string(zipOf(t, "Letter.pages/Index.zip")), KindOffice, "application/vnd.apple.pages", "magic"},
		{"archive with an index", "", "a.zip", string(zipOf(t, "site/index.zip", "index.xml")), KindArchive, "application/zip", "magic"},
		{"visio", "", "a", string(zipOf(t, "[Content_Types].xml", "visio/document.xml")), KindOffice, "application/vnd.ms-visio.drawing", "magic"},
		{"xps", "", "a", string(zipOf(t, "[Content_Types].xml", "FixedDocSeq.fdseq")), KindOffice, "application/oxps", "magic"},
		{"docx of which the end is missing", "", "a.docx", string(zipOf(t, "[Content_Types].xml", "docProps/app.xml")), KindOffice, docx, "magic"},
		{"private key", "", "a.key", "-----BEGIN PRIVATE KEY-----\nx\n", KindText, "text/plain", "magic"},
		{"program", "", "a.pdf", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00", KindUnknown, "application/x-executable", "magic"},
		{"compound file of any program", "", "a", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", KindUnknown, oleStorage, "magic"},
		{"compound file with a name", "", "a.vsd", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", KindUnknown, "application/vnd.visio", "extension"},
		{"message of Outlook", "", "a.bin", compound("\x0b\x0d\x02\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46"), KindEmail, "application/vnd.ms-outlook", "magic"},
		{"message of Outlook by its name", "", "a.msg", compound(""), KindEmail, "application/vnd.ms-outlook", "extension"},
		{"message of Outlook that was declared", "application/vnd.ms-outlook", "a", compound(""), KindEmail, "application/vnd.ms-outlook", "declared"},
		{"raw photograph", "", "a.NEF", "II*\x00\x08\x00\x00\x00\x00\x00", KindImage, rawPhotograph, "extension"},
		{"subtitles", "", "a.srt", "1\n00:02:16,612 --> 00:02:19,376\nHello\n", KindText, "application/x-subrip", "magic"},
		{"cut zip", "", "a", string(zipOf(t, "word/document.xml"))[:60], KindOffice, docx, "magic"},
		{"gzip", "", "a.pdf", "\x1f\x8b\x08\x00\x00\x00\x00\x00", KindArchive, "application/gzip", "magic"},
		{"mp3 by name", "", "a.mp3", "\x01\x02\x00\x03", KindAudio, "audio/mpeg", "extension"},
		{"unknown", "", "a.xyz", "\x01\x02\x00\x03", KindUnknown, "application/octet-stream", "fallback"},
		{"declared type nobody knows", "application/x-thing", "a.txt", "hello", KindText, "text/plain", "magic"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			head := c.data[:min(len(c.data), HeadBytes)]
			r := Classify(c.declared, c.file, []byte(head), strings.NewReader(c.data), int64(len(c.data)))
			if r.Kind != c.kind || r.MediaType != c.mediaType || r.Evidence.Decision != c.by {
				t.Errorf("got %s %s by %s (%+v), want %s %s by %s", r.Kind, r.MediaType, r.Evidence.Decision, r.Evidence, c.kind, c.mediaType, c.by)
			}
			if r.Evidence.Reason == "" || r.Handler == "" {
				t.Errorf("no reason or no handler: %+v", r)
			}
		})
	}
}

// compound is the beginning of a compound file whose root has a class.
func compound(class string) string {
	data := make([]byte, 2048)
	copy(data, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	data[26] = 3               // version; the directory is in the first sector
	copy(data[512+80:], class) // [MS-CFB] 2.6.1
	return string(data)
}

func TestHandlers_coverAllKinds(t *testing.T) {
	t.Parallel()
	for _, k := range Kinds() {
		want := "keep"
		switch k {
		case KindPDF, KindImage, KindText:
			want = string(k)
		case KindOffice:
			want = "office"
		case KindHTML, KindEmail, KindArchive, KindPackage, KindAudio:
			want = string(k)
		}
		if got := k.Handler(); got != want {
			t.Errorf("%s is handled by %s, want %s", k, got, want)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add("", "a.pdf", []byte("%PDF-1.7"))
	f.Add("text/csv", "a.csv", []byte("PK\x03\x04\x00\x00\x00\x00\x00\x00"))
	f.Add("image/png", "", []byte("\xff\xfe\x00"))
	f.Fuzz(func(t *testing.T, declared, name string, data []byte) {
		head := data[:min(len(data), HeadBytes)]
		r := Classify(declared, name, head, bytes.NewReader(data), int64(len(data)))
		if r.Kind == KindText && bytes.IndexByte(head, 0) >= 0 && charset.Mark(head) == "" && charset.Wide(head[:len(head)&^3]) == "" {
			t.Errorf("%q with NUL bytes is text: %+v", head, r)
		}
		if again := Classify(declared, name, head, bytes.NewReader(data), int64(len(data))); again != r {
			t.Errorf("%+v, then %+v", r, again)
		}
	})
}
