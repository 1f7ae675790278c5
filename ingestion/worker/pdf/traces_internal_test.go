package pdf

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the search looks for, as expressions, which are slow.
var (
	annotationSpec = regexp.MustCompile(`/Subtype[\s\0]*/(?:Widget|Text|FreeText|Line|Square|Circle|Polygon|PolyLine|Highlight|Underline|Squiggly|` +
		`StrikeOut|Stamp|Caret|Ink|FileAttachment|Redact|Watermark)\b`)
	wideSpec = regexp.MustCompile(`/(?:Uni(?:GB|CNS|JIS|KS)[A-Za-z0-9-]*|GBK?[A-Za-z0-9]*-EUC|GBK2?K?p?|GBKp-EUC|ETen(?:ms)?-B5|B5pc|HKscs-B5|ETHK-B5|CNS-EUC|` +
		`(?:83|90)(?:ms|msp|pv)-RKSJ|Add-RKSJ|Ext-RKSJ|EUC|KSC(?:ms|pc)?-(?:EUC|UHC)(?:-HW)?)-[HV]\b|/Ordering[\s\0]*\((?:GB1|CNS1|Japan1|Japan2|Korea1|KR)\)`)
	structSpec  = regexp.MustCompile(`/StructTreeRoot\b`)
	patternSpec = regexp.MustCompile(`/PatternType[\s\0]+1\b`)
	dynamicSpec = regexp.MustCompile(`/NeedsRendering[\s\0]+true\b`)
	fileSpec    = regexp.MustCompile(`/EmbeddedFiles?\b`)
	colourSpec  = regexp.MustCompile(`/ColorSpace[\s\0]*/DeviceRGB\b`)
	streamSpec  = regexp.MustCompile(`/Type[\s\0]*/ObjStm\b`)
)

func TestTracesIn_isItsExpressions(t *testing.T) {
	t.Parallel()
	parts := strings.Split("/Subtype /Widget /PolyLine /Text /Link /StructTreeRoot /PatternType /NeedsRendering true 1 /EmbeddedFile /EmbeddedFiles /ColorSpace /DeviceRGB /Type /ObjStm "+
		"/UniGB-UCS2-H /UniKS-UTF16-V /GBK-EUC-V /GB-EUC-H /GBKp-EUC-H /GBK2K-V /ETen-B5-H /ETenms-B5-V /B5pc-H /HKscs-B5-H /ETHK-B5-V /CNS-EUC-H /83pv-RKSJ-H "+
		"/90ms-RKSJ-V /Add-RKSJ-H /Ext-RKSJ-V /EUC-H /KSC-EUC-H /KSCms-UHC-HW-V /KSCpc-EUC-H /Ordering(Japan1) /UniGB UCS2 /GBK /KSC /90 pv EUC H V /Ordering (KR) ( / - - - _ x 7 \u00e9", " ")
	parts = append(parts, "/PatternType\x00 1", "/NeedsRendering\ntrue", "/Subtype\r/Stamp", "/Type /ObjStm", "/ColorSpace\x00/DeviceRGB", " ", "\n", "\x00", "\v", "-H", "-V ", "-EUC", "-RKSJ", "")
	found := traces{}
	for seed := range 4000 {
		r := rand.New(rand.NewPCG(uint64(seed), 1)) //nolint:gosec // a repeatable choice
		var b strings.Builder
		for range 1 + r.IntN(8) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		data := []byte(b.String())
		want := traces{
			annotationSpec.Match(data), wideSpec.Match(data), structSpec.Match(data), patternSpec.Match(data), fileSpec.Match(data), colourSpec.Match(data), dynamicSpec.Match(data),
		}
		var ends []int
		for _, at := range streamSpec.FindAllIndex(data, -1) {
			ends = append(ends, at[1])
		}
		got, streams := tracesIn(data)
		if got != want || !slices.Equal(streams, ends) {
			t.Fatalf("%q: got %+v %v, want %+v %v", data, got, streams, want, ends)
		}
		found = traces{
			found.annotations || got.annotations, found.wide || got.wide, found.structure || got.structure,
			found.patterns || got.patterns, found.attached || got.attached, found.coloured || got.coloured, found.dynamic || got.dynamic,
		}
	}
	if found != (traces{true, true, true, true, true, true, true}) {
		t.Errorf("the data had only %+v", found)
	}
}
