package ingestion

import (
	"cmp"
	"errors"
	"io"
)

// Kind is what a file is, as far as its handling goes.
type Kind string

// The kinds of files.
const (
	KindText    Kind = "text"
	KindHTML    Kind = "html"
	KindPDF     Kind = "pdf"
	KindOffice  Kind = "office_doc"
	KindImage   Kind = "image"
	KindEmail   Kind = "email"
	KindArchive Kind = "archive"
	KindAudio   Kind = "audio"
	KindVideo   Kind = "video"
	KindUnknown Kind = "unknown_binary"
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{KindText, KindHTML, KindPDF, KindOffice, KindImage, KindEmail, KindArchive, KindAudio, KindVideo, KindUnknown}
}

// Route says what a file is and who handles it.
type Route struct {
	Kind      Kind     `json:"kind"`
	MediaType string   `json:"media_type"`
	Handler   string   `json:"handler"` // name of the handler that this version has for the kind
	Evidence  Evidence `json:"evidence"`
}

// routeOf classifies an open file of a job.
func routeOf(j Job, file io.ReaderAt, size int64) (Route, error) {
	head := make([]byte, min(size, headBytes))
	if _, err := file.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return Route{}, err
	}
	return Classify(cmp.Or(j.Declared, j.Settings.Asked.Declared), j.Source, head, file, size), nil
}

// Evidence is what a routing decision was made from. Declared, Magic and Extension are media types, empty when there was
// none to be had.
type Evidence struct {
	Declared  string `json:"declared"`
	Magic     string `json:"magic"`
	Extension string `json:"extension"`
	Decision  string `json:"decision"` // declared, magic, extension or fallback: who decided
	Reason    string `json:"reason"`   // in words
}
