package layout_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// at is a line of text as a renderer would place it; letters are half as wide as the type is large.
func at(x, y, size float64, text string) layout.Line {
	return layout.Line{Text: text, Size: size, Box: layout.Box{X0: x, Y0: y, X1: x + 0.5*size*float64(len([]rune(text))), Y1: y + size}}
}

// column sets n lines of prose, each with its number.
func column(x, y float64, n int, name string) []layout.Line {
	var out []layout.Line
	for i := range n {
		out = append(out, at(x, y+float64(i)*13, 10, fmt.Sprintf("%s%02d goes on with words", name, i)))
	}
	return out
}

func text(lines ...layout.Line) string {
	page := layout.Page{Width: 600, Height: 800, Lines: lines}
	_, markdown := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	return markdown
}

// brokenLine is the end of a line within a paragraph.
var brokenLine = regexp.MustCompile(`([^\n|])\n([^\n|])`)

// flowing is Markdown whose paragraphs have one line each, for tests about their order.
func flowing(markdown string) string { return brokenLine.ReplaceAllString(markdown, "$1 $2") }

// inTurn fails unless the words stand in the text in this order.
func inTurn(t *testing.T, text string, words ...string) {
	t.Helper()
	from := 0
	for _, word := range words {
		i := strings.Index(text[from:], word)
		if i < 0 {
			t.Fatalf("%q is not behind the words before it:\n%s", word, text)
		}
		from += i
	}
}

func TestText_readsColumnsInTurn(t *testing.T) {
	t.Parallel()
	for columns := 2; columns <= 3; columns++ {
		lines := []layout.Line{at(60, 80, 20, "A heading over all of the columns of it")}
		want := []string{"# A heading"}
		for _, part := range []struct {
			y    float64
			name string
		}{{130, "Up"}, {420, "Low"}} {
			for c := range columns {
				name := fmt.Sprintf("%s%c", part.name, 'a'+c)
				lines = append(lines, column(60+float64(c)*165, part.y, 15, name)...)
				want = append(want, name+"00", name+"14")
			}
			if part.name == "Up" {
				lines = append(lines, at(60, 370, 10, "Figure 1 goes over the whole page with its caption, from the left to the right of it."))
				want = append(want, "Figure 1")
			}
		}
		got := text(lines...)
		inTurn(t, got, want...)
		if strings.Contains(got, "|") {
			t.Errorf("%d columns of prose became a table:\n%s", columns, got)
		}
	}
}

func TestText_makesNoTablesOfOtherThings(t *testing.T) {
	t.Parallel()
	var contents, leaders, listing, list []layout.Line
	for i := range 12 {
		y := 100 + float64(i)*14
		contents = append(contents, at(60, y, 10, fmt.Sprintf("Chapter about number %d", i)), at(500, y, 10, fmt.Sprint(i*7+3)))
		leaders = append(leaders, at(60, y, 10, fmt.Sprintf("Chapter %d", i)), at(200, y, 10, "................."), at(500, y, 10, fmt.Sprint(90-i)))
		code := []layout.Line{at(60, y, 9, "mov r1"), at(160, y, 9, "0x10"), at(260, y, 9, "; next")}
		for j := range code {
			code[j].Font = "Courier"
		}
		listing = append(listing, code...)
		list = append(list, at(60, y, 10, fmt.Sprintf("%d.", i+1)), at(90, y, 10, fmt.Sprintf("item of the list %d", i)))
	}
	for name, lines := range map[string][]layout.Line{"contents": contents, "leaders": leaders, "listing": listing, "list": list} {
		if got := text(lines...); strings.Contains(got, "| ---") {
			t.Errorf("%s became a table:\n%s", name, got)
		}
	}
}

func TestText_nestsLists(t *testing.T) {
	t.Parallel()
	got := text(at(60, 100, 10, "• one"), at(80, 114, 10, "– deep"), at(80, 128, 10, "– deeper still"), at(60, 142, 10, "• two"))
	if want := "- one\n    - deep\n    - deeper still\n- two"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestText_keepsTheHyphenOfCompounds(t *testing.T) {
	t.Parallel()
	got := text(at(60, 100, 10, "the well-known and the well-"), at(60, 113, 10, "known word are hyphen-"), at(60, 126, 10, "ated"))
	if want := "the well-known and the well-known word are hyphenated"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A hyphen at the end of a line is part of a word where none is divided.
func TestText_keepsHyphensOfWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, second, want string }{
		{"the pre-", "and post-war years", "the pre- and post-war years"},
		{"am Vor-", "und Nachmittag", "am Vor- und Nachmittag"},
		{"a one-", "or two-year plan", "a one- or two-year plan"},
		{"two thou-", "sand interi-", "two thousand interi-"},
		{"its interi-", "or was", "its interior was"},
		{"a self-", "employed baker", "a self-employed baker"},
		{"a self-", "ish baker", "a selfish baker"},
		{"a well-", "known baker", "a well-known baker"},
		{"twenty-", "five rolls", "twenty-five rolls"},
		{"an x-", "ray of it", "an x-ray of it"},
		{"his mother-in-", "law came", "his mother-in-law came"},
		{"covid-", "19 came", "covid-19 came"},
		{"from 2019-", "2020 on", "from 2019-2020 on"},
		{"the Anglo-", "Saxon king", "the Anglo-Saxon king"},
		{"EU-", "weit gilt", "EU-weit gilt"},
		{"see example.org/some-", "page.html", "see example.org/some-page.html"},
		{"a text -", "and more", "a text - and more"},
		{"the har-", "bour", "the harbour"},
	} {
		if got := text(at(60, 100, 10, c.first), at(60, 113, 10, c.second)); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestText_dropsRunningHeads(t *testing.T) {
	t.Parallel()
	var pages []layout.Page
	for i := range 4 {
		lines := []layout.Line{at(60, 30, 9, "The book of pages"), at(60, 200, 10, fmt.Sprintf("Body of page number %d.", i)), at(300, 770, 9, fmt.Sprint(i+1))}
		if i == 3 {
			lines = []layout.Line{lines[0], lines[2]}
		}
		pages = append(pages, layout.Page{Width: 600, Height: 800, Lines: lines})
	}
	profile := layout.NewProfile(pages, nil)
	if _, got := profile.Text(pages[1], 2); got != "Body of page number 1." {
		t.Errorf("page 2: %q", got)
	}
	if _, got := profile.Text(pages[3], 4); !strings.Contains(got, "The book of pages") {
		t.Errorf("a page of heads only: %q", got)
	}
}

// Running heads and page numbers may be in larger type than the text, but titles of slides and headings at the top of pages are none.
func TestText_dropsLargeRunningHeads(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		head          string
		width, top, y float64
		want          bool
	}{
		"a journal's name":       {"Journal of Samples 12 (2024)", 600, 30, 100, true},
		"titles with numbers":    {"Chapter %d", 600, 30, 100, false},
		"a heading of the text":  {"Results", 600, 50, 70, false},
		"the same title, slides": {"Results", 1000, 30, 100, false},
	} {
		var pages []layout.Page
		for i := range 3 {
			head := test.head
			if strings.Contains(head, "%d") {
				head = fmt.Sprintf(head, i+1)
			}
			lines := append([]layout.Line{at(200, test.top, 12, head)}, column(60, test.y, 20, fmt.Sprintf("Body%d-", i))...)
			pages = append(pages, layout.Page{Width: test.width, Height: 800, Lines: append(lines, at(300, 770, 12, fmt.Sprint(i+1)))})
		}
		for i, page := range pages {
			for _, profile := range []layout.Profile{layout.NewProfile(pages, nil), layout.NewProfile(pages[:1], nil)} {
				_, got := profile.Text(page, i+1)
				inTurn(t, got, "Body")
				if strings.HasSuffix(got, fmt.Sprint("\n", i+1)) || strings.HasSuffix(got, fmt.Sprint(" ", i+1)) {
					t.Errorf("%s: the page number is kept:\n%s", name, got)
				}
			}
			_, got := layout.NewProfile(pages, nil).Text(page, i+1)
			if dropped := strings.HasPrefix(got, "Body"); dropped != test.want {
				t.Errorf("%s: dropped %t:\n%.60s", name, dropped, got)
			}
		}
	}
}

// The head of a table that is at the top of several pages is no running head.
func TestText_keepsHeadsOfTablesAtTheTop(t *testing.T) {
	t.Parallel()
	var pages []layout.Page
	for p := range 3 {
		lines := []layout.Line{at(60, 55, 10, "No"), at(120, 55, 10, "Text"), at(300, 55, 10, "Price")}
		for i := range 12 {
			y := 70 + 14*float64(i)
			lines = append(lines, at(60, y, 10, fmt.Sprint(p*12+i)), at(120, y, 10, "Something sold"), at(300, y, 10, fmt.Sprintf("%d.50", p*12+i)))
		}
		pages = append(pages, layout.Page{Width: 600, Height: 800, Lines: lines})
	}
	if _, got := layout.NewProfile(pages, nil).Text(pages[1], 2); !strings.HasPrefix(got, "| No | Text | Price |") {
		t.Errorf("the head is dropped:\n%.200s", got)
	}
}

// Headings of a made book without an outline; precision and recall are printed.
func TestText_findsHeadings(t *testing.T) {
	t.Parallel()
	want := map[string]int{}
	var pages []layout.Page
	for p := range 20 {
		lines := []layout.Line{at(60, 100, 18, fmt.Sprintf("%d Chapter of things", p+1)), at(60, 130, 13, fmt.Sprintf("%d.1 Part of it", p+1)), at(60, 330, 10, fmt.Sprintf("%d.1.1 Smaller part", p+1)), at(60, 500, 10, fmt.Sprintf("Aside on matter %d", p))}
		lines[2].Bold, lines[3].Bold = p%2 == 0, true
		for i, l := range lines {
			want[l.Text] = []int{1, 2, 3, 3}[i]
		}
		for _, y := range []float64{160, 360, 530} {
			lines = append(lines, column(60, y, 2+p%3*3, fmt.Sprintf("Prose%d", p))...)
			lines = append(lines, at(60, y+110, 10, "12 months passed and the year 2.5 ended."))
		}
		pages = append(pages, layout.Page{Width: 600, Height: 800, Lines: lines})
	}
	profile := layout.NewProfile(pages[:6], nil)
	found, wrong := 0, 0
	for i, page := range pages {
		_, markdown := profile.Text(page, i+1)
		for line := range strings.Lines(markdown) {
			marks, title, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok || strings.Trim(marks, "#") != "" {
				continue
			}
			if _, isTitle := want[title]; isTitle {
				found++
			} else {
				wrong++
				t.Logf("no heading: %q", line)
			}
		}
	}
	t.Logf("recall %d of %d, precision %d of %d", found, len(want), found, found+wrong)
	if found*10 < 9*len(want) || wrong*10 > found {
		t.Error("too few headings, or too many")
	}
}

func TestText_prefersTheOutline(t *testing.T) {
	t.Parallel()
	page := layout.Page{Width: 600, Height: 800, Lines: append([]layout.Line{at(60, 100, 10, "3 Plain title")}, column(60, 140, 5, "Prose")...)}
	_, got := layout.NewProfile([]layout.Page{page}, []layout.Title{{Text: "Plain Title", Level: 4, Page: 1}}).Text(page, 1)
	if !strings.HasPrefix(got, "#### 3 Plain title\n") {
		t.Errorf("got %q", got)
	}
}

// FuzzText places words anywhere: no letter may be lost or doubled. Hyphens and blanks may go.
func FuzzText(f *testing.F) {
	f.Add([]byte("abc\x10\x20def\x10\x80ghi\x40\x20"))
	f.Add([]byte(strings.Repeat("1. x\x10\x20\x30\x31", 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		page := layout.Page{Width: 600, Height: 800}
		for i := 0; i+6 < len(data) && i < 4000; i += 7 {
			d := data[i:]
			line := at(float64(d[0])*2, float64(d[1])*3, 6+float64(d[2]%12), strings.ToValidUTF8(string(d[3:6]), "x"))
			line.Bold = d[6]&1 == 1
			page.Lines = append(page.Lines, line)
			if d[6]&24 == 24 {
				page.Links = append(page.Links, layout.Link{Box: layout.Box{X0: line.Box.X0 + float64(d[5]%9), Y0: line.Box.Y0 - 9, X1: line.Box.X1, Y1: line.Box.Y1 + 9}, Page: int(d[4] % 3)})
			}
			if d[6]&6 == 6 {
				page.Rules = append(page.Rules, layout.Box{X0: line.Box.X0, Y0: line.Box.Y0, X1: line.Box.X0 + 300, Y1: line.Box.Y0}, layout.Box{X0: line.Box.X0, Y0: line.Box.Y0, X1: line.Box.X0, Y1: line.Box.Y0 + 300})
			}
		}
		plain, _ := layout.Profile{}.Text(page, 1)
		count := func(s string) map[rune]int {
			out := map[rune]int{}
			for _, r := range layout.Normal(s) {
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					out[r]++
				}
			}
			return out
		}
		var all []string
		for _, l := range page.Lines {
			all = append(all, layout.Normal(l.Text))
		}
		want, got := count(strings.Join(all, " ")), count(plain)
		for r, n := range want {
			if got[r] != n {
				t.Fatalf("%q stands %d times, want %d", r, got[r], n)
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	page := layout.Page{Width: 600, Height: 800, Lines: append(column(60, 100, 50, "Left"), column(300, 100, 50, "Right")...)}
	profile := layout.NewProfile([]layout.Page{page}, nil)
	for b.Loop() {
		profile.Text(page, 1)
	}
}

func TestNormal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain": "plain", "a\x07b": "ab", "a\tb": "a b", "ﬁne": "fine", "e\u0301": "é", "zero\u200bwidth": "zerowidth",
	} {
		if got := layout.Normal(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
