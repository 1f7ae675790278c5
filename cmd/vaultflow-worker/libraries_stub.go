//go:build !worker

package main

import (
	"errors"
	"image"

	"github.com/vaultflow/vaultflow/imaging"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// linked says whether MuPDF and Tesseract are part of this program.
const linked = false

var errNotLinked = errors.New(buildHint)

func mupdfVersion() string     { return "not linked" }
func tesseractVersion() string { return "not linked" }

// codeCache is nothing: there is no PDFium.
type codeCache any

func openCodeCache(string) codeCache { return nil }

func warm(string) error { return errNotLinked }

func openPDF([]byte, extract.Open, codeCache, *reader) (document, error) { return nil, errNotLinked }

// newEngine gives nothing: without the library no picture is read.
func newEngine(string) engine { return nil }

func openStack([]byte, []pictureSize, *reader) (document, error) { return nil, errNotLinked }

func openDrawing([]byte, imaging.Info, *reader) (document, error) { return nil, errNotLinked }

func decodeForeign([]byte, imaging.Info) (image.Image, error) { return nil, errNotLinked }
