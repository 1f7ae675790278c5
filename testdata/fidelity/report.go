package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// ours is the column of vaultflow in the report.
const ours = "vaultflow"

// threshold says between which values a figure of ours has to be in each half.
type threshold struct {
	row         string
	least, most float64
}

// thresholds are all in this place. Besides, each figure of olmocr has to be above those of the peers.
var thresholds = []threshold{
	{"icdar: F1 of tables found (camelot's)", .87, 1},
	{"icdar: tables with the right number of rows (camelot's)", .75, 1},
	{"icdar: F1 of all relations together", .87, 1},
	{"icdar: rows right", .75, 1},
	{"order: suspect pages", 0, .01},
	{"photos: median CER", 0, .03},
	{"photos: share above .1, not doubtful", 0, 0},
}

// figure is one number of the report.
type figure struct {
	row, column string
	half        half
	value       float64
	count       int // how many documents, pages or checks it is about
}

// report collects figures and notes.
type report struct {
	figures []figure
	notes   []string
}

func (r *report) add(h half, row, column string, value float64, count int) {
	r.figures = append(r.figures, figure{row, column, h, value, count})
}

func (r *report) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// finish prints the report, writes it where asked, and returns how many figures miss their threshold.
func (r *report) finish(o options) (missed int, err error) {
	r.markdown(os.Stdout, o.halves)
	for _, m := range r.missed() {
		fmt.Println("MISSED", m)
		missed++
	}
	if o.out == "" {
		return missed, nil
	}
	var b strings.Builder
	r.markdown(&b, o.halves)
	return missed, os.WriteFile(o.out, []byte(b.String()), 0o644) //nolint:gosec // it goes into the documents of the project
}

// markdown writes a table for each set, with a row for each figure and a column for each program in each half.
func (r *report) markdown(w io.Writer, halves []half) {
	var sets []string
	for _, f := range r.figures {
		if set, _, _ := strings.Cut(f.row, ":"); !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	for _, set := range sets {
		r.table(w, set, halves)
	}
	for _, n := range r.notes {
		fmt.Fprintf(w, "%s\n\n", n)
	}
}

func (r *report) table(w io.Writer, set string, halves []half) {
	var rows, columns []string
	for _, f := range r.figures {
		if !strings.HasPrefix(f.row, set+":") {
			continue
		}
		if !slices.Contains(rows, f.row) {
			rows = append(rows, f.row)
		}
		if !slices.Contains(columns, f.column) {
			columns = append(columns, f.column)
		}
	}
	head, rule := "| "+set+" |", "|---|"
	for _, h := range halves {
		head, rule = head+fmt.Sprintf(" n, %s |", h), rule+"--:|"
		for _, c := range columns {
			head, rule = head+fmt.Sprintf(" %s |", c), rule+"--:|"
		}
	}
	fmt.Fprintf(w, "%s\n%s\n", head, rule)
	for _, row := range rows {
		line := "| " + strings.TrimPrefix(row, set+": ") + " |"
		for _, h := range halves {
			count, cells := r.cells(h, row, columns)
			line += fmt.Sprintf(" %d |", count) + cells
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

// cells are the figures of a row in one half, and how many things they are about.
func (r *report) cells(h half, row string, columns []string) (count int, cells string) {
	for _, c := range columns {
		cell := ""
		if f, ok := r.find(h, row, c); ok {
			cell, count = fmt.Sprintf("%.3f", f.value), max(count, f.count)
		}
		cells += " " + cell + " |"
	}
	return count, cells
}

func (r *report) find(h half, row, column string) (figure, bool) {
	i := slices.IndexFunc(r.figures, func(f figure) bool { return f.half == h && f.row == row && f.column == column })
	if i < 0 {
		return figure{}, false
	}
	return r.figures[i], true
}

// missed lists the figures of ours that miss their threshold.
func (r *report) missed() []string {
	var all []string
	for _, f := range r.figures {
		if f.column != ours {
			continue
		}
		for _, t := range thresholds {
			if f.row == t.row && (f.value < t.least || f.value > t.most) {
				all = append(all, fmt.Sprintf("%s (%s half): %.3f is not between %g and %g", f.row, f.half, f.value, t.least, t.most))
			}
		}
		for _, p := range peers {
			if other, ok := r.find(f.half, f.row, p.name); ok && f.value <= other.value && f.value < 1 {
				all = append(all, fmt.Sprintf("%s (%s half): %.3f is not above the %.3f of %s", f.row, f.half, f.value, other.value, p.name))
			}
		}
	}
	return all
}
