package main

import (
	"bytes"
	"image/jpeg"
	"testing"
)

// What is compared has to show something: a blank page takes no time.
func TestColourScan(t *testing.T) {
	data, err := colourScan()
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("\xff\xd8\xff"))
	if at < 0 {
		t.Fatal("the scan has no JPEG")
	}
	img, err := jpeg.Decode(bytes.NewReader(data[at:]))
	if err != nil {
		t.Fatal(err)
	}
	dark := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, _, b, _ := img.At(x, y).RGBA(); r < 0x6000 && b > 0x4000 {
				dark++
			}
		}
	}
	if dark < 10_000 {
		t.Errorf("%d pixels of ink", dark)
	}
}
