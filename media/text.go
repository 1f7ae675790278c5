package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/filetype"
	"github.com/vaultflow/vaultflow/ingestion/office"
)

// Bounds of what is read of one fetched document.
const (
	maxFetchedPages = 200
	maxFetchedText  = 2 << 20 // bytes
	maxFetchedTime  = 2 * time.Minute
)

// Handlers of fetched documents, by what reads their text.
const (
	handlerPDF    = "pdf_text" // the text that the pages of a PDF hold, read in the worker
	handlerOffice = "office"
)

var errNoText = errors.New("no text can be read of it")

// Text is what was read of a document.
type Text struct {
	Handler   string // what read it
	Text      string
	Chars     int  // of Text
	Truncated bool // the document continues after it
}

// ReadText reads the text of a fetched PDF or office file. Pages without text of their own are named: recognising text in
// pictures takes minutes, and importing the file does it.
func ReadText(ctx context.Context, worker Worker, f *os.File, kind filetype.Kind) (Text, error) {
	ctx, cancel := context.WithTimeout(ctx, maxFetchedTime)
	defer cancel()
	var read Text
	var err error
	switch kind {
	case filetype.KindPDF:
		read, err = readPDF(ctx, worker, f)
	case filetype.KindOffice:
		read, err = readOffice(f)
	default:
		return read, errNoText
	}
	if err != nil {
		return read, err
	}
	if len(read.Text) > maxFetchedText {
		read.Text, read.Truncated = strings.ToValidUTF8(read.Text[:maxFetchedText], ""), true
	}
	read.Chars = utf8.RuneCountInString(read.Text)
	return read, nil
}

func readPDF(ctx context.Context, worker Worker, f *os.File) (Text, error) {
	read := Text{Handler: handlerPDF}
	if worker == nil {
		return read, ErrNoWorker
	}
	info, err := f.Stat()
	if err != nil {
		return read, err
	}
	if info.Size() > maxMediaFile {
		return read, fmt.Errorf("it is larger than %d MB", maxMediaFile>>20)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
	if err != nil {
		return read, err
	}
	session, doc, err := worker.OpenData(ctx, data, extract.Open{Kind: extract.KindPDF, MediaType: "application/pdf"})
	if err != nil {
		return read, inWords(err)
	}
	defer session.Close()
	var b strings.Builder
	for n := 1; n <= doc.Pages && b.Len() <= maxFetchedText; n++ {
		page, err := session.Page(ctx, extract.PageRequest{N: n, Text: true})
		if n > maxFetchedPages || err != nil {
			read.Truncated = true // what was read so far is of use
			break
		}
		text := "[this page has no text of its own]"
		if page.Text != nil && strings.TrimSpace(page.Text.Markdown) != "" {
			text = strings.TrimSpace(page.Text.Markdown)
			read.Text = "some"
		}
		fmt.Fprintf(&b, "## Page %d\n\n%s\n\n", n, text)
	}
	if read.Text == "" {
		return read, errNoText
	}
	read.Text = b.String()
	return read, nil
}

func readOffice(f *os.File) (Text, error) {
	info, err := f.Stat()
	if err != nil {
		return Text{}, err
	}
	doc, err := office.Read(f, info.Size(), office.Limits{})
	if err != nil {
		return Text{}, err
	}
	text := doc.Markdown(func(_ int, alt string) string {
		return strings.TrimSuffix("[picture: "+strings.TrimSpace(alt), ": ") + "]"
	})
	if len(doc.Warnings) > 0 {
		text += "\n\n[not read: " + strings.Join(doc.Warnings, "; ") + "]\n"
	}
	return Text{Handler: handlerOffice, Text: text}, nil
}
