package pdf

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// Keys that make a page look as it does. All others are left out of a cut: they lead to other pages, or hold private data
// of a program.
var (
	pageKeys  = []string{"Type", "Contents", "Resources", "MediaBox", "CropBox", "Rotate", "UserUnit", "Group", "Annots"}
	annotKeys = []string{
		"Type", "Subtype", "Rect", "Contents", "F", "AP", "AS", "Border", "BS", "BE", "C", "IC", "CA", "DA", "Q", "QuadPoints",
		"InkList", "L", "LE", "Vertices", "MK", "FT", "V", "H", "RD", "DS", "Name",
	}
)

// parse reads the objects of a PDF with pdfcpu. Nothing is validated: files that all viewers open break its rules.
func parse(data []byte) (ctx *model.Context, err error) {
	defer func() {
		if p := recover(); p != nil {
			ctx, err = nil, fmt.Errorf("the file cannot be parsed: %v", p)
		}
	}()
	api.DisableConfigDir() // it would write one
	conf := model.NewDefaultConfiguration()
	conf.Cmd, conf.ValidationMode = model.TRIM, model.ValidationRelaxed
	if ctx, err = api.ReadContext(bytes.NewReader(data), conf); err != nil {
		return nil, err
	}
	return ctx, ctx.EnsurePageCount()
}

// cut makes a document of some pages. Nothing of the others is in it: links, outlines, forms, names and shared resources
// that the pages do not use are left out, and the pages of the result are counted.
func cut(data []byte, pages []int, encrypted bool) (out extract.Cut, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cut: %v", r)
		}
	}()
	ctx, err := parse(data)
	if err != nil {
		return out, fmt.Errorf("cut: %w", err)
	}
	if encrypted && ctx.E == nil {
		return out, errors.New("cut: the document is encrypted in a way that pdfcpu does not know")
	}
	ctx.Form, ctx.Names = nil, map[string]*model.Node{}
	for _, n := range pages {
		if err := strip(ctx, n); err != nil {
			return out, fmt.Errorf("cut page %d: %w", n, err)
		}
	}
	made, err := pdfcpu.ExtractPages(ctx, pages, false)
	if err != nil {
		return out, fmt.Errorf("cut: %w", err)
	}
	if err := only(made, len(pages)); err != nil {
		return out, err
	}
	var b bytes.Buffer
	if err := api.WriteContext(made, &b); err != nil {
		return out, fmt.Errorf("write the cut: %w", err)
	}
	return extract.Cut{MediaType: "application/pdf", Size: b.Len(), Bytes: b.Bytes()}, nil
}

// strip removes what is invisible on a page, and writes the inherited crop on the page itself.
func strip(ctx *model.Context, n int) error {
	page, _, inherited, err := ctx.PageDict(n, false)
	if err != nil || page == nil {
		return fmt.Errorf("find it: %w", err)
	}
	keep(page, pageKeys)
	if inherited.CropBox != nil {
		page["CropBox"] = inherited.CropBox.Array()
	}
	annots, err := ctx.DereferenceArray(page["Annots"])
	if err != nil {
		return fmt.Errorf("annotations: %w", err)
	}
	var seen types.Array
	for _, entry := range annots {
		annot, err := ctx.DereferenceDict(entry)
		if err != nil || annot == nil {
			continue
		}
		if kind := annot.Subtype(); kind == nil || *kind == "Popup" || *kind == "FileAttachment" {
			continue
		}
		keep(annot, annotKeys)
		seen = append(seen, entry)
	}
	delete(page, "Annots")
	if len(seen) > 0 {
		page["Annots"] = seen
	}
	return nil
}

func keep(d types.Dict, keys []string) {
	kept := map[string]types.Object{}
	for _, key := range keys {
		if v, ok := d[key]; ok {
			kept[key] = v
		}
	}
	for key := range d {
		delete(d, key)
	}
	for key, v := range kept {
		d[key] = v
	}
}

// only refuses a document that holds more pages than it should, wherever they hang.
func only(ctx *model.Context, pages int) error {
	found := 0
	for _, entry := range ctx.Table {
		if d, ok := entry.Object.(types.Dict); ok && d.Type() != nil && *d.Type() == "Page" {
			found++
		}
	}
	if found != pages {
		return fmt.Errorf("the cut would hold %d pages, not %d", found, pages)
	}
	return nil
}

// pageBox is the visible part of a page, and how the page is turned to be displayed.
type pageBox struct {
	x0, y0, x1, y1 float64 // the visible box, in its own coordinates
	turned         int     // degrees clockwise: 0, 90, 180 or 270
}

// pageBoxes reads the box and the turn of each page. MuPDF's binding has neither.
func pageBoxes(data []byte) ([]pageBox, error) {
	ctx, err := parse(data)
	if err != nil {
		return nil, err
	}
	boundaries, err := ctx.PageBoundaries(nil)
	if err != nil {
		return nil, fmt.Errorf("read the boxes of the pages: %w", err)
	}
	out := make([]pageBox, len(boundaries))
	for i, b := range boundaries {
		media, crop := b.MediaBox(), b.CropBox()
		if media == nil {
			continue
		}
		if crop == nil {
			crop = media
		}
		out[i] = pageBox{
			x0: max(crop.LL.X, media.LL.X), y0: max(crop.LL.Y, media.LL.Y), x1: min(crop.UR.X, media.UR.X), y1: min(crop.UR.Y, media.UR.Y),
			turned: (b.Rot%360 + 360) % 360,
		}
	}
	return out, nil
}

// displayed returns where a point of the page is displayed, in points from the upper left corner.
func (p pageBox) displayed(x, y float64) (dx, dy float64) {
	switch p.turned {
	case 90:
		return y - p.y0, x - p.x0
	case 180:
		return p.x1 - x, y - p.y0
	case 270:
		return p.y1 - y, p.x1 - x
	}
	return x - p.x0, p.y1 - y
}
