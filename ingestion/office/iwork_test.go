package office

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/golang/snappy"
)

// message is a message of Protocol Buffers in the making.
type message []byte

func (m message) number(field, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, field<<3), v)
}

func (m message) bytes(field uint64, v []byte) message {
	return append(binary.AppendUvarint(binary.AppendUvarint(m, field<<3|2), uint64(len(v))), v...)
}

func (m message) text(field uint64, v string) message { return m.bytes(field, []byte(v)) }

func (m message) ref(field, id uint64) message { return m.bytes(field, message{}.number(1, id)) }

type made struct {
	id, kind uint64
	body     message
}

// iwaOf packs objects as Pages, Numbers and Keynote do.
func iwaOf(objects ...made) string {
	var plain []byte
	for _, o := range objects {
		info := message{}.number(1, o.id).bytes(2, message{}.number(1, o.kind).number(3, uint64(len(o.body))))
		plain = append(append(binary.AppendUvarint(plain, uint64(len(info))), info...), o.body...)
	}
	packed := snappy.Encode(nil, plain)
	return string(append([]byte{0, byte(len(packed)), byte(len(packed) >> 8), byte(len(packed) >> 16)}, packed...))
}

func zipOf(t *testing.T, parts ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		if err == nil {
			_, err = w.Write([]byte(parts[i+1]))
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

func shown(t *testing.T, data []byte, kind string) (string, *Document) {
	t.Helper()
	doc, err := read(data, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if doc.Kind != kind {
		t.Errorf("kind %q, want %q", doc.Kind, kind)
	}
	return doc.Markdown(func(_ int, alt string) string { return "![" + alt + "]" }), doc
}

func hasInOrder(t *testing.T, text string, words ...string) {
	t.Helper()
	rest := text
	for _, w := range words {
		_, after, found := strings.Cut(rest, w)
		if !found {
			t.Errorf("%q is missing, or not in its place, in:\n%s", w, text)
			return
		}
		rest = after
	}
}

func textObject(id, kind uint64, text string) made {
	return made{id, typeText, message{}.number(1, kind).text(3, text)}
}

func TestRead_pages(t *testing.T) {
	t.Parallel()
	doc := iwaOf(made{1, typePages, nil}, textObject(2, 3, "A box"), textObject(3, 0, "First *line*\nSecond line"), textObject(4, 1, "the running head"))
	text, got := shown(t, zipOf(t, "preview.jpg", "JPEG", "Index/Document.iwa", doc), "pages")
	hasInOrder(t, text, "![Preview]", `First \*line\*`, "\n\nSecond line", "A box")
	if strings.Contains(text, "running head") || len(got.Warnings) != 1 {
		t.Errorf("read %q, warned %q", text, got.Warnings)
	}
	inner := string(zipOf(t, "Document.iwa", doc))
	if text, _ = shown(t, zipOf(t, "Letter.pages/Index.zip", inner, "Letter.pages/preview.jpg", "JPEG"), "pages"); !strings.Contains(text, "Second line") {
		t.Errorf("kept as a folder: %q", text)
	}
}

func TestRead_keynote(t *testing.T) {
	t.Parallel()
	slide := func(id uint64, title, body string) string {
		return iwaOf(
			made{id, typeSlide, message{}.ref(5, id+1)},
			made{id + 1, 7, message{}.bytes(1, message{}.ref(2, id+2))},
			textObject(id+3, 3, body), textObject(id+2, 3, title), textObject(id+4, 4, "say hello"),
		)
	}
	show := iwaOf(
		made{1, typeShow, message{}.bytes(3, message{}.ref(2, 11).ref(2, 10))},
		made{10, typeSlideNode, message{}.ref(2, 100)}, made{11, typeSlideNode, message{}.ref(2, 200)},
	)
	data := zipOf(t, "Index/Document.iwa", show, "Index/Slide.iwa", slide(100, "The end", "Thanks"), "Index/Slide-1.iwa", slide(200, "Bees", "They fly"), "Index/MasterSlide-1.iwa", slide(300, "Edit me", ""))
	text, _ := shown(t, data, "keynote")
	hasInOrder(t, text, "## Slide 1: Bees", "They fly", "> [!note] Speaker notes\n> say hello", "## Slide 2: The end", "Thanks")
	if strings.Contains(text, "Edit me") {
		t.Error("a template counts as a slide")
	}
}

// numbersOf is a spreadsheet with one table of two rows, whose cells are in the form of before or after 2017.
func numbersOf(t *testing.T, fieldCells uint64, text, number []byte) []byte {
	t.Helper()
	row := func(at uint64, cells ...[]byte) message {
		var data, offsets []byte
		for _, c := range cells {
			offsets = binary.LittleEndian.AppendUint16(offsets, uint16(len(data)))
			data = append(data, c...)
		}
		return message{}.number(1, at).bytes(fieldCells, data).bytes(fieldCells+1, append(offsets, 0xFF, 0xFF))
	}
	tile := message{}.bytes(5, row(0, text, text)).bytes(5, row(1, text, number))
	store := message{}.bytes(3, message{}.bytes(1, message{}.number(1, 0).ref(2, 21))).ref(4, 22)
	return zipOf(t, "Index/Document.iwa", iwaOf(made{2, typeSheet, message{}.text(1, "Budget").ref(2, 3)}), "Index/CalculationEngine.iwa", iwaOf(
		made{3, typeTableInfo, message{}.ref(2, 20)}, made{20, typeTable, message{}.bytes(4, store).text(8, "May")},
	),
		"Index/Tables/Tile.iwa", iwaOf(made{21, 6002, tile}),
		"Index/Tables/DataList.iwa", iwaOf(made{22, 6005, message{}.number(1, 1).bytes(3, message{}.number(1, 7).text(3, "Rent|due"))}))
}

func TestRead_numbers(t *testing.T) {
	t.Parallel()
	double := binary.LittleEndian.AppendUint64(nil, math.Float64bits(-12.5))
	decimal := make([]byte, 16) // -125e-1
	binary.LittleEndian.PutUint64(decimal, 125)
	binary.LittleEndian.PutUint16(decimal[14:], uint16(0x1820-1)<<1|0x8000)
	for form, data := range map[string][]byte{
		"of now":      numbersOf(t, 6, append([]byte{5, 3, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0}, 7, 0, 0, 0), append([]byte{5, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, decimal...)),
		"before 2017": numbersOf(t, 3, append([]byte{4, 3, 0, 0, 0x14, 0, 0, 0, 0, 0, 0, 0}, 1, 0, 0, 0, 7, 0, 0, 0), append([]byte{4, 2, 0, 0, 0x24, 0, 0, 0, 0, 0, 0, 0, 9, 9, 9, 9}, double...)),
		"a choice":    numbersOf(t, 3, append([]byte{4, 3, 0, 0, 0x14, 0, 0, 0, 0, 0, 0, 0}, 1, 0, 0, 0, 7, 0, 0, 0), append([]byte{4, 2, 0, 0, 0x24, 0, 0, 0, 0x10, 4, 0x80, 0, 9, 9, 9, 9}, double...)),
	} {
		text, _ := shown(t, data, "numbers")
		if form == "a choice" {
			hasInOrder(t, text, `| Rent\|due | choice -12.5 |`)
			continue
		}
		hasInOrder(t, form+text, form, "## Budget", "### May", `| Rent\|due | Rent\|due |`, "| --- |", `| Rent\|due | -12.5 |`)
	}
}

func TestRead_iworkBefore2013(t *testing.T) {
	t.Parallel()
	p := func(s string) string { return "<text-storage><text-body><p>" + s + "</p></text-body></text-storage>" }
	text, doc := shown(t, zipOf(t, "QuickLook/Preview.pdf", "%PDF-1.4", "index.xml", `<document><metadata><title><string string="Letter"/></title></metadata><drawables>`+p("A box")+`</drawables>
<text-storage kind="footnote"><p>a note</p></text-storage><text-storage kind="body"><p>Dear<tab/>Bo<ghost-text>Lorem</ghost-text></p></text-storage></document>`), "pages")
	hasInOrder(t, text, "Dear\tBo", "A box", "a note")
	if data, err := doc.PreviewPDF(99); doc.Title != "Letter" || string(data) != "%PDF-1.4" || err != nil || strings.Contains(text, "Lorem") {
		t.Errorf("title %q, preview %q, %v: %s", doc.Title, data, err, text)
	}
	text, _ = shown(t, zipOf(t, "index.apxl", `<presentation><theme-list>`+p("template")+`</theme-list><slide-list><slide><title-placeholder>`+p("Bees")+`</title-placeholder>
<body-placeholder>`+p("They fly")+`</body-placeholder><notes>`+p("smile")+`</notes></slide></slide-list></presentation>`), "keynote")
	hasInOrder(t, text, "## Slide 1: Bees", "They fly", "> smile")
	// The first cell of a row says how far it is from the last one: -1 of 256.
	text, _ = shown(t, zipOf(t, "index.xml", `<document><workspace workspace-name="Budget"><tabular-model name="May"><grid numcols="2"><datasource><t ct="0"><ct s="What"/></t><t><ct s="Sum"/></t>
<t ct="255"><ct s="Rent"/></t><n v="-775.50000000000001"/><d ct="0" cell-date="276048000"/></datasource></grid></tabular-model></workspace></document>`), "numbers")
	hasInOrder(t, text, "## Budget", "### May", "| What | Sum |", "| Rent | -775.5 |", "|  | 2009-10-01 |")
}

func TestRead_iworkThatIsBrokenOrProtected(t *testing.T) {
	t.Parallel()
	good := iwaOf(made{1, typePages, nil}, textObject(2, 0, "text"))
	for name, data := range map[string][]byte{
		"cut":       zipOf(t, "Index/Document.iwa", good[:len(good)-3]),
		"nonsense":  zipOf(t, "Index/Document.iwa", "\x00\xff\xff\xff"),
		"empty":     zipOf(t, "Index/Document.iwa", ""),
		"bomb":      zipOf(t, "Index/Document.iwa", "\x00\x06\x00\x00\xff\xff\xff\xff\x0f\x00"),
		"zip in it": zipOf(t, "a.key/Index.zip", "no zip"),
	} {
		if doc, err := read(data, Limits{}); err == nil {
			t.Errorf("%s: read as %+v", name, doc)
		}
	}
	if _, err := read(zipOf(t, "Index/Document.iwa", good, ".iwph", "x"), Limits{}); !errors.Is(err, ErrEncrypted) {
		t.Errorf("protected: %v", err)
	}
}

// A file whose objects nobody can read is shown by its preview.
func TestRead_iworkPreviewWithoutObjects(t *testing.T) {
	t.Parallel()
	doc, err := read(zipOf(t, "Index/Document.iwa", "\x00\xff\xff\xff", "QuickLook/Preview.pdf", "%PDF-1.4"), Limits{})
	if err != nil || doc.Preview == "" || len(doc.Parts) != 1 || !strings.Contains(strings.Join(doc.Warnings, " "), "from the preview") {
		t.Errorf("%+v, %v", doc, err)
	}
}

// A small file that lists the same part of a table again and again is read in bounded time.
func TestRead_iworkInCircles(t *testing.T) {
	t.Parallel()
	var tiles, rows message
	for range 4000 {
		tiles = tiles.bytes(1, message{}.number(1, 0).ref(2, 21))
		rows = rows.bytes(5, message{}.number(1, 1).bytes(3, []byte{4}).bytes(4, bytes.Repeat([]byte{0xFF}, 512)))
	}
	objects := []made{{1, typePages, nil}, {21, 6002, rows}}
	for i := range uint64(10) {
		objects = append(objects, made{100 + i, typeTable, message{}.bytes(4, message{}.bytes(3, tiles))})
	}
	data := zipOf(t, "Index/Document.iwa", iwaOf(objects[:12]...))
	began := time.Now()
	if _, err := read(data, Limits{}); err != nil || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func FuzzIWA(f *testing.F) {
	f.Add([]byte(iwaOf(made{1, typePages, nil}, textObject(2, 0, "text"))))
	f.Fuzz(func(_ *testing.T, data []byte) {
		plain, err := iwaBytes(data, 1<<20)
		if err != nil {
			return
		}
		w := newIWork(iwaObjects(plain, "index/slide.iwa", 1000), 100)
		for _, o := range w.objects {
			w.table(o)
		}
		w.parts()
	})
}

func TestRead_visio(t *testing.T) {
	t.Parallel()
	text, _ := shown(t, zipOf(t, "[Content_Types].xml", "<Types/>", "visio/document.xml", "<VisioDocument/>",
		"visio/pages/pages.xml", `<Pages xmlns:r="r"><Page Name="How we ship"><Rel r:id="r1"/></Page></Pages>`,
		"visio/pages/_rels/pages.xml.rels", `<Relationships><Relationship Id="r1" Type="t/page" Target="page1.xml"/></Relationships>`,
		"visio/pages/page1.xml", `<PageContents xmlns:r="r"><Shapes><Shape><Text>Pack<cp IX="0"/> it</Text></Shape><Shape><Shapes><Shape><Text>*Send* it</Text></Shape></Shapes></Shape>
<Shape Name="Logo"><ForeignData><Rel r:id="p1"/></ForeignData></Shape></Shapes></PageContents>`,
		"visio/pages/_rels/page1.xml.rels", `<Relationships><Relationship Id="p1" Type="t/image" Target="../media/image1.png"/></Relationships>`, "visio/media/image1.png", "PNG"), "vsdx")
	hasInOrder(t, text, "## How we ship", "Pack it", `\*Send\* it`, "![Logo]")
}

func TestRead_xps(t *testing.T) {
	t.Parallel()
	page := "\ufeff" + `<FixedPage><Glyphs OriginX="10" OriginY="100" FontRenderingEmSize="10" UnicodeString="Dear " Indices=",50;,50;,50;,50;,50"/><Glyphs OriginX="35" OriginY="100" FontRenderingEmSize="10" UnicodeString="B" Indices=",50"/>
<Canvas><Glyphs OriginX="40" OriginY="100" FontRenderingEmSize="10" UnicodeString="o" Indices=",50"/></Canvas><Glyphs OriginX="60" OriginY="100" FontRenderingEmSize="10" UnicodeString="{}# 1"/>
<Glyphs OriginX="10" OriginY="112" FontRenderingEmSize="10" UnicodeString="next line"/><Glyphs OriginX="10" OriginY="160" FontRenderingEmSize="10" UnicodeString="next paragraph"/></FixedPage>`
	var wide bytes.Buffer // Windows writes UTF-16
	for _, r := range page {
		wide.Write(binary.LittleEndian.AppendUint16(nil, uint16(r)))
	}
	text, _ := shown(t, zipOf(t, "_rels/.rels", `<Relationships><Relationship Id="a" Type="http://schemas.microsoft.com/xps/2005/06/fixedrepresentation" Target="/Seq.fdseq"/></Relationships>`,
		"Seq.fdseq", `<S><DocumentReference Source="/Documents/1/Doc.fdoc"/></S>`, "Documents/1/Doc.fdoc", `<D><PageContent Source="Pages/1.fpage"/></D>`, "Documents/1/Pages/1.fpage", wide.String()), "xps")
	hasInOrder(t, text, "## Page 1", "Dear Bo # 1\nnext line\n\nnext paragraph")
}

func TestRead_oldOpenOffice(t *testing.T) {
	t.Parallel()
	text, _ := shown(t, zipOf(t, "content.xml", `<document-content class="text"><body><h outline-level="1">Report</h><p>Text</p></body></document-content>`), "odt")
	hasInOrder(t, text, "# Report", "Text")
	text, _ = shown(t, zipOf(t, "content.xml", `<document-content><body><drawing><page><custom-shape><p>A box</p></custom-shape></page></drawing></body></document-content>`), "odg")
	hasInOrder(t, text, "## Page 1", "A box")
}

func TestRead_encryptedOpenDocument(t *testing.T) {
	t.Parallel()
	data := zipOf(t, "content.xml", "\x01\x02", "META-INF/manifest.xml", `<manifest><file-entry full-path="content.xml"><encryption-data/></file-entry></manifest>`)
	if _, err := read(data, Limits{}); !errors.Is(err, ErrEncrypted) {
		t.Error(err)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	parts := []string{"META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\nBundle-Name: Tea timer\r\nMain-Class: a.Main\r\n\r\nName: a/b\r\nMain-Class: no\r\n", "docProps/thumbnail.png", "PNG"}
	for i := range listed + 20 {
		parts = append(parts, "a/"+strings.Repeat("x", i)+"*.class", strings.Repeat("0", 1000))
	}
	data := zipOf(t, parts...)
	doc, err := List(bytes.NewReader(data), int64(len(data)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	text := doc.Markdown(func(_ int, alt string) string { return "![" + alt + "]" })
	hasInOrder(t, text, "![Preview]", "- Main Class: a.Main", "222 files", `- META-INF/MANIFEST.MF, `, `- a/x\*.class, 1.0 kB`, "- and 22 more")
	if doc.Title != "Tea timer" || strings.Contains(text, ": no") {
		t.Errorf("title %q:\n%s", doc.Title, text)
	}
}
