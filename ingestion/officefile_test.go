package ingestion

import (
	"archive/zip"
	"bytes"
	"image"
	"image/color"
	"image/png"
	"path"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/indexnote"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// docxOf is a word processor file with a picture, a picture of a kind that cannot be shown, and words that would harm a note.
func docxOf(t *testing.T) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 40, 30))
	picture.Set(3, 3, color.RGBA{R: 200, A: 255})
	var pixels bytes.Buffer
	if err := png.Encode(&pixels, picture); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"word/document.xml", `<w:document xmlns:w="w" xmlns:r="r" xmlns:a="a"><w:body><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Report</w:t></w:r></w:p>
<w:p><w:r><w:t>%% vaultflow:end %% #tag ![[secret]] &lt;script&gt; $$x$$</w:t></w:r></w:p>
<w:p><w:r><w:drawing><docPr descr="A dot"/><a:blip r:embed="p1"/><a:blip r:embed="p2"/></w:drawing></w:r></w:p></w:body></w:document>`},
		{"word/_rels/document.xml.rels", `<Relationships><Relationship Id="p1" Type="t/image" Target="media/image1.png"/><Relationship Id="p2" Type="t/image" Target="media/image2.emf"/></Relationships>`},
		{"docProps/core.xml", `<core><title>The report</title><creator>Mei</creator></core>`},
		{"word/media/image1.png", pixels.String()},
		{"word/media/image2.emf", "\x01\x00\x00\x00 not shown"},
	} {
		w, err := z.Create(part[0])
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImport_officeFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	data := docxOf(t)
	made, filed := b.mustRun(b.drop("imp-1", "Import/report.docx", data))
	note := b.read(made.Note)
	golden(t, "office/note.md", note)
	if strings.Count(note, indexnote.End) != 1 {
		t.Error("the document ended the generated block")
	}
	m, err := manifest.Parse([]byte(b.read(path.Join(made.Bundle, manifest.File))))
	if err != nil || len(m.Assets) != 1 || m.Document.Title != "The report" || m.Document.Author != "Mei" {
		t.Fatalf("manifest %+v, %v", m, err)
	}
	if got := b.read(path.Join(made.Bundle, m.Assets[0].Path)); digest([]byte(got)) != m.Assets[0].SHA256 {
		t.Error("the asset is not what the manifest says")
	}
	if b.read(filed.Name) != string(data) {
		t.Error("the original changed")
	}
	if b.worker.starts != 0 {
		t.Error("a worker was started")
	}
}
