package main

import (
	"bytes"
	"compress/zlib"
	"io"
	"testing"
)

// inflated gives a PDF's own bytes and what its compressed streams hold.
func inflated(t *testing.T, data []byte) []string {
	t.Helper()
	all := []string{string(data)}
	for rest := data; ; {
		_, after, found := bytes.Cut(rest, []byte("stream"))
		if !found {
			return all
		}
		rest = after
		z, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(after, "\r\n")))
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(z) // it may be cut off, and is no stream then
		all = append(all, string(text))
	}
}
