package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// check is a check of olmOCR-bench, by its own definition (olmocr/bench/tests.py).
type check struct {
	PDF           string `json:"pdf"`
	Page          int    `json:"page"`
	ID            string `json:"id"`
	Type          string `json:"type"`
	MaxDiffs      int    `json:"max_diffs"`
	Text          string `json:"text"` // present, absent
	CaseSensitive *bool  `json:"case_sensitive"`
	FirstN        int    `json:"first_n"`
	LastN         int    `json:"last_n"`
	Before        string `json:"before"` // order
	After         string `json:"after"`
	Cell          string `json:"cell"` // table
	Up            string `json:"up"`
	Down          string `json:"down"`
	Left          string `json:"left"`
	Right         string `json:"right"`
	TopHeading    string `json:"top_heading"`
	LeftHeading   string `json:"left_heading"`
	Math          string `json:"math"`
	MaxLength     *int   `json:"max_length"` // baseline
}

// readChecks reads the files of checks, one JSON object a line.
func readChecks(names ...string) ([]check, error) {
	var all []check
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if len(bytes.TrimSpace(lines.Bytes())) == 0 {
				continue
			}
			var c check
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// passes applies a check to the text of its page.
func (c check) passes(text string) bool {
	switch c.Type {
	case "present":
		return c.contained(text)
	case "absent":
		return !c.contained(text)
	case "order":
		return c.ordered(text)
	case "table":
		return slices.ContainsFunc(pipeTables(text), c.inTable)
	case "math":
		return c.sameLatex(text)
	case "baseline":
		return c.sound(text)
	default:
		return false
	}
}

var (
	htmlBreak = regexp.MustCompile(`<br/?>`)
	bold      = regexp.MustCompile(`\*\*(.*?)\*\*`)
	boldLow   = regexp.MustCompile(`__(.*?)__`)
	tags      = regexp.MustCompile(`</?[bi]>`)
	italics   = regexp.MustCompile(`\*(.*?)\*|_(.*?)_`)
	fancy     = strings.NewReplacer("‘", "'", "’", "'", "‚", "'", "“", `"`, "”", `"`, "„", `"`, "＿", "_", "–", "-", "—", "-", "‑", "-", "‒", "-", "−", "-", "\u00b5", "\u03bc")
)

// simplified is a text as the benchmark compares it.
func simplified(s string) string {
	s = htmlBreak.ReplaceAllString(s, " ")
	s = boldLow.ReplaceAllString(bold.ReplaceAllString(s, "$1"), "$1")
	s = italics.ReplaceAllString(tags.ReplaceAllString(s, ""), "$1$2")
	s = whiteRuns.ReplaceAllString(s, " ")
	return fancy.Replace(norm.NFC.String(s))
}

var whiteRuns = regexp.MustCompile(`[\s\p{Z}\x1c-\x1f\x85]+`)

const rounding = 1e-9

// least is the likeness that so many differences leave.
func (c check) least(s string) float64 {
	return 1 - float64(c.MaxDiffs)/float64(max(len([]rune(s)), 1))
}

func (c check) contained(text string) bool {
	want, text := simplified(c.Text), simplified(text)
	if c.CaseSensitive != nil && !*c.CaseSensitive {
		want, text = strings.ToLower(want), strings.ToLower(text)
	}
	letters := []rune(text)
	first, last := min(c.FirstN, len(letters)), max(0, len(letters)-c.LastN)
	switch {
	case c.FirstN > 0 && c.LastN > 0:
		letters = append(slices.Clone(letters[:first]), letters[last:]...)
	case c.FirstN > 0:
		letters = letters[:first]
	case c.LastN > 0:
		letters = letters[last:]
	}
	return strings.Contains(string(letters), want) || alikePart(want, string(letters)) >= c.least(want)-rounding
}

func (c check) ordered(text string) bool {
	letters := []rune(simplified(text))
	before := near([]rune(simplified(c.Before)), letters, c.MaxDiffs)
	after := near([]rune(simplified(c.After)), letters, c.MaxDiffs)
	return len(before) > 0 && len(after) > 0 && before[0].start < after[len(after)-1].start
}

// pipeTables reads the tables of a Markdown text: at least two lines with pipes.
func pipeTables(text string) [][][]string {
	var found [][][]string
	var rows [][]string
	lines := 0
	for line := range strings.Lines(strings.TrimSpace(text) + "\n\n") {
		line = strings.TrimRight(line, "\n")
		if !strings.Contains(line, "|") {
			if lines >= 2 && len(rows) > 0 {
				found = append(found, rows)
			}
			rows, lines = nil, 0
			continue
		}
		lines++
		if strings.Trim(line, "- :|") == "" {
			continue
		}
		cells := strings.Split(line, "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "" {
			cells = cells[1:]
		}
		if n := len(cells); n > 0 && cells[n-1] == "" {
			cells = cells[:n-1]
		}
		if len(cells) > 0 {
			rows = append(rows, cells)
		}
	}
	return found
}

// inTable says whether a cell of the table fits, with the neighbours that the check names. The first row and the first
// column are headings.
func (c check) inTable(table [][]string) bool {
	fits := func(want string, row, col int) bool {
		if row < 0 || row >= len(table) || col < 0 || col >= len(table[row]) {
			return false
		}
		return alike(want, simplified(table[row][col])) >= max(.5, c.least(want)-rounding)
	}
	any := func(want string, places [][2]int) bool {
		want = simplified(want)
		return want == "" || slices.ContainsFunc(places, func(p [2]int) bool { return fits(want, p[0], p[1]) })
	}
	for r, row := range table {
		for i := range row {
			if fits(simplified(c.Cell), r, i) &&
				any(c.Up, [][2]int{{above(table, r, i), i}}) && any(c.Down, [][2]int{{below(table, r, i), i}}) &&
				any(c.Left, [][2]int{{r, i - 1}}) && any(c.Right, [][2]int{{r, i + 1}}) &&
				any(c.TopHeading, headings(r, i, false)) && any(c.LeftHeading, headings(r, i, true)) {
				return true
			}
		}
	}
	return false
}

// above and below are the nearest rows that have a cell in the column: rows may differ in length.
func above(table [][]string, row, col int) int {
	for row--; row >= 0 && col >= len(table[row]); row-- {
	}
	return row
}

func below(table [][]string, row, col int) int {
	for row++; row < len(table) && col >= len(table[row]); row++ {
	}
	return row
}

// headings are the places of the headings above or left of a cell.
func headings(row, col int, left bool) [][2]int {
	var found [][2]int
	if left {
		for i := col - 1; i >= 0; i-- {
			if row == 0 || i == 0 {
				found = append(found, [2]int{row, i})
			}
		}
		return found
	}
	for r := row - 1; r >= 0; r-- {
		if col == 0 || r == 0 {
			found = append(found, [2]int{r, col})
		}
	}
	return found
}

// equations are the formulas of a text, in the order in which the benchmark looks for them. What one form has found is no other's.
var equations = []*regexp.Regexp{
	regexp.MustCompile(`(?s)\\\((.+?)\\\)`), regexp.MustCompile(`(?s)\\\[(.+?)\\\]`), regexp.MustCompile(`(?s)\$\$(.+?)\$\$`), regexp.MustCompile(`(?s)\$(.+?)\$`),
}

func equationsOf(text string) (found []string) {
	for _, form := range equations {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			found = append(found, strings.TrimSpace(m[1]))
		}
		text = form.ReplaceAllString(text, "")
	}
	return found
}

// sameLatex finds a formula that is the wanted one but for white space. It is the least that passes.
func (c check) sameLatex(text string) bool {
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return slices.ContainsFunc(equationsOf(text), func(latex string) bool { return bare(latex) == bare(c.Math) })
}

// drawnAlike finds formulas that are drawn as the wanted one: one that passes by the benchmark's comparison, and one that besides has all its signs.
func (c check) drawnAlike(k *katex, text string) (passes, whole bool, err error) {
	want, err := k.draw(c.Math)
	if err != nil {
		return false, false, err
	}
	for _, latex := range equationsOf(text) {
		got, err := k.draw(latex)
		if err != nil {
			return false, false, err
		}
		if got.alike(want) {
			passes, whole = true, whole || got.whole(want)
		}
	}
	return passes, whole, nil
}

// sound says whether a page has text at all, does not end in repetitions, and has no letters that no page of the benchmark has.
func (c check) sound(text string) bool {
	letters := 0
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			letters++
		}
		if r >= 0x4e00 && r <= 0x9fff || r >= 0x3040 && r <= 0x30ff || r >= 0x1f600 && r <= 0x1f64f || r >= 0x1f300 && r <= 0x1f5ff || r >= 0x1f680 && r <= 0x1f6ff || r >= 0x1f1e0 && r <= 0x1f1ff {
			if c.MaxLength == nil {
				return false
			}
		}
	}
	if c.MaxLength != nil {
		return letters <= *c.MaxLength
	}
	return letters > 0 && repeats([]rune(text)) <= 30
}

// repeats is how often the last letters of a text, up to five of them, are repeated at its end.
func repeats(s []rune) int {
	most := 0
	for n := 1; n <= 5 && n <= len(s); n++ {
		end, count := s[len(s)-n:], 1
		for at := len(s) - 2*n; at >= 0 && slices.Equal(s[at:at+n], end); at -= n {
			count++
		}
		most = max(most, count)
	}
	return most
}

// setOf is the set of a check: the folder of its file.
func (c check) setOf() string {
	if dir := path.Dir(c.PDF); dir != "." {
		return dir
	}
	return "single files"
}

// olmocr applies the checks of olmOCR-bench's sample to our pages and to those of the peers.
func (r *run) olmocr(ctx context.Context, dir string, h half) error {
	dir = filepath.Join(dir, "olmocr")
	if missing := missingPeers(); missing != nil {
		return fmt.Errorf("install poppler-utils and mupdf-tools to compare with %v", missing)
	}
	files, err := list(filepath.Join(dir, "pdfs"), []half{h})
	if err != nil {
		return err
	}
	checks, err := readChecks(filepath.Join(dir, "dataset.jsonl"), filepath.Join(dir, "blanks.jsonl"))
	if err != nil {
		return err
	}
	got, err := r.reader.read(ctx, "olmocr", files)
	if err != nil {
		return err
	}
	drawing, stop, err := openKatex(ctx, r.katex)
	defer stop()
	if err != nil {
		return err
	}
	columns := []string{ours}
	for _, p := range peers {
		columns = append(columns, p.name)
	}
	for _, column := range columns {
		passed := map[string]*tally{}
		count := func(row string, pass bool) {
			if passed[row] == nil {
				passed[row] = &tally{}
			}
			passed[row].truth++
			if pass {
				passed[row].right++
			}
		}
		for _, f := range files {
			for _, c := range withBaseline(checks, f.name) {
				text := got[f.sha256].page(c.Page)
				if i := slices.Index(columns, column); i > 0 {
					text = peers[i-1].read(ctx, f.path, c.Page)
				}
				text = strings.TrimSpace(text) // the benchmark finds a blank page in every text that has a blank
				pass := c.passes(text)
				if c.Type == "math" && drawing != nil {
					count("formulas with the same LaTeX", pass)
					alike, whole, err := c.drawnAlike(drawing, text)
					if err != nil {
						return err
					}
					count("formulas, parts of them too", alike)
					pass = whole
				}
				count("type "+c.Type, pass)
				count("set "+c.setOf(), pass)
				count("all", pass)
				if column == ours {
					r.detail(h, "olmocr %s %s: %v", c.ID, c.Type, pass)
				}
			}
		}
		for _, row := range slices.Sorted(maps.Keys(passed)) {
			r.report.add(h, "olmocr: "+row, column, passed[row].recall(), passed[row].truth)
		}
	}
	if drawing == nil {
		r.report.note("olmocr (%s half): KaTeX or a browser is missing, so a formula passes only if its LaTeX is the same but for white space.", h)
	}
	return nil
}

// withBaseline lists the checks of a file, and the general one for its first page if it has none.
func withBaseline(all []check, file string) []check {
	var found []check
	general := false
	for _, c := range all {
		if c.PDF == file {
			found = append(found, c)
			general = general || c.Type == "baseline"
		}
	}
	if !general {
		found = append(found, check{PDF: file, Page: 1, ID: file + "_baseline", Type: "baseline"})
	}
	return found
}
