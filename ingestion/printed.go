package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/office"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// Office converts office files to other formats. LibreOffice implements it, where it is installed.
type Office interface {
	// Convert returns the vault file with this name in another format. from and to are extensions without a dot. An error about
	// the file or about LibreOffice is an *extract.Error; any other comes from ctx or the vault.
	Convert(ctx context.Context, name, from, to string) ([]byte, error)
	// Version returns LibreOffice's version for manifests, such as "7.4.7.2", or "" if it is unknown.
	Version(ctx context.Context) string
	// MaxPages limits the pages of a file that get pictures.
	MaxPages() int
}

// printing lets LibreOffice convert and print office files.
type printing struct{ w *work }

// printed holds an office file's pages as LibreOffice prints them. Any error in them is a warning: the text is read without
// LibreOffice.
type printed struct {
	images   map[int][]manifest.PageImage // by the number of the part, in the order of the pages
	warnings []string
	render   *manifest.Render
	tools    map[string]string
}

// printedName is the PDF in the records, so that another attempt reuses it.
const printedName = "printed.pdf"

// printedPages is how many pages of a file get pictures where LibreOffice, which has a setting for it, is not there.
const printedPages = 500

// legibleDPI is the resolution below which ordinary type in a page picture cannot be read.
const legibleDPI = 50

// pagesOf is where the pages of an office file are printed, for [printing.print].
type pagesOf struct {
	open  extract.Open
	file  func() (fs.File, error)
	code  string
	how   string            // of the pictures, for people
	tools map[string]string // that made it
}

// print makes pictures of the pages of an office file whose parts have these labels. An error ends the import.
func (pr printing) print(ctx context.Context, doc *office.Document, labels []string) (printed, error) {
	if len(labels) == 0 || pr.w.set.PDF.Mode == config.ModeMarkdown {
		return printed{}, nil
	}
	from, err := pr.source(ctx, doc)
	if _, known := errors.AsType[*extract.Error](err); known {
		return pr.without(ctx, err)
	}
	if err != nil || from == nil {
		return printed{}, err
	}
	return pr.pages(ctx, *from, labels)
}

// without is what is printed when that failed: nothing, with a warning.
func (pr printing) without(ctx context.Context, err error) (printed, error) {
	if ctx.Err() != nil {
		return printed{}, ctx.Err()
	}
	return printed{warnings: []string{"pictures of the pages were not made: " + reading.Plain(reasonOf(err), "the program failed")}}, nil
}

// source returns where the pages are printed: the file itself, a PDF in it, or one that LibreOffice makes; or nil.
func (pr printing) source(ctx context.Context, doc *office.Document) (*pagesOf, error) {
	printedPDF := func() (fs.File, error) { return pr.w.store.records.FS().Open(printedName) }
	pdf := extract.Open{MediaType: "application/pdf", Kind: extract.KindPDF, Renderer: pr.w.set.PDF.Renderer}
	lib, ext := pr.w.im.Office, officeExtensions[pr.w.job.Route.MediaType]
	switch {
	case doc.Kind == "xps":
		return &pagesOf{
			open: extract.Open{MediaType: extract.MediaXPS, Kind: extract.KindPDF, Renderer: extract.RenderMuPDF}, code: "own",
			how: "own: the pages are drawn as they are in the file", file: func() (fs.File, error) { return pr.w.im.Files.FS().Open(pr.w.job.at()) },
		}, nil
	case doc.Preview != "":
		data, err := doc.PreviewPDF(maxAsset)
		if err != nil {
			return nil, &extract.Error{Code: failure.Corrupt, Message: err.Error()}
		}
		return &pagesOf{open: pdf, file: printedPDF, code: "preview", how: "preview: the pages are drawn from the preview in the file"}, put(ctx, pr.w.store.records, printedName, data)
	case lib == nil || ext == "":
		return nil, nil
	}
	if err := pr.convert(ctx, ext, "pdf", printedName); err != nil {
		return nil, err
	}
	return &pagesOf{
		open: pdf, file: printedPDF, code: "libreoffice", how: "libreoffice: the pages are drawn as LibreOffice prints them",
		tools: map[string]string{"libreoffice": markdown.OneLine(orElse(lib.Version(ctx), "unknown"), 60)},
	}, nil
}

// pages draws the printed pages.
func (pr printing) pages(ctx context.Context, from pagesOf, labels []string) (printed, error) {
	s := pr.w.reader(from.open)
	s.File = from.file
	defer s.Close()
	doc, err := s.Start(ctx)
	if err != nil {
		return pr.without(ctx, err)
	}
	out := printed{
		images: map[int][]manifest.PageImage{},
		render: &manifest.Render{
			DPI: pr.w.set.PDF.DPI, MaxSide: pr.w.set.PDF.MaxSide, Format: pr.w.set.PDF.Format, Renderer: markdown.OneLine(doc.Renderer, 60),
			Code: from.code, Reason: from.how,
		},
		tools: map[string]string{},
	}
	maps.Copy(out.tools, from.tools)
	if doc.Renderer != "" {
		out.tools[markdown.OneLine(doc.Renderer, 60)] = markdown.OneLine(doc.Version, 60)
	}
	pages, fits := spread(labels, doc)
	if !fits {
		out.warnings = append(out.warnings, fmt.Sprintf("pictures of the pages were not made: %d pages were printed of %d parts, and nothing shows which belong together", doc.Pages, len(labels)))
		return out, nil
	}
	return out, pr.drawPrinted(ctx, s, pages, pr.mostPages(), &out)
}

// mostPages returns how many pages get pictures.
func (pr printing) mostPages() int {
	if pr.w.im.Office == nil {
		return printedPages
	}
	return pr.w.im.Office.MaxPages()
}

// reasonOf returns an error's message for users.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*extract.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// convert lets LibreOffice make another format of the job's file, and keeps the result among the records. It does nothing if that
// exists.
func (pr printing) convert(ctx context.Context, from, to, name string) error {
	if info, err := fs.Stat(pr.w.store.records.FS(), name); err == nil && info.Size() > 0 {
		return nil
	}
	data, err := pr.w.im.Office.Convert(ctx, pr.w.job.at(), from, to)
	if err != nil {
		return err
	}
	return put(ctx, pr.w.store.records, name, data)
}

// spread returns the printed pages that show each part, counted from 1: all pages if there is one part, one each if the numbers
// match, else those from a bookmark with the part's name to the next. fits is false if none of that applies.
func spread(labels []string, doc extract.Document) (pages map[int][]int, fits bool) {
	pages = map[int][]int{}
	switch {
	case len(labels) == 1:
		for n := 1; n <= doc.Pages; n++ {
			pages[1] = append(pages[1], n)
		}
		return pages, true
	case doc.Pages == len(labels):
		for n := range labels {
			pages[n+1] = []int{n + 1}
		}
		return pages, true
	}
	var marks []extract.OutlineItem
	for _, o := range doc.Outline {
		if o.Level == 1 && o.Page >= 1 && o.Page <= doc.Pages {
			marks = append(marks, o)
		}
	}
	for i, label := range labels {
		at := slices.IndexFunc(marks, func(o extract.OutlineItem) bool { return strings.TrimSpace(o.Title) == strings.TrimSpace(label) })
		if at < 0 {
			continue // not printed: an empty or a hidden sheet
		}
		end := doc.Pages + 1
		if at+1 < len(marks) {
			end = max(marks[at+1].Page, marks[at].Page+1)
		}
		for n := marks[at].Page; n < end; n++ {
			pages[i+1] = append(pages[i+1], n)
		}
	}
	return pages, len(pages) > 0
}

// drawPrinted draws at most this many pages.
func (pr printing) drawPrinted(ctx context.Context, s *reading.Reader, pages map[int][]int, most int, out *printed) error {
	var failed, small []int
	why, made, row := "", 0, 0
	for _, part := range slices.Sorted(maps.Keys(pages)) {
		for _, n := range pages[part] {
			if made == most {
				out.warnings = append(out.warnings, fmt.Sprintf("only the first %d pages have pictures; ingestion.office.max_pages sets how many", most))
				made++
			}
			if made > most || row >= giveUpAfter {
				continue
			}
			image, bad, err := pr.drawOne(ctx, s, n)
			switch {
			case err != nil:
				return err
			case bad != nil:
				failed, why, row = append(failed, n), bad.Message, row+1
				continue
			case image.DPI > 0 && image.DPI < legibleDPI:
				small = append(small, n)
			}
			made, row = made+1, 0
			out.images[part] = append(out.images[part], *image)
		}
	}
	if len(failed) > 0 {
		out.warnings = append(out.warnings, fmt.Sprintf("%s could not be drawn: %s", content.PageList(failed), why))
	}
	if len(small) > 0 {
		out.warnings = append(out.warnings, fmt.Sprintf("%s: printed so large that a picture can hardly be read; the text has all", content.PageList(small)))
	}
	return nil
}

// drawOne draws a printed page. An error ends the import, a PageError is the page's alone.
func (pr printing) drawOne(ctx context.Context, s *reading.Reader, n int) (*manifest.PageImage, *reading.PageError, error) {
	set := pr.w.set.PDF
	got, err := s.Page(ctx, extract.PageRequest{N: n, Image: true, DPI: set.DPI, MaxSide: set.MaxSide, MaxPixels: set.MaxPixels, Format: set.Format})
	if bad := reading.PageErrorOf(err); bad != nil {
		return nil, bad, nil
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, reading.Failed(failure.Crashed, "%s", reading.Plain(err.Error(), "the worker failed")), nil
	}
	p := manifest.Page{N: n}
	bad, err := pageFiles{w: pr.w}.keepPicture(ctx, &p, got.Image)
	return p.Image, bad, err
}
