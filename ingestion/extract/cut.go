package extract

import "fmt"

// CutRequest asks for a document that holds only some pages of the one that is open, with nothing of the others. The
// answer is a [Cut] or an [*Error].
type CutRequest struct {
	Pages []int `json:"pages"` // counted from 1, ascending
}

// Cut is a document made of pages. Bytes travel in a frame of their own behind it.
type Cut struct {
	MediaType string `json:"media_type"` // application/pdf
	Size      int    `json:"size"`
	Bytes     []byte `json:"-"`
}

func (r CutRequest) check() error {
	if len(r.Pages) == 0 || len(r.Pages) > maxCut {
		return fmt.Errorf("a cut of %d pages", len(r.Pages))
	}
	for i, n := range r.Pages {
		if n < 1 || n > maxPages || i > 0 && n <= r.Pages[i-1] {
			return fmt.Errorf("a cut with page %d at place %d", n, i)
		}
	}
	return nil
}

func (c Cut) check() error {
	if c.MediaType != "application/pdf" || c.Size < 1 || c.Size > MaxPicture {
		return fmt.Errorf("a cut of type %.40q and %d bytes", c.MediaType, c.Size)
	}
	return nil
}

// checkBytes compares what was announced with what came.
func (c Cut) checkBytes() error {
	if len(c.Bytes) != c.Size || c.Size < 5 || string(c.Bytes[:5]) != "%PDF-" {
		return fmt.Errorf("%d bytes came that are not the %d of a PDF", len(c.Bytes), c.Size)
	}
	return nil
}
