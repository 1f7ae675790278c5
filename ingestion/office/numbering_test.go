package office

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// numbered makes a docx file. A line is a level, or the name of a style, and a text; styles A and B are headings with numbers.
func numbered(t *testing.T, levels, more, text string) string {
	t.Helper()
	var body, defined strings.Builder
	for line := range strings.Lines(text) {
		at, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		pr := `<numPr><ilvl val="` + at + `"/><numId val="1"/></numPr>`
		switch {
		case strings.Contains(at, "/"): // list/level
			id, level, _ := strings.Cut(at, "/")
			pr = `<numPr><ilvl val="` + level + `"/><numId val="` + id + `"/></numPr>`
		case at == "gone":
			pr = `<numPr><ilvl val="0"/><numId val="1"/></numPr><rPr><del/></rPr>`
			body.WriteString(`<p><pPr>` + pr + `</pPr><del><r><delText>gone</delText></r></del></p>`)
			continue
		case at >= "A":
			pr = `<pStyle val="` + at + `"/>`
		}
		body.WriteString(`<p><pPr>` + pr + `</pPr><r><t>` + text + `</t></r></p>`)
	}
	for i, level := range strings.Fields(levels) {
		format, text, _ := strings.Cut(level, ":")
		format, extra, _ := strings.Cut(format, "+")
		extra = map[string]string{"legal": "<isLgl/>", "on": `<lvlRestart val="0"/>`}[extra]
		fmt.Fprintf(&defined, `<lvl ilvl="%d"><start val="1"/><numFmt val="%s"/>%s<lvlText val="%s"/></lvl>`, i, format, extra, strings.ReplaceAll(text, "_", " "))
	}
	return textOf(t, append(document(body.String()),
		txtar.File{Name: "word/styles.xml", Data: []byte(`<styles><style styleId="A"><name val="heading 1"/><pPr><numPr><numId val="1"/></numPr></pPr></style><style styleId="B"><name val="heading 2"/><pPr><numPr><ilvl val="1"/><numId val="1"/></numPr></pPr></style><style styleId="Bb"><basedOn val="B"/></style><style styleId="None"/></styles>`)},
		txtar.File{Name: "word/numbering.xml", Data: []byte(`<numbering><abstractNum abstractNumId="0">` + defined.String() + `</abstractNum><num numId="1"><abstractNumId val="0"/></num>` + more + `</numbering>`)}))
}

// Clauses of contracts have the numbers that the program shows.
func TestRead_automaticNumbers(t *testing.T) {
	t.Parallel()
	const clauses = "decimal:%1. decimal:%1.%2 lowerLetter:(%3) lowerRoman:(%4)"
	const same = `<num numId="2"><abstractNumId val="0"/></num><num numId="3"><abstractNumId val="0"/><lvlOverride ilvl="0"><startOverride val="7"/></lvlOverride></num>`
	for name, test := range map[string]struct{ levels, more, text, want string }{
		"clauses":                   {clauses, "", "0 Term\n1 The rent:\n2 water\n2 rooms, but not\n3 the terrace\n3 the cellar\ngone\n0 Deposit\n1 Due\n2 now", "1. Term\n\n    1.1 The rent:\n\n    (a) water\n\n    (b) rooms, but not\n\n    (i) the terrace\n\n    (ii) the cellar\n2. Deposit\n\n    2.1 Due\n\n    (a) now\n"},
		"headings":                  {"upperRoman:Article_%1 decimal+legal:%1.%2", "", "A Scope\nB Whole\nBb Part\nNone text\nA Price\nB Sum", "# Article I Scope\n\n## 1.1 Whole\n\n## 1.2 Part\n\ntext\n\n# Article II Price\n\n## 2.1 Sum\n"},
		"not for lists of Markdown": {"decimalZero:%1. upperLetter:%2. decimal:%3)", "", "0 a\n1 b\n2 c\n2 d\n0 e", "01\\. a\n\nA. b\n\n1) c\n2) d\n\n02\\. e\n"},
		"a bullet below a clause":   {"decimal:§_%1 bullet:o bullet:x", "", "0 a\n1 b\n2 c\n1 d\n0 e", "§ 1 a\n\n- b\n    - c\n- d\n\n§ 2 e\n"},
		"lists of one definition":   {"decimal:(%1)", same, "1/0 a\n2/0 b\n3/0 c\n1/0 d\n3/0 e", "(1) a\n\n(2) b\n\n(7) c\n\n(8) d\n\n(9) e\n"},
		"a level that goes on":      {"decimal:§_%1 decimal+on:(%2)", "", "0 a\n1 b\n0 c\n1 d", "§ 1 a\n\n(1) b\n\n§ 2 c\n\n(2) d\n"},
		"no number":                 {"decimal:", "", "0 a\nA b", "a\n\n# b\n"},
	} {
		if diff := cmp.Diff(test.want, numbered(t, test.levels, test.more, test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for n, want := range map[int]string{1: "a i", 26: "z xxvi", 27: "aa xxvii", 1944: "1944 mcmxliv", 0: "0 0", 1e9: "1000000000 1000000000"} {
		if got := written(n, "lowerLetter") + " " + written(n, "lowerRoman"); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}
