package pdf

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
)

// traces reports what the bytes of a PDF show: whether PDFium may be needed, which is slow to start, and whether pages have patterns. A
// false trace costs time; a missing one is rare. PDFium itself decides about each page.
type traces struct {
	annotations bool // fields of forms, or annotations other than links
	wide        bool // text in a Chinese, Japanese or Korean encoding that the file may leave to the reader's fonts
	links       bool
	structure   bool // the document may have a structure of its own
	patterns    bool // something is filled with tiles
	attached    bool // files may be attached
	dynamic     bool // a viewer makes the pages from the data of an XFA form, and shows others meanwhile (PDF 1.7, table 28)
}

var (
	annotationTrace = regexp.MustCompile(`/Subtype[\s\0]*/(?:Widget|Text|FreeText|Line|Square|Circle|Polygon|PolyLine|Highlight|Underline|Squiggly|` +
		`StrikeOut|Stamp|Caret|Ink|FileAttachment|Redact|Watermark)\b`)
	wideTrace = regexp.MustCompile(`/(?:Uni(?:GB|CNS|JIS|KS)[A-Za-z0-9-]*|GBK?[A-Za-z0-9]*-EUC|GBK2?K?p?|GBKp-EUC|ETen(?:ms)?-B5|B5pc|HKscs-B5|ETHK-B5|CNS-EUC|` +
		`(?:83|90)(?:ms|msp|pv)-RKSJ|Add-RKSJ|Ext-RKSJ|EUC|KSC(?:ms|pc)?-(?:EUC|UHC)(?:-HW)?)-[HV]\b|/Ordering[\s\0]*\((?:GB1|CNS1|Japan1|Japan2|Korea1|KR)\)`)
	linkTrace    = regexp.MustCompile(`/Subtype[\s\0]*/Link\b`)
	structTrace  = regexp.MustCompile(`/StructTreeRoot\b`)
	patternTrace = regexp.MustCompile(`/PatternType[\s\0]*1\b`)
	dynamicTrace = regexp.MustCompile(`/NeedsRendering[\s\0]*true\b`)
	fileTrace    = regexp.MustCompile(`/EmbeddedFiles?\b`)
	objectStream = regexp.MustCompile(`/Type[\s\0]*/ObjStm\b`)
	streamStart  = []byte("stream")
	encryption   = []byte("/Encrypt")
)

// Bounds of the search in object streams.
const (
	maxObjectStream = 16 << 20  // bytes of one, unpacked
	maxUnpacked     = 512 << 20 // bytes of all
	streamHead      = 4 << 10   // bytes between the type of a stream and its beginning
)

// findTraces searches a file, also in its compressed objects. What it cannot unpack may hold anything.
func findTraces(data []byte) traces {
	t := tracesIn(data)
	streams := objectStream.FindAllIndex(data, -1)
	if len(streams) == 0 {
		return t
	}
	anything := traces{annotations: true, wide: t.wide, links: true, structure: true, patterns: true, attached: true, dynamic: t.dynamic}
	if bytes.Contains(data, encryption) {
		return anything // its object streams are encrypted
	}
	unpacked := 0
	for _, at := range streams {
		if t == (traces{true, true, true, true, true, true, true}) {
			break
		}
		objects, ok := unpack(data[at[1]:])
		if unpacked += len(objects); !ok || unpacked > maxUnpacked {
			anything.wide, anything.dynamic = t.wide, t.dynamic
			return anything
		}
		found := tracesIn(objects)
		t = traces{
			t.annotations || found.annotations, t.wide || found.wide, t.links || found.links, t.structure || found.structure,
			t.patterns || found.patterns, t.attached || found.attached, t.dynamic || found.dynamic,
		}
	}
	return t
}

func tracesIn(data []byte) traces {
	return traces{annotationTrace.Match(data), wideTrace.Match(data), linkTrace.Match(data), structTrace.Match(data), patternTrace.Match(data), fileTrace.Match(data), dynamicTrace.Match(data)}
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
