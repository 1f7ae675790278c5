package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/content"
	"github.com/vaultflow/vaultflow/ingestion/extract"
)

// greyAndColour is a document of pages with and without a colour: text, transparency groups in RGB, a grey picture in RGB, letters of a Type 3
// font with a colour and without, a shading.
func greyAndColour() []byte {
	const group = `/Group<</S/Transparency/CS/DeviceRGB/I true>>`
	contents := []string{
		"BT /F 24 Tf 20 60 Td (black text) Tj ET 0.5 g 20 20 90 30 re f",
		"BT /F 24 Tf 1 0 0 rg 20 60 Td (red text) Tj ET",
		"0.2 0.2 0.2 rg /Half gs BT /F 24 Tf 20 60 Td (grey in RGB) Tj ET /Form Do",
		"q 90 0 0 90 10 10 cm /Photo Do Q",
		"BT /T3 30 Tf 20 40 Td (a) Tj ET",
		"BT /T3 30 Tf 20 40 Td (b) Tj ET",
		"q 0 0 200 100 re W n /Fade sh Q",
	}
	objects := []string{`<</Type/Catalog/Pages 2 0 R>>`, ""}
	var kids strings.Builder
	for i, c := range contents {
		fmt.Fprintf(&kids, "%d 0 R ", 3+2*i)
		page := fmt.Sprintf(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents %d 0 R%s/Resources<</Font<</F 17 0 R/T3 18 0 R>>/ExtGState<</Half<</ca 0.4/BM/Multiply>>>>/XObject<</Form 19 0 R/Photo 20 0 R>>/Shading<</Fade<</ShadingType 2/ColorSpace/DeviceRGB/Coords[0 0 200 0]/Function<</FunctionType 2/Domain[0 1]/C0[1 0 0]/C1[0 0 1]/N 1>>>>>>>>>>`, 4+2*i, group)
		objects = append(objects, page, stream("", c))
	}
	objects[1] = fmt.Sprintf(`<</Type/Pages/Kids[%s]/Count %d>>`, kids.String(), len(contents))
	objects = append(objects,
		`<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>`,
		`<</Type/Font/Subtype/Type3/FontBBox[0 0 1 1]/FontMatrix[1 0 0 1 0 0]/CharProcs<</a 21 0 R/b 22 0 R>>/Encoding<</Differences[97/a/b]>>/FirstChar 97/LastChar 98/Widths[1 1]/Resources<<>>>>`,
		stream(`/Type/XObject/Subtype/Form/BBox[0 0 200 100]`+group, "0.7 0.7 0.7 rg 100 10 60 60 re f"),
		stream(`/Type/XObject/Subtype/Image/Width 2/Height 2/BitsPerComponent 8/ColorSpace/DeviceRGB`, "aaabbbcccddd"),
		stream("", "1 0 d0 0 0.6 0 rg 0 0 1 1 re f"),
		stream("", "1 0 0 0 1 1 d1 0.5 0 0.5 1 re f"))
	return written(objects)
}

// A page without a colour is drawn in grey, and any other in its colours, whatever was drawn before it.
func TestWorker_drawsGreyPages(t *testing.T) {
	t.Parallel()
	data := greyAndColour()
	whole := func(n int) extract.PageRequest { return extract.PageRequest{N: n, Image: true, Format: "png"} }
	var alone [][]byte
	for i, grey := range []bool{true, false, true, true, false, true, false} {
		n := i + 1
		s, _ := opened(t, data, extract.KindPDF) // the first page is expected to be grey
		got := ask(t, s, whole(n)).Image
		alone = append(alone, got.Bytes)
		img := decoded(t, got)
		if _, ok := img.(*image.Gray); ok != grey || got.Identity == "" {
			t.Errorf("page %d is %T, identity %q", n, img, got.Identity)
		}
		s, _ = opened(t, data, extract.KindPDF)
		part := whole(n)
		part.Rect = &content.Rect{X2: 200, Y2: 100} // parts are always drawn in colour
		if d := difference(img, decoded(t, ask(t, s, part).Image)); d > 1 {
			t.Errorf("page %d differs by up to %d from what is drawn in colour", n, d)
		}
	}
	s, _ := opened(t, data, extract.KindPDF)
	for _, n := range []int{2, 1, 5, 3, 4, 2, 6, 7, 1, 7, 1, 3} {
		if got := ask(t, s, whole(n)).Image; !bytes.Equal(got.Bytes, alone[n-1]) {
			t.Errorf("page %d looks different after others", n)
		}
	}
}

func decoded(t *testing.T, p *extract.PageImage) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(p.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// difference returns the largest difference of a sample of two pictures, where both have one, and 255 if they share less than 400 × 200 pixels.
func difference(a, b image.Image) int {
	both, most := a.Bounds().Intersect(b.Bounds()), 0
	if both.Dx() < 400 || both.Dy() < 200 {
		return 255
	}
	for y := range both.Dy() {
		for x := range both.Dx() {
			ar, ag, ab, _ := a.At(x, y).RGBA()
			br, bg, bb, _ := b.At(x, y).RGBA()
			for _, d := range []int{int(ar>>8) - int(br>>8), int(ag>>8) - int(bg>>8), int(ab>>8) - int(bb>>8)} {
				most = max(most, d, -d)
			}
		}
	}
	return most
}
