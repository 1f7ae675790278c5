package main

// fontFolders are where systems keep the fonts that programs share; PDFium looks there. They are read for documents that
// leave Chinese, Japanese or Korean text to the reader's fonts.
var fontFolders = []string{"/usr/share/fonts", "/usr/local/share/fonts"}

// sharedFolders are read by PDFium: the fonts of the system, and its own machine code.
func sharedFolders(o options) []string {
	if o.cache == "" {
		return fontFolders
	}
	return append([]string{o.cache}, fontFolders...)
}
