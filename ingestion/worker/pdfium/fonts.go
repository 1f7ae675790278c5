package pdfium

import (
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/fonts"
)

// fontFolders hold the fonts for documents that leave Chinese, Japanese or Korean text to their reader.
var fontFolders = fonts.Folders()

// readable reports whether a folder can be read. It opens the folder, because a confined worker may not ask in any other way.
func readable(folder string) bool {
	f, err := os.Open(folder) //nolint:gosec // a folder of fonts
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// fontFiles is a file system with the fonts of this one at their places, and nothing else. It implements fs.FS.
type fontFiles struct{}

// Open implements fs.FS. The root is the first folder of fonts: PDFium never lists it.
func (fontFiles) Open(name string) (fs.File, error) {
	if name == "." {
		return openFont(fontFolders[0])
	}
	for _, folder := range fontFolders {
		if strings.HasPrefix(folder, "/"+name+"/") {
			return openFont(fontFolders[0]) // looked at, and not listed
		}
		if path := "/" + name; fs.ValidPath(name) && (path == folder || strings.HasPrefix(path, folder+"/")) {
			return openFont(path)
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// fontFile is a font or a folder of fonts. It has no Readdir, with which WebAssembly's runtime would ask for each file of a
// folder by its name: the worker may not. It implements fs.ReadDirFile, io.ReaderAt and io.Seeker.
type fontFile struct{ file *os.File }

var (
	_ fs.ReadDirFile = fontFile{}
	_ io.ReaderAt    = fontFile{}
	_ io.Seeker      = fontFile{}
)

func openFont(path string) (fs.File, error) {
	file, err := os.Open(path) //nolint:gosec // below a folder of fonts
	if err != nil {
		return nil, err
	}
	return fontFile{file}, nil
}

// Stat implements fs.File.
func (f fontFile) Stat() (fs.FileInfo, error) { return f.file.Stat() }

// Read implements fs.File.
func (f fontFile) Read(b []byte) (int, error) { return f.file.Read(b) }

// ReadAt implements io.ReaderAt.
func (f fontFile) ReadAt(b []byte, at int64) (int, error) { return f.file.ReadAt(b, at) }

// Seek implements io.Seeker.
func (f fontFile) Seek(offset int64, whence int) (int64, error) { return f.file.Seek(offset, whence) }

// Close implements fs.File.
func (f fontFile) Close() error { return f.file.Close() }

// ReadDir implements fs.ReadDirFile.
func (f fontFile) ReadDir(n int) ([]fs.DirEntry, error) { return f.file.ReadDir(n) }
