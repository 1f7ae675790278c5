package ingestion

import (
	"context"
	"errors"

	"github.com/vaultflow/vaultflow/ingestion/office"
)

// officeFile reads word processor files, presentations, spreadsheets and e-books.
type officeFile struct{}

var _ = register(officeFile{})

func (officeFile) name() string        { return "office" }
func (officeFile) kinds() []Kind       { return []Kind{KindOffice} }
func (officeFile) write(n *note) error { return n.composed() }

func (officeFile) extract(ctx context.Context, w *work) error {
	if done, err := w.composedBefore(); err != nil || done {
		return err
	}
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return storage("open "+w.job.at(), err)
	}
	defer file.Close()
	doc, err := office.Read(file, size, office.Limits{})
	switch {
	case errors.Is(err, office.ErrUnknown), errors.Is(err, office.ErrEncrypted) && old[w.job.Route.MediaType]:
		return keeper{}.extract(ctx, w)
	case errors.Is(err, office.ErrEncrypted):
		return permanent(CodeNeedsPassword, "open it, save it without its password, and drop it again", "the file is protected with a password")
	case err != nil:
		return permanent(CodeCorrupt, "open it in the program that made it and save it anew", "the file cannot be read: %v", err)
	}
	c := composed{title: doc.Title, author: doc.Author, created: doc.Created, warnings: doc.Warnings}
	for _, part := range doc.Parts {
		c.parts = append(c.parts, composedPart{part.Label, part.Markdown(pictureMark)})
	}
	for i := range doc.Pictures {
		c.pictures = append(c.pictures, func() ([]byte, error) { return doc.Data(i, maxAsset) })
	}
	return w.compose(ctx, c)
}

// old are formats that were replaced by those that package office reads. They begin with the same bytes as an encrypted
// file of the new ones.
var old = map[string]bool{
	"application/msword": true, "application/vnd.ms-excel": true, "application/vnd.ms-powerpoint": true, "text/rtf": true, "application/rtf": true,
}
