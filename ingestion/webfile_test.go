package ingestion

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
)

// onePixel is a PNG of one pixel.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="

func importOf(t *testing.T, name, data string) (note string) {
	t.Helper()
	b := newBench(t, extract.Document{})
	made, filed := b.mustRun(b.drop("imp-1", "Import/"+name, []byte(data)))
	if b.read(filed.Name) != data || b.worker.starts != 0 {
		t.Error("the original changed, or a worker was started")
	}
	return b.read(made.Note)
}

func hasAll(t *testing.T, note string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(note, want) {
			t.Errorf("no %q in\n%s", want, note)
		}
	}
}

func hasNone(t *testing.T, note string, unwanted ...string) {
	t.Helper()
	for _, never := range unwanted {
		if strings.Contains(note, never) {
			t.Errorf("%q is in\n%s", never, note)
		}
	}
}

func TestImport_webPage(t *testing.T) {
	t.Parallel()
	note := importOf(t, "soup.html", `<html><head><title>Soup</title><meta name="author" content="Mei"></head><body><h1>Soup</h1>
<p>Cod &amp; leek, %% vaultflow:end %% <a href="https://example.org/a(b)">more</a> <a href="file:///etc/passwd">secret</a></p>
<ul><li>one</li></ul><img src="data:image/png;base64,`+onePixel+`" alt="A dot"><img src="https://example.org/far.png" alt="Far"><img src="near.png" alt="Near">
<script>alert(1)</script></body></html>`)
	hasAll(t, note, "title: Soup", "Cod & leek", "[more](https://example.org/a%28b%29)", "- one", "![A dot](./assets/image_0001.png)", "[Far](https://example.org/far.png)", "Near")
	hasNone(t, note, "alert", "file:", "![Far]")
	if strings.Count(note, indexnote.End) != 1 {
		t.Error("the page ended the generated block")
	}
}

func TestImport_savedPage(t *testing.T) {
	t.Parallel()
	note := importOf(t, "saved.mhtml", strings.ReplaceAll(`From: <Saved by a browser>
Snapshot-Content-Location: https://example.org/tides
Subject: Tides
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="B"

--B
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable
Content-Location: https://example.org/tides

<html><title>Tides</title><body><p>Fl=F8d og fj=E6re</p><img src=3D"https://example.org/=
m.png" alt=3D"Moon"></body></html>
--B
Content-Type: image/png
Content-Transfer-Encoding: base64
Content-Location: https://example.org/m.png

`+onePixel+`
--B--
`, "\n", "\r\n"))
	hasAll(t, note, "Saved from [https://example.org/tides](https://example.org/tides)", "Flød og fjære", "![Moon](./assets/image_0001.png)")
}

func TestImport_email(t *testing.T) {
	t.Parallel()
	note := importOf(t, "letter.eml", `From: =?UTF-8?Q?Ingrid_=C3=85s?= <ingrid@example.org>
To: mei@example.org
Subject: =?iso-8859-1?Q?Gr=F8t?=
Date: Tue, 17 Nov 2026 08:30:00 +0100
Content-Type: multipart/mixed; boundary=M

--M
Content-Type: multipart/alternative; boundary=A

--A
Content-Type: text/plain; charset=utf-8

Hello Mei,
# not a heading
*two* lines

> quoted

--A
Content-Type: text/html

<p>Hello <b>Mei</b></p>
--A--
--M
Content-Type: image/png; name="dot.png"
Content-Disposition: attachment; filename="dot.png"
Content-Transfer-Encoding: base64

`+onePixel+`
--M
Content-Type: application/pdf
Content-Disposition: attachment; filename="../../etc/plan.pdf"
Content-Transfer-Encoding: base64

`+base64.StdEncoding.EncodeToString([]byte("%PDF-1.4"))+`
--M--
`)
	hasAll(t, note, "title: Grøt", "From: Ingrid Ås (ingrid@example.org)", "Hello Mei,\\\n\\# not a heading\\\n\\*two\\* lines\n\n> quoted",
		"dot.png, image/png", "![dot.png](./assets/image_0001.png)", "plan.pdf, application/pdf, 8 bytes")
	html := importOf(t, "html.eml", `From: a@example.org
Subject: Only HTML
Content-Type: multipart/related; boundary=R

--R
Content-Type: text/html; charset=utf-8

<p>See <img src="cid:p1" alt="Plate"></p>
--R
Content-Type: image/png
Content-Id: <p1>
Content-Transfer-Encoding: base64

`+onePixel+`
--R--
`)
	hasAll(t, html, "See ![Plate](./assets/image_0001.png)")
	hasNone(t, html, "Attachments")
}
