// Package photo undoes what a camera does to a page: it finds the sheet and takes out the perspective, removes specks and noise,
// and evens out the light. Each step needs measured evidence, so that scans stay as they are. It keeps no state.
package photo

import (
	"fmt"
	"image"
)

// Page is a picture made ready for recognition.
type Page struct {
	Picture *image.Gray
	Said    []string   // what was done and why, for people
	Back    Projection // from places of Picture to those of the original
	Panel   bool       // what was flattened may be a panel that is drawn, with more text around it: its sides are straight up and across
	Cut     bool       // a corner of the sheet is out of the picture
	Print   bool       // it is a page, and no photograph of something else: a sheet was found, or noise that only bad scans have
	Noisy   bool       // specks were removed: if it cannot be read yet, it may have grain
}

// Plain returns a picture as it is.
func Plain(img *image.Gray) Page {
	return Page{Picture: img, Back: identity}
}

// Correct makes a picture ready. A picture without signs of a camera is returned itself.
func Correct(img *image.Gray) Page {
	p := Plain(img)
	if share := specks(p.Picture); share > manySpecks {
		p.Picture = withoutSpecks(p.Picture)
		p.Noisy, p.Print = true, share > badScan
		p.Said = append(p.Said, fmt.Sprintf("specks on %.1f %% of it were removed", 100*share))
	}
	return p.corrected()
}

// Smooth makes a picture ready whose noise is grain, as of a photograph in the dark: where all pixels are wrong, their median is too,
// and their mean is not. It takes thin strokes with it, so it is for pages that cannot be read without it.
func Smooth(img *image.Gray) Page {
	p := Plain(smoothed(img))
	p.Said = append(p.Said, "its grain was smoothed")
	return p.corrected()
}

// corrected takes out perspective, light and shadow.
func (p Page) corrected() Page {
	q, found := sheet(p.Picture)
	if found {
		p.Cut = !q.within(p.Picture.Rect)
		p.Picture, p.Back = q.flatten(p.Picture)
		p.Print, p.Panel = true, q.upright()
		p.Said = append(p.Said, "the sheet was found by its corners and flattened")
		if p.Cut {
			p.Said = append(p.Said, "a corner of it is out of the picture")
		}
	}
	if l := lightOf(p.Picture); found || l.uneven() {
		p.Picture = l.evened(p.Picture)
		p.Said = append(p.Said, fmt.Sprintf("light that falls to %.0f %% was evened out", 100*l.dimmest))
	}
	return p
}
