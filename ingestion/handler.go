package ingestion

import (
	"context"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
)

// A handler makes pages, text and records from files of some kinds. To add one, write a file with a type, name its kind in
// package filetype, and add it to handlers.
type handler interface {
	name() string
	// extract writes pages into w's bundle, a record for each, and the document's record. It skips what has a record.
	extract(ctx context.Context, w *work) error
}

// handlers lists all handlers.
func handlers() []handler {
	return []handler{textFile{}, webFile{}, pdf{}, officeFile{}, packageFile{}, picture{}, mailFile{}, collection{}, recording{}}
}

// handlerFor returns the handler of a kind. Kinds without one are kept with a note that says so.
func handlerFor(k filetype.Kind) handler {
	for _, h := range handlers() {
		if h.name() == k.Handler() {
			return h
		}
	}
	return keeper{}
}

// keeper keeps files that this version does not read, unchanged, with a note about them.
type keeper struct{}

func (keeper) name() string { return "keep" }

// kindWords names the kinds for users.
var kindWords = map[filetype.Kind]string{
	filetype.KindHTML: "web pages", filetype.KindOffice: "office documents", filetype.KindEmail: "e-mails", filetype.KindArchive: "archives", filetype.KindVideo: "films",
	filetype.KindText: "text files of this size", filetype.KindImage: "pictures of this format",
}

func (keeper) extract(ctx context.Context, w *work) error {
	_, ok, err := w.store.document()
	if err != nil || ok {
		return err
	}
	rec := w.store.begin(manifest.Document{})
	rec.Message = "The file is empty."
	if w.job.Size > 0 {
		rec.Message = orElse(kept(w.job.Route.MediaType), unread(w.job.Route.Kind))
	}
	return save(ctx, w.store.records, documentName, rec)
}

func unread(k filetype.Kind) string {
	words, ok := kindWords[k]
	if !ok {
		words = "files of this kind"
	}
	return "This version of vaultflow does not read " + words + ". The original is kept unchanged."
}
