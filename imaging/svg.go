package imaging

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"
)

// A drawing has no pixels of its own. One that names no size gets the size of browsers; one that names a huge size is
// taken smaller, since it is drawn at the size that is asked for.
const (
	svgWidth, svgHeight = 300, 150
	maxSVGSide          = 4096
)

// maxSVGHead is how much of a drawing is read to find its first tag: programs put licences and font lists before it.
const maxSVGHead = 64 << 10

// looksLikeSVG reports whether a text begins like an SVG: declaration, comments and a doctype may come before the tag.
func looksLikeSVG(head []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	if !bytes.HasPrefix(text, []byte("<")) || bytes.Contains(text, []byte("<html")) {
		return false
	}
	return bytes.Contains(text, []byte("<svg")) || bytes.Contains(text, []byte("/Graphics/SVG/")) || bytes.Contains(text, []byte(":svg "))
}

// svgSize reads width, height and viewBox of the first tag. ok is false when that tag is no drawing.
func svgSize(r io.ReaderAt, size int64) (width, height int, ok bool) {
	root, _, found := svgRoot(io.NewSectionReader(r, 0, min(size, maxSVGHead)))
	if !found {
		return 0, 0, false
	}
	w, hasWidth := svgLength(root["width"])
	h, hasHeight := svgLength(root["height"])
	boxW, boxH, hasBox := viewBox(root["viewBox"])
	switch {
	case hasWidth && hasHeight:
	case hasBox && hasWidth:
		h = w * boxH / boxW
	case hasBox && hasHeight:
		w = h * boxW / boxH
	case hasBox:
		w, h = boxW, boxH
	default:
		w, h = pick(hasWidth, w, svgWidth), pick(hasHeight, h, svgHeight)
	}
	if longest := max(w, h); longest > maxSVGSide {
		w, h = w*maxSVGSide/longest, h*maxSVGSide/longest
	}
	return max(1, int(math.Round(w))), max(1, int(math.Round(h))), true
}

func pick(ok bool, v, otherwise float64) float64 {
	if ok {
		return v
	}
	return otherwise
}

// TrimSVG drops what stands before the first tag of a drawing: byte order mark, declaration, doctype and comments. Not
// every reader expects them. It is nil when the data are no drawing.
func TrimSVG(data []byte) []byte {
	_, at, ok := svgRoot(bytes.NewReader(data[:min(len(data), maxSVGHead)]))
	if !ok {
		return nil
	}
	return data[at:]
}

// svgRoot returns the attributes of the first tag and where it begins, when it is svg. Entities are left as they are.
func svgRoot(r io.Reader) (attributes map[string]string, at int64, ok bool) {
	d := xml.NewDecoder(r)
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // names and numbers are ASCII in all
	for {
		at = d.InputOffset()
		token, err := d.RawToken()
		if err != nil {
			return nil, 0, false
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		attributes = map[string]string{}
		for _, a := range start.Attr {
			if a.Name.Space == "" {
				attributes[a.Name.Local] = a.Value
			}
		}
		return attributes, at, start.Name.Local == "svg"
	}
}

// svgUnits are the pixels of CSS units (96 to the inch). Percent and font sizes depend on a page that is not there.
var svgUnits = map[string]float64{"": 1, "px": 1, "pt": 96.0 / 72, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6}

func svgLength(s string) (pixels float64, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz%")
	unit, known := svgUnits[s[len(digits):]]
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	return v * unit, known && err == nil && positive(v)
}

func viewBox(s string) (width, height float64, ok bool) {
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	if len(fields) != 4 {
		return 0, 0, false
	}
	width, errW := strconv.ParseFloat(fields[2], 64)
	height, errH := strconv.ParseFloat(fields[3], 64)
	return width, height, errW == nil && errH == nil && positive(width) && positive(height)
}

func positive(v float64) bool { return v > 0 && v < 1e9 }
