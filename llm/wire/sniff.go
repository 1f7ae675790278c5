package wire

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// formats are the media types of the files that go to models, with the short names that the tables and some services have
// for them. Types are those of IANA's registry, or what browsers agree on.
var formats = map[string]string{
	"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp", "image/bmp": "bmp", "image/tiff": "tiff",
	"image/heic": "heic", "image/avif": "avif", "image/svg+xml": "svg",
	"application/pdf": "pdf",
	"audio/wav":       "wav", "audio/mpeg": "mp3", "audio/aiff": "aiff", "audio/aac": "aac", "audio/ogg": "ogg", "audio/flac": "flac", "audio/mp4": "m4a",
	"video/mp4": "mp4", "video/mpeg": "mpeg", "video/quicktime": "mov", "video/x-msvideo": "avi", "video/x-flv": "flv", "video/webm": "webm",
	"video/x-matroska": "mkv", "video/x-ms-wmv": "wmv", "video/3gpp": "3gp",
}

// mediaTypes returns the types of short names.
func mediaTypes(names []string) []string {
	var types []string
	for kind, name := range formats { // sorted below
		if slices.Contains(names, name) {
			types = append(types, kind)
		}
	}
	slices.Sort(types)
	return types
}

// marks are beginnings of files that net/http does not know, or knows under another name.
var marks = []struct {
	at   int
	mark string
	kind string
}{
	{0, "fLaC", "audio/flac"},
	{0, "OggS", "audio/ogg"},
	{0, "ID3", "audio/mpeg"},
	{0, "\xff\xf1", "audio/aac"},
	{0, "\xff\xf9", "audio/aac"},
	{0, "\xff\xfb", "audio/mpeg"},
	{0, "\xff\xfa", "audio/mpeg"},
	{0, "\xff\xf3", "audio/mpeg"},
	{0, "\xff\xf2", "audio/mpeg"},
	{8, "WAVE", "audio/wav"},
	{8, "AIFF", "audio/aiff"},
	{8, "AIFC", "audio/aiff"},
	{8, "AVI ", "video/x-msvideo"},
	{4, "ftypM4A", "audio/mp4"},
	{4, "ftypqt", "video/quicktime"},
	{4, "ftyp3gp", "video/3gpp"},
	{4, "ftypheic", "image/heic"},
	{4, "ftypavif", "image/avif"},
	{4, "ftyp", "video/mp4"},
	{0, "FLV\x01", "video/x-flv"},
	{0, "\x00\x00\x01\xba", "video/mpeg"},
	{0, "\x00\x00\x01\xb3", "video/mpeg"},
	{0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-wmv"},
}

// matroskaHead is how far into a Matroska file its kind is searched.
const matroskaHead = 64

// sniff returns the media type by the bytes, whatever was declared.
func sniff(data []byte, accepted []string) (string, error) {
	kind := sniffed(data)
	if !slices.Contains(accepted, kind) {
		return "", fmt.Errorf("%s is not accepted", kind)
	}
	return kind, nil
}

// Sniff returns the media type of a file from its first bytes (64 are enough) and its short name in the tables, which is
// empty for types that no model accepts.
func Sniff(data []byte) (mediaType, format string) {
	mediaType = sniffed(data)
	return mediaType, formats[mediaType]
}

func sniffed(data []byte) string {
	for _, m := range marks {
		if len(data) >= m.at+len(m.mark) && string(data[m.at:m.at+len(m.mark)]) == m.mark {
			return m.kind
		}
	}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if kind == "video/webm" && bytes.Contains(data[:min(len(data), matroskaHead)], []byte("matroska")) {
		return "video/x-matroska"
	}
	return kind
}
