package prompt

import "context"

// Documents reads files that are neither text nor a picture: PDF and office files. Errors say in words why a file cannot be
// shown ("encrypted", "the worker is missing"); one that is fs.ErrNotExist counts as missing. Implementations may be
// asked for the same file several times in one prompt.
type Documents interface {
	// Describe reads the pages with their sizes, and of an office file its Markdown. Nothing is rendered.
	Describe(ctx context.Context, name string) (Document, error)
	// PageText is the text of a page, counted from 1; "" when it has none.
	PageText(ctx context.Context, name string, page int) (string, error)
}

// Document is what is known about a file with pages. Size is in bytes.
type Document struct {
	MediaType string
	Size      int64
	SHA256    string
	Pages     []DocumentPage // of a PDF all pages; of an office file those that must be seen, or none
	Markdown  string         // of an office file: the whole of it as Markdown
	Imported  string         // vault name of the bundle, when this is an original that was imported
}

// DocumentPage is a page. Width and Height are pixels at the resolution at which it will be rendered.
type DocumentPage struct {
	Width   int
	Height  int
	Label   string // the page's own number, such as iv; empty when it has none
	Picture string // vault name of a picture of the page that exists already; empty: it is rendered when it is sent
}
