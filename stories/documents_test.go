//go:build unix

package stories

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"strings"

	"github.com/vaultflow/vaultflow/ingestion/pdftest"
)

const a4Width, a4Height = 595, 842

var (
	firstWords = strings.Fields(`amber brave bright broken calm clever cold copper crimson curious distant eager early empty faded
		famous forest frozen gentle golden hidden hollow humble ivory jolly little lonely marble mellow narrow noble orange patient
		polar proud purple quiet royal silver velvet`)
	secondWords = strings.Fields(`badger beaver bison camel cobra condor coyote dolphin donkey eagle falcon ferret gibbon giraffe
		hamster heron iguana jackal jaguar kestrel lemur leopard lizard lobster magpie monkey otter panther parrot pelican penguin
		pigeon puffin rabbit raven salmon sparrow tiger turtle walrus`)
)

// word is the code word with a number below 1600; no two are the same.
func word(n int) string {
	return firstWords[n%len(firstWords)] + " " + secondWords[n/len(firstWords)%len(secondWords)]
}

// sheet is a page of a document: its number marks its picture, and its code word is in its text. A scan has no text layer.
type sheet struct {
	n       int
	scanned bool
	chapter string // begins here
}

// sheets returns count pages with the numbers from first on, every so many of them a scan (0: none) and the first of a chapter.
func sheets(first, count, scanEvery, chapterEvery int) []sheet {
	var all []sheet
	for i := range count {
		s := sheet{n: first + i, scanned: scanEvery > 0 && i%scanEvery == scanEvery-1}
		if chapterEvery > 0 && i%chapterEvery == 0 {
			s.chapter = fmt.Sprintf("Chapter %d", i/chapterEvery+1)
		}
		all = append(all, s)
	}
	return all
}

// pdf is a document of these pages.
func pdf(title string, all []sheet) []byte {
	b := pdftest.New().Info(title, "")
	for i, s := range all {
		says := sentence(s.n)
		switch {
		case s.scanned:
			b.Grain(uint64(s.n)).ScanPage("", "", says, "Nothing else was written on this sheet.")
		case s.chapter != "":
			b.TextPage(pdftest.Heading(s.chapter), pdftest.Line{}, pdftest.Line{Text: says})
		default:
			b.TextPage(pdftest.Text(says, "The rest of the page explains it.")...)
		}
		markPage(b, s.n, a4Width, a4Height)
		if s.chapter != "" {
			b.Outline(s.chapter, i+1)
		}
	}
	return b.Bytes()
}

// sentence tells a code word.
func sentence(n int) string { return "The code word is " + word(n) + "." }

// photo is a picture with a mark, as a camera (jpg) or a screen (png) makes one.
func photo(n, width, height int, kind string) []byte {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetRGBA(x, y, color.RGBA{R: uint8(x*255/width + n), G: uint8(y * 255 / height), B: uint8((x ^ y) & 0x7F), A: 255})
		}
	}
	markPicture(img, n)
	var out bytes.Buffer
	var err error
	if kind == "png" {
		err = png.Encode(&out, img)
	} else {
		err = jpeg.Encode(&out, img, &jpeg.Options{Quality: 80})
	}
	if err != nil {
		panic(err) // memory does not fail
	}
	return out.Bytes()
}
