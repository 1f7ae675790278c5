package office

import (
	"regexp"
	"strings"
)

// sheetTables writes the cells of a sheet: each block of cells that empty rows or columns set apart from others is a table of its own,
// or lines if it has one column. A title above a block is a line too.
func sheetTables(rows [][]string) string {
	var parts []string
	for _, band := range bands(rows) {
		for _, block := range columnBlocks(band) {
			titles, block := titlesOf(block)
			for _, title := range titles {
				parts = append(parts, paragraph(title))
			}
			if text := table(block); text != "" {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, "\n\n")
}

func empty(text string) bool { return strings.TrimSpace(text) == "" }

// extent returns the first and the last column of a row with something in them, or -1.
func extent(row []string) (first, last int) {
	first, last = -1, -1
	for c, text := range row {
		if !empty(text) {
			if first < 0 {
				first = c
			}
			last = c
		}
	}
	return first, last
}

// bands divides rows at empty ones. What follows belongs to the rows before it if it has no head of its own and the same columns: people
// leave a row empty before a total, or between groups.
func bands(rows [][]string) [][][]string {
	var list [][][]string
	begins := true
	for i, row := range rows {
		first, _ := extent(row)
		if first < 0 {
			begins = true
			continue
		}
		if begins && (len(list) == 0 || !continues(list[len(list)-1], rows[i:])) {
			list = append(list, nil)
		}
		begins = false
		list[len(list)-1] = append(list[len(list)-1], row)
	}
	return list
}

// continues reports whether the rows from an empty one to the next belong to the table before.
func continues(before, after [][]string) bool {
	left, right := width(before)
	end := 0
	for end < len(after) {
		if first, _ := extent(after[end]); first < 0 {
			break
		}
		end++
	}
	from, to := width(after[:end])
	return left >= 0 && right > left && from >= left && to <= right && to > from && !headed(after[:end])
}

// width returns the first and the last column of a block.
func width(rows [][]string) (left, right int) {
	left, right = -1, -1
	for _, row := range rows {
		first, last := extent(row)
		if first >= 0 && (left < 0 || first < left) {
			left = first
		}
		right = max(right, last)
	}
	return left, right
}

// numeric matches amounts, dates and the like.
var numeric = regexp.MustCompile(`^[^\pL]*\d[^\pL]*(?:\pL{1,3}\.?)?$`)

// headed reports whether the first row is a head: words alone, and numbers in rows below it or nothing to tell them from it.
func headed(rows [][]string) bool {
	cells := 0
	for _, text := range rows[0] {
		if empty(text) {
			continue
		}
		if numeric.MatchString(strings.TrimSpace(text)) {
			return false
		}
		cells++
	}
	return cells > 1 && len(rows) > 1
}

// columnBlocks divides a band at columns that are empty in all its rows, and takes off the empty columns before it.
func columnBlocks(band [][]string) [][][]string {
	var used []bool
	for _, row := range band {
		for c, text := range row {
			for len(used) <= c {
				used = append(used, false)
			}
			used[c] = used[c] || !empty(text)
		}
	}
	var list [][][]string
	for from := 0; from < len(used); {
		if !used[from] {
			from++
			continue
		}
		to := from
		for to < len(used) && used[to] {
			to++
		}
		block := make([][]string, 0, len(band))
		for _, row := range band {
			block = append(block, row[min(from, len(row)):min(to, len(row))])
		}
		list = append(list, trimTable(block))
		from = to
	}
	return list
}

// titlesOf takes the rows off the top of a block of several columns that have only one cell, the first.
func titlesOf(block [][]string) (titles []string, rest [][]string) {
	left, right := width(block)
	for len(block) > 2 && right > left {
		first, last := extent(block[0])
		if first != left || last != left || numeric.MatchString(strings.TrimSpace(block[0][first])) {
			break
		}
		titles, block = append(titles, block[0][first]), block[1:]
	}
	if len(titles) > 3 { // a list of names, of which some have something beside them
		return nil, append(asRows(titles), block...)
	}
	return titles, block
}

func asRows(cells []string) (rows [][]string) {
	for _, text := range cells {
		rows = append(rows, []string{text})
	}
	return rows
}

// columnLines writes the cells of a single column, one below the other: a receipt or a list, and no table.
func columnLines(rows [][]string) string {
	var cells []string
	sep := "\\\n"
	for _, row := range rows {
		if len(row) == 0 || empty(row[0]) {
			continue
		}
		text := strings.TrimSpace(row[0])
		if strings.Contains(text, "\n") {
			sep = "\n\n"
		} else {
			text = paragraph(text)
		}
		cells = append(cells, text)
	}
	return strings.Join(cells, sep)
}
