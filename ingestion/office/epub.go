package office

import (
	"bytes"
	"errors"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/vaultflow/vaultflow/ingestion/charset"
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
	locks := a.optional("META-INF/encryption.xml")
	if len(locks.all("EncryptedKey")) > 0 {
		return ErrProtected
	}
	locked := lockedParts(locks)
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
	anchors := map[string]string{}
	for _, name := range items {
		if !strings.HasSuffix(strings.ToLower(name), "html") || !a.has(name) {
			continue
		}
		if page, _, err := parseChapter(a, name); err == nil {
			for id, to := range webpage.Anchors(page) {
				anchors[name+"#"+id] = to
			}
		}
	}
	for _, ref := range opf.first("spine").all("itemref") {
		name := items[ref.attr("idref")]
		if locked[name] {
			return ErrProtected
		}
		if name == "" || !a.has(name) {
			doc.damage(or(name, ref.attr("idref")), errors.New("it is not in the file"))
			continue
		}
		text, err := chapter(a, doc, name, anchors)
		if err != nil {
			doc.damage(name, err)
			continue
		}
		if strings.TrimSpace(text) != "" {
			doc.Parts = append(doc.Parts, Part{text: text})
		}
	}
	return nil
}

// lockedParts returns the names of parts that are encrypted. Books without copy protection have fonts there (EPUB 3.3, section 4.3).
func lockedParts(locks *node) map[string]bool {
	names := map[string]bool{}
	for _, lock := range locks.all("EncryptedData") {
		if name, err := url.PathUnescape(lock.first("CipherReference").attr("URI")); err == nil {
			names[path.Clean(name)] = true
		}
	}
	return names
}

// parseChapter reads a chapter, and reports whether it is whole.
func parseChapter(a *archive, name string) (page *html.Node, whole bool, err error) {
	source, err := a.read(name)
	if err != nil {
		return nil, false, err
	}
	page, err = webpage.Parse(bytes.ReplaceAll(source, []byte(pictureMark), nil), "application/xhtml+xml; charset=utf-8")
	return page, ends(source), err
}

var rootElement = regexp.MustCompile(`<([A-Za-z][\w:.-]*)`)

// ends reports whether a chapter has the end of its root element, which XHTML may not omit (EPUB 3.3, section 3.2). Other faults of
// its XML cost nothing: it is read as HTML.
func ends(source []byte) bool {
	if charset.Mark(source) != "" { // UTF-16 too
		source = []byte(charset.Decode(source).Text)
	}
	root := rootElement.FindSubmatchIndex(source)
	if root == nil {
		return false
	}
	inside, end := bytes.ToLower(source[root[1]:]), append([]byte("</"), bytes.ToLower(source[root[2]:root[3]])...)
	tag, _, closed := bytes.Cut(inside, []byte(">"))
	return closed && bytes.HasSuffix(tag, []byte("/")) || bytes.Contains(inside, end)
}

// chapter is a chapter's XHTML as Markdown; pictures become marks, and links into the book lead to headings, where they
// mean one.
func chapter(a *archive, doc *Document, name string, anchors map[string]string) (string, error) {
	page, whole, err := parseChapter(a, name)
	if err != nil {
		return "", err
	}
	if !whole {
		doc.damage(name, errors.New("it has no end"))
	}
	return webpage.Convert(page, webpage.Hooks{
		Notes: strconv.Itoa(len(doc.Parts)+1) + "-",
		Link: func(href string) string {
			if to := safeLink(href); to != "" || strings.HasPrefix(href, "#") {
				return to
			}
			_, id, _ := strings.Cut(href, "#")
			return anchors[inArchive(name, href)+"#"+id]
		},
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
