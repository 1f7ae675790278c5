package mupdf

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
	"github.com/vaultflow/vaultflow/ingestion/pdftest"
	"github.com/vaultflow/vaultflow/ingestion/worker/pdf"
)

const pageHead = "<div id=\"page0\" style=\"width:600.0pt;height:800.0pt\">\n"

// line writes a line as MuPDF does.
func line(top, left, size float64, style, text string) string {
	span := fmt.Sprintf(`<span style="font-family:Arial,sans-serif;font-size:%.1fpt%s">%s</span>`, size, style, text)
	return fmt.Sprintf("<p style=\"top:%.1fpt;left:%.1fpt;line-height:%.1fpt\">%s</p>\n", top, left, size, span)
}

// scripts writes a line of pieces, of which those after ^ are raised, and those after _ as small.
func scripts(pieces ...string) string {
	out := `<p style="top:10.0pt;left:10.0pt;line-height:11.0pt">`
	for _, piece := range pieces {
		size, before, after := 11.0, "", ""
		if text, ok := strings.CutPrefix(piece, "^"); ok {
			piece, size, before, after = text, 8, "<sup>", "</sup>"
		} else if text, ok := strings.CutPrefix(piece, "_"); ok {
			piece, size = text, 8
		}
		out += fmt.Sprintf(`%s<span style="font-family:Arial,sans-serif;font-size:%.1fpt;color:#000000">%s</span>%s`, before, size, piece, after)
	}
	return out + "</p>\n"
}

// columnLines writes three lines of a column.
func columnLines(top, left float64, side string) string {
	return line(top, left, 11, ink, side+" side of page one.") + line(top+14, left, 11, ink, side+" side of page two.") + line(top+28, left, 11, ink, side+" side of page three.")
}

// alone gives the text of a document of one page.
func alone(html string) *extract.PageText {
	page := readHTML(html)
	text, _ := pdf.PageText(page, layout.NewProfile([]layout.Page{page}, nil), 1, func() *layout.Tail { return nil })
	return text
}

const ink = ";color:#000000"

func TestPageText_findsStructure(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ html, markdown string }{
		"nothing":          {"", ""},
		"headings by size": {line(10, 10, 24, ink, "Top") + line(50, 10, 16, ink, "Below") + line(80, 10, 11, ink, "body text of the page"), "# Top\n\n## Below\n\nbody text of the page"},
		"lines join":       {line(10, 10, 11, ink, "one") + line(25, 10, 11, ink, "two"), "one two"},
		"space divides":    {line(10, 10, 11, ink, "one") + line(45, 10, 11, ink, "two"), "one\n\ntwo"},
		"column divides":   {columnLines(20, 10, "Left") + columnLines(10, 310, "Right"), "Left side of page one. Left side of page two. Left side of page three.\n\nRight side of page one. Right side of page two. Right side of page three."},
		"hyphen goes":      {line(10, 10, 11, ink, "hyphen-") + line(25, 10, 11, ink, "ated"), "hyphenated"},
		"hyphen stays":     {line(10, 10, 11, ink, "Jean-") + line(25, 10, 11, ink, "Paul"), "Jean- Paul"},
		"ligature":         {line(10, 10, 11, ink, "of&#xfb01;ce"), "office"},
		"bullets":          {line(10, 10, 11, ink, "• a") + line(25, 10, 11, ink, "• b"), "- a\n- b"},
		"numbers":          {line(10, 10, 11, ink, "1. a") + line(25, 10, 11, ink, "goes on") + line(40, 10, 11, ink, "2) b"), "1. a goes on\n2. b"},
		"numbers flush":    {line(10, 16, 11, ink, "9. a") + line(25, 10, 11, ink, "10. b") + line(55, 10, 11, ink, "end"), "9. a\n10. b\n\nend"},
		"two lists":        {line(10, 10, 11, ink, "1. a") + line(25, 10, 11, ink, "2. b") + line(40, 10, 11, ink, "• c"), "1. a\n2. b\n\n- c"},
		"a date in prose":  {line(10, 10, 11, ink, "It was on the") + line(25, 10, 11, ink, "12. October that"), "It was on the 12. October that"},
		"a date in front":  {line(10, 10, 11, ink, "12. October was") + line(25, 10, 11, ink, "a day"), "12\\. October was a day"},
		"numbers far away": {line(10, 10, 11, ink, "1. May and") + line(25, 300, 11, ink, "2. x"), "1\\. May and 2. x"},
		"numbered heads":   {line(10, 10, 20, ink, "1. In") + line(40, 10, 11, ink, "body text of it") + line(90, 10, 20, ink, "2. Out"), "# 1. In\n\nbody text of it\n\n# 2. Out"},
		"markup escaped":   {line(10, 10, 11, ink, "# 1 *x* `y`"), "\\# 1 \\*x\\* \\`y\\`"},
		"entities":         {line(10, 10, 11, ink, "a &lt;b&gt; &amp; c"), "a <b> & c"},
		"raised digits": {
			scripts("The area is 25 m", "^2", ", and 10", "^6", " to 10", "^&#x2212;12", " of it drank, as 1", "^st", " in note", "^14,15"),
			"The area is 25 m², and 10⁶ to 10⁻¹² of it drank, as 1st in note¹⁴,¹⁵",
		},
		"lowered digits":   {scripts("Log", "_10", "5 of H", "_2", "O"), "Log₁₀5 of H₂O"},
		"smaller numbers":  {scripts("The order ", "_4711", " of ISO ", "_9001"), "The order 4711 of ISO 9001"},
		"a note's mark":    {scripts("_14", "Carbon of the year"), "¹⁴Carbon of the year"},
		"after an initial": {scripts("A", "^12 of them in the whole long line"), "A12 of them in the whole long line"},
		"outside the page": {line(-50, 10, 11, ink, "hidden") + line(900, 10, 11, ink, "hidden") + line(10, 10, 11, ink, "seen"), "seen"},
		"not MuPDF's":      {"<p>no</p>\n<script>x</script>\n", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := alone(pageHead + c.html + "</div>\n").Markdown; got != c.markdown {
				t.Errorf("got\n%s\nwant\n%s", got, c.markdown)
			}
		})
	}
}

// A page made to be slow must not be: each line could begin a list that never goes on.
func TestPageText_boundsListsOfHostilePages(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 20_000 {
		page.WriteString(line(10, 10, 11, ink, fmt.Sprintf("1. x%d", i)))
	}
	if got := strings.Count(alone(pageHead+page.String()+"</div>\n").Plain, "1. x"); got != 20_000 {
		t.Errorf("%d lines, want 20000", got)
	}
}

func TestPageText_countsEvidence(t *testing.T) {
	t.Parallel()
	jpeg := base64.StdEncoding.EncodeToString(pdftest.Photo(200, 100, "x"))
	// 200 × 100 pixels, scaled by 3 × 4: the left upper corner of the page down to 600, 400.
	img := fmt.Sprintf("<img style=\"position:absolute;transform:matrix(3,0,-0,4,200,150)\" src=\"data:image/jpeg;base64,%s\n%s\">\n", jpeg[:76], jpeg[76:])
	got := alone(pageHead + img + line(300, 300, 11, "", "unseen") + line(5, 300, 11, ink, "top") + line(500, 300, 11, ink, "a \ufffd\ue000")).Evidence
	want := extract.Evidence{Chars: 12, Unmapped: 2, Invisible: 6, MarginChars: 3, Pictures: 1, Fonts: 1, PictureCover: 0.5}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Bitmap fonts say that they are as large as a dot. What they are used for shows how large they are.
func TestAddSVG_sizesBitmapFonts(t *testing.T) {
	t.Parallel()
	page := readHTML(pageHead + line(100, 60, 0.1, ink, "word") + line(100, 90, 0.1, ink, "s") + "</div>\n")
	svg := ""
	for i, letter := range "words" {
		svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(.1,0,0,-.1,%d,100.08)\"/>\n", string(letter), letter, 60+6*i+6*(i/4))
	}
	addSVG(&page, svg)
	if got := page.Lines[0].Size; got < 9 || got > 14 {
		t.Errorf("size %.1f", got)
	}
	if got := page.Lines[0].Box; got.Y1-got.Y0 < 9 || got.X1-got.X0 < 20 {
		t.Errorf("box %+v", got)
	}
}

// TeX prints an accent over a letter, as two signs. Signs that follow one another stay two.
func TestAddSVG_joinsAccentsWithLetters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		at   []float64
		want string
	}{
		"before":        {"na¨ıve", []float64{60, 66, 71.5, 72, 75, 80}, "naïve"},
		"below":         {"c¸a va", []float64{60, 60.3, 66, 74, 80}, "ça va"},
		"no accent":     {"don´t l´a", []float64{60, 66, 72, 78, 81, 90, 93, 97}, "don´t l´a"},
		"with a blank":  {"Min´ aˇ c", []float64{60, 68, 71, 77, 77, 83, 83}, "Mináč"},
		"nothing fits":  {"x´q", []float64{60, 66, 66}, "x´q"},
		"one character": {"´", []float64{60}, "´"},
	} {
		page := readHTML(pageHead + line(100, 60, 10, ink, c.text) + "</div>\n")
		svg := ""
		for i, letter := range []rune(strings.ReplaceAll(c.text, " ", "")) {
			svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(10,0,0,-10,%g,108)\"/>\n", string(letter), letter, c.at[i])
		}
		addSVG(&page, svg)
		if got := page.Lines[0].Text; got != c.want || len(page.Lines[0].Edges) > 0 && len(page.Lines[0].Edges) != len([]rune(got)) {
			t.Errorf("%s: %q with %d edges, want %q", name, got, len(page.Lines[0].Edges), c.want)
		}
	}
}

// Small digits are lowered only where their glyphs are below the baseline.
func TestSettleLowered_goesByTheBaseline(t *testing.T) {
	t.Parallel()
	l := layout.Line{Text: "A₄ H₂O", Size: 10, Box: layout.Box{Y0: 92, Y1: 102}}
	settleLowered(&l, []glyph{{y: 100}, {y: 100}, {y: 100}, {y: 102}, {y: 100}}, []int{1, 2, 3, 4, 5})
	if l.Text != "A4 H₂O" {
		t.Errorf("got %q", l.Text)
	}
}
