package filetype

import (
	"cmp"
	"path"
	"strings"
)

// ByName returns the media type for the end of a file name, or "".
func ByName(name string) string {
	ext := strings.ToLower(path.Ext(name))
	return cmp.Or(extensions[ext], packageTypes[ext], keptTypes[ext])
}

// extensions are media types by the end of a name, for files whose bytes show nothing or only that they are text.
var extensions = map[string]string{
	".pdf": "application/pdf",
	".txt": "text/plain", ".text": "text/plain", ".log": "text/x-log",
	".md": "text/markdown", ".markdown": "text/markdown", ".mdown": "text/markdown",
	".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".json": "application/json", ".jsonl": "application/jsonl", ".geojson": "application/json",
	".yaml": "application/yaml", ".yml": "application/yaml", ".toml": "application/toml", ".ini": "text/x-ini", ".conf": "text/x-ini",
	".xml": "application/xml", ".tex": "text/x-tex", ".bib": "text/x-bibtex", ".rst": "text/x-rst", ".org": "text/x-org",
	".srt": "text/x-subtitles", ".vtt": "text/vtt", ".ics": "text/calendar", ".vcf": "text/vcard",
	".go": "text/x-go", ".py": "text/x-python", ".js": "text/javascript", ".ts": "text/x-typescript", ".java": "text/x-java",
	".c": "text/x-c", ".h": "text/x-c", ".cpp": "text/x-c++", ".hpp": "text/x-c++", ".rs": "text/x-rust", ".rb": "text/x-ruby",
	".sh": "text/x-shellscript", ".sql": "text/x-sql", ".css": "text/css", ".lua": "text/x-lua", ".r": "text/x-r",
	".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml", ".mhtml": "multipart/related", ".mht": "multipart/related",
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".gif": "image/gif", ".bmp": "image/bmp",
	".tif": "image/tiff", ".tiff": "image/tiff", ".heic": "image/heic", ".heif": "image/heif", ".avif": "image/avif", ".svg": "image/svg+xml",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".doc":  "application/msword", ".ppt": "application/vnd.ms-powerpoint", ".xls": "application/vnd.ms-excel", ".rtf": "text/rtf",
	".odt": "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
	".odp": "application/vnd.oasis.opendocument.presentation", ".odg": "application/vnd.oasis.opendocument.graphics", ".epub": "application/epub+zip",
	".sxw": "application/vnd.sun.xml.writer", ".stw": "application/vnd.sun.xml.writer", ".sxc": "application/vnd.sun.xml.calc", ".stc": "application/vnd.sun.xml.calc",
	".sxi": "application/vnd.sun.xml.impress", ".sti": "application/vnd.sun.xml.impress", ".sxd": "application/vnd.sun.xml.draw", ".std": "application/vnd.sun.xml.draw",
	".pages": "application/vnd.apple.pages", ".numbers": "application/vnd.apple.numbers", ".vsdx": "application/vnd.ms-visio.drawing", ".vsdm": "application/vnd.ms-visio.drawing", ".xps": "application/oxps", ".oxps": "application/oxps",
	".eml": "message/rfc822", ".msg": "application/vnd.ms-outlook", ".mbox": "application/mbox", ".mbx": "application/mbox",
	".zip": "application/zip", ".tar": "application/x-tar", ".gz": "application/gzip", ".tgz": "application/gzip", ".bz2": "application/x-bzip2",
	".xz": "application/x-xz", ".7z": "application/x-7z-compressed", ".rar": "application/vnd.rar", ".zst": "application/zstd",
	".cbz": Comic,
	".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".wav": "audio/wav", ".flac": "audio/flac", ".ogg": "audio/ogg", ".opus": "audio/opus",
	".mp4": "video/mp4", ".mov": "video/quicktime", ".mkv": "video/x-matroska", ".webm": "video/webm", ".avi": "video/x-msvideo",
}

// named has the kinds of media types that their first half does not show.
var named = map[string]Kind{
	"application/pdf": KindPDF, "application/x-pdf": KindPDF,
	"text/html": KindHTML, "application/xhtml+xml": KindHTML, "multipart/related": KindHTML,
	"application/json": KindText, "application/jsonl": KindText, "application/x-ndjson": KindText, "application/geo+json": KindText,
	"application/yaml": KindText, "application/x-yaml": KindText, "application/toml": KindText, "application/xml": KindText,
	"application/javascript": KindText, "application/x-sh": KindText, "application/sql": KindText, "application/x-tex": KindText,
	"application/x-subrip": KindText, "message/rfc822": KindEmail, "application/vnd.ms-outlook": KindEmail, "application/mbox": KindEmail,
	"text/rtf": KindOffice, "application/rtf": KindOffice, "application/msword": KindOffice, "application/epub+zip": KindOffice,
	"application/vnd.ms-excel": KindOffice, "application/vnd.ms-powerpoint": KindOffice,
	"application/zip": KindArchive, "application/x-tar": KindArchive, "application/gzip": KindArchive, "application/x-bzip2": KindArchive,
	"application/x-xz": KindArchive, "application/x-7z-compressed": KindArchive, "application/vnd.rar": KindArchive,
	"application/x-rar-compressed": KindArchive, "application/zstd": KindArchive,
	"application/vnd.apple.pages": KindOffice, "application/vnd.apple.numbers": KindOffice, "application/vnd.apple.keynote": KindOffice, iwork: KindOffice,
	"application/vnd.ms-visio.drawing": KindOffice, "application/oxps": KindOffice,
	archivePart: KindArchive, Comic: KindImage, ZippedPackage: KindPackage,
}

// generic media types say nothing that the bytes do not say better.
var generic = map[string]bool{
	"": true, "text/plain": true, "application/octet-stream": true, "binary/octet-stream": true, "application/binary": true,
	"application/x-download": true, "application/force-download": true, "application/unknown": true,
}

// KindOf returns the kind of a media type, or KindUnknown.
func KindOf(mediaType string) Kind {
	if k, ok := named[mediaType]; ok {
		return k
	}
	if packaged[mediaType] {
		return KindPackage
	}
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		return KindImage
	case strings.HasPrefix(mediaType, "audio/"):
		return KindAudio
	case strings.HasPrefix(mediaType, "video/"):
		return KindVideo
	case strings.HasPrefix(mediaType, "text/"):
		return KindText
	case strings.HasPrefix(mediaType, "application/vnd.openxmlformats-officedocument."),
		strings.HasPrefix(mediaType, "application/vnd.oasis.opendocument."), strings.HasPrefix(mediaType, "application/vnd.sun.xml."):
		return KindOffice
	case strings.HasSuffix(mediaType, "+json"), strings.HasSuffix(mediaType, "+xml"):
		return KindText
	}
	return KindUnknown
}

// textual reports whether files of a kind consist of characters, so that their bytes alone may look like plain text.
func textual(k Kind) bool { return k == KindText || k == KindHTML || k == KindEmail }

// noNUL reports whether files of a type are text, so that NUL bytes contradict it. Outlook's messages are compound files.
func noNUL(mediaType string) bool {
	return textual(KindOf(mediaType)) && mediaType != "application/vnd.ms-outlook"
}

// packaged are the media types of packages.
var packaged = func() map[string]bool {
	set := map[string]bool{}
	for _, m := range packageTypes {
		set[m] = true
	}
	return set
}()
