package prompt

import (
	"bytes"
	"fmt"
	"io"
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
	kindOpaque // named, not shown
)

// recognised is what a file is. The bytes decide; an extension that says something else is a warning.
type recognised struct {
	kind    kind
	media   string
	warning string
}

// defaultMaxFile is the size above which a text file is not shown, in bytes.
const defaultMaxFile = 16 << 20

// read reads a file up to the builder's limit. size is that of the whole file.
func (b Builder) read(name string) (data []byte, size int64, err error) {
	limit := b.MaxFile
	if limit <= 0 {
		limit = defaultMaxFile
	}
	f, err := b.FS.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a file", path.Base(name))
	}
	data, err = io.ReadAll(io.LimitReader(f, limit))
	return data, max(info.Size(), int64(len(data))), err
}

// recognise tells what the bytes are.
func recognise(name string, data []byte) recognised {
	promised := directives.KindOf(name)
	media := sniff(data)
	is := recognised{kind: kindOpaque, media: media}
	switch {
	case promised == "image" && strings.HasSuffix(strings.ToLower(name), ".svg") && media == "text/plain":
		is.kind, is.media = kindImage, "image/svg+xml"
		return is
	case promised == "image" || strings.HasPrefix(media, "image/"):
		is.kind = kindImage // a picture that is none is refused with a reason when it is probed
		if promised == "image" {
			return is
		}
	case media == "text/plain" && promised == "markdown":
		is.kind = kindMarkdown
		return is
	case media == "text/plain":
		is.kind = kindText
		if promised == "text" || promised == "" {
			return is
		}
	case promised == "document" || promised == "office" || promised == "":
		if promised != "document" || media == "application/pdf" {
			return is
		}
	}
	is.warning = fmt.Sprintf("%s holds %s", path.Base(name), media)
	return is
}

// sniff is the media type of the bytes: a text is text/plain, whatever it is about.
func sniff(data []byte) string {
	head := data[:min(len(data), 8<<10)]
	switch {
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return "application/pdf"
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
	case bytes.IndexByte(head, 0) < 0 && mostlyText(head):
		return "text/plain"
	case strings.HasPrefix(media, "text/"):
		return "application/octet-stream"
	}
	return media
}

// mostlyText tells whether the bytes read as UTF-8 or as an older 8-bit text.
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
