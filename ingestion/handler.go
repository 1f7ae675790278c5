package ingestion

import (
	"context"

	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

// A handler makes pages, text and records from files of some kinds. To add one, write a file with a type, name its kind in
// package filetype, and add it to handlers.
type handler interface {
	name() string
	// extract writes pages into w's bundle and a record for each, and the document's record. It skips what has a record.
	extract(ctx context.Context, w *work) error
}

// handlers lists what reads files.
func handlers() []handler {
	return []handler{textFile{}, webFile{}, pdf{}, officeFile{}, picture{}, mailFile{}, collection{}}
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
