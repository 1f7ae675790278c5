package layout_test

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// under is the place of some letters of a line that at has set, counted from 0.
func under(l layout.Line, from, to int) layout.Box {
	w := 0.5 * l.Size
	return layout.Box{X0: l.Box.X0 + w*float64(from), Y0: l.Box.Y0 - 1, X1: l.Box.X0 + w*float64(to), Y1: l.Box.Y1 + 1}
}

// leading gives the Markdown of one line whose word "here" leads somewhere.
func leading(l layout.Link) string {
	line := at(60, 100, 10, "Look here, now")
	l.Box = under(line, 5, 9)
	page := layout.Page{Width: 600, Height: 800, Lines: []layout.Line{line}, Links: []layout.Link{l}}
	_, markdown := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	return markdown
}

func TestText_writesLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		link layout.Link
		want string
	}{
		{layout.Link{URI: "https://example.org/a?b=1&c=2#d"}, "Look [here](https://example.org/a?b=1&c=2#d), now"},
		{layout.Link{URI: "https://example.org/a (b) [c]|d%20e%%ü`*$$"}, "Look [here](https://example.org/a%20%28b%29%20%5Bc%5D%7Cd%20e%25%25%C3%BC%60%2A%24%24), now"},
		{layout.Link{URI: "www.example.org"}, "Look [here](http://www.example.org), now"},
		{layout.Link{URI: "mailto:a@example.org"}, "Look [here](mailto:a@example.org), now"},
		{layout.Link{Page: 12}, "Look [here](#^p12), now"},
		{layout.Link{URI: "javascript:alert(1)"}, "Look here, now"},
		{layout.Link{URI: " JaVaScRiPt:alert(1)"}, "Look here, now"},
		{layout.Link{URI: "file:///etc/passwd"}, "Look here, now"},
		{layout.Link{URI: "data:text/html,x"}, "Look here, now"},
		{layout.Link{URI: "obsidian://open?vault=x"}, "Look here, now"},
		{layout.Link{URI: "chapter2.pdf"}, "Look here, now"},
		{layout.Link{URI: "https://example.org/" + strings.Repeat("a", 3000)}, "Look here, now"},
		{layout.Link{}, "Look here, now"},
	} {
		if got := leading(c.link); got != c.want {
			t.Errorf("%+v\ngot  %s\nwant %s", c.link, got, c.want)
		}
	}
}

// A link over two lines is one; in headings those to pages go, in lists and tables all stay.
func TestText_writesLinksWhereTheyStand(t *testing.T) {
	t.Parallel()
	lines := []layout.Line{
		at(60, 80, 20, "Heading one"),
		at(60, 130, 10, "The report (see the long-"), at(60, 143, 10, "er one of 2026) says so."),
		at(60, 180, 10, "• an item"), at(60, 193, 10, "• [odd] item"),
	}
	page := layout.Page{Width: 600, Height: 800, Lines: lines, Links: []layout.Link{
		{Box: under(lines[0], 0, 11), Page: 1},
		{Box: under(lines[1], 16, 25), URI: "https://e.org/r"},
		{Box: under(lines[2], 0, 14), URI: "https://e.org/r"},
		{Box: under(lines[3], 0, 9), URI: "https://e.org/i"},
		{Box: under(lines[4], 2, 12), Page: 3},
	}}
	plain, markdown := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1)
	want := "# Heading one\n\nThe report (see [the longer one of 2026](https://e.org/r)) says so.\n\n- [an item](https://e.org/i)\n- [\\[odd\\] item](#^p3)"
	if markdown != want {
		t.Errorf("got\n%s\nwant\n%s", markdown, want)
	}
	if strings.ContainsAny(plain, "\x0e\x0f") || strings.Contains(plain, "http") || !strings.Contains(plain, "see the longer one of 2026) says") {
		t.Errorf("plain text:\n%q", plain)
	}
	var table []layout.Line
	for i, row := range [][3]string{{"Name", "Page", "Sum"}, {"Alpha", "site | two", "1.00"}, {"Bravo", "other", "2.00"}, {"Charlie", "third", "3.00"}} {
		for c, cell := range row {
			table = append(table, at(60+150*float64(c), 100+20*float64(i), 10, cell))
		}
	}
	page = layout.Page{Width: 600, Height: 800, Lines: table, Links: []layout.Link{{Box: under(table[4], 0, 10), URI: "https://e.org/a|b"}}}
	if _, got := layout.NewProfile([]layout.Page{page}, nil).Text(page, 1); !strings.Contains(got, `| Alpha | [site \| two](https://e.org/a%7Cb) | 1.00 |`) {
		t.Errorf("a table:\n%s", got)
	}
}

// What is printed like a link is none.
func TestText_makesNoLinksOfPrintedMarkup(t *testing.T) {
	t.Parallel()
	if got, want := text(at(60, 100, 10, "a [b](javascript:c) d")), `a [b\](javascript:c) d`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
