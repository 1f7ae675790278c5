package office

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/golang/snappy"
)

// The types of objects in archives of Pages, Numbers and Keynote since 2013 that lead to text.
const (
	typeShow      = 2     // of Keynote: the presentation
	typeSheet     = 2     // of Numbers
	typeSlideNode = 4     // of Keynote: a slide's place in the presentation
	typeSlide     = 5     // of Keynote
	typePages     = 10000 // the document of Pages
	typeText      = 2001
	typeTextToo   = 2005
	typeTableInfo = 6000 // where a table stands
	typeTable     = 6001
)

// Bounds of a document of objects.
const (
	maxObjects = 500_000
	maxPages   = 5000 // slides, or pages of a drawing or of XPS
)

// object is an object of such an archive: a message of Protocol Buffers.
type object struct {
	id, kind uint64
	message  []byte
	file     string
}

// readIWork reads what is text in the objects: paragraphs, and texts in the cells of tables. Their places on a page are not read.
func readIWork(a *archive, doc *Document) error {
	for _, name := range passwordParts {
		if a.has(name) {
			return ErrEncrypted
		}
	}
	preview := iworkPreview(a, doc)
	var objects []object
	left := a.limits.Part
	for _, name := range iwaNames(a) {
		data, err := a.read(name)
		if err != nil {
			return err
		}
		plain, err := iwaBytes(data, left)
		if err != nil {
			a.broken(name, err)
			continue
		}
		left -= int64(len(plain))
		if objects = append(objects, iwaObjects(plain, name, maxObjects-len(objects))...); len(objects) == maxObjects {
			doc.warn("the document has more than %d objects; the rest is not shown", maxObjects)
			break
		}
	}
	if len(objects) == 0 && doc.Preview != "" {
		doc.warn("its text cannot be read; the pictures of its pages are from the preview in the file. Export it as PDF to have its text")
		doc.Kind, doc.Parts = "pages", []Part{{}}
		return nil
	}
	if len(objects) == 0 {
		return errors.New("its objects cannot be read")
	}
	w := newIWork(objects, a.limits.Cells)
	doc.Kind, doc.Parts = w.parts()
	if doc.Preview == "" {
		doc.warn("only text and tables were read; export the file as PDF to have its pages")
	}
	doc.begin(preview)
	return nil
}

// iwaNames lists the archives of objects: the document first, others in the order of their numbers. Templates and styles hold no text
// of the document.
func iwaNames(a *archive) []string {
	var names []string
	for name := range a.files {
		base := strings.TrimPrefix(name, "index/")
		if strings.HasPrefix(name, "index/") && strings.HasSuffix(name, ".iwa") && !strings.HasPrefix(base, "masterslide") && !strings.HasPrefix(base, "templateslide") && !strings.HasPrefix(base, "documentstylesheet") {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y))
	})
	return names
}

// iwaBytes unpacks an archive of objects: chunks of Snappy, each after a zero and its length in three bytes, without the checksums of
// Snappy's own framing.
func iwaBytes(data []byte, limit int64) ([]byte, error) {
	var out []byte
	for len(data) > 0 {
		if len(data) < 4 || data[0] != 0 {
			return nil, errors.New("it is no archive of objects")
		}
		length := int(data[1]) | int(data[2])<<8 | int(data[3])<<16
		if length > len(data)-4 {
			return nil, errors.New("it ends early")
		}
		chunk := data[4 : 4+length]
		data = data[4+length:]
		size, err := snappy.DecodedLen(chunk)
		if err != nil {
			return nil, err
		}
		if int64(len(out))+int64(size) > limit || size > 1<<24 {
			return nil, fmt.Errorf("it unpacks to more than %d MB", limit>>20)
		}
		plain, err := snappy.Decode(nil, chunk)
		if err != nil {
			return nil, err
		}
		out = append(out, plain...)
	}
	return out, nil
}

// iwaObjects divides the bytes of an archive: a description, and the messages that it describes.
func iwaObjects(data []byte, file string, most int) []object {
	var list []object
	for len(data) > 0 {
		length, n := binary.Uvarint(data)
		if n <= 0 || length > uint64(len(data)-n) {
			return list
		}
		info := data[n : n+int(length)]
		data = data[n+int(length):]
		id := first(info, 1)
		for _, m := range fields(info, 2) {
			size := first(m, 3)
			if size > uint64(len(data)) {
				return list
			}
			if len(list) == most {
				return list
			}
			list = append(list, object{id: id, kind: first(m, 1), message: data[:size], file: file})
			data = data[size:]
		}
	}
	return list
}

// eachField visits the fields of a message of Protocol Buffers until one is broken. Numbers are values; others are bytes.
func eachField(message []byte, visit func(field uint64, value uint64, data []byte)) {
	for len(message) > 0 {
		tag, n := binary.Uvarint(message)
		if n <= 0 {
			return
		}
		message = message[n:]
		switch tag & 7 {
		case 0:
			value, n := binary.Uvarint(message)
			if n <= 0 {
				return
			}
			visit(tag>>3, value, nil)
			message = message[n:]
		case 2:
			length, n := binary.Uvarint(message)
			if n <= 0 || length > uint64(len(message)-n) {
				return
			}
			visit(tag>>3, 0, message[n:n+int(length)])
			message = message[n+int(length):]
		case 1, 5:
			size := map[uint64]int{1: 8, 5: 4}[tag&7]
			if len(message) < size {
				return
			}
			message = message[size:]
		default:
			return
		}
	}
}

// first returns the first number of a field, or 0.
func first(message []byte, field uint64) (found uint64) {
	done := false
	eachField(message, func(f, value uint64, data []byte) {
		if f == field && data == nil && !done {
			found, done = value, true
		}
	})
	return found
}

// fields returns the bytes of all fields with a number.
func fields(message []byte, field uint64) (list [][]byte) {
	eachField(message, func(f, _ uint64, data []byte) {
		if f == field && data != nil {
			list = append(list, data)
		}
	})
	return list
}

// iwork makes parts of objects.
type iwork struct {
	objects []object
	byID    map[uint64]int
	byFile  map[string][]object
	cells   int // that may still be read
}

func newIWork(objects []object, cells int) *iwork {
	w := &iwork{objects: objects, byID: map[uint64]int{}, byFile: map[string][]object{}, cells: cells}
	for i, o := range objects {
		w.byID[o.id] = i
		w.byFile[o.file] = append(w.byFile[o.file], o)
	}
	return w
}

// get returns the object of a reference.
func (w *iwork) get(ref []byte) (object, bool) {
	at, ok := w.byID[first(ref, 1)]
	if !ok {
		return object{}, false
	}
	return w.objects[at], true
}

// one returns the object to which a field leads.
func (w *iwork) one(o object, field uint64) (object, bool) {
	refs := fields(o.message, field)
	if len(refs) == 0 {
		return object{}, false
	}
	return w.get(refs[0])
}

func (w *iwork) parts() (kind string, parts []Part) {
	slides := w.slides()
	for i, file := range slides[:min(len(slides), maxPages)] {
		parts = append(parts, w.slide(file, i+1))
	}
	if len(parts) > 0 {
		return "keynote", parts
	}
	if !w.hasType(typePages) {
		if parts = w.sheets(); len(parts) > 0 {
			return "numbers", parts
		}
	}
	var b blocks
	for _, kinds := range [][]uint64{bodyText, boxText} {
		for _, o := range w.objects {
			b.add(storage(o, kinds))
		}
	}
	for _, o := range w.objects {
		if o.kind == typeTable {
			b.add(w.table(o))
		}
	}
	return "pages", []Part{{text: b.String()}}
}

func (w *iwork) hasType(kind uint64) bool {
	return slices.ContainsFunc(w.objects, func(o object) bool { return o.kind == kind })
}

// sheets returns the sheets of a spreadsheet, with their tables.
func (w *iwork) sheets() (parts []Part) {
	for _, o := range w.objects {
		name := fields(o.message, 1)
		if o.kind != typeSheet || len(name) == 0 {
			continue
		}
		var b blocks
		for _, ref := range fields(o.message, 2) {
			if info, ok := w.get(ref); ok {
				b.add(w.drawn(info))
			}
		}
		parts = append(parts, Part{Label: or(strings.TrimSpace(clean(string(name[0]))), "Sheet "+strconv.Itoa(len(parts)+1)), text: b.String()})
	}
	return parts
}

// drawn returns the text of a table or of a shape.
func (w *iwork) drawn(o object) string {
	if o.kind == typeTableInfo {
		if model, ok := w.one(o, 2); ok && model.kind == typeTable {
			return w.table(model)
		}
	}
	return storage(w.textIn(o), anyText)
}

// textIn returns the text object of a shape or placeholder.
func (w *iwork) textIn(o object) object {
	for _, message := range append([][]byte{o.message}, fields(o.message, 1)...) {
		for _, ref := range fields(message, 2) {
			if text, ok := w.get(ref); ok && (text.kind == typeText || text.kind == typeTextToo) {
				return text
			}
		}
	}
	return object{}
}

// slides lists the files of the slides in the order of the presentation. Where that cannot be read, it is the order of their names.
func (w *iwork) slides() []string {
	var files, shown []string
	known := map[string]bool{}
	for _, o := range w.objects {
		if isSlide(o) && !known[o.file] {
			files = append(files, o.file)
			known[o.file] = true
		}
	}
	clear(known)
	for _, o := range w.objects {
		if o.kind != typeShow || isSlide(o) {
			continue
		}
		for _, tree := range fields(o.message, 3) {
			for _, ref := range fields(tree, 2) {
				if node, ok := w.get(ref); ok && node.kind == typeSlideNode {
					if slide, ok := w.one(node, 2); ok && !known[slide.file] {
						shown = append(shown, slide.file)
						known[slide.file] = true
					}
				}
			}
		}
	}
	if len(shown) == len(files) {
		return shown
	}
	return files
}

func isSlide(o object) bool { return strings.HasPrefix(o.file, "index/slide") }

func (w *iwork) slide(file string, number int) Part {
	label := "Slide " + strconv.Itoa(number)
	var title uint64
	var b, notes blocks
	for _, o := range w.byFile[file] {
		if o.kind != typeSlide {
			continue
		}
		if holder, ok := w.one(o, 5); ok {
			text := w.textIn(holder)
			if line := strings.Join(strings.Fields(plainText(text)), " "); line != "" {
				label, title = label+": "+line, text.id
			}
		}
	}
	for _, o := range w.byFile[file] {
		switch {
		case title != 0 && o.id == title:
		case o.kind == typeTableInfo:
			b.add(w.drawn(o))
		default:
			b.add(storage(o, []uint64{0, 3}))
			notes.add(storage(o, []uint64{4}))
		}
	}
	if text := notes.String(); text != "" {
		b.add(quote("[!note] Speaker notes\n" + text))
	}
	return Part{Label: label, text: b.String()}
}

// The kinds of text in a document. Headers, footers and footnotes are left out; those of cells are in their tables.
var (
	bodyText = []uint64{0}
	boxText  = []uint64{3}
	anyText  = []uint64{0, 3, 4, 5}
)

// storage returns the text of an object that holds text of one of these kinds, or "".
func storage(o object, kinds []uint64) string {
	if o.kind != typeText && o.kind != typeTextToo || !slices.Contains(kinds, first(o.message, 1)) {
		return ""
	}
	var b blocks
	for line := range strings.SplitSeq(plainText(o), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.add(paragraph(escape(line)))
		}
	}
	return b.String()
}

func plainText(o object) string {
	var b strings.Builder
	for _, text := range fields(o.message, 3) {
		b.Write(text)
	}
	return clean(strings.NewReplacer("\u2028", "\n", "\u2029", "\n", "\x05", "\n", "\x04", "\n", "\uFFFC", "").Replace(b.String()))
}
