package ingestion

import (
	"context"
	"errors"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// picture makes a page of a picture: upright, without its location, with the text in it. A picture that fits stays as it is, but
// for its metadata. The worker decodes all others, and recognises all text: a large picture must not take the daemon's memory.
type picture struct{}

func (picture) name() string { return "image" }

// photoConfidence is the least confidence of text in a picture: in photographs without text, Tesseract finds letters in leaves.
const photoConfidence = 40

// frames imports a picture, or a stack of them.
type frames struct {
	w       *work
	s       *reading.Reader
	made    *imaging.Encoded // as it may stay; nil if the worker must decode it
	refused error            // why the worker does not; nil if it does
}

func (picture) extract(ctx context.Context, w *work) error {
	if w.job.Route.MediaType == filetype.Comic {
		return comic{w}.extract(ctx)
	}
	if what, _ := filetype.Name(w.job.Route.MediaType); what != "" {
		return unreadPicture{w}.extract(ctx)
	}
	f := &frames{w: w, s: w.reader(extract.Open{MediaType: w.job.Route.MediaType, Kind: extract.KindImage})}
	defer f.s.Close()
	rec, ok, err := w.store.document()
	if err != nil {
		return err
	}
	if f.made, err = f.asIs(); err != nil {
		return err
	}
	if !ok || f.wantsWorker() {
		todo, err := w.store.missing(rec.Document.Pages)
		if err != nil {
			return err
		}
		if ok && len(todo) == 0 {
			return f.again(ctx, rec)
		}
		if rec, err = f.open(ctx, rec, ok); err != nil {
			return err
		}
	}
	if err := f.pages(ctx, rec); err != nil {
		return err
	}
	return f.again(ctx, rec)
}

// again has a model read the pages whose text is doubtful.
func (f *frames) again(ctx context.Context, rec documentRecord) error {
	return vision{w: f.w, picture: func(_ context.Context, p *manifest.Page) ([]byte, string, error) { return pageFiles{w: f.w}.shown(p) }}.pages(ctx, rec.Document.Pages)
}

// asIs returns the picture if it may stay as it is, without metadata unless that is kept, or nil. It decodes nothing.
func (f *frames) asIs() (*imaging.Encoded, error) {
	file, size, err := f.w.im.open(f.w.job.at())
	if err != nil {
		return nil, fault.Storage("open "+f.w.job.at(), err)
	}
	defer file.Close()
	made, err := imaging.AsIs(file, size, f.w.pictureLimits())
	switch {
	case errors.Is(err, imaging.ErrTooLarge):
		return nil, fault.Permanent(failure.TooLarge, "make the picture smaller and drop it again", "%v", err)
	case err != nil:
		return nil, nil //nolint:nilerr // the worker reads it, or returns the reason
	case f.w.set.Image.KeepLocation:
		return &made, nil
	}
	data, ok := imaging.WithoutMetadata(made.MediaType, made.Data)
	if !ok {
		return nil, nil // encoding it again drops its metadata
	}
	made.Data = data
	return &made, nil
}

// pictureLimits are what pictures must fit to be kept as they are.
func (w *work) pictureLimits() imaging.Limits {
	return imaging.Limits{MaxSide: w.set.Image.MaxSide, MaxDecodePixels: w.set.Image.MaxDecodePixels}
}

func (f *frames) wantsWorker() bool { return f.made == nil || f.imageStrategy(config.StrategyImageOCR) }

// open asks the worker for the number of pages, if that is needed, and makes the record.
func (f *frames) open(ctx context.Context, rec documentRecord, known bool) (documentRecord, error) {
	w := f.w
	doc := extract.Document{Pages: 1}
	if f.wantsWorker() {
		var err error
		if doc, err = f.s.Start(ctx); err != nil {
			if ctx.Err() != nil || !f.mayDoWithout() {
				return rec, err
			}
			f.refused = err
			doc = extract.Document{Pages: 1}
		}
	}
	if known {
		return rec, nil
	}
	switch {
	case doc.Pages <= 0:
		return rec, fault.Permanent(failure.Corrupt, "open the picture in a viewer and save it again", "there is no picture in the file")
	case doc.Pages > w.set.MaxPages:
		return rec, fault.Permanent(failure.TooLarge, "split the file", "the file has %d pictures, the limit is %d", doc.Pages, w.set.MaxPages)
	}
	rec = w.store.begin(manifest.Document{Pages: doc.Pages})
	if doc.Renderer != "" {
		rec.Tools[markdown.OneLine(doc.Renderer, 60)] = markdown.OneLine(doc.Version, 60)
	}
	if f.refused != nil {
		if f.made == nil && !f.mayHelp() {
			rec.Warnings = append(rec.Warnings, "the picture was not converted: "+f.why())
			rec.Document.Pages = 0 // the note shows the original instead
			rec.Message = unread(filetype.KindImage)
		}
	}
	return rec, save(ctx, w.store.records, documentName, rec)
}

// mayDoWithout reports whether the picture is imported although the worker does not read it: with image_copy, it is copied if
// it fits or Obsidian shows it.
func (f *frames) mayDoWithout() bool {
	return f.imageStrategy(config.StrategyImageCopy) && (f.made != nil || shown[f.w.job.Route.MediaType] && f.w.set.KeepOriginal == config.KeepInBundle)
}

// mayHelp reports whether another attempt may convert the picture: there is no worker, or something else ended the workers. The page
// is partial then, and the note shows the original meanwhile.
func (f *frames) mayHelp() bool {
	e, ok := errors.AsType[*fault.Error](f.refused)
	return ok && (e.Transient || e.Code == failure.Crashed)
}

// why is the reason for which no worker reads the picture, and what to do about it.
func (f *frames) why() string {
	return reading.Plain(advised(f.refused), "no reason is known")
}

// shown holds the formats that Obsidian shows.
var shown = map[string]bool{
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/svg+xml": true, "image/avif": true, "image/webp": true, "image/bmp": true,
}

func (f *frames) imageStrategy(name string) bool {
	for _, s := range f.w.set.Image.Strategies {
		if s == name {
			return true
		}
	}
	return false
}

func (f *frames) pages(ctx context.Context, rec documentRecord) error {
	todo, err := f.w.store.missing(rec.Document.Pages)
	if err != nil {
		return err
	}
	for _, n := range todo {
		p := manifest.Page{N: n, Status: manifest.PageDone}
		if err := f.draw(ctx, &p); err != nil {
			return err
		}
		if err := f.read(ctx, &p); err != nil {
			return err
		}
		if err := f.w.store.finish(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// draw makes the page's picture.
func (f *frames) draw(ctx context.Context, p *manifest.Page) error {
	switch {
	case f.made != nil:
		return f.take(ctx, p, *f.made)
	case f.refused != nil:
		p.Status, p.Error = manifest.PagePartial, "the picture was not converted: "+f.why()
		return nil
	}
	set := f.w.set.Image
	got, err := f.s.Page(ctx, extract.PageRequest{N: p.N, Image: true, MaxSide: set.MaxSide, MaxPixels: f.w.set.PDF.MaxPixels})
	bad := reading.PageErrorOf(err)
	if err != nil && bad == nil {
		return err
	}
	if err == nil {
		if bad, err = (pageFiles{w: f.w}).keepPicture(ctx, p, got.Image); err != nil {
			return err
		}
	}
	if bad != nil {
		p.Status, p.Error = manifest.PageFailed, bad.Message
	}
	lacking(p, got.Lacks)
	return nil
}

func (f *frames) take(ctx context.Context, p *manifest.Page, made imaging.Encoded) error {
	bad, err := pageFiles{w: f.w}.keepPicture(ctx, p, &extract.PageImage{MediaType: made.MediaType, Width: made.Width, Height: made.Height, Bytes: made.Data})
	if bad != nil {
		p.Status, p.Error = manifest.PageFailed, bad.Message
	}
	return err
}
