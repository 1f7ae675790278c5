package office

import (
	"archive/zip"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// listed is how many members of a package are named; the others are counted.
const listed = 200

// previews are where programs keep a picture of their document, the best first.
var previews = []string{
	"preview.jpg", "mergedimage.png", "previews/preview.png", "quicklook/preview.png", "quicklook/thumbnail.jpg", "quicklook/thumbnail.png", "preview-web.jpg", "preview.png",
	"docprops/thumbnail.jpeg", "docprops/thumbnail.png", "metadata/thumbnail.png", "thumbnails/thumbnail.png", "thumbnail.png", "thumbnail.jpg",
}

// List describes a ZIP that a program reads as one file: what its manifest says, its picture, and what is in it. Nothing is unpacked
// but the manifest. The errors are those of [Read].
func List(r io.ReaderAt, size int64, limits Limits) (doc *Document, err error) {
	return guarded(func() (*Document, error) {
		a, doc, err := openZIP(r, size, limits.withDefaults())
		if err != nil {
			return nil, err
		}
		doc.Kind = "package"
		a.properties(doc, "docProps/core.xml")
		var b blocks
		b.add(a.preview(doc))
		b.add(a.programFacts(doc))
		b.add(a.contents())
		doc.Parts = []Part{{text: b.String()}}
		return doc, nil
	})
}

// preview returns the mark of the document's own picture, or "".
func (a *archive) preview(doc *Document) string {
	for _, name := range previews {
		if a.has(name) {
			return doc.picture(name, "Preview", a.limits)
		}
	}
	return ""
}

// programFacts lists what the manifest of a Java archive says (the JAR file specification, "Main Attributes").
func (a *archive) programFacts(doc *Document) string {
	data, err := a.readLimited("META-INF/MANIFEST.MF", 1<<20)
	if err != nil {
		return ""
	}
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(string(data), "\r\n", "\n")) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			if strings.TrimSpace(line) == "" {
				break // sections about single files follow
			}
			continue
		}
		if slices.Contains([]string{"Implementation-Title", "Bundle-Name", "Implementation-Version", "Bundle-Version", "Implementation-Vendor", "Main-Class"}, key) && len(value) < 200 {
			lines = append(lines, "- "+strings.ReplaceAll(key, "-", " ")+": "+escape(value))
		}
		if doc.Title == "" && (key == "Bundle-Name" || key == "Implementation-Title") && !strings.HasPrefix(value, "%") {
			doc.Title = clean(value)
		}
	}
	return strings.Join(lines, "\n")
}

// contents lists the members with their sizes.
func (a *archive) contents() string {
	var files []*zip.File
	var total uint64
	for _, f := range a.files {
		if !strings.HasSuffix(f.Name, "/") {
			files = append(files, f)
			total += min(f.UncompressedSize64, 1<<50)
		}
	}
	slices.SortFunc(files, func(x, y *zip.File) int { return cmp.Compare(x.Name, y.Name) })
	if len(files) == 0 {
		return "The package is empty."
	}
	var b strings.Builder
	counted := "1 file"
	if len(files) > 1 {
		counted = strconv.Itoa(len(files)) + " files"
	}
	fmt.Fprintf(&b, "# Contents\n\n%s, %s unpacked:\n", counted, markdown.Size(int64(min(total, 1<<60))))
	for _, f := range files[:min(len(files), listed)] {
		b.WriteString("\n- " + escape(markdown.OneLine(f.Name, 200)) + ", " + markdown.Size(int64(min(f.UncompressedSize64, 1<<60))))
	}
	if more := len(files) - listed; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return b.String()
}
