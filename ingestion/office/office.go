// Package office reads word processor files, presentations, spreadsheets, drawings and e-books as Markdown: docx, pptx, xlsx, odt,
// odp, ods, odg, vsdx, xps, epub, and those of Pages, Numbers and Keynote. Headings, lists, tables, links, footnotes and pictures stay in the author's order.
//
// The files are ZIP archives of XML from anywhere. [Read] opens only the parts that it needs, limits their unpacked size and
// the depth and size of their trees, follows no link out of the archive, runs no macro, and computes nothing that the program
// which saved the file has not computed. Layout, headers, footers, comments and deleted text are left out.
package office

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Limits bound what a file may unpack to. Zero fields mean the defaults.
type Limits struct {
	Part     int64 // bytes of one part of XML, unpacked; default 64 MB
	Total    int64 // bytes of all parts that are read, unpacked; default 512 MB
	Pictures int   // embedded pictures that are listed; default 2000
	Cells    int   // cells of all sheets together; default 500,000
}

func (l Limits) withDefaults() Limits {
	if l.Part <= 0 {
		l.Part = 64 << 20
	}
	if l.Total <= 0 {
		l.Total = 512 << 20
	}
	if l.Pictures <= 0 {
		l.Pictures = 2000
	}
	if l.Cells <= 0 {
		l.Cells = 500_000
	}
	return l
}

// ErrEncrypted reports a file that needs a password.
var ErrEncrypted = errors.New("the file is protected with a password")

// ErrProtected reports an e-book whose text only the programs of its seller can read.
var ErrProtected = errors.New("the e-book is copy-protected")

// ErrUnknown reports a file that is none of the kinds that this package reads.
var ErrUnknown = errors.New("not an office file that can be read")

// Document is the content of a file.
type Document struct {
	Kind    string // docx, pptx, xlsx, odt, odp, ods, odg, epub, vsdx, xps, pages, numbers, keynote or package
	Title   string
	Author  string
	Created string // as the file says it, mostly RFC 3339

	Preview  string // the part with a PDF of the document's pages, which its program made for others; or ""
	Parts    []Part // slides, sheets, chapters; a text document is one part
	Pictures []Picture
	Warnings []string // what was left out and why, for people
	Damaged  bool     // parts of the file are cut off, empty or missing; the warnings name them

	open func(name string, limit int64) ([]byte, error)
}

// Part is one division of a document. Markdown holds pictures as marks; see [Document.Markdown].
type Part struct {
	Label string // "Slide 3", the sheet's name, the chapter's title; empty for a text document
	text  string
}

// partLink leads to a part of the document. Whoever writes the parts into a note marks each with the block id ^p1, ^p2 and so on.
func partLink(n int) string { return "#^p" + strconv.Itoa(n) }

// Picture is an embedded picture.
type Picture struct {
	Name string // base name in the archive, such as image1.png
	Alt  string // the first reference's alternative text
	part string // name in the archive
}

// Introduce puts a sentence before the document's text.
func (d *Document) Introduce(sentence string) { d.begin(escape(sentence)) }

// PreviewPDF returns the bytes of the part that Preview names. More than limit is an error.
func (d *Document) PreviewPDF(limit int64) ([]byte, error) { return d.open(d.Preview, limit) }

// Data returns the picture's bytes from the archive. More than limit is an error.
func (d *Document) Data(i int, limit int64) ([]byte, error) {
	return d.open(d.Pictures[i].part, limit)
}

// pictureMark encloses a picture's number where its destination goes. Text of a document never holds it.
const pictureMark = "\uFFFC"

// Markdown returns the part's text. picture returns the replacement for an embedded picture, such as `![alt](assets/1.png)`, or ""
// to leave it out. alt is on one line, without brackets and bars.
func (p Part) Markdown(picture func(n int, alt string) string) string {
	var b strings.Builder
	for rest := p.text; ; {
		before, after, found := strings.Cut(rest, pictureMark)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		mark, behind, _ := strings.Cut(after, pictureMark)
		number, alt, _ := strings.Cut(mark, "/")
		rest = behind
		if n, err := strconv.Atoi(number); err == nil {
			b.WriteString(picture(n, alt))
		}
	}
}

// Markdown is the whole text: every part below a heading of level 2 with its label, where it has one.
func (d *Document) Markdown(picture func(n int, alt string) string) string {
	var parts []string
	for _, p := range d.Parts {
		text := strings.TrimSpace(p.Markdown(picture))
		if p.Label != "" {
			text = strings.TrimSpace("## " + escape(p.Label) + "\n\n" + text)
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// picture lists an embedded picture and returns its mark.
func (d *Document) picture(part, alt string, limits Limits) string {
	for i, p := range d.Pictures {
		if p.part == part {
			return mark(i, alt)
		}
	}
	if len(d.Pictures) >= limits.Pictures {
		return ""
	}
	d.Pictures = append(d.Pictures, Picture{Name: part[strings.LastIndexByte(part, '/')+1:], Alt: alt, part: part})
	return mark(len(d.Pictures)-1, alt)
}

func mark(i int, alt string) string {
	return pictureMark + strconv.Itoa(i) + "/" + strings.NewReplacer("[", "(", "]", ")", "|", "/", "\n", " ").Replace(clean(alt)) + pictureMark
}

func (d *Document) empty() bool {
	return len(d.Pictures) == 0 && !slices.ContainsFunc(d.Parts, func(p Part) bool { return strings.TrimSpace(p.text) != "" })
}

// damage warns about a part that is not whole.
func (d *Document) damage(name string, err error) {
	d.Damaged = true
	d.warn("the file is damaged: its part %s is not whole, and what it held may be missing here (%v); ask for the file again", name, err)
}

func (d *Document) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, w := range d.Warnings {
		if w == text {
			return
		}
	}
	d.Warnings = append(d.Warnings, text)
}

// Read reads a file. Errors: ErrEncrypted, ErrProtected, ErrUnknown, or what is wrong with the archive or a part of it. A reader that
// is used for Document.Data must stay open.
func Read(r io.ReaderAt, size int64, limits Limits) (doc *Document, err error) {
	return guarded(func() (*Document, error) { return open(r, size, limits.withDefaults()) })
}

// guarded turns a panic into an error. Files come from anywhere; a fault of ours in reading one must not end the program that reads
// thousands.
func guarded(read func() (*Document, error)) (doc *Document, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = nil, fault{p}
		}
	}()
	return read()
}

// fault is a fault of ours in reading a file whose parts do not fit together. Its cause is for tests and says nothing to users.
type fault struct{ cause any }

func (fault) Error() string { return "the file is damaged: its parts do not fit together" }

func open(r io.ReaderAt, size int64, limits Limits) (*Document, error) {
	head := make([]byte, 8)
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	if string(head) == "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" { // a compound file: an encrypted package, or a format before 2007
		return nil, ErrEncrypted
	}
	a, doc, err := openZIP(r, size, limits)
	if err != nil {
		return nil, err
	}
	read := reader(a)
	if read == nil {
		return nil, ErrUnknown
	}
	if err := read(a, doc); err != nil {
		return nil, err
	}
	if doc.Damaged && doc.empty() && doc.Preview == "" {
		return nil, errors.New(doc.Warnings[0])
	}
	return doc, nil
}

// openZIP returns the archive, and a document that is still empty.
func openZIP(r io.ReaderAt, size int64, limits Limits) (*archive, *Document, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, nil, fmt.Errorf("read the archive: %w", err)
	}
	a := newArchive(z, r, size, limits)
	doc := &Document{open: a.readLimited}
	a.broken = doc.damage
	return a, doc, nil
}

// reader finds the reader of an archive by the parts that only its kind has.
func reader(a *archive) func(*archive, *Document) error {
	switch {
	case a.has("word/document.xml") || strings.Contains(a.mainType(), "wordprocessingml"):
		return readDocx
	case a.has("ppt/presentation.xml"):
		return readPptx
	case a.has("xl/workbook.xml"):
		return readXlsx
	case a.has("META-INF/container.xml"):
		return readEpub
	case a.has("content.xml"):
		return readODF
	case a.has("visio/document.xml"):
		return readVisio
	case a.sequence() != "":
		return readXPS
	}
	return iworkReader(a)
}
