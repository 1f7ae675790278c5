// Package filetype recognises what a file is, from its bytes, its name and what somebody declares.
package filetype

// Kind is a kind of file that is read in its own way.
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
	KindPackage Kind = "package" // an archive that a program reads as one file
	KindAudio   Kind = "audio"
	KindVideo   Kind = "video"
	KindUnknown Kind = "unknown_binary"
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{KindText, KindHTML, KindPDF, KindOffice, KindImage, KindEmail, KindArchive, KindPackage, KindAudio, KindVideo, KindUnknown}
}

// Route is what a file is, and who reads it.
type Route struct {
	Kind      Kind     `json:"kind"`
	MediaType string   `json:"media_type"`
	Handler   string   `json:"handler"` // that this version has for the kind; see Handler
	Evidence  Evidence `json:"evidence"`
}

// Evidence is the basis of the decision. Declared, Magic and Extension are media types, or "".
type Evidence struct {
	Declared  string `json:"declared"`
	Magic     string `json:"magic"`
	Extension string `json:"extension"`
	Decision  string `json:"decision"` // declared, magic, extension or fallback: who decided
	Reason    string `json:"reason"`   // in words
}

// Handler returns the name of what reads files of a kind. Files without a reader are kept with a note.
func (k Kind) Handler() string {
	if name, ok := handlers[k]; ok {
		return name
	}
	return "keep"
}

var handlers = map[Kind]string{
	KindText: "text", KindHTML: "html", KindPDF: "pdf", KindOffice: "office", KindImage: "image", KindEmail: "email", KindArchive: "archive",
	KindPackage: "package", KindAudio: "audio",
}
