package extract

// Kinds of documents that a worker opens.
const (
	KindPDF   = "pdf"
	KindImage = "image"
)

// Open asks the worker to open the document that it was given as file descriptor 3. The answer is a [Document] or an
// [*Error].
type Open struct {
	MediaType string `json:"media_type,omitempty"`
	Kind      string `json:"kind"` // KindPDF or KindImage
}

// Document is what is known of an opened document. All strings were written by the author of the file.
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
	Forms         bool          `json:"forms,omitempty"` // the file declares form fields
	Renderer      string        `json:"renderer"`        // "mupdf" or "image"
	Version       string        `json:"version,omitempty"`
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
	Confinement string   `json:"confinement"` // ConfinedLandlock, ConfinedFiles, ConfinedLimits or ConfinedNot
	Notes       []string `json:"notes,omitempty"`
}

// Protocol is the version of the frames. A worker with another one is refused.
const Protocol = 3

// Levels of confinement that a worker reports.
const (
	ConfinedLandlock = "landlock" // resource limits, no files but its own data, no network or at least no TCP
	ConfinedFiles    = "files"    // resource limits, no files but its own data; the network is within reach
	ConfinedLimits   = "rlimits"  // resource limits only
	ConfinedNot      = "none"
)
