package ingestion

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// What is a ZIP for a program is one bundle, whatever is in it.
func TestImport_programsPackageIsOneBundle(t *testing.T) {
	t.Parallel()
	for name, member := range map[string]string{
		"app.jar": "META-INF/MANIFEST.MF", "renamed.zip": "META-INF/MANIFEST.MF", "app.apk": "AndroidManifest.xml", "tool.whl": "a.py", "model.3mf": "3D/3dmodel.model", "tour.kmz": "doc.kml",
		"art.sketch": "document.json", "addon.xpi": "manifest.json", "lib.nupkg": "lib.nuspec", "odd.thing": "[Content_Types].xml", "talk.wacz": "datapackage.json",
		"words.apkg": "collection.anki2", "lecture.goodnotes": "index.notes.pb", "flow.knwf": "flow/workflow.knime", "plan.newprogram": "plan.json",
	} {
		b := newBench(t, extract.Document{})
		made, _ := b.mustRun(b.drop("imp-1", "Import/"+name, zipFiles(t, packedFile{name: member, data: "x"}, packedFile{name: "notes/read me.md", data: "# hello"}, packedFile{name: "in/letter.pdf", data: "%PDF-1.4"})))
		m, _ := b.im.manifest(made.Bundle)
		note := b.read(made.Note)
		if m.Source.Kind != filetype.KindPackage || len(m.Children) != 0 || !strings.Contains(note, "- in/letter.pdf, 8 bytes") || !strings.Contains(note, "This is a") {
			t.Errorf("%s became %s with children %v:\n%s", name, m.Source.Kind, m.Children, note)
		}
		for file := range b.tree() {
			if strings.HasPrefix(file, "Import/") {
				t.Errorf("%s: %s was put into the import folder", name, file)
			}
		}
	}
}

// A comic is one bundle. Its pages are pictures in the order in which people read them.
func TestImport_comic(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	second, tenth := string(flatPNG(t, 8, 8)), string(flatPNG(t, 9, 9))
	made, _ := b.mustRun(b.drop("imp-1", "Import/Moon.cbz", zipFiles(t, packedFile{name: "Moon/page10.png", data: tenth}, packedFile{name: "Moon/page2.PNG", data: second},
		packedFile{name: "ComicInfo.xml", data: "<ComicInfo><Title>To the Moon</Title><Series>Lunar</Series><Number>3</Number><Writer>Bo Berg</Writer></ComicInfo>"}, packedFile{name: "Moon/page3.png", data: "no picture"},
		packedFile{name: "Thumbs.db", data: "x"}, packedFile{name: "credits.txt", data: "x"})))
	m, _ := b.im.manifest(made.Bundle)
	if m.Document.Title != "Lunar 3: To the Moon" || m.Document.Author != "Bo Berg" || len(m.Children) != 0 || len(m.Pages) != 3 || len(m.Import.Warnings) != 2 {
		t.Fatalf("%+v %+v", m.Document, m.Import.Warnings)
	}
	var got []string
	for _, p := range m.Pages {
		if p.Image != nil {
			got = append(got, b.read(made.Bundle+"/"+p.Image.Path))
		}
	}
	if len(got) != 2 || got[0] != second || got[1] != tenth || m.Pages[1].Status != manifest.PageFailed {
		t.Errorf("pages %+v", m.Pages)
	}
	if note := b.read(made.Note); !strings.Contains(note, "![[./pages/page_0001.png]]") {
		t.Error(note)
	}
	if _, _, err := b.run(b.drop("imp-2", "Import/none.cbz", zipFiles(t, packedFile{name: "a.txt", data: "x"}))); err == nil {
		t.Error("a comic without a picture was imported")
	}
}

func TestImport_packageInAnArchiveStaysWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{})
	jar := string(zipFiles(t, packedFile{name: "META-INF/MANIFEST.MF", data: "x"}, packedFile{name: "A.class", data: "x"}))
	made, _ := b.mustRun(b.drop("imp-1", "Import/box.zip", zipFiles(t, packedFile{name: "app.jar", data: jar}, packedFile{name: "a.txt", data: "x"})))
	m, _ := b.im.manifest(made.Bundle)
	if len(m.Children) != 2 || b.read("Import/box/app.jar") != jar {
		t.Errorf("children %v", m.Children)
	}
}

// The pages of a document of Apple's programs are drawn from the preview in it.
func TestImport_previewInTheFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, extract.Document{Pages: 2, Renderer: "mupdf"})
	made, _ := b.mustRun(b.drop("imp-1", "Import/letter.pages", zipFiles(t, packedFile{name: "QuickLook/Preview.pdf", data: "%PDF-1.4 preview"},
		packedFile{name: "index.xml", data: `<document><text-storage kind="body"><p>Dear Bo</p></text-storage></document>`})))
	note := b.read(made.Note)
	if b.worker.printed != "%PDF-1.4 preview" || !strings.Contains(note, "Dear Bo") || !strings.Contains(note, "![[./pages/page_0002.png]]") {
		t.Errorf("the worker got %q:\n%s", b.worker.printed, note)
	}
	if m, _ := b.im.manifest(made.Bundle); m.Render == nil || m.Render.Code != "preview" || m.Source.Kind != filetype.KindOffice {
		t.Errorf("render %+v of %s", m.Render, m.Source.Kind)
	}
}
