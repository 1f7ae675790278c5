package ingestion

import (
	"context"
	"errors"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/office"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// comic makes a page of each picture of a comic. Its text is drawn, often by hand, and not recognised.
type comic struct{ w *work }

func (c comic) extract(ctx context.Context) error {
	w := c.w
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return fault.Storage("open "+w.job.at(), err)
	}
	defer file.Close()
	doc, err := office.Comic(file, size, office.Limits{Pictures: w.set.MaxPages})
	if err != nil {
		return officeFault(err)
	}
	if len(doc.Pictures) == 0 {
		return fault.Permanent(failure.Corrupt, "copy or download it again", "there is no picture in the comic")
	}
	if _, known, err := w.store.document(); err != nil || !known {
		if err != nil {
			return err
		}
		rec := w.store.begin(manifest.Document{Title: doc.Title, Author: doc.Author, Created: doc.Created, Pages: len(doc.Pictures)})
		rec.Warnings, rec.Damaged = doc.Warnings, doc.Damaged
		if err := save(ctx, w.store.records, documentName, rec); err != nil {
			return err
		}
	}
	todo, err := w.store.missing(len(doc.Pictures))
	if err != nil {
		return err
	}
	w.store.start()
	for _, n := range todo {
		if err := c.page(ctx, n, func() ([]byte, error) { return doc.Data(n-1, maxAsset) }); err != nil {
			return err
		}
	}
	return nil
}

// page makes a page of a picture.
func (c comic) page(ctx context.Context, n int, load func() ([]byte, error)) error {
	p := manifest.Page{N: n, Status: manifest.PageDone, Text: &manifest.PageText{Source: manifest.TextNone}}
	bad, err := c.draw(ctx, &p, load)
	if err != nil {
		return err
	}
	if bad != nil {
		p.Status, p.Error = manifest.PageFailed, bad.Message
	}
	return c.w.store.finish(ctx, p)
}

func (c comic) draw(ctx context.Context, p *manifest.Page, load func() ([]byte, error)) (*reading.PageError, error) {
	data, err := load()
	if err != nil {
		return reading.Failed(failure.Corrupt, "%s", damage(err)), nil
	}
	files := pageFiles{w: c.w}
	made, err := files.fitted(ctx, data)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Transient {
		return nil, err // no worker: the import waits
	}
	if bad := reading.PageErrorOf(err); bad != nil {
		return bad, nil
	}
	if err != nil {
		return reading.Failed(failure.Corrupt, "the picture cannot be read: %v", err), nil
	}
	return files.keepPicture(ctx, p, &extract.PageImage{MediaType: made.MediaType, Width: made.Width, Height: made.Height, Bytes: made.Data})
}
