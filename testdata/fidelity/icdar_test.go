package main

import (
	"crypto/sha256"
	"strings"
	"testing"
)

// The figures of the cases below are counted by hand.

const groundTruth = `<document filename="x.pdf"><table id="1"><region page="2" row-increment="0">
 <cell id="1" start-row="0" start-col="0"><content></content></cell>
 <cell id="1" start-row="0" start-col="1" end-col="2"><content>Sales</content></cell>
 <cell id="1" start-row="1" start-col="0"><content>Year</content></cell>
 <cell id="1" start-row="1" start-col="1"><content>North</content></cell>
 <cell id="1" start-row="1" start-col="2"><content>South</content></cell>
 <cell id="1" start-row="2" start-col="0"><content>2012</content></cell>
 <cell id="1" start-row="2" start-col="2"><content>1 204</content></cell>
</region></table></document>`

func TestRelations(t *testing.T) {
	want, err := truthGrids([]byte(groundTruth))
	if err != nil || len(want[2]) != 1 {
		t.Fatalf("%d tables on page 2, error %v", len(want[2]), err)
	}
	// Year North, North South, 2012 . 1204; Sales North, Sales South, Year 2012, South 1204
	relations := want[2][0].relations()
	if len(relations) != 7 {
		t.Fatalf("relations: %v", relations)
	}
	blanks := 0
	for _, r := range relations {
		blanks += r.blanks
	}
	if blanks != 1 {
		t.Errorf("%d blank places between neighbours, want 1: %v", blanks, relations)
	}
}

func TestScoreTables(t *testing.T) {
	table := func(lines ...string) string { return "# 3\n\ntext\n\n" + strings.Join(lines, "\n") + "\n" }
	for _, c := range []struct {
		name             string
		page             string
		relations, loose tally
		rows             tally
	}{
		{
			"as drawn, the span in its first column",
			table("|  | Sales |  |", "| --- | --- | --: |", "| Year | **North** | South |", "| 2012 |  | 1&nbsp;204 |"),
			tally{7, 6, 6},
			tally{7, 6, 6},
			tally{3, 3, 3},
		},
		{
			"an empty column between the others",
			table("|  |  | Sales |  |", "| --- | --- | --- | --: |", "| Year |  | North | South |", "| 2012 |  |  | 1204 |"),
			tally{7, 6, 4},
			tally{7, 6, 6},
			tally{3, 3, 3},
		},
		{
			"two rows in one",
			table("|  | Sales |  |", "| --- | --- | --: |", "| Year 2012 | North | South 1204 |"),
			tally{7, 3, 1},
			tally{7, 3, 1},
			tally{3, 2, 1},
		},
		{"no table", "Year North South", tally{7, 0, 0}, tally{7, 0, 0}, tally{3, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want, err := truthGrids([]byte(groundTruth))
			if err != nil {
				t.Fatal(err)
			}
			got := scoreTables(want, []string{"", c.page})
			if got != (tableScore{c.relations, c.loose, c.rows}) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestScoreTables_wrongPage(t *testing.T) {
	want, err := truthGrids([]byte(groundTruth))
	if err != nil {
		t.Fatal(err)
	}
	got := scoreTables(want, []string{"| Year | North |\n| --- | --- |\n| 2012 | 1 |", ""})
	if got.relations.right != 0 || got.relations.found != 4 || got.rows.right != 0 {
		t.Errorf("a table on another page counts: %+v", got)
	}
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"1 204.5\n": "1204_5", "ﬁne – Gasse": "FINE_GASSE", "a_b": "A_B", "x²": "X2", " \u00ad": "",
	} {
		if got := normalise(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestHalfOf(t *testing.T) {
	var even, odd [sha256.Size]byte
	odd[sha256.Size-1] = 1
	if halfOf(even) != unseen || halfOf(odd) != seen {
		t.Error("an even digest belongs to the unseen half, an odd one to the seen half")
	}
}

func TestScoreSizes(t *testing.T) {
	t.Parallel()
	want := map[int][]size{1: {{2, 2, 3}, {9, 9, 9}}, 2: {{2, 3, 2}}}
	pages := []string{"| a | b |\n| --- | --- |\n| c | d |\n", "text\n\n| a | b |\n| --- | --- |\n| c | d |\n\n| e | f |\n| --- | --- |\n| g | h |\n"}
	got := scoreSizes(want, pages)
	if got.tables != (tally{truth: 3, found: 3, right: 2}) || got.rows != 2 || got.highest != 1 || got.cols != 1 {
		t.Errorf("got %+v", got)
	}
}
