package doubt

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An order is confirmed if a reader has nearly the same one. Few words that occur once say little.
const (
	fewToOrder = 8
	nearlySame = 0.98
)

// texts returns what the readers found.
func (s Seen) texts() [][]string {
	out := [][]string{wordsOf(s.Kept)}
	for _, other := range s.Others {
		out = append(out, wordsOf(other))
	}
	return out
}

// order compares the order of an answer's words with those of the readers.
func (s Seen) order(words []string) (code, left string, err error) {
	best, moved := 0.0, 0
	for _, text := range s.texts() {
		share, n := Agreement(words, text)
		if n < fewToOrder {
			continue
		}
		if share > best {
			best, moved = share, n-int(share*float64(n)+0.5)
		}
	}
	switch {
	case best == 0 || best >= nearlySame || moved <= fewWords:
		return "", "", nil
	case best < sameOrder:
		return "", "", fmt.Errorf("no reader has its words in this order; at most %.0f %% of them agree", best*100)
	}
	return Order, fmt.Sprintf("a model read it, and no other program has its words in this order; at most %.0f %% of them agree", best*100), nil
}

var (
	tableTag = regexp.MustCompile(`(?i)<t[dhr]\b`)
	ruleRow  = regexp.MustCompile(`^[|:\s-]*$`)
	figure   = regexp.MustCompile(`^\W*\d`)
)

// cells compares the tables of an answer with the order of the readers' words: letters alone say neither which cells belong together
// nor in which column a number stands when its neighbour is empty.
func (s Seen) cells(answer string) (code, left string, err error) {
	const unconfirmed = "a model read it, and which numbers of its table belong together cannot be confirmed"
	found, texts := tablesIn(answer), s.texts()
	for _, rows := range found {
		columns := turned(rows)
		for _, row := range rows {
			if contradicted(row, texts) && !all(columns, texts) {
				return "", "", errors.New("a row of its table has the words of the page in another order")
			}
		}
		if gaps(rows, s.dashes() >= dashesIn(rows)) || !all(rows, texts) && !all(columns, texts) {
			left = unconfirmed
		}
	}
	if tableTag.MatchString(answer) {
		left = unconfirmed
	}
	return Table, left, nil
}

// tablesIn returns the rows of the tables in Markdown.
func tablesIn(text string) (tables [][][]string) {
	within := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			within = false
			continue
		}
		if ruleRow.MatchString(line) {
			continue
		}
		cells := strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, " "), "|"), "|")
		if !within {
			tables = append(tables, nil)
		}
		within = true
		last := len(tables) - 1
		tables[last] = append(tables[last], cells)
	}
	return tables
}

// turned returns the columns of rows.
func turned(rows [][]string) (columns [][]string) {
	for _, row := range rows {
		for c, cell := range row {
			if c == len(columns) {
				columns = append(columns, nil)
			}
			columns[c] = append(columns[c], cell)
		}
	}
	return columns
}

// dashes returns how many words of the page are a dash, which is how many tables show that a cell is empty.
func (s Seen) dashes() (most int) {
	for _, text := range append([]string{s.Kept}, s.Others...) {
		most = max(most, dashesIn([][]string{strings.Fields(text)}))
	}
	return most
}

func dashesIn(rows [][]string) (n int) {
	for _, row := range rows {
		for _, cell := range row {
			if cell = strings.TrimSpace(cell); cell != "" && strings.Trim(cell, dash) == "" {
				n++
			}
		}
	}
	return n
}

const dash = "-–—"

// gaps reports whether some row lacks a number that others have in its column, and has others: they may belong there. Dashes fill gaps
// if the page has them.
func gaps(rows [][]string, dashes bool) bool {
	numeric := map[int]bool{}
	for _, row := range rows {
		for c, cell := range row {
			if figure.MatchString(cell) {
				numeric[c] = true
			}
		}
	}
	for _, row := range rows[1:] {
		numbers, empty := 0, 0
		for c := range numeric {
			switch {
			case c >= len(row) || strings.Trim(row[c], " ") == "", !dashes && strings.Trim(row[c], " "+dash) == "":
				empty++
			case figure.MatchString(row[c]):
				numbers++
			}
		}
		if numbers > 0 && empty > 0 {
			return true
		}
	}
	return false
}

// all reports whether for each row of cells some reader has their words one after the other.
func all(rows [][]string, texts [][]string) bool {
	return !slices.ContainsFunc(rows, func(row []string) bool {
		words := wordsOf(strings.Join(row, " "))
		return !slices.ContainsFunc(texts, func(text []string) bool {
			return strings.Contains(spaced(text), spaced(words))
		})
	})
}

func spaced(words []string) string { return " " + strings.Join(words, " ") + " " }

// contradicted reports whether a reader has the words of a row one after the other, but only in another order.
func contradicted(row []string, texts [][]string) bool {
	words, other := wordsOf(strings.Join(row, " ")), false
	want := count(words)
	for _, text := range texts {
		for i := 0; i+len(words) <= len(text); i++ {
			window := text[i : i+len(words)]
			if slices.Equal(window, words) {
				return false
			}
			other = other || want[window[0]] > 0 && maps.Equal(count(window), want)
		}
	}
	return other
}
