package media

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/office"
	"github.com/vaultflow/vaultflow/prompt"
)

// officeTypes are the media types by office's kind.
var officeTypes = map[string]string{
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"odt":  "application/vnd.oasis.opendocument.text",
	"odp":  "application/vnd.oasis.opendocument.presentation",
	"ods":  "application/vnd.oasis.opendocument.spreadsheet",
	"epub": "application/epub+zip",
}

// office reads an office file as Markdown. Its pictures are named in their places and not shown, and what the reader left
// out is said at the end: layout, page borders, headers and footers, comments.
func (d *Documents) office(name, digest string, size int64) (prompt.Document, error) {
	f, err := d.fs.Open(name)
	if err != nil {
		return prompt.Document{}, err
	}
	defer f.Close()
	at, err := readerAt(f)
	if err != nil {
		return prompt.Document{}, fmt.Errorf("read: %w", err)
	}
	doc, err := office.Read(at, size, office.Limits{})
	switch {
	case errors.Is(err, office.ErrEncrypted):
		return prompt.Document{}, errors.New("encrypted, or in a format from before 2007")
	case errors.Is(err, office.ErrUnknown):
		return prompt.Document{}, errors.New("neither a PDF nor an office file that this version reads")
	case err != nil:
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			return prompt.Document{}, err
		}
		return prompt.Document{}, errors.New("it cannot be read as an office file: " + err.Error())
	}
	text := doc.Markdown(func(n int, alt string) string {
		if alt = strings.TrimSpace(alt); alt != "" {
			alt = ", " + alt
		}
		return "[picture not shown: " + doc.Pictures[n].Name + alt + "]"
	})
	if len(doc.Warnings) > 0 {
		text = strings.TrimRight(text, "\n") + "\n\n[not read: " + strings.Join(doc.Warnings, "; ") + "]\n"
	}
	return prompt.Document{MediaType: officeTypes[doc.Kind], Size: size, SHA256: digest, Markdown: text}, nil
}
