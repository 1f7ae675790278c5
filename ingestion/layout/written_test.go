package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// oneBelow sets lines below one another.
func oneBelow(x, y float64, texts ...string) (out []layout.Line) {
	for i, text := range texts {
		out = append(out, at(x, y+float64(i)*15, 10, text))
	}
	return out
}

func bold(lines []layout.Line) []layout.Line {
	lines[0].Bold = true
	return lines
}

// What the file writes one after the other, and what stands for itself, is read so, although its lines are level.
func TestText_readsColumnsAsWritten(t *testing.T) {
	t.Parallel()
	glossary := func(x float64, from int) (out []layout.Line) {
		for i := from; i < from+4; i++ {
			y := 100 + 40*float64(i-from)
			out = append(out, at(x, y, 10, fmt.Sprintf("Term%d", i)), at(x+60, y, 10, fmt.Sprintf("Sense%d of the word", i)), at(x+60, y+12, 10, "in two lines of text"))
		}
		return out
	}
	names := []layout.Line{at(60, 85, 10, "Ingredients"), at(300, 85, 10, "Method")}
	names[0].Bold, names[1].Bold = true, true
	for name, c := range map[string]struct {
		lines []layout.Line
		want  []string
	}{
		"lists": {
			slices.Concat(bold(oneBelow(60, 100, "Advantages", "– cheap", "– light")), bold(oneBelow(300, 100, "Drawbacks", "– burns", "– noisy", "– small", "– mice"))),
			[]string{"Advantages", "cheap", "light", "Drawbacks", "burns", "mice"},
		},
		"headings": {
			slices.Concat(bold(oneBelow(60, 100, "For", "cheap", "light")), bold(oneBelow(300, 100, "Against", "burns", "noisy", "small", "mice"))),
			[]string{"For", "cheap", "light", "Against", "burns", "mice"},
		},
		"recipe": {
			slices.Concat(names, oneBelow(60, 100, "250 g flour", "120 g butter", "3 eggs", "1 lemon"), oneBelow(300, 100, "1. Mix it all.", "2. Bake it.", "3. Eat.")),
			[]string{"Ingredients", "flour", "butter", "eggs", "lemon", "Method", "Mix", "Bake"},
		},
		"glossary": {slices.Concat(glossary(60, 0), glossary(320, 4)), []string{"Term0", "Sense0", "Term3", "Sense3", "Term4", "Sense4", "Term7", "Sense7"}},
		"addresses": {
			slices.Concat(oneBelow(60, 100, "Mill Ltd", "1 River Lane", "1234 Oldtown", "Norway"), oneBelow(300, 100, "Jane Roe", "2 Hill Street", "5678 Newtown", "Sweden")),
			[]string{"Mill", "River", "Oldtown", "Norway", "Jane", "Newtown"},
		},
	} {
		got := text(c.lines...)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inTurn(t, got, c.want...)
		})
	}
}

// Cells that the file writes column by column are a table. Of words, it is doubtful.
func TestText_tablesWrittenByColumns(t *testing.T) {
	t.Parallel()
	for want, columns := range map[bool][][]string{
		false: {{"Apple", "Pear", "Plum", "Fig"}, {"12.50", "3.10", "4.00", "7.25"}},
		true:  {{"Apple", "Pear", "Plum", "Fig"}, {"red", "green", "blue", "brown"}},
	} {
		page := layout.Page{Width: 600, Height: 800, Lines: slices.Concat(oneBelow(60, 100, columns[0]...), oneBelow(300, 100, columns[1]...))}
		read := layout.NewProfile([]layout.Page{page}, nil).TextAfter(page, 1, func() *layout.Tail { return nil })
		if !strings.Contains(read.Markdown, "| Pear | "+columns[1][1]) || len(read.Doubts) > 0 != want {
			t.Errorf("%v: %s", read.Doubts, read.Markdown)
		}
	}
}
