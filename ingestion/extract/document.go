package extract

import (
	"fmt"
	"log/slog"
)

// Kinds of documents that a worker opens.
const (
	KindPDF   = "pdf"
	KindImage = "image"
)

// MediaXPS is the type of a document of printed pages that MuPDF draws as it draws those of a PDF.
const MediaXPS = "application/oxps"

// Open asks the worker to open the document that it was given as file descriptor 3. The answer is a [Document] or an
// [*Error].
type Open struct {
	MediaType    string   `json:"media_type,omitempty"`
	Kind         string   `json:"kind"`                    // KindPDF or KindImage
	Renderer     string   `json:"renderer,omitempty"`      // of a PDF: RenderAuto (also ""), RenderMuPDF or RenderPDFium
	WithoutMuPDF bool     `json:"without_mupdf,omitempty"` // opening the document ended the worker
	Alone        bool     `json:"alone,omitempty"`         // read no page but the one asked for: reading text ended the worker, maybe of another page
	Passwords    []string `json:"passwords,omitempty"`     // to try; they travel in this frame only and are in no answer
}

// Format prints no password, whatever the verb.
func (o Open) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s of type %q with %d passwords", o.Kind, o.MediaType, len(o.Passwords)) // a printer reports its own faults
}

// LogValue logs no password.
func (o Open) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(o)) }

// Renderers of [Open]. RenderAuto draws with MuPDF, and with PDFium what MuPDF does not draw.
const (
	RenderAuto   = "auto"
	RenderMuPDF  = "mupdf"
	RenderPDFium = "pdfium"
)

// NoFont is the code of a page whose picture lacks text, because neither the file nor this system has a font for it.
const NoFont = "no_font"

// Document describes an opened document. The author of the file wrote all of its strings.
type Document struct {
	Pages         int           `json:"pages"`
	Title         string        `json:"title,omitempty"`
	Author        string        `json:"author,omitempty"`
	Subject       string        `json:"subject,omitempty"`
	Created       string        `json:"created,omitempty"` // as RFC 3339 when the file's date could be read, else as written
	Outline       []OutlineItem `json:"outline,omitempty"`
	Encrypted     bool          `json:"encrypted,omitempty"`
	NeedsPassword bool          `json:"needs_password,omitempty"`
	Tagged        bool          `json:"tagged,omitempty"`
	Forms         bool          `json:"forms,omitempty"`    // the file declares form fields
	Language      string        `json:"language,omitempty"` // of the text, from the file (RFC 5646); may be empty
	Renderer      string        `json:"renderer"`           // "mupdf", "pdfium" or "image": what draws the pages that do not say otherwise
	Code          string        `json:"code,omitempty"`     // of the reason
	Reason        string        `json:"reason,omitempty"`   // why it is not the usual one, for people: the code, a colon, words
	Version       string        `json:"version,omitempty"`
	CutOff        bool          `json:"cut_off,omitempty"`  // a PDF without a mark of its end
	XFA           bool          `json:"xfa,omitempty"`      // a viewer makes its pages from a form's data, and shows others meanwhile
	Attached      []string      `json:"attached,omitempty"` // names of the files that are attached to a PDF
}

// OutlineItem is one entry of the table of contents that a file carries.
type OutlineItem struct {
	Level int    `json:"level"` // 1 is the top
	Title string `json:"title"`
	Page  int    `json:"page"` // counted from 1; 0 when the entry leads to no page
}

// Hello is the first frame of a worker: what it is and how it is confined. The worker sends it before it has read a byte
// of the document.
type Hello struct {
	Protocol    int      `json:"protocol"`
	Version     string   `json:"version"`
	MuPDF       string   `json:"mupdf"`
	Tesseract   string   `json:"tesseract"`
	Tessdata    string   `json:"tessdata,omitempty"`
	Languages   []string `json:"languages"`
	Confinement string   `json:"confinement"` // one of the levels below
	Notes       []string `json:"notes,omitempty"`
}

// Protocol is the version of the frames. A worker with another one is refused.
const Protocol = 4

// Levels of confinement that a worker reports.
const (
	ConfinedFull     = "full"     // resource limits, no files but its own data, and only the system calls that reading takes: no network, no writing, no other programs
	ConfinedLandlock = "landlock" // resource limits, no files but its own data, no network or at least no TCP
	ConfinedFiles    = "files"    // resource limits, no files but its own data; the network is within reach
	ConfinedCalls    = "seccomp"  // resource limits and only the system calls that reading takes; files can be read
	ConfinedLimits   = "rlimits"  // resource limits only
	ConfinedNot      = "none"
)

// CutRequest requests a document with only some pages of the open one, and nothing of the others, or a file that is attached to it.
// The answer is a [Cut] or an [*Error].
type CutRequest struct {
	Pages    []int `json:"pages,omitempty"`    // counted from 1, ascending
	Attached int   `json:"attached,omitempty"` // in place of pages: the file at this place of [Document.Attached], counted from 1
}

// MediaAttached is the type of an attached file, whatever it is.
const MediaAttached = "application/octet-stream"

// Cut is a document made of pages, or an attached file. Bytes travel in a frame of their own after it.
type Cut struct {
	MediaType string `json:"media_type"` // application/pdf, or MediaAttached
	Size      int    `json:"size"`
	Bytes     []byte `json:"-"`
}

func (r CutRequest) check() error {
	if r.Attached > 0 && r.Attached <= MaxAttached && len(r.Pages) == 0 {
		return nil
	}
	if len(r.Pages) == 0 || len(r.Pages) > maxCut {
		return fmt.Errorf("a cut of %d pages", len(r.Pages))
	}
	for i, n := range r.Pages {
		if n < 1 || n > maxPages || i > 0 && n <= r.Pages[i-1] {
			return fmt.Errorf("a cut with page %d at place %d", n, i)
		}
	}
	return nil
}

func (c Cut) check() error {
	if c.MediaType != "application/pdf" && c.MediaType != MediaAttached || c.Size < 1 || c.Size > MaxPicture {
		return fmt.Errorf("a cut of type %.40q and %d bytes", c.MediaType, c.Size)
	}
	return nil
}

// checkBytes compares what was announced with what came.
func (c Cut) checkBytes() error {
	if len(c.Bytes) != c.Size || c.MediaType != MediaAttached && (c.Size < 5 || string(c.Bytes[:5]) != "%PDF-") {
		return fmt.Errorf("%d bytes came that are not the %d of a PDF", len(c.Bytes), c.Size)
	}
	return nil
}
