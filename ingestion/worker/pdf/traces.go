package pdf

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strings"
)

// traces reports what the bytes of a PDF show: whether PDFium may be needed, which is slow to start, and whether pages have patterns. A
// false trace costs time; a missing one is rare. PDFium itself decides about each page.
type traces struct {
	annotations bool // fields of forms, or annotations other than links
	wide        bool // text in a Chinese, Japanese or Korean encoding that the file may leave to the reader's fonts
	structure   bool // the document may have a structure of its own
	patterns    bool // something is filled with tiles
	attached    bool // files may be attached
	coloured    bool // a picture or a shade may have colours
	dynamic     bool // a viewer makes the pages from the data of an XFA form, and shows others meanwhile (PDF 1.7, table 28)
}

// annotationTypes are those of annotations other than links.
var annotationTypes = map[string]bool{
	"Widget": true, "Text": true, "FreeText": true, "Line": true, "Square": true, "Circle": true, "Polygon": true, "PolyLine": true, "Highlight": true,
	"Underline": true, "Squiggly": true, "StrikeOut": true, "Stamp": true, "Caret": true, "Ink": true, "FileAttachment": true, "Redact": true, "Watermark": true,
}

// wideTrace matches what follows a slash: the name of an encoding or of characters.
var wideTrace = regexp.MustCompile(`^(?:(?:Uni(?:GB|CNS|JIS|KS)[A-Za-z0-9-]*|GBK?[A-Za-z0-9]*-EUC|GBK2?K?p?|GBKp-EUC|ETen(?:ms)?-B5|B5pc|HKscs-B5|ETHK-B5|CNS-EUC|` +
	`(?:83|90)(?:ms|msp|pv)-RKSJ|Add-RKSJ|Ext-RKSJ|EUC|KSC(?:ms|pc)?-(?:EUC|UHC)(?:-HW)?)-[HV]\b|Ordering[\s\0]*\((?:GB1|CNS1|Japan1|Japan2|Korea1|KR)\))`)

var (
	streamStart = []byte("stream")
	encryption  = []byte("/Encrypt")
)

// Bounds of the search in object streams.
const (
	maxObjectStream = 16 << 20  // bytes of one, unpacked
	maxUnpacked     = 512 << 20 // bytes of all
	streamHead      = 4 << 10   // bytes between the type of a stream and its beginning
)

// findTraces searches a file, also in its compressed objects. What it cannot unpack may hold anything.
func findTraces(data []byte) traces {
	t, streams := tracesIn(data)
	if len(streams) == 0 {
		return t
	}
	anything := traces{annotations: true, wide: t.wide, structure: true, patterns: true, attached: true, coloured: t.coloured, dynamic: t.dynamic}
	if bytes.Contains(data, encryption) {
		return anything // its object streams are encrypted
	}
	unpacked := 0
	for _, at := range streams {
		if t == (traces{true, true, true, true, true, true, true}) {
			break
		}
		objects, ok := unpack(data[at:])
		if unpacked += len(objects); !ok || unpacked > maxUnpacked {
			anything.wide, anything.coloured, anything.dynamic = t.wide, t.coloured, t.dynamic
			return anything
		}
		found, _ := tracesIn(objects)
		t = traces{
			t.annotations || found.annotations, t.wide || found.wide, t.structure || found.structure,
			t.patterns || found.patterns, t.attached || found.attached, t.coloured || found.coloured, t.dynamic || found.dynamic,
		}
	}
	return t
}

// tracesIn searches bytes as they are. It also returns where the types of object streams end. It looks at each slash once: a search with
// expressions took twelve times as long, while the first page could not begin.
func tracesIn(data []byte) (t traces, streams []int) {
	for rest := data; ; {
		at := bytes.IndexByte(rest, '/')
		if at < 0 {
			return t, streams
		}
		rest = rest[at+1:]
		name, after := word(rest)
		switch string(name) {
		case "Subtype":
			kind, _ := word(second(after))
			t.annotations = t.annotations || annotationTypes[string(kind)]
		case "Type":
			if kind, end := word(second(after)); string(kind) == "ObjStm" {
				streams = append(streams, len(data)-len(end))
			}
		case "StructTreeRoot":
			t.structure = true
		case "PatternType":
			kind, _ := word(blank(after))
			t.patterns = t.patterns || string(kind) == "1"
		case "ColorSpace":
			kind, _ := word(second(after))
			t.coloured = t.coloured || string(kind) == "DeviceRGB"
		case "EmbeddedFile", "EmbeddedFiles":
			t.attached = true
		case "NeedsRendering":
			value, _ := word(blank(after))
			t.dynamic = t.dynamic || string(value) == "true"
		default:
			t.wide = t.wide || mayBeWide(name) && wideTrace.Match(rest)
		}
	}
}

// word splits off the letters, digits and underscores at the beginning.
func word(data []byte) (name, rest []byte) {
	for i, c := range data {
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return data[:i], data[i:]
		}
	}
	return data, nil
}

// blank cuts off blanks and zeroes.
func blank(data []byte) []byte {
	for len(data) > 0 && strings.IndexByte(" \t\n\f\r\x00", data[0]) >= 0 {
		data = data[1:]
	}
	return data
}

// second returns what follows the slash of a second name, or nothing.
func second(data []byte) []byte {
	if data = blank(data); len(data) > 0 && data[0] == '/' {
		return data[1:]
	}
	return nil
}

// mayBeWide reports whether the expression has names that begin so.
func mayBeWide(name []byte) bool {
	if len(name) < 2 {
		return false
	}
	switch string(name[:2]) {
	case "Un", "GB", "ET", "B5", "HK", "CN", "83", "90", "Ad", "Ex", "EU", "KS", "Or":
		return true
	}
	return false
}

// unpack returns the objects of a stream whose dictionary ends soon after data begins.
func unpack(data []byte) ([]byte, bool) {
	begin := bytes.Index(data[:min(len(data), streamHead)], streamStart)
	if begin < 0 {
		return nil, false
	}
	data = bytes.TrimLeft(data[begin+len(streamStart):], "\r\n")
	r, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	objects, err := io.ReadAll(io.LimitReader(r, maxObjectStream))
	return objects, err == nil || len(objects) > 0
}
