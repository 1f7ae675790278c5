package ingestion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
	"github.com/vaultflow/vaultflow/ingestion/manifest"
	"github.com/vaultflow/vaultflow/ingestion/markdown"
)

// composing keeps documents that consist of text with pictures.
type composing struct{ w *work }

// composed is text with pictures, without pages of its own: the content of office files, web pages and e-mails. Each part becomes a
// page of the manifest.
type composed struct {
	title, author, created string
	warnings               []string
	damaged                bool // the file is cut off or lacks parts, as the warnings say
	parts                  []composedPart
	pictures               []func() ([]byte, error) // bytes of each picture, at most maxAsset
	children               []manifest.Child         // files that are imported by themselves
	printed                printed                  // its printed pages
	page                   string                   // where the page would have arrived that was packed with its files
}

// composedPart is a slide, a sheet or a chapter, or the whole of an undivided document, whose label is empty. In text, marks of
// [pictureMark] replace pictures.
type composedPart struct{ label, text string }

// labelRunes limits a label, which becomes a heading. A longer one is also in the text, whole.
const labelRunes = 120

// markdown returns the part's text, harmless.
func (p composedPart) markdown() string {
	text := markdown.Sanitise(p.text)
	if whole := markdown.OneLine(p.label, len(p.label)); whole != markdown.OneLine(p.label, labelRunes) {
		text = markdown.Sanitise(markdown.Plain(whole)) + "\n\n" + text
	}
	return text
}

// maxAsset limits an embedded picture, in bytes.
const maxAsset = 64 << 20

// markRune encloses a picture's number and alternative text while the text around it is sanitised.
const markRune = "\uFFFC"

func pictureMark(n int, alt string) string {
	alt = strings.NewReplacer("[", "(", "]", ")", "|", "/", markRune, "").Replace(markdown.OneLine(alt, 200))
	return markRune + strconv.Itoa(n) + "|" + alt + markRune
}

// placePictures replaces the marks of kept pictures with references.
func placePictures(text string, paths map[int]string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, markRune)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		mark, behind, _ := strings.Cut(after, markRune)
		number, alt, _ := strings.Cut(mark, "|")
		n, err := strconv.Atoi(number)
		if to := paths[n]; err == nil && to != "" {
			b.WriteString("![" + alt + "](../" + to + ")") // files in text/ are one folder deeper than the note
		}
		text = behind
	}
}

// compose keeps a composed document: pictures in assets/, the text of each part, the record.
func (co composing) compose(ctx context.Context, c composed) error {
	assets, paths, err := co.keepAssets(ctx, &c)
	if err != nil {
		return err
	}
	rec := co.w.store.begin(manifest.Document{Title: markdown.OneLine(c.title, 300), Author: markdown.OneLine(c.author, 300), Created: markdown.OneLine(c.created, 40), Pages: len(c.parts)})
	rec.Warnings, rec.Assets, rec.Children = append(append(rec.Warnings, c.warnings...), c.printed.warnings...), assets, c.children
	rec.Damaged, rec.Render, rec.Page = c.damaged, c.printed.render, c.page
	maps.Copy(rec.Tools, c.printed.tools)
	if len(c.parts) == 0 {
		rec.Message = "The file holds no text."
	}
	if err := save(ctx, co.w.store.records, documentName, rec); err != nil {
		return err
	}
	if _, err := co.w.store.missing(len(c.parts)); err != nil {
		return err
	}
	co.w.store.tally = tally{pages: co.w.store.tally.pages} // all are made again
	for _, n := range co.w.store.wanted(len(c.parts)) {
		part := c.parts[n-1]
		p := manifest.Page{N: n, Label: markdown.OneLine(part.label, labelRunes), Status: manifest.PageDone, Text: &manifest.PageText{Source: manifest.TextNone}}
		if images := c.printed.images[n]; len(images) > 0 {
			p.Image, p.Others = &images[0], images[1:]
		}
		if text := strings.TrimSpace(placePictures(part.markdown(), paths)); text != "" {
			if err := (pageFiles{w: co.w}).keepText(ctx, &p, text, manifest.TextLayer); err != nil {
				return err
			}
		}
		if err := co.w.store.finish(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// keepAssets keeps the embedded pictures that can be read: upright, without metadata, and within the size limit of imported
// pictures. It warns about the others.
func (co composing) keepAssets(ctx context.Context, c *composed) (assets []manifest.Asset, paths map[int]string, err error) {
	paths = map[int]string{}
	for i, load := range c.pictures {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		mediaType, data, ok := pageFiles{w: co.w}.asset(ctx, load)
		if !ok {
			continue
		}
		name := fmt.Sprintf("assets/image_%04d%s", i+1, pictureExtension(mediaType, data))
		if err := put(ctx, co.w.store.bundle, name, data); err != nil {
			return nil, nil, err
		}
		paths[i] = name
		assets = append(assets, manifest.Asset{Path: name, MediaType: mediaType, Bytes: int64(len(data)), SHA256: digest(data)})
	}
	if left := len(c.pictures) - len(assets); left > 0 {
		where := "the original has them"
		if c.damaged {
			where = "the file may lack them, or parts of them"
		}
		c.warnings = append(c.warnings, fmt.Sprintf("%d of %d embedded pictures cannot be shown here; %s", left, len(c.pictures), where))
	}
	return assets, paths, nil
}

func (f pageFiles) asset(ctx context.Context, load func() ([]byte, error)) (mediaType string, data []byte, ok bool) {
	data, err := load()
	if err != nil {
		return "", nil, false
	}
	made, err := f.fitted(ctx, data)
	if err != nil || pictureExtension(made.MediaType, made.Data) == "" {
		return "", nil, false
	}
	return made.MediaType, made.Data, true
}

// fitted returns a picture without its metadata. The worker decodes it unless it fits as it is.
func (f pageFiles) fitted(ctx context.Context, data []byte) (imaging.Encoded, error) {
	made, err := imaging.AsIs(bytes.NewReader(data), int64(len(data)), f.w.pictureLimits())
	if err == nil {
		var ok bool
		if made.Data, ok = imaging.WithoutMetadata(made.MediaType, made.Data); ok {
			return made, nil
		}
	} else if !errors.Is(err, imaging.ErrUnfit) {
		return made, err
	}
	s := f.w.reader(extract.Open{Kind: extract.KindImage})
	s.Data, s.SHA256 = data, digest(data)
	defer s.Close()
	page, err := s.Page(ctx, extract.PageRequest{N: 1, Image: true, MaxSide: f.w.set.Image.MaxSide, MaxPixels: f.w.set.PDF.MaxPixels})
	if err != nil {
		return made, err
	}
	if page.Image == nil {
		return made, imaging.ErrUnsupported
	}
	return imaging.Encoded{Data: page.Image.Bytes, MediaType: page.Image.MediaType, Width: page.Image.Width, Height: page.Image.Height, Changed: true}, nil
}

// composedBefore reports whether an attempt that was killed had made all pages.
func (s *store) composedBefore() (bool, error) {
	rec, known, err := s.document()
	if err != nil || !known {
		return false, err
	}
	todo, err := s.missing(rec.Document.Pages)
	return len(todo) == 0, err
}
