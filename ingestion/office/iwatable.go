package office

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// table returns a table of Numbers, Pages or Keynote. A row is a run of cells, and a list of where each column's cell is in it.
func (w *iwork) table(o object) string {
	var b blocks
	if name := fields(o.message, 8); len(name) > 0 && w.hasType(typeSheet) && !w.hasType(typePages) {
		b.add("### " + escape(strings.TrimSpace(clean(string(name[0])))))
	}
	for _, data := range fields(o.message, 4) {
		store := object{message: data}
		t := tableTexts{plain: w.entries(store, 4, 3), rich: w.richTexts(store)}
		var rows [][]string
		for _, tiles := range fields(data, 3) {
			size := max(first(tiles, 2), 1)
			if first(tiles, 2) == 0 {
				size = 256
			}
			for _, tile := range fields(tiles, 1) {
				if w.cells < 0 {
					break
				}
				if ref, ok := w.one(object{message: tile}, 2); ok {
					rows = w.tile(rows, ref, first(tile, 1)*size, t)
				}
			}
		}
		b.add(table(rows))
	}
	return b.String()
}

// tableTexts are the texts of a table's cells by their keys.
type tableTexts struct{ plain, rich map[uint64]string }

// entries returns the texts of a list by key.
func (w *iwork) entries(store object, field, text uint64) map[uint64]string {
	texts := map[uint64]string{}
	if list, ok := w.one(store, field); ok {
		for _, entry := range fields(list.message, 3) {
			if w.cells--; w.cells < 0 {
				break
			}
			if s := fields(entry, text); len(s) > 0 {
				texts[first(entry, 1)] = strings.TrimSpace(clean(string(s[0])))
			}
		}
	}
	return texts
}

// richTexts returns the styled texts of a table's cells by key.
func (w *iwork) richTexts(store object) map[uint64]string {
	texts := map[uint64]string{}
	list, ok := w.one(store, 17)
	if !ok {
		return texts
	}
	for _, entry := range fields(list.message, 3) {
		if w.cells--; w.cells < 0 {
			break
		}
		if payload, ok := w.one(object{message: entry}, 9); ok {
			if text, ok := w.one(payload, 1); ok {
				texts[first(entry, 1)] = strings.TrimSpace(plainText(text))
			}
		}
	}
	return texts
}

// tile adds the rows of a part of a table.
func (w *iwork) tile(rows [][]string, o object, from uint64, t tableTexts) [][]string {
	w.cells-- // a part and a row count too: a broken file may list them without end
	for _, row := range fields(o.message, 5) {
		w.cells--
		at := from + first(row, 1)
		if at >= maxRows || w.cells <= 0 {
			return rows
		}
		for uint64(len(rows)) <= at {
			rows = append(rows, nil)
		}
		rows[at] = w.row(row, t)
	}
	return rows
}

// row returns the cells of a row. Files since 2017 have them in their own form beside the earlier one, or alone.
func (w *iwork) row(row []byte, t tableTexts) []string {
	cells, offsets, wide := fields(row, 6), fields(row, 7), uint64(1)
	read := newCell
	if first(row, 8) != 0 {
		wide = 4
	}
	if len(cells) == 0 || len(offsets) == 0 || len(cells[0]) == 0 {
		cells, offsets, wide, read = fields(row, 3), fields(row, 4), 1, oldestCell
	}
	if len(cells) == 0 || len(offsets) == 0 {
		return nil
	}
	var list []string
	for c := 0; c < maxColumns && 2*c+1 < len(offsets[0]); c++ {
		offset := uint64(binary.LittleEndian.Uint16(offsets[0][2*c:]))
		if offset == 0xFFFF || offset*wide >= uint64(len(cells[0])) {
			continue
		}
		w.cells--
		for len(list) < c {
			list = append(list, "")
		}
		list = append(list, escape(strings.ReplaceAll(read(cells[0][offset*wide:], t), "\n", " ")))
	}
	return list
}

// cellReader reads what a cell holds, one field after the other. Beyond the end there are zeros.
type cellReader struct{ rest []byte }

func (r *cellReader) next(n int) []byte {
	out := make([]byte, n)
	r.rest = r.rest[copy(out, r.rest):]
	return out
}

func (r *cellReader) double() float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(r.next(8)))
}

func (r *cellReader) key() uint64 { return uint64(binary.LittleEndian.Uint32(r.next(4))) }

// Types of cells.
const (
	cellDate     = 5
	cellBool     = 6
	cellDuration = 7
)

// newCell reads a cell in the form of version 5: its type, then flags for the fields that follow after twelve bytes.
func newCell(data []byte, t tableTexts) string {
	if len(data) < 12 || data[0] != 5 {
		return ""
	}
	flags := binary.LittleEndian.Uint32(data[8:])
	r := &cellReader{data[12:]}
	text := ""
	if flags&1 != 0 {
		text = decimal(r.next(16))
	}
	if flags&2 != 0 {
		text = numberCell(data[1], r.double())
	}
	if flags&4 != 0 {
		text = appleDate(r.double())
	}
	if flags&8 != 0 {
		text = t.plain[r.key()]
	}
	if flags&16 != 0 {
		text = t.rich[r.key()]
	}
	return text
}

// oldestCell reads a cell in the forms before 2017: flags first tell how many references to styles and formulas stand before the value.
func oldestCell(data []byte, t tableTexts) string {
	if len(data) < 12 {
		return ""
	}
	flags := binary.LittleEndian.Uint32(data[4:])
	r := &cellReader{data[12:]}
	r.next(4 * bits.OnesCount32(flags&0x0D8E))
	text := ""
	if flags&0x200 != 0 {
		text = t.rich[r.key()]
	}
	r.next(4 * bits.OnesCount32(flags&0x3000))
	if flags&0x10 != 0 {
		text = t.plain[r.key()]
	}
	if flags&0x20 != 0 {
		text = numberCell(data[1], r.double())
		if data[10]&0x80 != 0 { // the number of an entry in a menu, which is elsewhere
			text = "choice " + text
		}
	}
	if flags&0x40 != 0 {
		text = appleDate(r.double())
	}
	return text
}

// numberCell writes a number as its type says.
func numberCell(kind byte, v float64) string {
	switch {
	case kind == cellBool:
		return strconv.FormatBool(v != 0)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return ""
	case kind == cellDate:
		return appleDate(v)
	case kind == cellDuration:
		return strconv.FormatFloat(v, 'f', -1, 64) + " s"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// decimal writes a decimal number of 128 bits (IEEE 754-2008, binary encoding of the significand).
func decimal(b []byte) string {
	exponent := (int(b[15]&0x7F)<<7 | int(b[14])>>1) - 0x1820
	digits := []byte{b[14] & 1}
	for i := 13; i >= 0; i-- {
		digits = append(digits, b[i])
	}
	v := new(big.Int).SetBytes(digits)
	if b[15]&0x80 != 0 {
		v.Neg(v)
	}
	if exponent < -60 || exponent > 60 {
		return ""
	}
	if exponent >= 0 {
		return v.Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)).String()
	}
	text := new(big.Rat).SetFrac(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-exponent)), nil)).FloatString(-exponent)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
