package pdf

import (
	"bytes"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// losses finds pages whose content is not in the file. The renderers draw such a page without it, and report nothing: a reference to
// an object that does not exist means nothing (ISO 32000-1 §7.3.10).
type losses struct {
	data   []byte
	cutOff bool // the file has no mark of its end (ISO 32000-1 §7.5.5)
	read   bool
	ctx    *model.Context // nil until it is read, and if it cannot be
}

// tail is how many last bytes may hold the mark of the end: some programs write more after it.
const tail = 4096

func newLosses(data []byte) *losses {
	return &losses{data: data, cutOff: !bytes.Contains(data[max(0, len(data)-tail):], []byte("%%EOF"))}
}

// Why something of a page is missing.
const (
	cutOff  = "the file is cut off"
	damaged = "the file is damaged"
)

// of returns why something of a page is missing, or "". Of a file that has its end, only pages without anything on them are examined: that takes
// time and memory.
func (l *losses) of(n int, blank bool, damage layout.Damage) string {
	if !l.cutOff && (damage == layout.CutShort || blank && damage == layout.Faulty) {
		return damaged
	}
	if !l.cutOff && !blank {
		return ""
	}
	known, lost := l.missing(n)
	switch {
	case lost && l.cutOff:
		return cutOff
	case lost:
		return damaged
	case !known && l.cutOff && blank:
		return cutOff + ", and nothing is on the page"
	}
	return ""
}

// mostExamined is the size of the largest file with an end whose blank pages are examined.
const mostExamined = 64 << 20

// missing reports whether a page needs objects that the file lacks, and whether that is known.
func (l *losses) missing(n int) (known, lost bool) {
	defer func() {
		if recover() != nil {
			known, lost = false, false // pdfcpu panics on some damaged files
		}
	}()
	if !l.read {
		l.read = true
		if !l.cutOff && len(l.data) > mostExamined {
			return false, false
		}
		l.ctx, _ = parse(l.whole()) // without it, nothing is known
	}
	if l.ctx == nil {
		return false, false
	}
	page, _, inherited, err := l.ctx.PageDict(n, false)
	if err != nil || page == nil {
		return false, false
	}
	seen := map[int]bool{}
	if l.lacks(page["Contents"], seen) {
		return true, true
	}
	if own, ok := page["Resources"]; ok {
		return true, l.lacks(own, seen)
	}
	return true, inherited != nil && l.lacks(inherited.Resources, seen)
}

// whole returns a file that is cut off without the object in which it ends: pdfcpu refuses a part of one.
func (l *losses) whole() []byte {
	end := []byte("endobj")
	at := bytes.LastIndex(l.data, end)
	if !l.cutOff || at < 0 {
		return l.data
	}
	return append(bytes.Clone(l.data[:at+len(end)]), '\n')
}

// lacks reports whether an object refers, itself or through others, to one that the file does not have.
func (l *losses) lacks(o types.Object, seen map[int]bool) bool {
	switch o := o.(type) {
	case types.IndirectRef:
		n := o.ObjectNumber.Value()
		if seen[n] {
			return false
		}
		seen[n] = true
		entry, ok := l.ctx.Find(n)
		if !ok || entry == nil || entry.Free || entry.Object == nil {
			return true
		}
		found, err := l.ctx.Dereference(o)
		return err != nil || found == nil || l.lacks(found, seen)
	case types.Array:
		for _, one := range o {
			if l.lacks(one, seen) {
				return true
			}
		}
	case types.Dict:
		return l.within(o, seen)
	case types.StreamDict:
		return l.within(o.Dict, seen)
	case *types.StreamDict:
		return l.within(o.Dict, seen)
	}
	return false
}

// within looks at the values of a dictionary, apart from those that lead elsewhere in the document.
func (l *losses) within(d types.Dict, seen map[int]bool) bool {
	for key, value := range d {
		switch key {
		case "Parent", "P", "Metadata", "PieceInfo", "Properties", "OC", "StructParent", "StructParents":
		default:
			if l.lacks(value, seen) {
				return true
			}
		}
	}
	return false
}
