package ingestion

import (
	"github.com/vaultflow/vaultflow/ingestion/filetype"
)

// The kinds of events.
const (
	EventRoute   = "route"
	EventPage    = "page"
	EventWarning = "warning"
)

// Event is something that happened to an import. Events are hints for people; nothing depends on their arrival.
type Event struct {
	Import  string          `json:"import"`
	Source  string          `json:"source"`
	Kind    string          `json:"kind"`
	Page    int             `json:"page,omitempty"`         // the page that was finished, from 1
	Pages   int             `json:"pages,omitempty"`        // of the document
	Done    int             `json:"done,omitempty"`         // pages that have a record, those of earlier attempts included
	Failed  int             `json:"failed,omitempty"`       // of these, the ones that failed
	Left    int             `json:"seconds_left,omitempty"` // about how long the other pages take; 0 when it is not known
	OCR     bool            `json:"ocr,omitempty"`
	Message string          `json:"message,omitempty"`
	Route   *filetype.Route `json:"route,omitempty"`
}
