package mupdf

import (
	"math"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/layout"
)

// thinBar is the most points that a filled area is high or wide to count as a line.
const thinBar = 3.5

// rulesOf returns the level and upright lines of a path: what is stroked, thin bars that are filled, and the sides of other
// rectangles. Paths with curves and white areas are no rules.
func rulesOf(element string) []layout.Box {
	stroked := attribute(element, ` stroke="`) != "" && attribute(element, ` stroke="`) != "none"
	if fill := attribute(element, ` fill="`); !stroked && (fill == "none" || fill == "#ffffff") {
		return nil
	}
	var at matrix
	if !at.read(element) {
		return nil
	}
	m := at.m
	var out []layout.Box
	for _, points := range outlines(attribute(element, ` d="`)) {
		for i, p := range points {
			points[i] = [2]float64{m[0]*p[0] + m[2]*p[1] + m[4], m[1]*p[0] + m[3]*p[1] + m[5]}
		}
		box := around(points)
		if !stroked && (box.X1-box.X0 <= thinBar || box.Y1-box.Y0 <= thinBar) {
			out = append(out, box)
			continue
		}
		if !stroked && len(points) > 6 {
			continue // a shape
		}
		for i := 1; i < len(points); i++ {
			side := around(points[i-1 : i+1])
			if side.X1-side.X0 < 0.5 || side.Y1-side.Y0 < 0.5 {
				out = append(out, side)
			}
		}
	}
	return out
}

func around(points [][2]float64) layout.Box {
	b := layout.Box{X0: math.Inf(1), Y0: math.Inf(1), X1: math.Inf(-1), Y1: math.Inf(-1)}
	for _, p := range points {
		b = layout.Box{X0: min(b.X0, p[0]), Y0: min(b.Y0, p[1]), X1: max(b.X1, p[0]), Y1: max(b.Y1, p[1])}
	}
	return b
}

// outlines reads the straight outlines of a path's data; or nil if it has curves. MuPDF writes absolute commands only.
func outlines(data string) [][][2]float64 {
	const most = 4000
	if len(data) > 1<<16 || strings.ContainsAny(data, "CcQqSsTtAa") {
		return nil
	}
	var out [][][2]float64
	var current [][2]float64
	var at [2]float64
	for data != "" && len(out) < most {
		command := data[0]
		end := strings.IndexAny(data[1:], "MLHVZ")
		if end < 0 {
			end = len(data) - 1
		}
		fields := numbers(data[1 : 1+end])
		data = data[1+end:]
		switch command {
		case 'M', 'L':
			for i := 0; i+1 < len(fields); i += 2 {
				if command == 'M' && i == 0 && len(current) > 1 {
					out = append(out, current)
				}
				if command == 'M' && i == 0 {
					current = nil
				}
				at = [2]float64{fields[i], fields[i+1]}
				current = append(current, at)
			}
		case 'H', 'V':
			for _, v := range fields {
				at[int(command-'H')/int('V'-'H')] = v
				current = append(current, at)
			}
		case 'Z':
			if len(current) > 0 {
				at = current[0]
				current = append(current, at)
			}
		}
	}
	if len(current) > 1 {
		out = append(out, current)
	}
	return out
}

// numbers reads numbers that blanks, commas or signs divide.
func numbers(s string) []float64 {
	out := make([]float64, 0, 2)
	for s != "" {
		end := 1 + strings.IndexAny(s[1:], " ,-")
		if end == 0 {
			end = len(s)
		}
		if one := strings.Trim(s[:end], " ,"); one != "" {
			out = append(out, number(one))
		}
		s = s[end:]
	}
	return out
}
