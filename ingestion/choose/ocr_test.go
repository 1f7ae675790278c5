package choose

import (
	"strings"
	"testing"

	"github.com/vaultflow/vaultflow/ingestion/extract"
)

func TestOCR(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		e    extract.Evidence
		redo bool
		ocr  bool
		code string
	}{
		{"born digital", extract.Evidence{Chars: 1800, MarginChars: 30, Fonts: 3}, false, false, reasonLayer},
		{"few words, no picture", extract.Evidence{Chars: 9, Fonts: 1}, false, false, reasonLayer},
		{"scan", extract.Evidence{Pictures: 1, PictureCover: 1}, false, true, reasonNoText},
		{"scan with a page number", extract.Evidence{Chars: 3, MarginChars: 3, Pictures: 1, PictureCover: 0.98}, false, true, reasonStamp},
		{"scan with a stamp", extract.Evidence{Chars: 31, MarginChars: 3, Pictures: 1, PictureCover: 0.98}, false, true, reasonStamp},
		{"figure page with its caption", extract.Evidence{Chars: 45, Pictures: 1, PictureCover: 0.4}, false, false, reasonLayer},
		{"text over a background picture", extract.Evidence{Chars: 900, Pictures: 1, PictureCover: 1}, false, false, reasonLayer},
		{"typed over a scan", extract.Evidence{Chars: 111, Pictures: 1, PictureCover: 1, Unread: 8}, false, true, reasonPicture},
		{"text over a fence", extract.Evidence{Chars: 900, Pictures: 1, PictureCover: 0.4, Unread: 2}, false, false, reasonLayer},
		{"old OCR layer", extract.Evidence{Chars: 1500, Invisible: 1500, Pictures: 1, PictureCover: 1}, false, false, reasonOldLayer},
		{"old OCR layer with a visible stamp", extract.Evidence{Chars: 1500, Invisible: 1470, Pictures: 1, PictureCover: 1}, false, false, reasonOldLayer},
		{"short old OCR layer", extract.Evidence{Chars: 12, Invisible: 12, Pictures: 1, PictureCover: 1}, false, false, reasonOldLayer},
		{"old OCR layer, redo", extract.Evidence{Chars: 1500, Invisible: 1500, Pictures: 1, PictureCover: 1}, true, true, reasonRedo},
		{"redo leaves digital pages alone", extract.Evidence{Chars: 1500, Pictures: 1, PictureCover: 0.2}, true, false, reasonLayer},
		{"unmapped glyphs", extract.Evidence{Chars: 1000, Unmapped: 400, Fonts: 2}, false, true, reasonUnmapped},
		{"a few unmapped glyphs", extract.Evidence{Chars: 1000, Unmapped: 20, Fonts: 2}, false, false, reasonLayer},
		{"outlines only, or blank: nobody looked", extract.Evidence{}, false, true, reasonOutlines},
		{"outlines only", extract.Evidence{Ink: &extract.Ink{All: 0.02, Inner: 0.03}}, false, true, reasonOutlines},
		{"blank", extract.Evidence{Ink: &extract.Ink{}}, false, false, reasonBlank},
		{"blank sheet that was scanned", extract.Evidence{Pictures: 1, PictureCover: 1, Ink: &extract.Ink{}}, false, false, reasonBlank},
		{"scan with ink", extract.Evidence{Pictures: 1, PictureCover: 1, Ink: &extract.Ink{All: 0.05, Inner: 0.06}}, false, true, reasonNoText},
		{"outlines with a page number: nobody looked", extract.Evidence{Chars: 2, MarginChars: 2, Fonts: 1}, false, true, reasonMargin},
		{"outlines with a page number", extract.Evidence{Chars: 2, MarginChars: 2, Ink: &extract.Ink{All: 0.01, Inner: 0.02}}, false, true, reasonMargin},
		{"nothing but a page number", extract.Evidence{Chars: 2, MarginChars: 2, Ink: &extract.Ink{All: 0.0004}}, false, false, reasonMargin},
		{"nothing but a page number, redo", extract.Evidence{Chars: 2, MarginChars: 2, Ink: &extract.Ink{All: 0.0004}}, true, false, reasonMargin},
		{"tagged scan with a stamp", extract.Evidence{Chars: 12, MarginChars: 12, Pictures: 1, PictureCover: 1, Tagged: true}, false, true, reasonStamp},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if d := OCR(c.e, c.redo); d.OCR != c.ocr || d.Code != c.code || d.Words == "" {
				t.Errorf("got %v %q %q, want %v %q", d.OCR, d.Code, d.Words, c.ocr, c.code)
			}
			if d := OCR(c.e, c.redo); c.e.Tagged != strings.Contains(d.Words, "tagged") || (c.e.Ink != nil) != strings.Contains(d.Words, "ink on") {
				t.Errorf("the evidence is missing: %q", d.Words)
			}
		})
	}
}
