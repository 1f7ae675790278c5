package cite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/step/cite"
)

// shelf has a workbook with a Roman preface of two pages and printed numbers from 1, a reader without labels, and a book that was not
// shown.
type shelf struct {
	shown []*cite.Document
	other *cite.Document
}

func (s shelf) Shown() []*cite.Document { return s.shown }

func (s shelf) Find(name string) *cite.Document {
	if strings.EqualFold(name, "Atlas") {
		return s.other
	}
	return nil
}

func (s shelf) Linked(target string) (*cite.Document, bool) {
	for _, d := range append(s.shown, s.other) {
		if target == d.Name+".pdf" || target == d.Name {
			return d, true
		}
	}
	return nil, target == "Plain"
}

var texts = map[int]string{
	3: "The first eigen-\nvalue is 1.5 and the ﬁnal one is not known.\n\nSee the [long report](https://example.org/x). It says so.",
	4: "A therapist <!-- " + strings.Repeat("nobody sees this remark ", 60) + "-->speaks here. The treatment is not always safe. It ends with a sentence that runs over",
	5: "to the following page without a stop. Then " + strings.Repeat("more words ", 80) + "end of all.",
}

func document(name string, labels []string, shown func(n int) bool) *cite.Document {
	d := &cite.Document{ID: "Imported/" + name, Name: name, Names: []string{"Imported/" + name, name + ".pdf"}, Shown: shown}
	for i, l := range labels {
		d.Pages = append(d.Pages, cite.Page{N: i + 1, Label: l})
	}
	d.Text = func(n int) (string, bool) { t, ok := texts[n]; return t, ok }
	d.Link = func(n int, words string) string { return fmt.Sprintf("[[%s.pdf#page=%d|%s]]", name, n, words) }
	return d
}

func twoBooks() shelf {
	all := func(int) bool { return true }
	workbook := document("Workbook", []string{"i", "ii", "1", "2", "3", "4", "5", "6", "7", "8"}, func(n int) bool { return n <= 6 })
	return shelf{
		shown: []*cite.Document{workbook, document("Reader", make([]string, 5), all)},
		other: document("Atlas", make([]string, 3), nil),
	}
}

func oneBook() shelf {
	s := twoBooks()
	s.shown = s.shown[:1]
	return s
}

func TestAnswer_pages(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		shelf    shelf
		in, want string
	}{
		"right":                     {oneBook(), "So it is [Workbook, p. 1].", "So it is [[Workbook.pdf#page=3|p. 1]]."},
		"without a name":            {oneBook(), "So [p. 2].", "So [[Workbook.pdf#page=4|p. 2]]."},
		"roman":                     {oneBook(), "[Workbook, p. ii]", "[[Workbook.pdf#page=2|p. ii]]"},
		"roman in capitals":         {oneBook(), "[Workbook, p. II]", "[[Workbook.pdf#page=2|p. ii]]"},
		"counted":                   {oneBook(), "[Workbook, p. #3]", "[[Workbook.pdf#page=3|p. 1]]"},
		"range":                     {oneBook(), "[Workbook, pp. 1–3]", "[[Workbook.pdf#page=3|pp. 1–3]]"},
		"range with a hyphen":       {oneBook(), "[Workbook, pp. 1-3]", "[[Workbook.pdf#page=3|pp. 1–3]]"},
		"list":                      {oneBook(), "[Workbook, pp. 1, 3 and 4]", "[[Workbook.pdf#page=3|p. 1]]; [[Workbook.pdf#page=5|p. 3]]; [[Workbook.pdf#page=6|p. 4]]"},
		"not there":                 {oneBook(), "[Workbook, p. 9]", "[Workbook, p. 9] [page not found]"},
		"a number that is no print": {oneBook(), "[Workbook, p. 10]", "[Workbook, p. 10] [page not found]"},
		"not shown":                 {oneBook(), "[Workbook, p. 6]", "[[Workbook.pdf#page=8|p. 6]] [page not shown]"},
		"a range half shown":        {oneBook(), "[Workbook, pp. 3–6]", "[[Workbook.pdf#page=5|pp. 3–6]] [page not shown]"},
		"other language":            {oneBook(), "[Workbook, S. 1]", "[[Workbook.pdf#page=3|p. 1]]"},
		"no such document":          {oneBook(), "[Lexicon, p. 1]", "[Lexicon, p. 1] [page not found]"},
		"another document":          {oneBook(), "[Atlas, p. 2]", "[[Atlas.pdf#page=2|p. 2]] [page not shown]"},
		"two documents":             {twoBooks(), "[Workbook, p. 2; Reader, p. 2]", "[[Workbook.pdf#page=4|Workbook, p. 2]]; [[Reader.pdf#page=2|Reader, p. 2]]"},
		"the same number twice":     {twoBooks(), "[p. 2]", "[p. 2] [page not found]"},
		"only one has it":           {twoBooks(), "[p. ii]", "[[Workbook.pdf#page=2|p. ii]]"},
		"a name that begins with P": {twoBooks(), "[Peter Pan, p. 2] [S. Smith: Reader, p. 2]", "[Peter Pan, p. 2] [page not found] [S. Smith: Reader, p. 2] [page not found]"},
		"by its path":               {twoBooks(), "[Imported/Reader.pdf, p. 2]", "[[Reader.pdf#page=2|p. 2]]"},
		"code":                      {oneBook(), "`[p. 1]`\n\n```\n[p. 1]\n```\n\n    [p. 1]\n\n[p. 1]", "`[p. 1]`\n\n```\n[p. 1]\n```\n\n    [p. 1]\n\n[[Workbook.pdf#page=3|p. 1]]"},
		"properties":                {oneBook(), "---\npages: [p. 1]\n---\n[p. 1]", "---\npages: [p. 1]\n---\n[[Workbook.pdf#page=3|p. 1]]"},
		"a link of its own note":    {oneBook(), "[[./Workbook.pdf#page=3|Workbook.pdf, page 3]]", "[[Workbook.pdf#page=3|p. 1]]"},
		"another note's link":       {oneBook(), "[[./Lexicon.pdf#page=3|page 3]]", "[[./Lexicon.pdf#page=3|page 3]] [page not found]"},
		"no embed":                  {oneBook(), "Look![p. 1]", "Look! [[Workbook.pdf#page=3|p. 1]]"},
		"no address":                {oneBook(), "[p. 1](https://a.example)", "[p. 1](https://a.example)"},
		"no definition":             {oneBook(), "[p. 1]: https://a.example", "[p. 1]: https://a.example"},
		"escaped":                   {oneBook(), `\[p. 1]`, `\[p. 1]`},
		"other brackets":            {oneBook(), "[ ] [x] [page setup] [^1] [Help, page layout]", "[ ] [x] [page setup] [^1] [Help, page layout]"},
		"two in a row":              {oneBook(), "[p. 9][p. 1]", "[p. 9] [page not found] [[Workbook.pdf#page=3|p. 1]]"},
		"table":                     {oneBook(), "| a | b |\n| - | - |\n| x | [p. 1] |", "| a | b |\n| - | - |\n| x | [[Workbook.pdf#page=3\\|p. 1]] |"},
		"a link that is right":      {oneBook(), "[[Workbook.pdf#page=3|here]] and ![[Workbook.pdf#page=99]]", "[[Workbook.pdf#page=3|here]] and ![[Workbook.pdf#page=99]]"},
		"a link that is wrong":      {oneBook(), "[[Workbook.pdf#page=99|here]], [[Workbook#^p8]], [x](Workbook.pdf#page=8)", "[[Workbook.pdf#page=99|here]] [page not found], [[Workbook#^p8]] [page not shown], [x](Workbook.pdf#page=8) [page not shown]"},
		"a link to nothing":         {oneBook(), "[[Gone.pdf#page=1]] [[Gone#^p1]] [[Plain#^p1]]", "[[Gone.pdf#page=1]] [page not found] [[Gone#^p1]] [[Plain#^p1]]"},
	} {
		if got := cite.Answer(test.in, test.shelf, false); got.Text != test.want {
			t.Errorf("%s:\n got %q\nwant %q\n%v", name, got.Text, test.want, got.Findings)
		} else if marks := strings.Count(got.Text, "[page not "); marks != len(got.Findings) {
			t.Errorf("%s: %d marks, %d findings: %v", name, marks, len(got.Findings), got.Findings)
		}
	}
}

// A label comes from the document, that is, from outside.
func TestAnswer_harmfulLabels(t *testing.T) {
	t.Parallel()
	d := document("Workbook", []string{"]] ![[https://a.example", "1|x", "A-1234567890", "A-12345678901"}, func(int) bool { return true })
	d.Name = "Work]]book ![["
	got := cite.Answer("[Workbook, p. #1] [Workbook, p. #2] [Workbook, p. #3] [Workbook, p. #4]", shelf{shown: []*cite.Document{d, document("B", []string{"x"}, nil)}, other: d}, false)
	if want := "[[Workbook.pdf#page=1|p. 1]] [[Workbook.pdf#page=2|p. 2]] [[Workbook.pdf#page=3|p. A-1234567890]] [[Workbook.pdf#page=4|p. 4]]"; got.Text != want {
		t.Errorf("got %q, want %q", got.Text, want)
	}
}

func TestAnswer_quotes(t *testing.T) {
	t.Parallel()
	const (
		p1 = "[[Workbook.pdf#page=3|p. 1]]"
		p2 = "[[Workbook.pdf#page=4|p. 2]]"
	)
	for name, test := range map[string]struct{ in, want string }{
		"there":                    {"“The first eigenvalue is 1.5” [p. 1]", "“The first eigenvalue is 1.5” " + p1},
		"case and ligature":        {`"THE final one" [p. 1]`, `"THE final one" ` + p1},
		"over a link":              {"„See the long report. It says so.“ [p. 1]", "„See the long report. It says so.“ " + p1},
		"not there":                {"“The last eigenvalue” [p. 1]", "“The last eigenvalue” [quotation not found] " + p1},
		"another page":             {"“A therapist speaks” [p. 1]", "“A therapist speaks” [quotation not found] " + p1},
		"reference before":         {"As [p. 1] has it, “the final one”.", "As " + p1 + " has it, “the final one”."},
		"in a long comment":        {"“nobody sees this remark” [p. 2]", "“nobody sees this remark” [quotation not found] " + p2},
		"half a word":              {"“rapist speaks here” [p. 2]", "“rapist speaks here” [quotation not found] " + p2},
		"another number":           {"“The first eigenvalue is 15” [p. 1]", "“The first eigenvalue is 15” [quotation not found] " + p1},
		"omission":                 {"“A therapist speaks … not always safe” [p. 2]", "“A therapist speaks … not always safe” " + p2},
		"omission in disorder":     {"“not always safe … A therapist speaks” [p. 2]", "“not always safe … A therapist speaks” [quotation not found] " + p2},
		"crumbs":                   {"“the … is … safe” [p. 2]", "“the … is … safe” [quotation not found] " + p2},
		"nothing but signs":        {"“!?” [p. 2]", "“!?” [quotation not found] " + p2},
		"two pages":                {"“a sentence that runs over to the following page” [pp. 2–3]", "“a sentence that runs over to the following page” [[Workbook.pdf#page=4|pp. 2–3]]"},
		"two pages, wrong way":     {"“end of all. A therapist speaks” [pp. 2–3]", "“end of all. A therapist speaks” [quotation not found] [[Workbook.pdf#page=4|pp. 2–3]]"},
		"two pages, not the end":   {"“A therapist speaks to the following page” [pp. 2–3]", "“A therapist speaks to the following page” [quotation not found] [[Workbook.pdf#page=4|pp. 2–3]]"},
		"two pages, not the start": {"“a sentence that runs over end of all” [pp. 2–3]", "“a sentence that runs over end of all” [quotation not found] [[Workbook.pdf#page=4|pp. 2–3]]"},
		"omission of too much":     {"“to the following page … end of all” [p. 3]", "“to the following page … end of all” [quotation not found] [[Workbook.pdf#page=5|p. 3]]"},
		"another item's":           {"- “The treatment is not safe”\n- “A therapist” [p. 2]", "- “The treatment is not safe” [quotation without page]\n- “A therapist” " + p2},
		"no text":                  {"“anything” [p. 4]", "“anything” [quotation not checked] [[Workbook.pdf#page=6|p. 4]]"},
		"no page":                  {"He said “this was never on any page”.", "He said “this was never on any page” [quotation without page]."},
		"a term":                   {"A “term” stays.", "A “term” stays."},
		"block quote":              {"> The treatment is not\n> always safe. [p. 2]", "> The treatment is not\n> always safe. " + p2},
		"block quote, wrong":       {"> The treatment is always safe.\n> — [p. 2]", "> The treatment is always safe.\n> — " + p2 + " [quotation not found]"},
		"reference in the next":    {"> The treatment is not always safe.\n\n[p. 2]", "> The treatment is not always safe.\n\n" + p2},
		"never closed":             {"“The treatment is always safe [p. 2]", "“The treatment is always safe [quotation not found] " + p2},
		"two items":                {"- “The final one” [p. 1]\n- “A therapist” [p. 2]", "- “The final one” " + p1 + "\n- “A therapist” " + p2},
		"code":                     {"`“nowhere to be seen at all”` [p. 2]", "`“nowhere to be seen at all”` " + p2},
		"inside":                   {"“The final one [p. 1]”", "“The final one " + p1 + "”"},
	} {
		if got := cite.Answer(test.in, oneBook(), true); got.Text != test.want {
			t.Errorf("%s:\n got %q\nwant %q\n%v", name, got.Text, test.want, got.Findings)
		}
	}
}
