package office

import (
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultflow/vaultflow/vault"
)

// comicPictures are the extensions of a comic's pages.
var comicPictures = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".heic", ".bmp", ".tif", ".tiff", ".jp2", ".jxl"}

// Comic lists the pages of a comic, a ZIP of pictures, in the order of their names, as Pictures. Title and author are those of its
// ComicInfo.xml. A comic without a picture has no Pictures. The errors are those of [Read].
func Comic(r io.ReaderAt, size int64, limits Limits) (doc *Document, err error) {
	return guarded(func() (*Document, error) {
		a, doc, err := openZIP(r, size, limits.withDefaults())
		if err != nil {
			return nil, err
		}
		doc.Kind = "comic"
		a.comicFacts(doc)
		pages, others := a.comicPages()
		for _, p := range pages[:min(len(pages), a.limits.Pictures)] {
			doc.Pictures = append(doc.Pictures, Picture{Name: path.Base(p), part: p})
		}
		if left := len(pages) - len(doc.Pictures); left > 0 {
			doc.warn("the comic has %d pages; the last %d are only in the original", len(pages), left)
		}
		if len(others) > 0 {
			doc.warn("these files in the comic are not pictures, and stay in the original: %s", strings.Join(others[:min(len(others), 10)], ", "))
		}
		return doc, nil
	})
}

// comicPages returns the names of the pages and of the other files.
func (a *archive) comicPages() (pages, others []string) {
	for name, f := range a.files {
		base := path.Base(name)
		switch {
		case strings.HasSuffix(name, "/"), strings.HasPrefix(base, "."), strings.HasPrefix(name, "__macosx/"), base == "thumbs.db", base == "comicinfo.xml":
		case slices.Contains(comicPictures, path.Ext(name)) && f.Mode().IsRegular():
			pages = append(pages, name)
		default:
			others = append(others, name)
		}
	}
	slices.SortFunc(pages, vault.Natural)
	slices.SortFunc(others, vault.Natural)
	return pages, others
}

// comicFacts takes title and author from ComicInfo.xml, as ComicRack writes it.
func (a *archive) comicFacts(doc *Document) {
	info := a.optional("ComicInfo.xml")
	text := func(name string) string { return strings.TrimSpace(info.first(name).flat()) }
	doc.Title = text("Series")
	if number := text("Number"); number != "" && doc.Title != "" {
		doc.Title += " " + number
	}
	if title := text("Title"); doc.Title == "" {
		doc.Title = title
	} else if title != "" {
		doc.Title += ": " + title
	}
	doc.Author = text("Writer")
	if year, err := strconv.Atoi(text("Year")); err == nil && year > 0 {
		doc.Created = strconv.Itoa(year)
	}
}
