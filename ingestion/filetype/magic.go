package filetype

import (
	"bytes"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"github.com/vaultflow/vaultflow/ingestion/charset"
)

const (
	HeadBytes   = 4096 // read of a file for Classify
	pdfDistance = 1024 // %PDF may stand so far from the beginning (ISO 32000-1 annex H.3)
)

// sign is what a file's bytes reveal.
type sign struct {
	mediaType string // empty if they reveal nothing
	plain     bool   // text, and no more is known
	weak      bool   // a guess by few bytes: the extension decides if it says something
	nul       bool   // has NUL bytes and no byte order mark: never text
	reason    string
}

// look reads the signs of a file with this name. With pdfExpected, other bytes may precede %PDF.
func look(head []byte, name string, r io.ReaderAt, size int64, pdfExpected bool) sign {
	switch {
	case len(head) == 0:
		return sign{reason: "the file is empty"}
	case isPDF(head, pdfExpected):
		return sign{mediaType: "application/pdf", reason: "the bytes begin with %PDF"}
	case charset.Mark(head) != "":
		return sign{mediaType: "text/plain", plain: true, reason: "the bytes begin with the mark of " + charset.Mark(head)}
	case charset.Wide(head[:len(head)&^3]) != "":
		return sign{mediaType: "text/plain", plain: true, reason: "the bytes are characters of " + charset.Wide(head[:len(head)&^3])}
	case bytes.HasPrefix(head, []byte("PK\x07\x08")), volume.MatchString(name) && (!utf8.Valid(head) || bytes.IndexByte(head, 0) >= 0), strings.EqualFold(path.Ext(name), ".zip") && lastPart(r, size):
		return sign{mediaType: archivePart, nul: true, reason: "the name or the bytes are those of a part of an archive"}
	case bytes.HasPrefix(head, []byte("\x78\x9f\x3e\x22")):
		return sign{mediaType: "application/vnd.ms-tnef", nul: true, reason: "the bytes begin like an attachment in Outlook's own form"}
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return lookIntoZIP(head, name, r, size)
	}
	return detect(head)
}

// detect asks the table of magic numbers, and checks what it says about text.
func detect(head []byte) sign {
	found := mimetype.Detect(head)
	mediaType := essence(found.String())
	nul := bytes.IndexByte(head, 0) >= 0
	if mediaType == "application/pdf" { // the table takes %PDF anywhere, isPDF did not
		mediaType = "text/plain"
	}
	if mailbox.Match(head) {
		return sign{mediaType: "application/mbox", reason: "a line with a sender and a date, and the header of a message"}
	}
	if savedPage(head) {
		return sign{mediaType: "multipart/related", reason: "a message of the form in which browsers save a page"}
	}
	if m := flatDocument.FindSubmatch(head); m != nil {
		return sign{mediaType: string(m[1]) + "-flat-xml", reason: "an OpenDocument file in one piece of XML"}
	}
	kind := KindOf(mediaType)
	switch {
	case kind == KindUnknown && mediaType != "application/octet-stream":
		return sign{mediaType: mediaType, weak: weak[mediaType] || !nul && mostlyText(head), nul: nul, reason: "the bytes are those of " + mediaType}
	case mediaType == "text/plain" && nul, mediaType == "application/octet-stream":
		return sign{nul: nul, reason: "the bytes are of no kind that is known here"}
	case noNUL(mediaType) && nul:
		return sign{nul: true, reason: "the bytes look like text but have NUL bytes"}
	case mediaType == "text/plain" && !mostlyText(head):
		return sign{reason: "the bytes are of no kind that is known here"}
	case kind == KindText:
		return sign{mediaType: mediaType, plain: mediaType == "text/plain" || vague[mediaType], reason: "the bytes are text"}
	}
	return sign{mediaType: mediaType, nul: nul, reason: "the bytes are those of " + mediaType}
}

// volume recognises the parts of an archive by their names: a.7z.001, a.part2.rar, a.z01, a.r00.
var volume = regexp.MustCompile(`(?i)\.(?:(?:7z|zip|rar|tar|[a-z]*[gbx]z2?)\.\d{3}|part\d+\.rar|[rz]\d\d)$`)

// flatDocument recognises OpenDocument files that are XML and no archive, by their root element (OpenDocument 1.3 part 3 §3.1.2).
var flatDocument = regexp.MustCompile(`<office:document\s[^>]*\boffice:mimetype="(application/vnd\.oasis\.opendocument\.(?:text|spreadsheet|presentation))"`)

// mailbox recognises messages one after the other (RFC 4155), by the line before the first and its header.
var mailbox = regexp.MustCompile(`^From [^\r\n]*\b\d{1,2}:\d{2}\b[^\r\n]*\b\d{4}\b[^\r\n]*\r?\n[A-Za-z][A-Za-z0-9-]*:`)

// savedPage recognises MHTML: a message whose header browsers write when they save a page.
func savedPage(head []byte) bool {
	header, _, _ := bytes.Cut(bytes.ReplaceAll(head, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	return bytes.Contains(header, []byte("\nSnapshot-Content-Location:")) || bytes.HasPrefix(header, []byte("From: <Saved by")) && bytes.Contains(header, []byte("multipart/related"))
}

// weak are types that are recognised by so little that other files may have it too, or that say little.
var weak = map[string]bool{
	oleStorage: true, "application/x-dbf": true, "application/vnd.lotus-1-2-3": true, "application/cbor": true, "application/tzif": true, "application/marc": true, "application/vnd.nintendo.snes.rom": true,
	"application/vnd.shp": true, "application/vnd.shx": true, "application/zlib": true, "application/x-bytecode.python": true, "application/x-object": true,
}

// vague are text types that are guessed from looks: an extension knows better.
var vague = map[string]bool{
	"text/csv": true, "text/tab-separated-values": true, "application/json": true, "application/x-ndjson": true, "application/xml": true,
	"text/xml": true, "text/x-python": true, "text/x-lua": true, "text/x-perl": true, "text/x-tcl": true, "text/x-php": true, "text/javascript": true,
}

// answerHead is the head of a web server's answer, which some programs save with the file.
var answerHead = regexp.MustCompile(`(?s)^HTTP/[\d.]+ \d.*\n\r?\n$`)

func isPDF(head []byte, expected bool) bool {
	at := bytes.Index(head[:min(len(head), pdfDistance)], []byte("%PDF-"))
	if at < 0 {
		return false
	}
	before := bytes.TrimLeft(bytes.TrimPrefix(head[:at], []byte("\xef\xbb\xbf")), " \t\r\n\x00")
	return expected || len(before) == 0 || answerHead.Match(before)
}

// mostlyText refuses heads in which more than a tenth is neither UTF-8 nor an ordinary byte of a Western encoding.
func mostlyText(head []byte) bool {
	bad := 0
	for rest := head; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r < 0x20 && !strings.ContainsRune("\t\n\r\f\x1b", r) || r == 0x7f {
			bad++
		}
		rest = rest[n:]
	}
	return bad*10 <= len(head)
}
