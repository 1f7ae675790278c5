// Package mupdf reads and draws documents with MuPDF, which is linked through cgo in programs built with the tag worker. The
// parsers of MuPDF's HTML and SVG need no tag.
//
// Several calls of the binding end the process with code 1 when MuPDF raises an error; package sandbox reports that.
package mupdf
