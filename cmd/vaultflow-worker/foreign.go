//go:build worker

package main

import (
	"bytes"
	"fmt"
	"image"

	"github.com/gen2brain/avif"
	"github.com/gen2brain/heic"
)

// decodeForeign decodes a picture that package imaging only measures; upright, since the decoders turn. They are C in
// WebAssembly, which is compiled at the first picture and takes a second or three.
func decodeForeign(data []byte, mediaType string) (img image.Image, err error) {
	defer func() {
		if p := recover(); p != nil {
			img, err = nil, fmt.Errorf("the decoder failed: %v", p)
		}
	}()
	if mediaType == "image/heic" {
		return heic.Decode(bytes.NewReader(data))
	}
	return avif.Decode(bytes.NewReader(data), avif.Options{AutoRotate: true})
}
