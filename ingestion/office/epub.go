package office

import (
	"net/url"
	"path"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	tables "github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
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
		text, err := chapter(a, doc, name, string(source))
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

// chapter is a chapter's XHTML as Markdown; pictures become marks.
func chapter(a *archive, doc *Document, name, source string) (string, error) {
	conv := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)), strikethrough.NewStrikethroughPlugin(), tables.NewTablePlugin(),
	))
	if i := strings.Index(source, "<body"); i >= 0 { // the converter would take the title for text
		source = source[i:]
	}
	text, err := conv.ConvertString(strings.ReplaceAll(source, pictureMark, ""))
	if err != nil {
		return "", err
	}
	return pictures(a, doc, name, text), nil
}

// pictures replaces the references to pictures of the archive by marks, and drops links into it, which lead nowhere.
func pictures(a *archive, doc *Document, chapter, text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "](")
		if i < 0 {
			return b.String() + text
		}
		open := matchingBracket(text[:i])
		end := strings.IndexByte(text[i:], ')')
		if open < 0 || end < 0 {
			b.WriteString(text[:i+2])
			text = text[i+2:]
			continue
		}
		to, label := text[i+2:i+end], text[open+1:i]
		image := open > 0 && text[open-1] == '!'
		start := open
		if image {
			start--
		}
		b.WriteString(text[:start])
		switch inside := inArchive(chapter, to); {
		case image && a.has(inside):
			b.WriteString(doc.picture(inside, unescape.Replace(label), a.limits))
		case image:
		case safeLink(to) != "":
			b.WriteString(text[start : i+end+1])
		default:
			b.WriteString(label)
		}
		text = text[i+end+1:]
	}
}

// matchingBracket is the bracket that a closing one at the end of the text belongs to.
func matchingBracket(s string) int {
	depth := 1
	for i := len(s) - 1; i >= 0; i-- {
		if i > 0 && s[i-1] == '\\' {
			continue
		}
		switch s[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func inArchive(from, to string) string {
	to, _, _ = strings.Cut(strings.TrimSpace(strings.Trim(to, "<>")), " ")
	to, _, _ = strings.Cut(to, "#")
	if plain, err := url.PathUnescape(to); err == nil {
		to = plain
	}
	return path.Join(path.Dir(from), to)
}
