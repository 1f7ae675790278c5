package filetype

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
)

const (
	zipTail      = 22 + 65535 // end record with the longest comment (APPNOTE 4.3.16)
	zipDirectory = 1 << 20    // bytes of the directory that are looked at
)

// officeParts are the members that tell Office Open XML files. The folder counts only beside [Content_Types].xml: anybody
// may call a folder word.
var officeParts = []struct{ main, folder, extension string }{
	{"word/document.xml", "word/", ".docx"},
	{"ppt/presentation.xml", "ppt/", ".pptx"},
	{"xl/workbook.xml", "xl/", ".xlsx"},
}

// lookIntoZIP distinguishes office files and programs' packages from archives by the names of their members and their own. It reads the end and at most 1 MiB of the
// directory, and unpacks nothing.
func lookIntoZIP(head []byte, name string, r io.ReaderAt, size int64) sign {
	stored := storedType(head)
	if k := KindOf(stored); k == KindOffice || k == KindPackage {
		return sign{mediaType: stored, nul: true, reason: "a ZIP whose first member names its type"}
	}
	names := zipNames(r, size)
	if len(names) == 0 {
		names = headNames(head)
	}
	ooxml := slices.Contains(names, "[Content_Types].xml")
	for _, n := range names {
		if n == "META-INF/container.xml" {
			return sign{mediaType: extensions[".epub"], nul: true, reason: "a ZIP with META-INF/container.xml"}
		}
		for _, p := range officeParts {
			if n == p.main || ooxml && strings.HasPrefix(n, p.folder) {
				return sign{mediaType: extensions[p.extension], nul: true, reason: "a ZIP with " + n}
			}
		}
	}
	if m, reason := packed(names, name); m != "" {
		return sign{mediaType: m, nul: true, reason: reason}
	}
	if strings.Contains(stored, "/") {
		return sign{mediaType: ZippedPackage, nul: true, reason: "a ZIP whose first member names the type of a document that is not known here"}
	}
	return sign{mediaType: "application/zip", nul: true, reason: "a ZIP without the members of an office file"}
}

// storedType reads the member "mimetype" that OpenDocument and EPUB put first, uncompressed.
func storedType(head []byte) string {
	const start = 30 + len("mimetype")
	if len(head) < start || string(head[30:start]) != "mimetype" || binary.LittleEndian.Uint16(head[8:]) != 0 {
		return ""
	}
	length := int(binary.LittleEndian.Uint32(head[18:]))
	from := start + int(binary.LittleEndian.Uint16(head[28:]))
	if head[6]&8 != 0 && from <= len(head) { // the length follows the data
		length = bytes.Index(head[from:], []byte("PK\x07\x08"))
	}
	if length <= 0 || length > 100 || from+length > len(head) {
		return ""
	}
	return essence(string(head[from : from+length]))
}

// zipNames lists the members that the directory at the end of the file names.
func zipNames(r io.ReaderAt, size int64) []string {
	end := endRecord(r, size)
	if end == nil {
		return nil
	}
	length := int64(binary.LittleEndian.Uint32(end[12:]))
	offset := int64(binary.LittleEndian.Uint32(end[16:]))
	if offset < 0 || offset >= size {
		return nil
	}
	directory := make([]byte, min(length, size-offset, zipDirectory))
	if _, err := r.ReadAt(directory, offset); err != nil && err != io.EOF {
		return nil
	}
	return entryNames(directory)
}

// endRecord returns the end record of a ZIP (APPNOTE 4.3.16), or nil.
func endRecord(r io.ReaderAt, size int64) []byte {
	if r == nil || size < 22 {
		return nil
	}
	tail := make([]byte, min(size, zipTail))
	if _, err := r.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return nil
	}
	at := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if at < 0 || len(tail)-at < 22 {
		return nil
	}
	return tail[at:]
}

// lastPart reports whether an end record that ends the file is that of a ZIP in several parts. A ZIP64 has all bits set there.
func lastPart(r io.ReaderAt, size int64) bool {
	end := endRecord(r, size)
	if end == nil || len(end) != 22+int(binary.LittleEndian.Uint16(end[20:])) {
		return false
	}
	disk := binary.LittleEndian.Uint16(end[4:])
	return disk > 0 && disk < 0xFFFF
}

func entryNames(directory []byte) []string {
	var names []string
	for len(directory) >= 46 && string(directory[:4]) == "PK\x01\x02" {
		name := int(binary.LittleEndian.Uint16(directory[28:]))
		next := 46 + name + int(binary.LittleEndian.Uint16(directory[30:])) + int(binary.LittleEndian.Uint16(directory[32:]))
		if next > len(directory) {
			break
		}
		names = append(names, string(directory[46:46+name]))
		directory = directory[next:]
	}
	return names
}

// headNames lists the members whose local headers are within the head, for files whose directory cannot be read.
func headNames(head []byte) []string {
	var names []string
	for at := 0; at+30 <= len(head); {
		if string(head[at:at+4]) == "PK\x03\x04" {
			end := at + 30 + int(binary.LittleEndian.Uint16(head[at+26:]))
			if end > len(head) {
				break
			}
			names = append(names, string(head[at+30:end]))
			at = end
		}
		next := bytes.Index(head[at:], []byte("PK\x03\x04"))
		if next < 0 {
			break
		}
		at += next
	}
	return names
}
