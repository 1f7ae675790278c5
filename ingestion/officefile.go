package ingestion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/office"
)

// officeFile makes a page of each slide, sheet or chapter, and one of a whole text document. Embedded pictures lie in
// assets/ and stand in their places.
type officeFile struct{}

var _ = register(officeFile{})

func (officeFile) name() string  { return "office" }
func (officeFile) kinds() []Kind { return []Kind{KindOffice} }

// maxAsset bounds an embedded picture, in bytes.
const maxAsset = 64 << 20

func (officeFile) extract(ctx context.Context, w *work) error {
	rec, known, err := w.document()
	if err != nil {
		return err
	}
	if known {
		todo, err := w.missing(rec.Document.Pages)
		if err != nil || len(todo) == 0 {
			return err
		}
	}
	file, size, err := w.im.open(w.job.at())
	if err != nil {
		return storage("open "+w.job.at(), err)
	}
	defer file.Close()
	doc, err := office.Read(file, size, office.Limits{})
	switch {
	case errors.Is(err, office.ErrUnknown):
		return keeper{}.extract(ctx, w)
	case errors.Is(err, office.ErrEncrypted) && !old[w.job.Route.MediaType]:
		return permanent(CodeNeedsPassword, "open it, save it without its password, and drop it again", "the file is protected with a password")
	case errors.Is(err, office.ErrEncrypted): // a format before 2007 begins with the same bytes
		return keeper{}.extract(ctx, w)
	case err != nil:
		return permanent(CodeCorrupt, "open it in the program that made it and save it anew", "the file cannot be read: %v", err)
	}
	f := &officeWork{w: w, doc: doc, paths: map[int]string{}}
	return f.pages(ctx)
}

// old are formats that were replaced by those that package office reads.
var old = map[string]bool{
	"application/msword": true, "application/vnd.ms-excel": true, "application/vnd.ms-powerpoint": true, "text/rtf": true, "application/rtf": true,
}

// officeWork is an office file at work.
type officeWork struct {
	w      *work
	doc    *office.Document
	assets []Asset
	paths  map[int]string // of pictures that were kept, by number
}

func (f *officeWork) pages(ctx context.Context) error {
	w := f.w
	if err := f.pictures(ctx); err != nil {
		return err
	}
	rec := w.begin(Document{Title: oneLine(f.doc.Title, 300), Author: oneLine(f.doc.Author, 300), Created: oneLine(f.doc.Created, 40), Pages: len(f.doc.Parts)})
	rec.Warnings, rec.Assets = append(rec.Warnings, f.doc.Warnings...), f.assets
	if len(f.doc.Parts) == 0 {
		rec.Message = "The file holds no text."
	}
	if err := save(ctx, w.records, documentName, rec); err != nil {
		return err
	}
	w.tally = tally{pages: len(f.doc.Parts)}
	for i, part := range f.doc.Parts {
		p := Page{N: i + 1, Label: oneLine(part.Label, 120), Status: PageDone, Text: &PageText{Source: TextNone}}
		// The files in text/ stand one folder deeper than the note.
		text := part.With(sanitise).Markdown(func(n int) string {
			if f.paths[n] == "" {
				return ""
			}
			return "../" + f.paths[n]
		})
		if text = strings.TrimSpace(text); text != "" {
			if err := w.keepText(ctx, &p, text, TextLayer); err != nil {
				return err
			}
		}
		if err := w.finish(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// pictures keeps the embedded pictures: upright copies without metadata of those that can be read, the others unchanged
// when a note can show them. What is neither is left out and named.
func (f *officeWork) pictures(ctx context.Context) error {
	left := 0
	for i := range f.doc.Pictures {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := f.doc.Data(i, maxAsset)
		if err != nil {
			left++
			continue
		}
		mediaType, ext := "", ""
		limits := imaging.Limits{MaxSide: f.w.set.Image.MaxSide, MaxDecodePixels: f.w.set.Image.MaxDecodePixels}
		if made, err := imaging.Normalise(ctx, bytes.NewReader(data), int64(len(data)), limits); err == nil {
			mediaType, ext = made.MediaType, pictureExtension(made.MediaType, made.Data)
			if plain, ok := withoutMetadata(made.MediaType, made.Data); ok {
				made.Data = plain
			}
			data = made.Data
		}
		if ext == "" {
			left++
			continue
		}
		name := "assets/image_" + fmt.Sprintf("%04d", i+1) + ext
		if err := put(ctx, f.w.bundle, name, data); err != nil {
			return err
		}
		f.paths[i] = name
		f.assets = append(f.assets, Asset{Path: name, MediaType: mediaType, Bytes: int64(len(data)), SHA256: digest(data)})
	}
	if left > 0 {
		f.doc.Warnings = append(f.doc.Warnings, fmt.Sprintf("%d of %d embedded pictures cannot be shown here; the original has them", left, len(f.doc.Pictures)))
	}
	return nil
}

// write shows every part below its name.
func (officeFile) write(n *note) error {
	if n.rec.Message != "" {
		return keeper{}.write(n)
	}
	for _, p := range n.m.Pages {
		n.line("")
		if p.Label != "" {
			n.line("## " + inline(p.Label) + " ^p" + strconv.Itoa(p.N))
			n.line("")
		}
		if !n.inline() && p.Text != nil && p.Text.Path != "" {
			n.line("[[./" + p.Text.Path + "|text]]")
			continue
		}
		text, err := n.text(p)
		if err != nil {
			return err
		}
		if len(n.m.Pages) == 1 && p.Label == "" {
			text = strings.ReplaceAll("\n"+text, "\n###", "\n##")[1:]
		}
		n.line(strings.ReplaceAll(text, "](../assets/", "](./assets/"))
	}
	n.unplaced()
	return nil
}

// unplaced shows pictures that stand at no place in the text, such as those that float over a sheet.
func (n *note) unplaced() {
	text := n.b.String()
	first := true
	for _, a := range n.m.Assets {
		if strings.Contains(text, "(./"+a.Path+")") || !n.inline() {
			continue
		}
		if first {
			n.line("")
			n.line("## Pictures")
			n.line("")
		}
		first = false
		n.line("![" + path.Base(a.Path) + "](./" + a.Path + ")")
	}
}
