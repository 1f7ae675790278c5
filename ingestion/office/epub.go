package office

import (
	"bytes"
	"net/url"
	"path"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/webpage"
)

// readEpub reads an e-book (EPUB 2 and 3): the chapters of its spine, in order.
func readEpub(a *archive, doc *Document) error {
	doc.Kind = "epub"
	container, err := a.tree("META-INF/container.xml")
	if err != nil {
		return err
	}
	rootfile := container.first("rootfile").attr("full-path")
	if a.has("META-INF/encryption.xml") && len(a.optional("META-INF/encryption.xml").all("EncryptedKey")) > 0 {
		return ErrEncrypted
	}
	opf, err := a.tree(rootfile)
	if err != nil {
		return err
	}
	a.properties(doc, rootfile)
	items := map[string]string{}
	for _, item := range opf.first("manifest").all("item") {
		if href, err := url.PathUnescape(item.attr("href")); err == nil {
			items[item.attr("id")] = path.Join(path.Dir(rootfile), href)
		}
	}
	for _, ref := range opf.first("spine").all("itemref") {
		name := items[ref.attr("idref")]
		if name == "" || !a.has(name) {
			continue
		}
		source, err := a.read(name)
		if err != nil {
			doc.warn("a chapter cannot be read: %v", err)
			continue
		}
		text, err := chapter(a, doc, name, source)
		if err != nil {
			doc.warn("the chapter %s cannot be read: %v", name, err)
			continue
		}
		if strings.TrimSpace(text) != "" {
			doc.Parts = append(doc.Parts, Part{text: text})
		}
	}
	return nil
}

// chapter is a chapter's XHTML as Markdown; pictures become marks, and links into the book, which lead nowhere, words.
func chapter(a *archive, doc *Document, name string, source []byte) (string, error) {
	page, err := webpage.Parse(bytes.ReplaceAll(source, []byte(pictureMark), nil), "application/xhtml+xml; charset=utf-8")
	if err != nil {
		return "", err
	}
	return webpage.Convert(page, webpage.Hooks{
		Link: safeLink,
		Image: func(src, alt string) string {
			if inside := inArchive(name, src); a.has(inside) {
				return doc.picture(inside, alt, a.limits)
			}
			return ""
		},
	})
}

// inArchive is the part of the book that a reference from a chapter means.
func inArchive(from, to string) string {
	to, _, _ = strings.Cut(to, "#")
	if plain, err := url.PathUnescape(to); err == nil {
		to = plain
	}
	return path.Join(path.Dir(from), to)
}
