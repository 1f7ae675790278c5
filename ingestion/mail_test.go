package ingestion

import (
	"encoding/base64"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// TestImport_attachments: a file, a message without a name, Outlook's own container and a name that leads out are put into
// the import folder; what is imported of them lies in the message's bundle.
func TestImport_attachments(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	made, filed := b.mustRun(b.drop("imp-1", "Import/letter.eml", []byte(`From: a@example.org
Subject: Plans
Content-Type: multipart/mixed; boundary=M

--M
Content-Type: text/plain

See below.
--M
Content-Type: text/csv; name="list.csv"
Content-Disposition: attachment; filename="list.csv"

a,b
--M
Content-Type: message/rfc822

Subject: Inner / words
From: b@example.org

Hello again
--M
Content-Type: application/ms-tnef; name="winmail.dat"
Content-Transfer-Encoding: base64

`+base64.StdEncoding.EncodeToString([]byte("\x78\x9f\x3e\x22\x01\x00"))+`
--M
Content-Type: application/pdf
Content-Disposition: attachment; filename="../../etc/plan.pdf"

%PDF-1.4
--M
Content-Type: image/png; name="dot.png"
Content-Disposition: attachment; filename="dot.png"
Content-Transfer-Encoding: base64

`+onePixel+`
--M
Content-Type: application/octet-stream
Content-Disposition: attachment; filename=".hidden"

x
--M--
`)))
	want := map[string]string{
		"list.csv": "a,b", "winmail.dat": "\x78\x9f\x3e\x22\x01\x00",
		"Inner - words.eml": "Subject: Inner / words\nFrom: b@example.org\n\nHello again", "plan.pdf": "%PDF-1.4",
	}
	if diff := cmp.Diff(want, b.found("Import/letter")); diff != "" {
		t.Errorf("in the inbox (-want +got):\n%s", diff)
	}
	note := b.read(made.Note)
	hasAll(t, note, "See below.", "## Attachments", "[[./list/list|list.csv]]", "|Inner - words.eml]]", "winmail.dat", "![dot.png](./assets/image_0001.png)", "- list.csv, text/csv, 3 bytes", ".hidden was left in the message: it is hidden")
	if filed.Name != "Imported/letter/letter.eml" {
		t.Errorf("the original is at %s", filed.Name)
	}
	inner, _ := b.mustRun(b.drop("imp-2", "Import/letter/list.csv", []byte("a,b")))
	m, _ := b.im.manifest(made.Bundle)
	if len(m.Children) != 4 || inner.Bundle != path.Join(made.Bundle, m.Children[0].Bundle) {
		t.Errorf("the attachment is at %s, children %+v", inner.Bundle, m.Children)
	}
}

// TestImport_withoutExtension: a message whose file has the name of the folder for its attachments puts them into another one. What
// is imported of them lies where the message's note links to.
func TestImport_withoutExtension(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	made, filed := b.mustRun(b.drop("imp-1", "Import/box/letter", []byte("From: a@example.org\nSubject: Plans\nContent-Type: multipart/mixed; boundary=M\n\n"+
		"--M\nContent-Type: text/csv\nContent-Disposition: attachment; filename=\"list.csv\"\n\na,b\n--M--\n")))
	if diff := cmp.Diff(map[string]string{"list.csv": "a,b"}, b.found("Import/box/letter (unpacked)")); diff != "" {
		t.Errorf("in the inbox (-want +got):\n%s", diff)
	}
	if filed.Name != "Imported/box/letter/letter" {
		t.Errorf("the original is at %s", filed.Name)
	}
	inner, _ := b.mustRun(b.drop("imp-2", "Import/box/letter (unpacked)/list.csv", []byte("a,b")))
	if inner.Bundle != "Imported/box/letter/list" {
		t.Errorf("the attachment is at %s", inner.Bundle)
	}
	hasAll(t, b.read(made.Note), "[[./list/list|list.csv]]")
}
