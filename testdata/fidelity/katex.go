package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// drawing is a formula as KaTeX draws it.
type drawing struct {
	MathML string      `json:"mathml"` // without the LaTeX that it has inside
	Signs  []drawnSign `json:"signs"`
	OK     bool        `json:"ok"`
}

// drawnSign is a sign and the middle of its place, in pixels.
type drawnSign struct {
	Text string  `json:"text"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

// katex draws formulas with KaTeX in a browser. Each is drawn once.
type katex struct {
	ctx   context.Context
	drawn map[string]drawing
}

//go:embed katex.js
var drawScript string

// openKatex starts a browser with the KaTeX of a folder. It returns nil if there is none of either.
func openKatex(ctx context.Context, dir string) (k *katex, stop func(), err error) {
	script, err := os.ReadFile(filepath.Join(dir, "katex.min.js"))
	if dir == "" || err != nil {
		return nil, func() {}, nil //nolint:nilerr // it is not installed
	}
	style, err := os.ReadFile(filepath.Join(dir, "katex.min.css"))
	if err != nil {
		return nil, func() {}, err
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if path == "" {
		return nil, func() {}, nil
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.WindowSize(1280, 720))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	limited, end := context.WithTimeout(ctx, 10*time.Minute)
	allocator, endAllocator := chromedp.NewExecAllocator(limited, options...)
	tab, endTab := chromedp.NewContext(allocator)
	stop = func() { endTab(); endAllocator(); end() }
	sheet, _ := json.Marshal(string(style))
	if _, err = chromedp.Run(tab, chromedp.Navigate("data:text/html,<!DOCTYPE html><body>")); err != nil {
		return nil, stop, err
	}
	for _, js := range []string{string(script), fmt.Sprintf(drawScript, sheet)} {
		if _, err = chromedp.Run(tab, chromedp.Evaluate[int](js+"\n;0")); err != nil {
			break
		}
	}
	return &katex{tab, map[string]drawing{}}, stop, err
}

// draw draws a formula. A formula that KaTeX refuses has no signs.
func (k *katex) draw(latex string) (drawing, error) {
	if d, ok := k.drawn[latex]; ok {
		return d, nil
	}
	quoted, err := json.Marshal(latex)
	if err != nil {
		return drawing{}, err
	}
	d, err := chromedp.Run(k.ctx, chromedp.Evaluate[drawing]("drawn("+string(quoted)+")"))
	if err != nil {
		return drawing{}, fmt.Errorf("draw %q: %w", latex, err)
	}
	k.drawn[latex] = d
	return d, nil
}

// alike reports whether a formula is drawn as the wanted one, as the benchmark compares: it holds the MathML of that, or its signs are
// signs of that with the same neighbours. A formula that cannot be drawn has no signs and would always pass, so it never does here.
func (d drawing) alike(want drawing) bool {
	if !d.OK || !want.OK {
		return false
	}
	return strings.Contains(d.MathML, want.MathML) || d.fits(want)
}

// whole reports whether d has all signs of the wanted formula. The benchmark finds each formula with an x in the formula x.
func (d drawing) whole(want drawing) bool { return len(d.Signs) >= len(want.Signs) }

// sides are up, down, left and right.
const sides = 4

// neighbours returns for each sign the nearest one on each side, or -1.
func neighbours(signs []drawnSign) [][sides]int {
	const near = 5 // pixels off the line
	out := make([][sides]int, len(signs))
	for i, s := range signs {
		out[i] = [sides]int{-1, -1, -1, -1}
		nearest := [sides]float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
		for j, o := range signs {
			dx, dy := o.X-s.X, o.Y-s.Y
			for side, away := range [sides]float64{-dy, dy, -dx, dx} {
				off := dx
				if side > 1 {
					off = dy
				}
				if i != j && away > 0 && math.Abs(off) <= near && away < nearest[side] {
					out[i][side], nearest[side] = j, away
				}
			}
		}
	}
	return out
}

// fits finds for each sign one of the wanted formula with the same neighbours.
func (d drawing) fits(want drawing) bool {
	ours, theirs := neighbours(d.Signs), neighbours(want.Signs)
	place := make([]int, len(d.Signs)) // 1 more than the number of the wanted sign
	used := make([]bool, len(want.Signs))
	agrees := func(i, at int) bool {
		for side, next := range ours[i] {
			other := theirs[at][side]
			if next >= 0 && (other < 0 || place[next] > 0 && place[next] != other+1 || want.Signs[other].Text != d.Signs[next].Text) {
				return false
			}
		}
		return true
	}
	tries := 0
	var try func(int) bool
	try = func(i int) bool {
		if tries++; i == len(d.Signs) || tries > 1_000_000 {
			return i == len(d.Signs)
		}
		for at, w := range want.Signs {
			if used[at] || w.Text != d.Signs[i].Text {
				continue
			}
			if place[i], used[at] = at+1, true; agrees(i, at) && try(i+1) {
				return true
			}
			place[i], used[at] = 0, false
		}
		return false
	}
	return len(d.Signs) > 0 && try(0)
}
