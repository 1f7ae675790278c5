package ingestion

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/vaultflow/vaultflow/failure"
	"github.com/vaultflow/vaultflow/ingestion/config"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/fault"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
	"github.com/vaultflow/vaultflow/ingestion/reading"
)

// pdf makes text and pictures of a document's pages.
type pdf struct{}

func (pdf) name() string { return "pdf" }

func (pdf) extract(ctx context.Context, w *work) error {
	open := extract.Open{MediaType: w.job.Route.MediaType, Kind: extract.KindPDF, Renderer: w.set.PDF.Renderer, Passwords: w.passwords()}
	first := w.reader(open)
	defer first.Close()
	rec, ok, err := w.store.document()
	if err != nil {
		return err
	}
	if !ok {
		doc, err := first.Start(ctx)
		if err != nil {
			return err
		}
		if rec, err = opened(w, doc); err != nil {
			return err
		}
		if err := (attaching{w}).keep(ctx, first, doc.Attached, &rec); err != nil {
			return err
		}
		if err := save(ctx, w.store.records, documentName, rec); err != nil {
			return err
		}
	}
	if err := (pageLoop{w}).loop(ctx, first, rec.Document.Pages); err != nil {
		return err
	}
	again, closed := inPDF(w, open)
	defer closed()
	return again.pages(ctx, rec.Document.Pages)
}

// opened checks an opened document against the limits and makes its record.
func opened(w *work, doc extract.Document) (documentRecord, error) {
	switch {
	case doc.NeedsPassword:
		return documentRecord{}, reading.NeedsPassword()
	case doc.Pages <= 0:
		return documentRecord{}, fault.Permanent(failure.Corrupt, "open the file in a viewer; if that works, save it under a new name and drop it again", "the document has no pages")
	case doc.Pages > w.set.MaxPages:
		return documentRecord{}, fault.Permanent(failure.TooLarge, "split the document, or raise ingestion.pdf.max_pages in settings.yaml",
			"the document has %d pages, the limit is %d", doc.Pages, w.set.MaxPages)
	}
	rec := w.store.begin(describe(doc))
	if doc.Renderer != "" {
		rec.Tools[markdown.OneLine(doc.Renderer, 60)] = markdown.OneLine(doc.Version, 60)
	}
	if w.set.PDF.Mode != config.ModeMarkdown {
		rec.Render = &manifest.Render{DPI: w.set.PDF.DPI, MaxSide: w.set.PDF.MaxSide, Format: w.set.PDF.Format, Renderer: markdown.OneLine(doc.Renderer, 60), Code: markdown.OneLine(doc.Code, 40), Reason: markdown.OneLine(doc.Reason, 300)}
	}
	rec.CutOff = doc.CutOff
	if doc.XFA {
		rec.Warnings = append(rec.Warnings, "this is an XFA form, of which other programs than Adobe Reader show and read only a notice: open it there, print it to a PDF, and drop that")
	}
	if doc.Pages > w.set.WarnPages {
		rec.Warnings = append(rec.Warnings, fmt.Sprintf("the document has %d pages: a model may not accept them all at once", doc.Pages))
	}
	return rec, nil
}

// maxOutline limits the outline of a note.
const maxOutline = 2000

// describe returns the document's own description, within limits.
func describe(doc extract.Document) manifest.Document {
	d := manifest.Document{
		Title: markdown.OneLine(doc.Title, 300), Author: markdown.OneLine(doc.Author, 300), Subject: markdown.OneLine(doc.Subject, 300), Created: moment(doc.Created),
		Pages: doc.Pages, Encrypted: doc.Encrypted, Tagged: doc.Tagged, Forms: doc.Forms, Language: languageOf(doc.Language),
	}
	for _, o := range doc.Outline[:min(len(doc.Outline), maxOutline)] {
		title := markdown.OneLine(o.Title, 300)
		if title == "" {
			continue
		}
		item := extract.OutlineItem{Level: min(max(o.Level, 1), 10), Title: title}
		if o.Page >= 1 && o.Page <= doc.Pages {
			item.Page = o.Page
		}
		d.Outline = append(d.Outline, item)
	}
	return d
}

// tagForm matches a language tag (RFC 5646).
var tagForm = regexp.MustCompile(`^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$`)

// languageOf returns a document's language if it is a language tag, or "".
func languageOf(tag string) string {
	if len(tag) > 35 || !tagForm.MatchString(tag) {
		return ""
	}
	return tag
}

var pdfDate = regexp.MustCompile(`^(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?`)

// moment returns a document's date (ISO 32000-1 section 7.9.4, or RFC 3339) as local time there, or "" if it is not one.
func moment(s string) string {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339, manifest.LocalTime, "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.Format(manifest.LocalTime)
		}
	}
	found := pdfDate.FindStringSubmatch(s)
	if found == nil {
		return ""
	}
	digits := found[1]
	for i, otherwise := range []string{"01", "01", "00", "00", "00"} {
		if part := found[i+2]; part != "" {
			otherwise = part
		}
		digits += otherwise
	}
	t, err := time.Parse("20060102150405", digits)
	if err != nil || t.Year() < 1000 {
		return ""
	}
	return t.Format(manifest.LocalTime)
}

// passwordSuffix ends the name of a file with the passwords of the PDF beside it, one per line: name.pdf.password. Such a file is
// never imported and never removed.
const passwordSuffix = ".password"

// maxPasswordFile limits a file of passwords, in bytes.
const maxPasswordFile = 16 << 10

// passwords lists what may open the job's document: what came with the job, the files beside it where it arrived and where it is
// now, and the settings. They are read again for each attempt, and are in no record.
func (w *work) passwords() []string {
	var out []string
	if w.im.Passwords != nil {
		out = w.im.Passwords(w.job)
	}
	for _, name := range []string{w.job.Source, w.job.at()} {
		if text, ok := readPasswords(w.im, name+passwordSuffix); ok {
			for line := range strings.Lines(text) {
				if line = strings.TrimRight(line, "\r\n"); line != "" {
					out = append(out, line)
				}
			}
		}
	}
	return out
}

// readPasswords reads a file of passwords. One that cannot be read counts as missing.
func readPasswords(im *Importer, name string) (string, bool) {
	file, size, err := im.open(name)
	if err != nil {
		return "", false
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, 0, min(size, maxPasswordFile)))
	return strings.TrimPrefix(string(data), "\ufeff"), err == nil
}
