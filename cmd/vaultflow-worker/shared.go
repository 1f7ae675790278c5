package main

import (
	"io/fs"
	"os"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/fonts"
)

// fontFolders are read for documents that leave Chinese, Japanese or Korean text to the reader's fonts.
var fontFolders = fonts.Folders()

// sharedFolders are read by PDFium: the fonts of the system, and its own machine code.
func sharedFolders(o options) []string {
	if o.cache == "" {
		return fontFolders
	}
	return append([]string{o.cache}, fontFolders...)
}

// fontFiles is a file system with the fonts of this one at their places, and nothing else. It implements fs.FS.
type fontFiles struct{}

// Open implements fs.FS. The root stands for the first folder of fonts: PDFium never lists it.
func (fontFiles) Open(name string) (fs.File, error) {
	if name == "." {
		return os.Open(fontFolders[0])
	}
	for _, folder := range fontFolders {
		if strings.HasPrefix(folder, "/"+name+"/") {
			return os.Open(fontFolders[0]) // looked at, and not listed
		}
		if path := "/" + name; fs.ValidPath(name) && (path == folder || strings.HasPrefix(path, folder+"/")) {
			return os.Open(path) //nolint:gosec // below a folder of fonts
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}
