package prompt

import (
	"bytes"
	"fmt"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/directives"
)

// kind is how an input is shown.
type kind int

const (
	kindText kind = iota
	kindMarkdown
	kindImage
	kindDocument // PDF or office
	kindOpaque   // named, not shown
)

// recognised is what a file is. The bytes decide; an extension that says something else is a warning.
type recognised struct {
	kind    kind
	media   string
	warning string
}

// headBytes is how much of a file identifies it.
const headBytes = 8 << 10

// recognise identifies a file by its first bytes.
func recognise(name string, head []byte) recognised {
	promised := directives.KindOf(name)
	media := sniff(head)
	is := recognised{kind: kindOpaque, media: media}
	switch {
	case promised == "image" && len(head) == 0:
		is.kind = kindImage // refused with a reason when it is probed
		return is
	case len(head) == 0 && promised != "" && promised != "markdown" && promised != "text":
		is.media = "" // a document of no bytes did not arrive whole
		return is
	case len(head) == 0:
		is.kind, is.media = kindText, "text/plain"
		return is
	case promised == "image" && strings.HasSuffix(strings.ToLower(name), ".svg") && media == "text/plain":
		is.kind, is.media = kindImage, "image/svg+xml"
		return is
	case promised == "image" || strings.HasPrefix(media, "image/"):
		is.kind = kindImage // a picture that is none is refused with a reason when it is probed
		if promised == "image" {
			return is
		}
	case media == "text/plain" && promised == "markdown", promised == "markdown" && textWithNul(head):
		is.media = "text/plain"
		is.kind = kindMarkdown
		return is
	case media == "text/plain", promised == "text" && textWithNul(head):
		is.kind, is.media = kindText, "text/plain"
		if promised == "text" || promised == "" {
			return is
		}
	case media == typePDF || officeTypes[media] != "":
		is.kind = kindDocument
		if media == typePDF && promised == "document" || officeTypes[media] == strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) {
			return is
		}
	case media == "application/zip" && promised == "office":
		is.kind = kindDocument // whoever reads it looks closer
		return is
	case promised == "":
		return is
	}
	is.warning = fmt.Sprintf("%s holds %s", path.Base(name), media)
	return is
}

// officeTypes are the media types of office files, with their extensions.
var officeTypes = map[string]string{
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   "docx",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         "xlsx",
	"application/vnd.oasis.opendocument.text":                                   "odt",
	"application/vnd.oasis.opendocument.presentation":                           "odp",
	"application/vnd.oasis.opendocument.spreadsheet":                            "ods",
	"application/epub+zip": "epub",
}

// archiveType returns the type of the office file in a ZIP, by the names at its beginning.
func archiveType(head []byte) string {
	if _, rest, ok := bytes.Cut(head[:min(len(head), 200)], []byte("mimetype")); ok {
		for media := range officeTypes {
			if bytes.HasPrefix(rest, []byte(media)) {
				return media
			}
		}
	}
	if !bytes.Contains(head, []byte("[Content_Types].xml")) && !bytes.Contains(head, []byte("_rels/.rels")) {
		return "application/zip"
	}
	for _, t := range []struct{ folder, media string }{
		{"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		{"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
		{"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	} {
		if bytes.Contains(head, []byte(t.folder)) {
			return t.media
		}
	}
	return "application/zip"
}

// sniff is the media type of the bytes: a text is text/plain, whatever it is about.
func sniff(data []byte) string {
	head := data[:min(len(data), headBytes)]
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return archiveType(head)
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "text/plain"
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return typePDF
	case bytes.HasPrefix(head, []byte("II*\x00")) || bytes.HasPrefix(head, []byte("MM\x00*")):
		return "image/tiff"
	case len(head) >= 12 && string(head[4:8]) == "ftyp" && strings.Contains("heic heix heim heis mif1 msf1", string(head[8:12])):
		return "image/heic"
	case len(head) >= 12 && string(head[4:8]) == "ftyp" && strings.Contains("avif avis", string(head[8:12])):
		return "image/avif"
	}
	media, _, _ := strings.Cut(http.DetectContentType(head), ";")
	switch {
	case strings.HasPrefix(media, "image/") && media != "image/svg+xml" && media != "image/bmp":
		return media
	case bytes.IndexByte(head, 0) < 0 && mostlyText(head), wide(head) != utf8Plain:
		return "text/plain"
	case strings.HasPrefix(media, "text/"):
		return "application/octet-stream"
	}
	return media
}

// textWithNul reports whether the bytes of a file that is called a text are one with a few NUL bytes, as editors and sync programs
// leave them.
func textWithNul(head []byte) bool {
	n := bytes.Count(head, []byte{0})
	return n > 0 && 2*n < len(head) && sniff(bytes.ReplaceAll(head, []byte{0}, nil)) == "text/plain"
}

// mostlyText reports whether the bytes are UTF-8 or an older 8-bit text.
func mostlyText(head []byte) bool {
	odd := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 && len(head)-i >= utf8.UTFMax || r < ' ' && !strings.ContainsRune("\t\n\r\f\v\x1b", r) {
			odd++
		}
		i += n
	}
	return odd*10 <= len(head)
}

// mediaOf is the media type that the extension of a picture promises, "" for other names.
func mediaOf(name string) string {
	ext := strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
	switch ext {
	case "png", "jpeg", "gif", "webp", "bmp", "tiff", "heic", "heif", "avif":
		return "image/" + ext
	case "jpg":
		return "image/jpeg"
	case "tif":
		return "image/tiff"
	}
	return ""
}

func formatSize(n int64) string { return content.FormatSize(n) }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
