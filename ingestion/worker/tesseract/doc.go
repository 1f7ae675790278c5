// Package tesseract recognises text with Tesseract, which is linked through cgo. It is part of programs built with the tag
// worker.
package tesseract
