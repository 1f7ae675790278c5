// Package fonts finds where a system keeps the fonts that its programs share, and which of them PDFium takes for Chinese,
// Japanese and Korean text: a document may leave the letters of these to its reader.
package fonts

import (
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Package is the smallest package of Debian and Ubuntu with a font for all Languages.
const Package = "fonts-droid-fallback"

// Folders lists where PDFium looks for fonts.
func Folders() []string { return []string{"/usr/share/fonts", "/usr/local/share/fonts"} }

// Languages lists whose text a document may leave to its reader's fonts.
func Languages() []string {
	return []string{"Japanese", "simplified Chinese", "Korean", "traditional Chinese"}
}

// codePages are the bits of ulCodePageRange1 by which PDFium knows that a font has the characters of a language, in the
// order of Languages.
var codePages = []uint32{1 << 17, 1 << 18, 1<<19 | 1<<21, 1 << 20}

// Missing lists the languages for which these folders have no font. It reads fonts until it has found one for each.
func Missing(folders []string) []string {
	var pages uint32
	done := func() bool {
		return !slices.ContainsFunc(codePages, func(bits uint32) bool { return pages&bits == 0 })
	}
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be read has no font for PDFium either
			case done():
				return fs.SkipAll
			case !entry.IsDir() && isFont(path):
				pages |= pagesOf(path)
			}
			return nil
		})
	}
	var missing []string
	for i, language := range Languages() {
		if pages&codePages[i] == 0 {
			missing = append(missing, language)
		}
	}
	return missing
}

// isFont reports whether PDFium reads a file of this name as a font.
func isFont(path string) bool {
	return slices.Contains([]string{".ttf", ".ttc", ".otf"}, strings.ToLower(filepath.Ext(path)))
}

// pagesOf returns the code pages that the fonts of a file claim to have.
func pagesOf(path string) uint32 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	var head [12]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return 0
	}
	if string(head[:4]) != "ttcf" {
		return pagesAt(f, 0)
	}
	offsets := make([]byte, 4*min(binary.BigEndian.Uint32(head[8:]), 64))
	if _, err := f.ReadAt(offsets, 12); err != nil {
		return 0
	}
	var pages uint32
	for i := 0; i < len(offsets); i += 4 {
		pages |= pagesAt(f, int64(binary.BigEndian.Uint32(offsets[i:])))
	}
	return pages
}

// pagesAt reads ulCodePageRange1 from the table OS/2 of the font that begins at an offset.
func pagesAt(f io.ReaderAt, at int64) uint32 {
	var head [12]byte
	if _, err := f.ReadAt(head[:], at); err != nil {
		return 0
	}
	tables := make([]byte, 16*int(binary.BigEndian.Uint16(head[4:])))
	if _, err := f.ReadAt(tables, at+12); err != nil {
		return 0
	}
	for ; len(tables) > 0; tables = tables[16:] {
		if string(tables[:4]) != "OS/2" {
			continue
		}
		offset, length := binary.BigEndian.Uint32(tables[8:]), binary.BigEndian.Uint32(tables[12:])
		var field [4]byte
		if length < 86 { // older tables have no code pages
			return 0
		}
		if _, err := f.ReadAt(field[:], int64(offset)+78); err != nil {
			return 0
		}
		return binary.BigEndian.Uint32(field[:])
	}
	return 0
}
