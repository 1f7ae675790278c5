package mupdf

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/layout"
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
		"hyphen stays":     {line(10, 10, 11, ink, "Jean-") + line(25, 10, 11, ink, "Paul"), "Jean-Paul"},
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
		"a short line":     {scripts("2", "^3"), "2³"},
		"more marks":       {scripts("5", "^12"), "5¹²"},
		"a short power":    {scripts("x", "^2"), "x²"},
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
	got := alone("<img 0 0 600 400>\n" + pageHead + line(300, 300, 11, "", "unseen") + line(5, 300, 11, ink, "top") + line(500, 300, 11, ink, "a \ufffd\ue000")).Evidence
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

// A ligature that its file spells as several letters has one glyph, with the first of them. A soft hyphen has none.
func TestAddSVG_placesLettersWithoutGlyphs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, glyphs string }{
		"within a word":  {"the efficient way", "theefcientway"},
		"at the end":     {"a bailiff", "abailif"},
		"two of them":    {"first offices", "frstofces"},
		"doubled letter": {"Hawaii fiiing", "Hawaiifiing"},
		"soft hyphen":    {"multi\u00adagency", "multiagency"},
	} {
		page := readHTML(pageHead + line(100, 60, 10, ink, c.text) + line(120, 60, 10, ink, "below") + "</div>\n")
		svg := ""
		for i, letter := range c.glyphs {
			svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(10,0,0,-10,%d,108)\"/>\n", string(letter), letter, 60+4*i)
		}
		for i, letter := range "below" {
			svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(10,0,0,-10,%d,128)\"/>\n", string(letter), letter, 60+4*i)
		}
		addSVG(&page, svg)
		if got := page.Lines[0]; len(got.Edges) != len([]rune(got.Text)) {
			t.Errorf("%s: %q has %d edges, width %.0f", name, got.Text, len(got.Edges), got.Box.X1-got.Box.X0)
		}
		if got := page.Lines[1]; len(got.Edges) != 5 {
			t.Errorf("%s: the next line has %d edges", name, len(got.Edges))
		}
	}
}

// Korean has blanks between words, which MuPDF leaves out where the file has none but moves on.
func TestAddSVG_dividesKoreanWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"낮에는따사로운인간적인여자": "낮에는 따사로운 인간적인 여자", "가나hey다라": "가나 hey다라", "여자 커피한잔": "여자 커피 한잔",
	} {
		page := readHTML(pageHead + line(100, 60, 10, ink, text) + "</div>\n")
		svg, x := "", 60.0
		for _, letter := range want {
			if letter == ' ' {
				x += 2.2
				continue
			}
			svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(10,0,0,-10,%g,108)\"/>\n", string(letter), letter, x)
			if x += 5; letter > 0xac00 {
				x += 4.2
			}
		}
		addSVG(&page, svg)
		if got := page.Lines[0]; got.Text != want || len(got.Edges) != len([]rune(want)) {
			t.Errorf("got %q with %d edges, want %q", got.Text, len(got.Edges), want)
		}
	}
}

// Letters that are set apart are a word, unless the file has blanks between them.
func TestAddSVG_keepsLettersThatAreTypedApart(t *testing.T) {
	t.Parallel()
	for blank, want := range map[bool]string{true: "C D E F G H", false: "CDEFGH"} {
		page := readHTML(pageHead + line(100, 60, 10, ink, "C D E F G H") + "</div>\n")
		svg := ""
		for i, letter := range "CDEFGH" {
			svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(10,0,0,-10,%d,108)\"/>\n", string(letter), letter, 60+12*i)
			if blank {
				svg += fmt.Sprintf("<use data-text=\" \" xlink:href=\"#font_1_1\" transform=\"matrix(10,0,0,-10,%d,108)\"/>\n", 66+12*i)
			}
		}
		addSVG(&page, svg)
		if got := page.Lines[0].Text; got != want {
			t.Errorf("with blanks %v: %q, want %q", blank, got, want)
		}
	}
}

// The words of letters that are set apart end where the file has blanks, however unequal the pairs are; where it has none, at the wider gaps.
func TestAddSVG_findsWordsOfSpacedLetters(t *testing.T) {
	t.Parallel()
	steps := map[rune]float64{'A': 13, 'V': 13, 'O': 15, 'I': 6, 'D': 14, 'T': 12}
	for _, c := range []struct {
		read, text, want string
		blank            bool
		apart, word      float64
	}{
		{"T O A V O I D A T", "TO AVOID A T", "TO AVOID A T", true, 6, 6},
		{"T O A V O I D A D", "TO AVOID A D", "TO AVOID A D", false, 6, 10},
		{"T O A VOI D DAVID", "TO AVOID DAVID", "TO AVOID DAVID", true, 3, 6},
		{"TO AVOID AID IT IT IT", "TOAVOIDAIDITIT IT", "TO AVOID AID IT IT IT", true, 3, 6}, // most spaces are moves
		{"T O AVOI D DAVIT", "TOAVOID DAVIT", "T O AVOI D DAVIT", true, 3, -3},              // the blank is no wider than gaps without
	} {
		page := readHTML(pageHead + line(100, 60, 20, ink, c.read) + "</div>\n")
		svg, x := "", 60.0
		for i, r := range c.text {
			if r != ' ' || c.blank {
				svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(20,0,0,-20,%g,116)\"/>\n", string(r), r, x)
			}
			steps[' '] = c.word
			if x += steps[r] + c.apart; strings.HasPrefix(c.text[i+1:], "A") { // which is set closer
				x -= 3
			}
		}
		addSVG(&page, svg)
		if got := page.Lines[0].Text; got != c.want {
			t.Errorf("blanks %v: %q, want %q", c.blank, got, c.want)
		}
	}
}

// A line that runs up the page is found where its glyphs are: its place in the HTML is off by its ascent.
func TestAddSVG_findsTurnedLines(t *testing.T) {
	t.Parallel()
	page := readHTML(pageHead + line(594, 10, 20, ink, "stamp") + line(120, 60, 10, ink, "page") + line(140, 60, 10, ink, "lines") + "</div>\n")
	svg := ""
	for i, letter := range "stamp" {
		svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(0,-20,-20,0,31.5,%d)\"/>\n", string(letter), letter, 612-10*i)
	}
	addSVG(&page, svg)
	if got := page.Lines[0]; got.Turns != 3 || got.Box.X1-got.Box.X0 > 30 {
		t.Errorf("turned %d times: %+v", got.Turns, got.Box)
	}
}

// Lines whose glyphs are not found must not seem to reach into the next column.
func TestAddSVG_estimatesWidthsByTheOtherLines(t *testing.T) {
	t.Parallel()
	known, unknown := "these letters are found", "these are not, x and y"
	page := readHTML(pageHead + line(100, 60, 10, ink, known) + line(120, 60, 10, ink, unknown) + "</div>\n")
	svg := ""
	for i, letter := range known {
		if letter != ' ' {
			svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(10,0,0,-10,%d,108)\"/>\n", string(letter), letter, 60+4*i)
		}
	}
	addSVG(&page, svg)
	if got := page.Lines[1].Box.X1 - page.Lines[1].Box.X0; got < 80 || got > 95 {
		t.Errorf("width %.0f, want 4 points for each of %d letters", got, len(unknown))
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

// Recognition sets letters without ink, as narrow as those of the picture, and no SVG has them: they end where MuPDF says.
func TestReadHTML_endsLinesWithoutInk(t *testing.T) {
	t.Parallel()
	text := "as wide as it was printed"
	page := readHTML("<end 150>\n<end 150>\n" + pageHead + line(100, 60, 10, "", text) + line(120, 60, 10, ink, text))
	addSVG(&page, "")
	if got := page.Lines[0].Box.X1; got != 150 {
		t.Errorf("without ink, the line ends at %g", got)
	}
	if got := page.Lines[1].Box.X1; got != 60+5*float64(len(text)) {
		t.Errorf("with ink, the line ends at %g", got)
	}
}

// The place that MuPDF prints for a line upwards is off by the ascent of its font, which can be more than its size.
func TestPlace_findsTallFontsOnTheirSide(t *testing.T) {
	t.Parallel()
	text := "Figure on its side"
	page := readHTML(pageHead + line(576, 312.3, 10, ink, text))
	svg := ""
	for i, letter := range text {
		if letter != ' ' {
			svg += fmt.Sprintf("<use data-text=%q xlink:href=\"#font_1_%d\" transform=\"matrix(0,-10,-10,-0,332.9,%d)\"/>\n", string(letter), letter, 584-5*i)
		}
	}
	addSVG(&page, svg)
	if l := page.Lines[0]; !page.Turned || l.Turns != 0 || l.Box.X1-l.Box.X0 < 80 {
		t.Errorf("%+v", l)
	}
}

// The readers by hand find what the expressions find that describe them.
func TestSpanHead_readsAsTheExpression(t *testing.T) {
	t.Parallel()
	head, tag := regexp.MustCompile(`<span style="font-family:([^;"]*);font-size:([\d.]+)pt([^"]*)">`), regexp.MustCompile(`<[^>]*>`)
	const whole = `<span style="font-family:Arial,serif;font-size:10.5pt;color:#000000">`
	for _, s := range []string{
		"", "a", "<", "a<b", ">a<b>c<", "<<b>>", "<p><b>" + whole + "a&lt;b</span></b>" + whole + "<i>c</i></span></p>", `<span style="font-family:` + whole,
		`<span style="font-family:;font-size:1pt">`, `<span style="font-family:A;font-size:pt">`, `<span style="font-family:A;font-size:1.2pt"x`,
		`<span style="font-family:A";font-size:1.2pt">`, `<span style="font-family:A;font-size:1.2px">`, `<span style="font-family:A;font-size:1.2pt`, whole[:len(whole)-1] + whole,
	} {
		if got, want := fmt.Sprint(spanHead(s)), fmt.Sprint(head.FindAllStringSubmatchIndex(s, -1)); got != want {
			t.Errorf("%q: %s, not %s", s, got, want)
		}
		if got, want := untagged(s), tag.ReplaceAllString(s, ""); got != want {
			t.Errorf("%q without tags: %q, not %q", s, got, want)
		}
	}
}

func TestLineHead_readsAsTheExpression(t *testing.T) {
	t.Parallel()
	head := regexp.MustCompile(`^<p style="top:(-?[\d.]+)pt;left:(-?[\d.]+)pt;line-height:([\d.]+)pt">`)
	const form = `<p style="top:%spt;left:%spt;line-height:%spt">`
	var lines []string
	for _, n := range [][3]string{{"1", "2.5", "3"}, {"-1.", "-.5", "3"}, {"1", "2", "-3"}, {"", "2", "3"}, {"1", "-", "3"}, {"1", "2", ""}, {"--1", "2", "3"}, {"1", "a", "3"}} {
		lines = append(lines, fmt.Sprintf(form, n[0], n[1], n[2]))
	}
	for _, s := range append(lines, "", "<p>", lines[0]+"a", "a"+lines[0], lines[0][:len(lines[0])-1]) {
		want := head.FindStringSubmatch(s)
		top, left, height, ok := lineHead(s)
		if ok != (want != nil) || ok && (top != number(want[1]) || left != number(want[2]) || height != number(want[3])) {
			t.Errorf("%q: %g, %g, %g, %v, not %q", s, top, left, height, ok, want)
		}
	}
}

func TestMatrix_readsOnlyWhatDiffers(t *testing.T) {
	t.Parallel()
	var at matrix
	for _, c := range []struct {
		element string
		want    [6]float64
		ok      bool
	}{
		{`<use transform="matrix(1,2,3,4,5,6)"/>`, [6]float64{1, 2, 3, 4, 5, 6}, true},
		{`<use transform="matrix(1,2,,4,7,8)"/>`, [6]float64{1, 2, 0, 4, 7, 8}, true},
		{`<use/>`, [6]float64{1, 0, 0, 1, 0, 0}, true},
		{`<use transform="matrix(,2,,4,7,8)"/>`, [6]float64{0, 2, 0, 4, 7, 8}, true},
		{`<use transform="matrix(9,9)"/>`, [6]float64{}, false},
		{`<use transform="matrix(1,2,3,4,5,6)"/>`, [6]float64{1, 2, 3, 4, 5, 6}, true},
	} {
		if ok := at.read(c.element); ok != c.ok || ok && at.m != c.want {
			t.Errorf("%s: %v, %v", c.element, at.m, ok)
		}
	}
}

func TestNumbers_dividesAtBlanksCommasAndSigns(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]float64{
		"": {}, " ": {}, ",": {}, "1": {1}, "1 2": {1, 2}, "1-2": {1, -2}, "-1,2": {-1, 2}, " 1 ,  -2.5,3": {1, -2.5, 3}, "-": {0}, "--1 ": {0, -1}, "- 1": {0, 1},
	} {
		if got := numbers(s); !slices.Equal(got, want) {
			t.Errorf("%q: %g, not %g", s, got, want)
		}
	}
}
