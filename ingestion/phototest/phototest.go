// Package phototest makes pictures as a telephone takes them of a printed page, with the text that the page has. They measure and
// test text recognition: the text is known to the letter, and so is what was done to the picture. The same seed makes the same
// pictures on every machine.
package phototest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
)

// Photo is a picture with its text and how it was made.
type Photo struct {
	JPEG []byte
	Text string // line by line; an empty line between paragraphs
	Record
}

// Record is how a picture was made.
type Record struct {
	Seed     uint64 `json:"seed"`
	Number   uint64 `json:"number"`
	Language string `json:"language"` // as Tesseract names it
	Kind     string `json:"kind"`     // prose, letter, invoice, list, receipt
	Font     string `json:"font"`
	Camera   Camera `json:"camera"`
	Half     string `json:"half"` // seen, or unseen if the picture's SHA-256 is even
	SHA256   string `json:"sha256"`
}

// Make makes one picture of a series.
func Make(seed, number uint64) (Photo, error) {
	random := rand.New(rand.NewPCG(seed, number))
	words := write(random)
	page, text, err := typeset(random, &words)
	if err != nil {
		return Photo{}, err
	}
	return developed(random, page, hold(random), Photo{Text: text, Record: Record{Seed: seed, Number: number, Language: words.language, Kind: words.kind, Font: words.font}})
}

// developed photographs a page.
func developed(random *rand.Rand, page *image.Gray, camera Camera, p Photo) (Photo, error) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, camera.take(random, page), &jpeg.Options{Quality: camera.Quality}); err != nil {
		return Photo{}, err
	}
	sum := sha256.Sum256(b.Bytes())
	p.JPEG, p.Camera, p.SHA256, p.Half = b.Bytes(), camera, fmt.Sprintf("%x", sum), "seen"
	if sum[len(sum)-1]%2 == 0 {
		p.Half = "unseen"
	}
	return p, nil
}
