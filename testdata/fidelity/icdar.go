package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// relation says that two cells of a table are neighbours: nothing but blank places is between them. It is compared by
// content, as in the ICDAR 2013 table competition (Göbel, Hassan, Oro, Orsi 2013; tool: tamirhassan/dataset-tools).
type relation struct {
	from, to string
	down     bool
	blanks   int // blank places between the two
}

// normalise prepares the text of a cell for comparison like the competition: white space goes, case is ignored, and any
// character that is neither letter, digit nor underscore becomes an underscore. Compatibility forms such as ligatures are
// resolved first, since the ground truth was typed.
func normalise(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == '\u00ad', r == '\u200b':
			return -1
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToUpper(r)
		default:
			return '_'
		}
	}, norm.NFKC.String(s))
}

// unescape resolves character references and backslashes of Markdown that the parser left in the text.
func unescape(s string) string {
	var b strings.Builder
	s = html.UnescapeString(s)
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!|<>~$^&=", s[i+1]) >= 0 {
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// relations lists the adjacency relations of a table. Two cells that touch at several places have one relation for each
// direction.
func (g *grid) relations() []relation {
	var found []relation
	rows, cols := len(g.texts), g.width()
	pairs := map[[3]int]bool{}
	line := func(n int, place func(i int) (row, col int), down int) {
		last, lastText, at := 0, "", 0
		for i := range n {
			id, s := g.at(place(i))
			if id == 0 {
				continue
			}
			if pair := [3]int{last, id, down}; last != 0 && id != last && !pairs[pair] {
				pairs[pair] = true
				found = append(found, relation{lastText, s, down == 1, i - at - 1})
			}
			last, lastText, at = id, s, i
		}
	}
	for r := range rows {
		line(cols, func(i int) (int, int) { return r, i }, 0)
	}
	for c := range cols {
		line(rows, func(i int) (int, int) { return i, c }, 1)
	}
	return found
}

// rowTexts lists the texts of the cells that begin in each row, in order, without blank ones. Rows without any are left out.
func (g *grid) rowTexts() []string {
	var found []string
	for r := range g.texts {
		var cells []string
		last := 0
		for c := range g.texts[r] {
			id, s := g.at(r, c)
			above := 0
			if r > 0 {
				above, _ = g.at(r-1, c)
			}
			if id != 0 && id != last && id != above {
				cells = append(cells, s)
			}
			last = id
		}
		if len(cells) > 0 {
			found = append(found, strings.Join(cells, "\x00"))
		}
	}
	return found
}

// truth is a document's ground truth in the format of the competition.
type truth struct {
	Tables []struct {
		Regions []struct {
			Page  int `xml:"page,attr"`
			Cells []struct {
				Row    int    `xml:"start-row,attr"`
				Col    int    `xml:"start-col,attr"`
				EndRow *int   `xml:"end-row,attr"`
				EndCol *int   `xml:"end-col,attr"`
				Text   string `xml:"content"`
			} `xml:"cell"`
		} `xml:"region"`
	} `xml:"table"`
}

// truthGrids reads the tables of a ground truth, by page. The parts of a table on different pages are tables of their own.
func truthGrids(data []byte) (map[int][]*grid, error) {
	var t truth
	if err := xml.Unmarshal(data, &t); err != nil {
		return nil, err
	}
	found := map[int][]*grid{}
	for _, table := range t.Tables {
		for _, region := range table.Regions {
			g := &grid{}
			low := 0 // some files number what is before the first column -1
			for _, c := range region.Cells {
				low = min(low, c.Row, c.Col)
			}
			for i, c := range region.Cells {
				s := normalise(c.Text)
				if s == "" {
					continue
				}
				endRow, endCol := c.Row, c.Col
				if c.EndRow != nil {
					endRow = max(endRow, *c.EndRow)
				}
				if c.EndCol != nil {
					endCol = max(endCol, *c.EndCol)
				}
				g.set(c.Row-low, c.Col-low, endRow-low, endCol-low, i+1, s)
			}
			found[region.Page] = append(found[region.Page], g)
		}
	}
	return found, nil
}

// size is how many rows and columns a table has. highest is the highest number of a row, counted from 0, plus 1: camelot's benchmark takes it for
// the number of rows, which is one too many where a file counts from 1.
type size struct{ rows, cols, highest int }

// truthSizes returns the sizes of the tables of a ground truth, by page.
func truthSizes(data []byte) (map[int][]size, error) {
	var t truth
	if err := xml.Unmarshal(data, &t); err != nil {
		return nil, err
	}
	found := map[int][]size{}
	for _, table := range t.Tables {
		for _, region := range table.Regions {
			rows, cols, last := map[int]bool{}, map[int]bool{}, 0 // some files count them from 1
			for _, c := range region.Cells {
				rows[c.Row], cols[c.Col], last = true, true, max(last, c.Row)
			}
			found[region.Page] = append(found[region.Page], size{len(rows), len(cols), last + 1})
		}
	}
	return found, nil
}

// sizeScore is the measure of camelot's benchmark: whether a page has as many tables as the truth, and of tables that are matched in their
// order, how many have the right number of rows and columns.
type sizeScore struct {
	tables     tally
	rows, cols int
	highest    int // tables with as many rows as camelot's benchmark counts
}

func scoreSizes(want map[int][]size, pages []string) sizeScore {
	var s sizeScore
	last := len(pages)
	for n := range want {
		last = max(last, n)
	}
	for n := range last {
		var ours []*grid
		if n < len(pages) {
			ours = grids(pages[n])
		}
		matched := min(len(want[n+1]), len(ours))
		s.tables.add(tally{truth: len(want[n+1]), found: len(ours), right: matched})
		for i := range matched {
			if len(ours[i].texts) == want[n+1][i].rows {
				s.rows++
			}
			if len(ours[i].texts) == want[n+1][i].highest {
				s.highest++
			}
			if ours[i].width() == want[n+1][i].cols {
				s.cols++
			}
		}
	}
	return s
}

// tally counts what is in the truth, what was found and what of it is right.
type tally struct{ truth, found, right int }

func (t *tally) add(o tally) { t.truth += o.truth; t.found += o.found; t.right += o.right }

func (t tally) precision() float64 { return share(t.right, t.found) }
func (t tally) recall() float64    { return share(t.right, t.truth) }
func (t tally) f1() float64        { return share(2*t.right, t.truth+t.found) }

// share is 0 for nothing of nothing.
func share(part, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

// match compares two bags.
func match[T comparable](truth, found []T) tally {
	t := tally{truth: len(truth), found: len(found)}
	left := map[T]int{}
	for _, x := range truth {
		left[x]++
	}
	for _, x := range found {
		if left[x] > 0 {
			left[x]--
			t.right++
		}
	}
	return t
}

// tableScore is the result for the tables of a document.
type tableScore struct {
	relations tally
	loose     tally // relations whatever number of blank places is between the cells
	rows      tally
}

// scoreTables compares the tables of a document page by page.
func scoreTables(want map[int][]*grid, pages []string) tableScore {
	var s tableScore
	for n := range max(len(pages), lastPage(want)) {
		var ours []*grid
		if n < len(pages) {
			ours = grids(pages[n])
		}
		relations, rows := collect(want[n+1])
		oursRelations, oursRows := collect(ours)
		s.relations.add(match(relations, oursRelations))
		s.loose.add(match(loosen(relations), loosen(oursRelations)))
		s.rows.add(match(rows, oursRows))
	}
	return s
}

func collect(all []*grid) (relations []relation, rows []string) {
	for _, g := range all {
		relations = append(relations, g.relations()...)
		rows = append(rows, g.rowTexts()...)
	}
	return relations, rows
}

// loosen forgets the number of blank places.
func loosen(all []relation) []relation {
	loose := slices.Clone(all)
	for i := range loose {
		loose[i].blanks = 0
	}
	return loose
}

func lastPage(byPage map[int][]*grid) int {
	last := 0
	for n := range byPage {
		last = max(last, n)
	}
	return last
}

// icdar measures the tables of the ICDAR 2013 competition.
func (r *run) icdar(ctx context.Context, dir string, h half) error {
	files, err := list(filepath.Join(dir, "icdar2013"), []half{h})
	if err != nil {
		return err
	}
	got, err := r.reader.read(ctx, "icdar", files)
	if err != nil {
		return err
	}
	var total tableScore
	var precision, recall, f1, loose, rows float64
	var sizes sizeScore
	for _, f := range files {
		want, wantSizes, err := readTruth(f.path)
		if err != nil {
			return err
		}
		z := scoreSizes(wantSizes, got[f.sha256].pages)
		sizes.tables.add(z.tables)
		sizes.rows, sizes.cols, sizes.highest = sizes.rows+z.rows, sizes.cols+z.cols, sizes.highest+z.highest
		s := scoreTables(want, got[f.sha256].pages)
		r.detail(h, "icdar %s: precision %.3f recall %.3f F1 %.3f, loose F1 %.3f, rows %d of %d; tables %d of %d, rows of %d, columns of %d", f.name, s.relations.precision(), s.relations.recall(), s.relations.f1(), s.loose.f1(), s.rows.right, s.rows.truth, z.tables.found, z.tables.truth, z.rows, z.cols)
		total.relations.add(s.relations)
		total.rows.add(s.rows)
		precision, recall = precision+s.relations.precision(), recall+s.relations.recall()
		f1, loose, rows = f1+s.relations.f1(), loose+s.loose.f1(), rows+s.rows.recall()
	}
	r.report.add(h, "icdar: F1 of tables found (camelot's)", ours, sizes.tables.f1(), sizes.tables.truth)
	r.report.add(h, "icdar: tables with the right number of rows (camelot's)", ours, share(sizes.rows, sizes.tables.right), sizes.tables.right)
	r.report.add(h, "icdar: tables with the number of rows that camelot's benchmark counts", ours, share(sizes.highest, sizes.tables.right), sizes.tables.right)
	r.report.add(h, "icdar: tables with the right number of columns (camelot's)", ours, share(sizes.cols, sizes.tables.right), sizes.tables.right)
	n := float64(max(len(files), 1))
	r.report.add(h, "icdar: precision of adjacency relations", ours, precision/n, len(files))
	r.report.add(h, "icdar: recall of adjacency relations", ours, recall/n, len(files))
	r.report.add(h, "icdar: F1 of adjacency relations", ours, f1/n, len(files))
	r.report.add(h, "icdar: F1, blank places not counted", ours, loose/n, len(files))
	r.report.add(h, "icdar: F1 of all relations together", ours, total.relations.f1(), total.relations.truth)
	r.report.add(h, "icdar: rows right", ours, total.rows.recall(), total.rows.truth)
	r.report.add(h, "icdar: rows right, mean of documents", ours, rows/n, len(files))
	return nil
}

// readTruth reads the ground truth beside a PDF of the set.
func readTruth(pdf string) (map[int][]*grid, map[int][]size, error) {
	name := strings.TrimSuffix(pdf, ".pdf") + "-str.xml"
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	found, err := truthGrids(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	sizes, err := truthSizes(data)
	return found, sizes, err
}
