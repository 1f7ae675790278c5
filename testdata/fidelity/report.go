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

// threshold is what a figure of ours has to reach in each half.
type threshold struct {
	row   string
	least float64
	most  float64 // when not 0, the figure may not be above it
}

// thresholds are all in this place.
var thresholds = []threshold{
	{row: "icdar: F1 of adjacency relations", least: .87},
	{row: "icdar: rows right", least: .75},
	{row: "order: suspect pages", most: .01},
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

// markdown writes a table: a row for each figure, and for each program a column in each half.
func (r *report) markdown(w io.Writer, halves []half) {
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	var rows, columns []string
	for _, f := range r.figures {
		if !slices.Contains(rows, f.row) {
			rows = append(rows, f.row)
		}
		if !slices.Contains(columns, f.column) {
			columns = append(columns, f.column)
		}
	}
	head, rule := "| figure |", "|---|"
	for _, h := range halves {
		head, rule = head+fmt.Sprintf(" n (%s) |", h), rule+"--:|"
		for _, c := range columns {
			head, rule = head+fmt.Sprintf(" %s (%s) |", c, h), rule+"--:|"
		}
	}
	line("%s\n%s", head, rule)
	for _, row := range rows {
		text := "| " + row + " |"
		for _, h := range halves {
			count, cells := 0, ""
			for _, c := range columns {
				cell := ""
				if f, ok := r.find(h, row, c); ok {
					cell, count = fmt.Sprintf("%.3f", f.value), max(count, f.count)
				}
				cells += " " + cell + " |"
			}
			text += fmt.Sprintf(" %d |", count) + cells
		}
		line("%s", text)
	}
	for _, n := range r.notes {
		line("\n%s", n)
	}
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
		for _, t := range thresholds {
			if f.column != ours || f.row != t.row {
				continue
			}
			if f.value < t.least {
				all = append(all, fmt.Sprintf("%s (%s): %.3f is below %.3f", f.row, f.half, f.value, t.least))
			} else if t.most > 0 && f.value > t.most {
				all = append(all, fmt.Sprintf("%s (%s): %.3f is above %.3f", f.row, f.half, f.value, t.most))
			}
		}
	}
	return all
}
