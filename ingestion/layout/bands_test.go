package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// byRow puts lines into the order in which recognition and some programs write them: from the top down, over all columns.
func byRow(lines []layout.Line) []layout.Line {
	out := slices.Clone(lines)
	slices.SortStableFunc(out, func(a, b layout.Line) int { return int(a.Box.Y0 - b.Box.Y0) })
	return out
}

// Sections in columns are read one after the other, below headings that are as short as a column or shorter.
func TestText_readsSectionsInTurn(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	var want []string
	for s, title := range []string{"First part", "Second part", "Third part"} {
		y := 80 + 190*float64(s)
		head := at(60, y, 10, title)
		head.Bold = true
		lines = append(append(append(lines, head), column(60, y+26, 10, fmt.Sprintf("L%d", s))...), column(320, y+26, 10, fmt.Sprintf("R%d", s))...)
		want = append(want, title, fmt.Sprintf("L%d09", s), fmt.Sprintf("R%d00", s), fmt.Sprintf("R%d09", s))
	}
	inTurn(t, text(lines...), want...)
	inTurn(t, text(byRow(lines)...), want...)
	for i := range lines {
		lines[i].Bold = false // the order of the file is enough
	}
	inTurn(t, text(lines...), want...)
}

// Numbers that count on down a column show that it is one, whatever the order of the file is.
func TestText_followsNumbersDownAColumn(t *testing.T) {
	t.Parallel()
	part := func(x, y float64, n int) []layout.Line {
		head := at(x, y, 13, fmt.Sprintf("%d. Equation", n))
		head.Bold = true
		return append([]layout.Line{head}, column(x, y+30, 6, fmt.Sprintf("Part%d-", n))...)
	}
	inTurn(t, text(slices.Concat(part(60, 100, 1), part(320, 100, 3), part(60, 300, 2), part(320, 300, 4))...), "1. Eq", "Part1-05", "2. Eq", "Part2-05", "3. Eq", "Part3-05", "4. Eq")
	inTurn(t, text(slices.Concat(part(60, 100, 1), part(320, 100, 2), part(60, 300, 3), part(320, 300, 4))...), "1. Eq", "Part1-05", "2. Eq", "Part2-05", "3. Eq", "Part3-05", "4. Eq")
}

// Headings in a column belong to it, whatever is beside them.
func TestText_keepsHeadingsInTheirColumn(t *testing.T) {
	t.Parallel()
	lines := column(60, 100, 12, "Up")
	head := at(60, 280, 10, "The heading")
	head.Bold = true
	lines = append(append(append(lines, head), column(60, 300, 12, "Low")...), column(320, 100, 12, "Side")...)
	lines = append(lines, column(320, 300, 12, "Deep")...)
	want := []string{"Up00", "Up11", "The heading", "Low00", "Low11", "Side00", "Deep11"}
	inTurn(t, text(lines...), want...)
	lines = append(lines, column(320, 256, 3, "Beside")...) // no white space over the page
	inTurn(t, text(byRow(lines)...), append(slices.Clone(want[:6]), "Beside00", "Deep11")...)
}

// An order that jumps no more about the page than another one is that of the file: a caption is read before or after the column beside it, but
// not between its heading and its text.
func TestText_followsTheFileWithoutAReason(t *testing.T) {
	t.Parallel()
	head := at(320, 270, 10, "The heading")
	head.Bold = true
	right := slices.Concat(column(320, 100, 12, "Top"), []layout.Line{head}, column(320, 300, 20, "Below"))
	caption := column(60, 400, 8, "Caption")
	want := []string{"Top00", "Top11", "The heading", "Below00", "Below19", "Caption00", "Caption07"}
	inTurn(t, text(slices.Concat(right, caption)...), want...)
	inTurn(t, text(slices.Concat(caption, right)...), append(slices.Clone(want[5:]), want[:5]...)...)
	date := at(320, 80, 10, "A date in the corner")
	inTurn(t, text(slices.Concat([]layout.Line{date}, column(60, 130, 12, "Left"), column(320, 130, 12, "Right"))...), "A date", "Left00", "Right00", "Right11")
}

// The pieces of a line stay in it where one of them goes over what would be a gutter.
func TestText_keepsThePiecesOfALine(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	var want []string
	for i, end := range []float64{417, 360, 300, 390, 330, 440} {
		y := 100 + 34*float64(i)
		said := at(66, y, 10, fmt.Sprintf("Comment %d is a line that goes over most of the page,", i))
		said.Box.X1 = end
		lines = append(lines, said, at(end+18, y, 10, fmt.Sprintf("somebody %d signs it", i)), at(end+3, y, 10, "and"), at(66, y+12, 10, fmt.Sprintf("which ends at %d o'clock", i)))
		want = append(want, fmt.Sprintf("Comment %d is", i), fmt.Sprintf("and somebody %d", i), fmt.Sprintf("at %d o'clock", i))
	}
	inTurn(t, text(lines...), want...)
}

// Names with prose beside each are no column, however many they are: the file goes from one to the other.
func TestText_keepsNamesBesideTheirProse(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	var want []string
	for i := range 9 {
		y := 100 + 50*float64(i)
		lines = append(lines, at(60, y, 10, fmt.Sprintf("The name %d is", i)))
		for j, words := range []string{"The agent finds a way through a house with doors", "chosen at random and picks up a flag at its end", "which it can see from there"} {
			lines = append(lines, at(220, y+13*float64(j), 10, fmt.Sprintf("%d%d %s", i, j, words)))
		}
		want = append(want, fmt.Sprintf("The name %d", i), fmt.Sprintf("%d0 The agent", i), fmt.Sprintf("%d2 which", i))
	}
	inTurn(t, text(lines...), want...)
}

// Prose is no column of a table, whatever stands beside it.
func TestText_keepsProseBesideOtherThings(t *testing.T) {
	t.Parallel()
	var listing, figure, index, others []layout.Line
	for i := range 14 {
		y := 103 + 13.7*float64(i)
		listing = append(listing, at(330, y, 9, fmt.Sprintf("%d  if primes[%d] {", i, i)))
		figure = append(figure, at(330+float64(i%3)*60, y, 7, fmt.Sprintf("t%d", i)))
		index = append(index, at(60, 100+13*float64(i), 10, fmt.Sprintf("matter of it %d, 4%d", i, i)))
		others = append(others, at(240, 100+13*float64(i), 10, fmt.Sprintf("further matter %d, 9%d", i, i)))
	}
	prose := column(60, 100, 15, "Prose")
	for name, lines := range map[string][]layout.Line{
		"listing": slices.Concat(prose, listing), "figure": slices.Concat(prose, figure), "listing first": slices.Concat(listing, prose),
	} {
		got := text(lines...)
		inTurn(t, got, "Prose00", "Prose01", "Prose13", "Prose14")
		if _, beside, _ := strings.Cut(got, "Prose00"); strings.Contains(strings.SplitN(beside, "Prose14", 2)[0], "if primes") || strings.Contains(got, "Prose00 goes on with words |") {
			t.Errorf("%s is among the prose:\n%s", name, got)
		}
	}
	inTurn(t, text(slices.Concat(index, others)...), "matter of it 0", "matter of it 13", "further matter 0", "further matter 13")
}

// Columns that the file has in one go are columns, even if their lines are short and level.
func TestText_readsExercisesInTurn(t *testing.T) {
	t.Parallel()
	var left, right []layout.Line
	for i := range 8 {
		y := 100 + 46*float64(i)
		left = append(left, at(60, y, 10, fmt.Sprintf("%d. Where is it now?", 10+i)), at(70, y+14, 10, fmt.Sprintf("Find the place %d.", i)))
		right = append(right, at(320, y, 10, fmt.Sprintf("%d. How fast is it?", 30+i)), at(330, y+14, 10, fmt.Sprintf("Find the speed %d.", i)))
	}
	inTurn(t, text(slices.Concat(left, right)...), "10. Where", "place 0", "17. Where", "place 7", "30. How", "speed 7")
}

// Pages in Arabic or Hebrew are read from the right, columns and tables too.
func TestText_readsFromTheRight(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	for _, x := range []float64{320, 60} {
		for i := range 8 {
			lines = append(lines, at(x, 100+13*float64(i), 10, fmt.Sprintf("%c%d שורה של טקסט שממשיכה", map[float64]rune{320: 'א', 60: 'ב'}[x], i)))
		}
	}
	for i := range 4 {
		lines = append(lines, at(60, 300+18*float64(i), 10, fmt.Sprintf("%d", 900-7*i)), at(250, 300+18*float64(i), 10, fmt.Sprintf("סכום %d", i)), at(480, 300+18*float64(i), 10, fmt.Sprintf("ג%d", i)))
	}
	lines = append(lines, at(300, 500, 10, "סוף"), at(330, 500, 10, "זה"))
	inTurn(t, text(byRow(lines)...), "א0", "א7", "ב0", "ב7", "| ג0 | סכום 0 | 900 |", "| ג3 |", "זה סוף")
}

// A page number is no text of a page, even of a document with one page. Titles, years and amounts stay.
func TestText_dropsPageNumbers(t *testing.T) {
	t.Parallel()
	body := slices.Concat([]layout.Line{at(60, 90, 16, "A title of it")}, column(60, 120, 30, "Body"))
	for _, number := range []string{"7", "– 12 –", "Page 3 of 9", "xiv", "3 / 12", "Seite 4 von 7"} {
		if got := text(append(slices.Clone(body), at(290, 780, 9, number))...); !strings.HasSuffix(got, "Body29 goes on with words") {
			t.Errorf("%q is still there:\n%s", number, got)
		}
	}
	foot := (body[1].Box.X0+body[1].Box.X1)/2 - 4 // as LaTeX sets it, far above the margin
	if got := text(append(slices.Clone(body), at(foot, 690, 10, "7"))...); !strings.HasSuffix(got, "Body29 goes on with words") {
		t.Errorf("a number at the foot is still there:\n%s", got)
	}
	if got := text(append(slices.Clone(body), at(60, 30, 9, "Chapter 3 | Derivatives"), at(520, 30, 9, "273"))...); strings.Contains(got, "Chapter 3") || strings.Contains(got, "273") {
		t.Errorf("a head with a number is still there:\n%s", got)
	}
	for name, lines := range map[string][]layout.Line{
		"a year":          append(slices.Clone(body), at(290, 780, 9, "2015")),
		"a title":         append(column(60, 90, 30, "Body"), at(60, 30, 12, "Exercise sheet"), at(520, 30, 12, "5")),
		"a numbered line": append(column(60, 90, 30, "Body"), at(60, 30, 10, "Exercise sheet 5")),
		"a sum":           append(slices.Clone(body), at(60, 690, 10, "17")),
		"the last row":    append(column(60, 90, 53, "Body"), at(60, 90+53*13, 10, "17")),
		"a footnote":      append(slices.Clone(body), at(60, 770, 8, "1 See the book about it."), at(60, 780, 8, "2 And the other.")),
		"nothing else":    {at(290, 400, 10, "7")},
	} {
		want := len(strings.Fields(textOf(lines)))
		if got := len(strings.Fields(text(lines...))); got < want {
			t.Errorf("%s is lost: %d words of %d:\n%s", name, got, want, text(lines...))
		}
	}
}

func textOf(lines []layout.Line) string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return strings.Join(out, " ")
}

// A table that goes over both columns stays whole, between what is above and below it.
func TestText_keepsTablesBetweenColumns(t *testing.T) {
	t.Parallel()
	lines := slices.Concat(column(60, 60, 12, "Up"), column(320, 60, 12, "Side"))
	for i := range 8 {
		for c, x := range []float64{60, 150, 230, 330, 450} { // one column is over the gutter
			lines = append(lines, at(x, 240+16*float64(i), 10, fmt.Sprintf("cell %d%d", i, c)))
		}
	}
	lines = append(lines, slices.Concat(column(60, 400, 12, "Low"), column(320, 400, 12, "Deep"))...)
	got := text(lines...)
	inTurn(t, got, "Up00", "Up11", "Side00", "Side11", "| cell 00 | cell 01 | cell 02 | cell 03 | cell 04 |", "| cell 70 |", "Low00", "Low11", "Deep00")
}

// Words that a file places one by one make lines.
func TestText_joinsWords(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	for _, side := range []string{"left", "right"} {
		for i := range 8 {
			x := map[string]float64{"left": 60, "right": 320}[side]
			for _, word := range []string{side, fmt.Sprintf("line%d", i), "goes", "on", "and", "on", "to", "its", "end"} {
				l := at(x, 100+13*float64(i), 10, word)
				for r := range word {
					l.Edges = append(l.Edges, x+5*float64(r))
				}
				lines = append(lines, l)
				x = l.Box.X1 + 4
			}
		}
	}
	inTurn(t, text(lines...), "left line0 goes on and on to its end left line1", "left line7", "right line0 goes on", "right line7 goes on and on to its end")
}

// The page says so when nothing tells the order of its text, and only then.
func TestText_doubtsTheOrder(t *testing.T) {
	t.Parallel()
	columns := slices.Concat(column(60, 100, 20, "Left"), column(320, 100, 20, "Right"))
	scattered, over := slices.Clone(columns), slices.Clone(columns)
	for i := range scattered {
		scattered[i] = columns[i*17%len(columns)]
	}
	for i := range over {
		over[i].Box.Y0, over[i].Box.Y1 = over[i].Box.Y0-float64(i%2)*9, over[i].Box.Y1-float64(i%2)*9
	}
	for name, c := range map[string]struct {
		lines []layout.Line
		want  int
	}{"columns": {columns, 0}, "by row": {byRow(columns), 0}, "scattered": {scattered, 1}, "printed over": {over, 1}} {
		page := layout.Page{Width: 600, Height: 800, Lines: c.lines}
		read := layout.NewProfile([]layout.Page{page}, nil).TextAfter(page, 1, func() *layout.Tail { return nil })
		if len(read.Doubts) != c.want {
			t.Errorf("%s: %+v", name, read.Doubts)
		}
	}
}

// Boxes around words, as around links, are no table.
func TestText_takesNoBoxesAroundWordsForCells(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800}
	for i := range 6 {
		y := 100 + 13*float64(i)
		line := at(60, y, 10, fmt.Sprintf("matter, 4%d, 5%d, 6%d", i, i, i))
		line.Size = 15 // a blank is a third of it
		for r := range line.Text {
			line.Edges = append(line.Edges, 60+5*float64(r))
		}
		page.Lines = append(page.Lines, line)
		for _, word := range []float64{8, 12, 16} {
			page.Rules = append(page.Rules, ruled([]float64{60 + 5*word - 1, 60 + 5*word + 18}, []float64{y, y + 13})...)
		}
	}
	_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	if strings.Contains(got, "|") || !strings.Contains(got, "matter, 40, 50, 60 matter, 41") {
		t.Errorf("got\n%s", got)
	}
}

// Columns of a ruled table may be as close as words: each has a cell, and so has an empty one.
func TestText_keepsCloseCellsOfAFrameApart(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800}
	for i, text := range []string{"0605 0635 0705", "0612 0642 0712", "0619      0719"} {
		line := at(60, 100+13*float64(i), 10, text)
		for r := range text {
			line.Edges = append(line.Edges, 60+5*float64(r))
		}
		page.Lines = append(page.Lines, line)
	}
	for row := range 3 { // each cell has its own sides
		for column := range 3 {
			x, y := 58+25*float64(column), 99+13*float64(row)
			page.Rules = append(page.Rules, ruled([]float64{x, x + 25}, []float64{y, y + 13})...)
		}
	}
	for i := range page.Lines {
		page.Lines[i].Size = 15 // a blank is a third of it
	}
	_, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	rowsAre(t, got, "0605 | 0635 | 0705", "0612 | 0642 | 0712", "0619 |  | 0719")
}

// A large first letter belongs to the word beside its top.
func TestText_joinsInitials(t *testing.T) {
	t.Parallel()
	lines := []layout.Line{at(60, 98, 30, "O"), at(80, 100, 10, "ver the past three decades the pressure"), at(80, 113, 10, "has grown on all of the companies to say"), at(60, 126, 10, "what they do, and why they have to do it.")}
	want := "Over the past three decades the pressure has grown on all of the companies to say what they do, and why they have to do it."
	for _, order := range [][]int{{0, 1, 2, 3}, {1, 2, 3, 0}} {
		var set []layout.Line
		for _, i := range order {
			set = append(set, lines[i])
		}
		if got := text(set...); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if got := text(append(column(60, 100, 9, "Body"), at(300, 400, 30, "A"), at(300, 440, 10, "A letter with a line below it"))...); !strings.Contains(got, "# A\n") {
		t.Errorf("a letter alone:\n%s", got)
	}
}

// A stamp along the side of a page does not stand among its text.
func TestText_putsTurnedLinesAside(t *testing.T) {
	t.Parallel()
	stamp := layout.Line{Text: "A stamp of a day in May", Size: 20, Turns: 3, Box: layout.Box{X0: 15, Y0: 200, X1: 35, Y1: 560}}
	lines := slices.Concat(column(60, 100, 20, "Left"), []layout.Line{stamp}, column(320, 100, 20, "Right"))
	for i := range 4 {
		lines = append(lines, at(60, 450+18*float64(i), 10, fmt.Sprintf("Row %d", i)), at(200, 450+18*float64(i), 10, fmt.Sprintf("%d.5", 9-i)), at(400, 450+18*float64(i), 10, "kept"))
	}
	inTurn(t, text(lines...), "Left00", "Left19", "Right00", "Right19", "A stamp", "| Row 0 | 9.5 | kept |", "| Row 3 |")
}

// Items with letters are paragraphs of their own, and no table.
func TestText_dividesItemsWithLetters(t *testing.T) {
	t.Parallel()
	got := text(at(60, 100, 10, "a."), at(80, 100, 10, "Find the velocity of the rocket three seconds"), at(80, 113, 10, "after it was fired."),
		at(60, 126, 10, "b."), at(80, 126, 10, "Find its acceleration after three seconds in"), at(80, 139, 10, "the air."),
		at(60, 152, 10, "c."), at(80, 152, 10, "Find the height from which it comes back to"), at(80, 165, 10, "the ground in time."))
	want := "a. Find the velocity of the rocket three seconds after it was fired.\n\nb. Find its acceleration after three seconds in the air.\n\nc. Find the height from which it comes back to the ground in time."
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A line that is stretched to the width of its column is a line, even if its spaces are as wide as the gaps of a table.
func TestText_joinsStretchedLines(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	word := func(x, y float64, text string) {
		l := at(x, y, 10, text)
		for i := range text {
			l.Edges = append(l.Edges, x+5*float64(i))
		}
		lines = append(lines, l)
	}
	for i := range 3 {
		y := 100 + 26*float64(i)
		word(60, y, "from the top of it a building of a city")
		for c, text := range []string{"its", "edge", "above", "the", "place"} { // the same width
			word([]float64{60, 60 + 15 + 23.75, 60 + 35 + 47.5, 60 + 60 + 71.25, 60 + 75 + 95}[c], y+13, text)
		}
	}
	lines[5].Box.X1 = lines[0].Box.X1
	want := strings.TrimSpace(strings.Repeat("from the top of it a building of a city its edge above the place ", 3))
	if got := text(lines...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Headings side by side belong to the columns below them, however many there are, and whatever is above.
func TestText_keepsHeadingsSideBySideApart(t *testing.T) {
	t.Parallel()
	ship := []string{"The harbour was closed", "for nine days because of", "a storm that came from", "the west and took away", "two boats and a pier.", "Nobody was hurt, said", "the harbour master, who", "has seen many storms."}
	for _, n := range []int{2, 3, 4} {
		for _, bold := range []bool{true, false} {
			for _, above := range []string{"", "The Harbour Paper", "The paper of all the villages around"} {
				width := 500 / float64(n)
				lines, want := []layout.Line{}, []string{}
				if above != "" {
					lines, want = append(lines, at(50, 35, 24, above)), append(want, above)
				}
				for c := range n {
					y := 83.0
					for s := range 2 {
						head := at(50+width*float64(c), y, 11, fmt.Sprintf("Story %c%d", 'A'+c, s))
						head.Bold = bold
						lines, want = append(lines, head), append(want, head.Text+"\n")
						for i := range 8 {
							line := at(head.Box.X0, y+17.2+12*float64(i), 9.5, fmt.Sprintf("%c%d%d %s", 'a'+c, s, i, ship[i]))
							line.Box.X1 = line.Box.X0 + 4*float64(len(line.Text))
							lines = append(lines, line)
							want = append(want, line.Text)
						}
						y += 122
					}
				}
				t.Run(fmt.Sprint(n, bold, len(above)), func(t *testing.T) {
					t.Parallel()
					inTurn(t, text(lines...), want...)
					if bold && n < 4 {
						inTurn(t, text(byRow(lines)...), want...)
					}
				})
			}
		}
	}
}

// Numbers of lines in a margin, or between two columns, are no words of the prose beside them. Numbers of rows and of items stay.
func TestText_leavesOutNumbersOfLines(t *testing.T) {
	t.Parallel()
	words := strings.Fields(strings.Repeat("the warden said that the pier had lost four planks to the storm and would be mended before the guests came with their boats ", 12))
	prose := func(x, pitch float64, letters int) (out []layout.Line) {
		for at := 0; len(out) < 30; {
			line := ""
			for len(line)+1+len(words[at%len(words)]) <= letters {
				line += words[at%len(words)] + " "
				at++
			}
			out = append(out, layout.Line{Text: strings.TrimSpace(line), Size: 10, Box: layout.Box{X0: x, Y0: 100 + pitch*float64(len(out)), X1: x + 5*float64(letters), Y1: 110 + pitch*float64(len(out))}})
		}
		return out
	}
	numbers := func(x, pitch float64, step int) (out []layout.Line) {
		for n := step; n <= 30; n += step {
			out = append(out, rightAt(x, 100+pitch*float64(n-1), 10, fmt.Sprint(n)))
		}
		return out
	}
	for _, pitch := range []float64{13, 24} {
		body := prose(90, pitch, 70)
		want := text(body...)
		two := append(prose(60, pitch, 42), prose(330, pitch, 42)...)
		for name, c := range map[string][2][]layout.Line{
			"left":    {body, numbers(70, pitch, 1)},
			"right":   {body, numbers(560, pitch, 1)},
			"columns": {two, numbers(302, pitch, 5)},
		} {
			want := want
			if name == "columns" {
				want = text(two...)
			}
			for _, lines := range [][]layout.Line{slices.Concat(c[0], c[1]), slices.Concat(c[1], c[0]), byRow(slices.Concat(c[1], c[0]))} {
				if got := text(lines...); name != "columns" && got != want || name == "columns" && strings.Contains(got, "10") {
					t.Errorf("%s, %v:\n%s", name, pitch, got)
				}
			}
		}
	}
	var items, rows []layout.Line
	for i := range 8 {
		items = append(items, at(60, 100+13*float64(i), 10, fmt.Sprint(i+1)), at(90, 100+13*float64(i), 10, "The warden is asked to mend the pier before the summer"))
		rows = append(rows, at(60, 100+13*float64(i), 10, fmt.Sprint(i+1)), at(90, 100+13*float64(i), 10, "a boat of wood"), at(300, 100+13*float64(i), 10, "kept in the harbour"))
	}
	for name, lines := range map[string][]layout.Line{"items": items, "rows": rows} {
		if got := text(lines...); !strings.Contains(got, "7") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// A heading at the top of one column, with white space below it, leaves the rest of a paragraph at the top of another where it is.
func TestText_keepsTopsOfColumnsBesideAHeading(t *testing.T) {
	t.Parallel()
	heading := at(60, 100, 14, "Trip to the river")
	lines := append([]layout.Line{at(250, 60, 28, "School Gazette"), heading}, column(60, 130, 12, "One")...)
	lines = append(lines, at(230, 99, 10, "Rest0 of what the"), at(230, 111, 10, "Rest1 first one said"))
	lines = append(append(lines, column(230, 130, 12, "Two")...), at(400, 99, 10, "Last0 of what the"))
	lines = append(lines, column(400, 130, 12, "Three")...)
	for i := range lines {
		lines[i].Box.X1 = min(lines[i].Box.X1, lines[i].Box.X0+150)
	}
	inTurn(t, text(lines...), "Gazette\n", "# Trip to the river\n", "One00", "One11", "Rest0", "Rest1", "Two00", "Two11", "Last0", "Three00", "Three11")
}

// Columns may be closer than words of justified prose are: no word space is below another from line to line.
func TestText_readsCloseColumns(t *testing.T) {
	t.Parallel()
	var lines []layout.Line
	for c, x := range []float64{60, 284} { // 4 points apart
		for i := range 20 {
			l := at(x, 100+13*float64(i), 10, fmt.Sprintf("%c%02d is a line of one of the columns", 'A'+c, i))
			l.Box.X1 = x + 220
			lines = append(lines, l)
		}
	}
	lines = append(lines, at(60, 60, 10, "A title that is wider than one column is, over the both of them"))
	lines[len(lines)-1].Box.X1 = 420
	inTurn(t, text(lines...), "A title", "A00", "A19", "B00", "B19")
	inTurn(t, text(byRow(lines)...), "A title", "A00", "A19", "B00", "B19")
}
