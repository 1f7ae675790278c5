//go:build worker

package main

import (
	"fmt"
	"slices"
	"sync"

	"github.com/otiai10/gosseract/v2"
)

var tesseractVersion = sync.OnceValue(gosseract.Version)

// tesseract is one client for the whole process: memory is not given back, and two at a time contend for the cores.
type tesseract struct {
	client    *gosseract.Client
	tessdata  string
	languages []string
}

func newEngine(tessdata string) engine {
	return &tesseract{client: gosseract.NewClient(), tessdata: tessdata}
}

func (t *tesseract) close() { _ = t.client.Close() } // it always returns nil

// recognise asks for words alone: asking for the text as well would read the picture twice. The page segmentation is
// set as a variable, because the binding forgets SetPageSegMode before the first picture. The picture has to be a PNG:
// see the linker flag in buildHint.
func (t *tesseract) recognise(png []byte, languages []string) ([]box, error) {
	if !slices.Equal(languages, t.languages) {
		if err := t.setUp(languages); err != nil {
			return nil, err
		}
	}
	if err := t.client.SetImageFromBytes(png); err != nil {
		return nil, fmt.Errorf("hand over the picture: %w", err)
	}
	found, err := t.client.GetBoundingBoxesVerbose()
	if err != nil {
		return nil, err
	}
	boxes := make([]box, 0, len(found))
	for _, b := range found {
		boxes = append(boxes, box{word: b.Word, rect: b.Box, confidence: b.Confidence, block: b.BlockNum, paragraph: b.ParNum, line: b.LineNum})
	}
	return boxes, nil
}

func (t *tesseract) setUp(languages []string) error {
	if err := t.client.SetTessdataPrefix(t.tessdata); err != nil {
		return err
	}
	if err := t.client.SetLanguage(languages...); err != nil {
		return err
	}
	if err := t.client.SetVariable("tessedit_pageseg_mode", "3"); err != nil {
		return err
	}
	t.languages = slices.Clone(languages)
	return nil
}
