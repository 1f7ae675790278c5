package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

// document is a PDF that is measured.
type document struct {
	name, path string
	pages      int
	letters    int // a page, on average; a scan has hardly any
}

// isScan reports whether the pages are pictures whose words must be recognised.
func (d document) isScan() bool { return d.letters < 20 }

// inspect finds out what kind of document it is.
func (d *document) inspect(ctx context.Context) (err error) {
	if d.pages, err = api.PageCountFile(d.path); err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	text, err := exec.CommandContext(ctx, "mutool", "draw", "-q", "-F", "text", d.path).Output()
	if err != nil {
		return fmt.Errorf("%s: mutool draw -F text: %w", d.name, err)
	}
	d.letters = len(bytes.Join(bytes.Fields(text), nil)) / max(d.pages, 1)
	return nil
}

// chosen returns the documents that a table is about.
func chosen(all []document, of func(document) bool) []document {
	return slices.DeleteFunc(slices.Clone(all), func(d document) bool { return !of(d) })
}

// documents returns the PDFs of the folder, or, if none was named, those that are made and those in the test data of pdfcpu's module.
func (b *bench) documents(ctx context.Context) ([]document, error) {
	all, err := b.own(ctx)
	if b.dir != "" {
		all = nil
		var paths []string
		paths, err = filepath.Glob(filepath.Join(b.dir, "*.pdf"))
		for _, path := range paths {
			all = append(all, document{name: filepath.Base(path), path: path})
		}
	}
	if err != nil {
		return nil, err
	}
	all = chosen(all, func(d document) bool { return strings.Contains(d.name, b.only) })
	slices.SortFunc(all, func(a, b document) int { return strings.Compare(a.name, b.name) })
	for i := range all {
		if err := all[i].inspect(ctx); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (b *bench) own(ctx context.Context) ([]document, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/pdfcpu/pdfcpu").Output()
	if err != nil {
		return nil, fmt.Errorf("find pdfcpu's test data: %w", err)
	}
	var all []document
	for name, file := range map[string]string{
		"text, 249 pages": "WaldenFull.pdf", "book with figures, 165 pages": "gobook.0.pdf",
		"standard with formulas, 186 pages": "itu-t81.pdf", "slides, 56 pages": "pike-stanford.pdf",
	} {
		all = append(all, document{name: name, path: filepath.Join(strings.TrimSpace(string(module)), "pkg", "testdata", file)})
	}
	for name, make := range map[string]func() ([]byte, error){"letter, 2 pages": letter, "colour scan, 15 pages": colourScan, "black and white scan, 15 pages": scan} {
		data, err := make()
		if err != nil {
			return nil, fmt.Errorf("make %s: %w", name, err)
		}
		path := filepath.Join(b.scratch, strings.Map(fileName, name)+".pdf")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
		all = append(all, document{name: name, path: path})
	}
	return all, nil
}

func fileName(r rune) rune {
	if r == ' ' || r == ',' {
		return '_'
	}
	return r
}

// paragraph is what made documents say.
var paragraph = []string{
	"The harbour was quiet in the early morning, and the boats lay still.", "Two men carried crates of fish along the pier to the market hall.",
	"Nobody spoke, for the work was old and every hand knew its place.", "At seven the bell rang, and the first buyers came through the gate.",
	"Prices were written with chalk on a slate: 4.20, 5.75 and 11.00.", "By noon the hall was empty again, and water ran over the stones.",
}

// lines repeats the paragraph.
func lines(n int) []string {
	var out []string
	for len(out) < n {
		out = append(out, paragraph...)
	}
	return out[:n]
}

func letter() ([]byte, error) {
	return pdftest.New().TextPage(pdftest.Text(lines(38)...)...).TextPage(pdftest.Text(lines(20)...)...).Bytes(), nil
}

func scan() ([]byte, error) {
	made := pdftest.New().Resolution(300).Lossless()
	for range scannedPages {
		made.ScanPage(lines(30)...)
	}
	return made.Bytes(), nil
}

// scannedPages is how many pages a scan has.
const scannedPages = 15

// colourScan is a scan of yellowed paper with blue ink, stored as JPEG.
func colourScan() ([]byte, error) {
	page := pdftest.Drawing(1654, 2339, 200, lines(30)...)
	tinted := image.NewRGBA(page.Rect)
	draw.Draw(tinted, tinted.Rect, image.NewUniform(color.RGBA{20, 30, 110, 255}), image.Point{}, draw.Src)
	draw.DrawMask(tinted, tinted.Rect, image.NewUniform(color.RGBA{246, 238, 214, 255}), image.Point{}, shade{page}, image.Point{}, draw.Over)
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, tinted, &jpeg.Options{Quality: 88}); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	pages := slices.Repeat([][]byte{picture.Bytes()}, scannedPages)
	err := api.ImportImages(nil, &out, readers(pages), nil, model.NewDefaultConfiguration())
	return out.Bytes(), err
}

// shade is a grey picture as a mask: the paper is where it is light. It embeds nothing, because the picture's other methods say that it
// is opaque.
type shade struct{ of *image.Gray }

func (s shade) ColorModel() color.Model { return color.AlphaModel }
func (s shade) Bounds() image.Rectangle { return s.of.Rect }
func (s shade) At(x, y int) color.Color { return color.Alpha{A: s.of.GrayAt(x, y).Y} }
