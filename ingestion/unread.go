package ingestion

import (
	"context"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/preview"
)

// kept is what a file is that is not read, and how to have it read, or "".
func kept(mediaType string) string {
	what, advice := filetype.Name(mediaType)
	switch {
	case what == "":
		return ""
	case advice == "":
		return "This is " + what + ", which is kept and not read."
	}
	return "This is " + what + ", which is kept and not read; " + advice + "."
}

// unreadPicture keeps a picture or drawing of a format that is not read, and shows the preview that it has for others.
type unreadPicture struct{ w *work }

func (u unreadPicture) extract(ctx context.Context) error {
	w := u.w
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return fault.Storage("open "+w.job.at(), err)
	}
	defer file.Close()
	rec := w.store.begin(manifest.Document{})
	small, err := pageFiles{w: w}.fitted(ctx, preview.Find(file, size, w.job.Route.MediaType))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // there is none, or none that the worker can decode
		rec.Message = kept(w.job.Route.MediaType)
		return save(ctx, w.store.records, documentName, rec)
	}
	rec.Document.Pages = 1
	rec.Warnings = append(rec.Warnings, "The picture is only the preview in the file. "+kept(w.job.Route.MediaType))
	if err := save(ctx, w.store.records, documentName, rec); err != nil {
		return err
	}
	if _, err := w.store.missing(1); err != nil {
		return err
	}
	p := manifest.Page{N: 1, Status: manifest.PageDone}
	bad, err := pageFiles{w: w}.keepPicture(ctx, &p, &extract.PageImage{MediaType: small.MediaType, Width: small.Width, Height: small.Height, Bytes: small.Data})
	if err != nil {
		return err
	}
	if bad != nil {
		p.Status, p.Error = manifest.PageFailed, bad.Message
	}
	return w.store.finish(ctx, p)
}
