package filetype

import (
	"io"
	"strings"
)

// Classify decides what a file is. It trusts, in this order: a declared media type that is specific and not contradicted by
// the bytes; the bytes; the extension; and calls the rest unknown_binary. head is the first HeadBytes of the file,
// or all of it; r and size are the whole file, for looking into a ZIP, and may be nil and zero. The same arguments always
// return the same route.
func Classify(declared, name string, head []byte, r io.ReaderAt, size int64) Route {
	e := Evidence{
		Declared:  essence(declared),
		Extension: ByName(name),
	}
	found := look(head, name, r, size, e.Declared == "application/pdf" || e.Extension == "application/pdf")
	e.Magic = found.mediaType
	mediaType := decide(&e, found)
	kind := KindOf(mediaType)
	return Route{Kind: kind, MediaType: mediaType, Handler: kind.Handler(), Evidence: e}
}

// essence is a media type in lower case without its parameters.
func essence(mediaType string) string {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(mediaType))
}

// decide chooses the media type and writes down who decided, and why.
func decide(e *Evidence, found sign) string {
	if reason := contradiction(e.Declared, found); reason == "" {
		return settle(e, "declared", e.Declared, "the declared type is specific and fits the bytes")
	} else if !generic[e.Declared] {
		e.Reason = reason + "; "
	}
	ext := KindOf(e.Extension)
	switch {
	case found.mediaType == "image/tiff" && e.Extension == rawPhotograph:
		return settle(e, "extension", rawPhotograph, "the bytes are those of a TIFF, as in photographs that cameras have not developed, and the extension says so")
	case found.mediaType != "" && !found.plain && !found.weak:
		return settle(e, "magic", found.mediaType, found.reason)
	case found.plain && textual(ext) && e.Extension != "text/plain":
		return settle(e, "extension", e.Extension, "the bytes are text, the extension says of what kind")
	case found.plain && e.Extension == "text/plain":
		return settle(e, "magic", "text/plain", found.reason)
	case found.plain:
		return settle(e, "magic", found.mediaType, found.reason)
	case e.Extension != "" && !(noNUL(e.Extension) && found.nul):
		return settle(e, "extension", e.Extension, found.reason+"; the extension is all there is to go by")
	case found.weak:
		return settle(e, "magic", found.mediaType, found.reason)
	}
	return settle(e, "fallback", "application/octet-stream", found.reason)
}

func settle(e *Evidence, who, mediaType, reason string) string {
	e.Decision = who
	e.Reason += reason
	return mediaType
}

// contradiction returns why a declared type is not trusted, or "" if it is.
func contradiction(declared string, found sign) string {
	kind := KindOf(declared)
	switch {
	case generic[declared]:
		return "the declared type is not specific"
	case kind == KindUnknown:
		return "the declared type is not known here"
	case noNUL(declared) && found.nul:
		return "the declared type is text, but the file has NUL bytes"
	case noNUL(declared) && !found.plain && KindOf(found.mediaType) != kind:
		return "the bytes contradict the declared type"
	case kind == KindPDF && found.mediaType != "application/pdf":
		return "declared a PDF, but there is no %PDF"
	case !noNUL(declared) && found.plain:
		return "the bytes are text and contradict the declared type"
	case found.mediaType != "" && !found.plain && !found.weak && KindOf(found.mediaType) != kind:
		return "the bytes contradict the declared type"
	case (kind == KindImage || kind == KindOffice) && found.mediaType != declared:
		return "the bytes do not confirm the declared type"
	}
	return ""
}
