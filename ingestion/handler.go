package ingestion

import (
	"context"
	"fmt"
)

// A handler makes pages, text and records out of files of some kinds. To add one, write a file with a type and a line
// `var _ = register(theType{})`; nothing else changes.
type handler interface {
	name() string
	kinds() []Kind
	// extract writes pages into w's bundle and a record for each, the document's record among them. What has a record
	// is not made again.
	extract(ctx context.Context, w *work) error
	// write puts the contents of the note behind its title and list of facts.
	write(n *note) error
}

var registry = map[Kind]handler{}

// register is called while the package's variables are initialised, and never later.
func register(h handler) struct{} {
	for _, k := range h.kinds() {
		if other, taken := registry[k]; taken {
			panic(fmt.Sprintf("kind %s has the handlers %s and %s", k, other.name(), h.name()))
		}
		registry[k] = h
	}
	return struct{}{}
}

// handlerFor gives the handler of a kind; kinds without one are kept with a note that says so.
func handlerFor(k Kind) handler {
	if h, ok := registry[k]; ok {
		return h
	}
	return keeper{}
}
